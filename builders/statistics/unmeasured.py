"""Why a figure is not measured."""

from ...loaders.errors import NLIHubError


class UnmeasuredError(NLIHubError, ValueError):
    """A figure has no meaning for a version, or cannot be had of it; says why."""

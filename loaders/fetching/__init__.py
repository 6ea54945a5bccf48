"""Gets source files: from a local folder or from where they are published, never unverified."""

from .catalogue import Source, Variant, list_sources
from .obtain import SourceFile, obtain, obtain_all

__all__ = ["Source", "SourceFile", "Variant", "list_sources", "obtain", "obtain_all"]

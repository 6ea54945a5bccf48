"""Base of the datasets that are sampled from a pattern bank."""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from ....loaders.corpora.patterns.pattern_bank import LABELS, read_pattern_bank
from ....loaders.corpora.patterns.records import PatternBank
from ...core.base import NLIBuilder, Rows
from ...core.options import BuildOptions
from ...core.spec import DatasetSpec
from .rows import (
    CATEGORIES,
    EXTRA,
    MEANINGS,
    PatternRows,
    encode_samples,
    pattern_configs,
    pattern_properties,
)
from .sampling import OFFICIAL_PER_PATTERN, SamplingConfig, sample_bank


def pattern_spec(**declared: Any) -> DatasetSpec:
    """The declaration of a pattern dataset.

    Args:
        **declared: What is the dataset's own: every field of ``DatasetSpec`` but labels, domains,
            categories, group, configs and columns, which all of them share.
    """
    return DatasetSpec(
        labels=LABELS,
        domains=("spatial",),
        categories=CATEGORIES,
        group="pattern",
        metrics=("nli_report", "pattern_accuracy", "cartography"),
        configs=pattern_configs(OFFICIAL_PER_PATTERN),
        extra=EXTRA,
        meanings=MEANINGS,
        **declared,
    )


class PatternProperties(NLIBuilder):
    """A dataset whose card breaks labels down as SpaceNLI's Table 3 does."""

    PROPERTY_COLUMNS = ("category", "n_premises", "has_negation")

    @classmethod
    def properties(cls, rows: pa.Table) -> dict[str, list[bool]]:
        """Return the properties of SpaceNLI's Table 3."""
        return pattern_properties(rows, cls.SPEC.categories)


class PatternBuilder(PatternProperties):
    """A dataset sampled from a pattern bank; a subclass says where its bank is.

    Attributes:
        SAMPLING: The draw that is the dataset.
        HAS_TEXT_DEFECTS: Whether its texts have the defects that ``mending`` mends.
    """

    SAMPLING = SamplingConfig()
    HAS_TEXT_DEFECTS = False

    @classmethod
    @abstractmethod
    def bank_files(cls, options: BuildOptions) -> tuple[Path, Path]:
        """The pattern file and the world file, verified."""

    @classmethod
    @abstractmethod
    def bank_sources(cls, options: BuildOptions) -> list[Mapping[str, Any]]:
        """Address, size and hash of both files, for the manifest."""

    @classmethod
    def read_bank(cls, options: BuildOptions) -> PatternBank:
        """Reads the bank.

        Raises:
            NLIHubError: A file is missing, not the pinned one, or malformed.
        """
        return read_pattern_bank(*cls.bank_files(options))

    @classmethod
    def make_rows(cls, options: BuildOptions) -> Rows:
        """Draws the dataset from its bank."""
        keys = options.keys(cls.SPEC)
        samples = list(
            sample_bank(
                cls.read_bank(options),
                cls.SAMPLING,
                min_problems=cls.SAMPLING.per_pattern,
                require_examples=True,
                num_proc=options.num_proc,
            )
        )
        parameters = {"seed": cls.SAMPLING.seed, "per_pattern": cls.SAMPLING.per_pattern}
        return PatternRows(encode_samples(samples), keys, cls.bank_sources(options), parameters)

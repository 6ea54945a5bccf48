"""The base of the datasets of this package that are sampled from a pattern bank."""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....loaders.corpora.patterns.pattern_bank import read_pattern_bank
from ....loaders.corpora.patterns.records import PatternBank
from ...core.base import Rows
from ...core.options import BuildOptions
from .declaration import PatternProperties
from .recipe import SamplingConfig


class PatternBuilder(PatternProperties):
    """A dataset sampled from a pattern bank; a subclass says where its bank is.

    Class attributes:
        SAMPLING: The draw that is the dataset.
        HAS_TEXT_DEFECTS: Whether its texts have the defects that ``sample_files`` mends.
    """

    SAMPLING = SamplingConfig()
    HAS_TEXT_DEFECTS = False

    @classmethod
    @abstractmethod
    def bank_files(cls, options: BuildOptions) -> tuple[Path, Path]:
        """Return the pattern file and the world file, verified.

        Raises:
            NLIHubError: A file is missing or not the pinned one.
        """

    @classmethod
    @abstractmethod
    def bank_sources(cls, options: BuildOptions) -> list[Mapping[str, Any]]:
        """Return address, size and hash of both files, for the manifest.

        Raises:
            NLIHubError: A file is missing or not the pinned one.
        """

    @classmethod
    def read_bank(cls, options: BuildOptions) -> PatternBank:
        """Read the bank.

        Raises:
            NLIHubError: A file is missing, not the pinned one, or malformed.
        """
        return read_pattern_bank(*cls.bank_files(options))

    @classmethod
    def make_rows(cls, options: BuildOptions) -> Rows:
        """Draw the dataset from its bank.

        Raises:
            NLIHubError: A file is missing, not the pinned one, or malformed.
        """
        from .rows import PatternRows, encode_samples  # numpy and pyarrow take long to import
        from .sampling import sample_bank

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

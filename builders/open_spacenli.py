"""open_spacenli: a spatial NLI dataset of this package's own, built with nothing downloaded."""

import json
from importlib.resources import files
from pathlib import Path

import pyarrow as pa

from ..loaders.corpora.pattern_bank import read_pattern_bank
from ..loaders.fetch import hash_file
from ..loaders.records import PatternBank
from .base import BuildOptions, NLIBuilder, Rows
from .construct.pattern_sampling import (
    OFFICIAL_PER_PATTERN,
    OFFICIAL_SEED,
    SamplingConfig,
    sample_bank,
)
from .pattern_rows import (
    CATEGORIES,
    EXTRA,
    EXTRA_MEANING,
    LABELS,
    PatternRows,
    encode_samples,
    pattern_configs,
    pattern_properties,
)
from .spec import DatasetSpec

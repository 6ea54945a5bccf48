"""SpaceNLI (Abzianidze, Zwarts and Winter, NALOMA IV 2023), from its authors' pattern bank."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..loaders.fetch import fetch, list_sources
from .base import BuildOptions
from .pattern_builder import PatternBuilder, pattern_spec


class SpaceNLI(PatternBuilder):
    """SpaceNLI: the official 32,000 problems in the official order."""

    HAS_TEXT_DEFECTS = True
    SPEC = pattern_spec(
        name="spacenli",
        pretty_name="SpaceNLI",
        version="1.0.0",
        summary="NLI problems on spatial reasoning, 200 from each of 160 expert-labelled patterns.",
        license="mit",
        copyright="Copyright (c) 2023 Fibo Kowalsky",
        citation="""@inproceedings{abzianidze-etal-2023-spacenli,
  title = {{SpaceNLI}: Evaluating the Consistency of Predicting Inferences In Space},
  author = {Abzianidze, Lasha and Zwarts, Joost and Winter, Yoad},
  booktitle = {Proceedings of the 4th Natural Logic Meets Machine Learning Workshop},
  year = {2023},
  eprint = {2307.02269},
  archiveprefix = {arXiv}
}
""",
        paper="https://arxiv.org/abs/2307.02269",
        homepage="https://github.com/kovvalsky/SpaceNLI",
        offline=False,
        # Table 3; the number of repeated texts is that of the released file.
        published={
            "rows": {"test": 32000},
            "label": {"entailment": 11600, "neutral": 10600, "contradiction": 9800},
            "category and label": {
                "directional": (3800, 3400, 2400),
                "argument_orientation": (4000, 2400, 2000),
                "non_projective": (1800, 3000, 2400),
                "projective": (2000, 1800, 3000),
            },
            "n_premises": {1: 19600, 2: 11200, 3: 1200},
            "has_negation": {True: 5000},
            "groups": 160,
            "repeated texts": 123,
        },
    )

    @classmethod
    def bank_files(cls, options: BuildOptions) -> tuple[Path, Path]:
        """The authors' bank and mini world, from a local folder or downloaded."""
        sources = list_sources("spacenli")
        patterns, world = (
            fetch(sources[name], folder=options.folder, cache_dir=options.cache_dir)
            for name in ("patterns", "world")
        )
        return patterns, world

    @classmethod
    def bank_sources(cls) -> list[Mapping[str, Any]]:
        """The two files at the pinned commit."""
        sources = list_sources("spacenli").values()
        return [{"url": s.url, "bytes": s.bytes, "sha256": s.sha256} for s in sources]

"""What a dataset that is made from papers depends on, besides the papers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ....loaders.corpora.papers.paper import SplitSentences
from ....loaders.corpora.papers.sentences import split_sentences
from ....loaders.errors import UsageError
from ...dataflow.spark import start_spark
from ..about import check_domain
from ..option_groups import Option
from ..procedure import Recipe
from ..splits import (
    GROUP,
    VALIDATION_SHARE,
    ByRatio,
    PerDomain,
    Ratio,
    Splitting,
    Years,
    parse_share,
    parse_years,
    split_by_year,
)
from .pairs import LONGER_PHRASES, NEUTRAL_DISTANCE, RANDOM_SENTENCES, PairRules
from .phrases import LinkingPhrases

if TYPE_CHECKING:
    from ...dataflow.work import Engine

_PAPERS, _PAIRS = "Papers", "Pairs"


def _parse_quotas(text: str) -> Mapping[str, int]:
    found = {}
    for part in text.split(","):
        split, _, number = part.partition("=")
        if not number.strip().isdecimal():
            raise UsageError(f"The quota is {part!r}; expected SPLIT=N, as in test=200.")
        found[split.strip()] = int(number)
    return found


@dataclass(frozen=True)
class PapersRecipe(Recipe):
    """Make pairs of sentences from papers by distant supervision, as SciNLI and MSciNLI do.

    The papers are GROBID TEI, S2ORC JSON, JATS, sentence-split XML, plain JSON lines or Parquet;
    single files, folders or tar archives; plain or compressed. The same papers give the same bytes,
    whatever the order of files, how they are packed, and the engine.

    Attributes:
        split_sentences: Cuts paragraphs into sentences where a file does not; a function of a
            module, so that other processes can import it. The default is for English.
    """

    domain: Annotated[str | None, Option("Domain of papers that state none.", _PAPERS)] = None
    metadata: Annotated[
        Path | None,
        Option("CSV file with the id, year and domain of papers.", _PAPERS, "FILE"),
    ] = None
    linking_phrases: Annotated[
        Path | None,
        Option("JSON file with other linking phrases and labels.", _PAIRS, "FILE"),
    ] = None
    within: Annotated[
        str,
        Option(
            "What two adjacent sentences must share, a paragraph or a section.",
            _PAIRS,
            "paragraph|section",
        ),
    ] = "paragraph"
    random_sentences: Annotated[
        str,
        Option(
            "Rule on the random sentences of neutral pairs: none begins with a linking phrase "
            "(mscinli); also, two that are both random contain none (scinli).",
            _PAIRS,
            "|".join(RANDOM_SENTENCES),
        ),
    ] = RANDOM_SENTENCES[0]
    longer_phrases: Annotated[
        str,
        Option(
            "Sentences whose linking phrase begins a longer one, as in 'In contrast to rules': "
            "drop them, or keep them as the papers do.",
            _PAIRS,
            "|".join(LONGER_PHRASES),
        ),
    ] = LONGER_PHRASES[0]
    neutral_distance: Annotated[
        int,
        Option(
            "Least distance in the paper of the two sentences of a neutral pair, in sentences; the "
            "papers' own draw only leaves out neighbours.",
            _PAIRS,
            "N",
        ),
    ] = NEUTRAL_DISTANCE
    neutral_overlap: Annotated[
        float,
        Option(
            "Largest share of content words, 0 to 1, that the two sentences of a neutral pair may "
            "have in common; by default any.",
            _PAIRS,
            "SHARE",
        ),
    ] = 1.0
    train_years: Annotated[
        PerDomain[Years] | None,
        Option(
            "First and last year of the training papers; domains may have their own, as in "
            "2000-2014,neurips=2000-2018.",
            GROUP,
            "A-B,...",
            parse_years,
        ),
    ] = None
    evaluation_years: Annotated[
        PerDomain[Years] | None,
        Option(
            "First and last year of the others, in the same form.", GROUP, "A-B,...", parse_years
        ),
    ] = None
    validation_share: Annotated[
        PerDomain[float] | None,
        Option(
            f"Share of the others that are for validation, in the same form; {VALIDATION_SHARE} "
            "by default.",
            GROUP,
            "SHARE,...",
            parse_share,
        ),
    ] = None
    ratio: Ratio = None
    per_class: Annotated[
        Mapping[str, int],
        Option(
            "By split, how many pairs of each class and domain; by default as many as the smallest "
            "class has.",
            GROUP,
            "SPLIT=N,...",
            _parse_quotas,
        ),
    ] = field(default_factory=dict)
    engine: Annotated[
        "Engine | None",
        Option("Read the papers on a Spark cluster.", "Work", parse=start_spark, switch="spark"),
    ] = None
    split_sentences: SplitSentences = split_sentences

    def __post_init__(self) -> None:
        if self.domain is not None:
            check_domain(self.domain)
        for split, number in self.per_class.items():
            if split not in self.splitting.splits or number < 1:
                raise UsageError(
                    f"The quota is {split}={number}; expected 1 or more for "
                    f"{', '.join(self.splitting.splits)}."
                )
        _ = self.rules

    @cached_property
    def rules(self) -> PairRules:
        """How pairs are taken from a paper."""
        return PairRules(
            phrases=LinkingPhrases.read(self.linking_phrases),
            within=self.within,
            random_sentences=self.random_sentences,
            longer_phrases=self.longer_phrases,
            neutral_distance=self.neutral_distance,
            neutral_overlap=self.neutral_overlap,
            seed=self.seed,
        )

    @cached_property
    def splitting(self) -> Splitting:
        """How papers are split.

        Raises:
            UsageError: Years and ratio are both given, one of the two kinds of years alone, or a
                share of validation without years.
        """
        train, evaluation, share = self.train_years, self.evaluation_years, self.validation_share
        is_by_year = bool(train or evaluation) or share is not None
        if self.ratio is not None:
            if is_by_year:
                raise UsageError("Papers are split by years or by ratio; expected one of the two.")
            return ByRatio.of(self.ratio)
        if not is_by_year:
            return ByRatio()
        if not train or not evaluation:
            raise UsageError("A split by years needs those of training and of evaluation.")
        return split_by_year(train, evaluation, VALIDATION_SHARE if share is None else share)

    def parameters(self) -> Mapping[str, Any]:
        """Return all that the rows depend on, besides the papers, as plain values."""
        quotas = {"per_class": dict(self.per_class)} if self.per_class else {}
        splitter = f"{self.split_sentences.__module__}.{self.split_sentences.__qualname__}"
        if self.split_sentences is split_sentences:
            splitter = f"nupunkt {installed_version('nupunkt')} with the rules of nlihub"
        return {
            **self.rules.as_json(),
            "split": self.splitting.as_json(),
            **quotas,
            "sentences": splitter,
        }

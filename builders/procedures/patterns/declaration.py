"""What a dataset that is made from a pattern bank declares of itself."""

from dataclasses import dataclass

from ....loaders.corpora.patterns.pattern_bank import LABELS
from ...core.spec import DatasetSpec
from ..procedure import Declaration
from .pattern_builder import PatternProperties
from .rows import EXTRA, MEANINGS, pattern_configs


@dataclass(frozen=True)
class PatternsDeclaration(Declaration):
    """What a dataset that is made from a pattern bank declares of itself.

    Attributes:
        declared: What its maker says of it.
        categories: The inference classes of its patterns.
        domain: Its domain.
        has_few_shot: Whether some pattern gives problems enough to draw shots from.
    """

    PROCEDURE = "sampling of patterns"
    MATERIAL = "the patterns"
    CREDIT = "{SpaceNLI} (Abzianidze, Zwarts and Winter, 2023)"
    BUILDER = PatternProperties

    categories: tuple[str, ...]
    domain: str
    has_few_shot: bool

    def spec(self) -> DatasetSpec:
        """Return the declaration of the dataset.

        Raises:
            SchemaError: The name, the domain or the licence is not valid.
        """
        return DatasetSpec(
            name=self.declared.name,
            pretty_name=self.declared.pretty_name,
            version="1.0.0",
            summary="NLI problems, sampled from labelled patterns.",
            labels=LABELS,
            domains=(self.domain,),
            categories=self.categories,
            group="pattern",
            metrics=("nli_report", "pattern_accuracy", "cartography"),
            configs=pattern_configs(None, self.categories, has_few_shot=self.has_few_shot),
            extra=EXTRA,
            meanings=MEANINGS,
            license=self.declared.license,
            copyright=self.declared.copyright,
            citation=self.declared.citation,
            paper="https://arxiv.org/abs/2307.02269",
            homepage=None,
            offline=False,
            origins=("construct",),
            card="constructed_from_patterns",
            language=self.declared.language,
            is_own=True,
            changes="patterns were filled with the nouns of their mini world.",
        )

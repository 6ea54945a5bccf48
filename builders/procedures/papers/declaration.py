"""What a dataset that is made from papers declares of itself; its maker gives most of it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from datasets import Value

from ...core.spec import ConfigSpec, DatasetSpec
from ..declared import Declared

#: Name of the procedure in a manifest.
PROCEDURE = "distant supervision"

UNBALANCED = "unbalanced"

EXTRA: Mapping[str, Any] = {"year": Value("int32")}
MEANINGS = {
    "id": "the paper's id, and the positions of the two sentences in it",
    "premise": "the first sentence",
    "hypothesis": "the second sentence: without its linking phrase, the first letter in lower case",
    "group": "null",
    "category": "the linking phrase that was cut off, or the way to the neutral pair",
    "source": "the paper's id, and the positions of the two sentences in it, from 0",
    "year": "the year of the paper; null where it is not known",
}


def paper_configs(domains: Sequence[str], splits: Sequence[str]) -> dict[str, ConfigSpec]:
    """The configs of a dataset that is made from papers.

    Args:
        domains: Its domains.
        splits: Its splits.
    """
    names = tuple(splits)
    configs = {"default": ConfigSpec("the same number of pairs of each class", names)}
    if len(domains) > 1:
        configs |= {name: ConfigSpec(f"those of the domain {name}", names) for name in domains}
    configs[UNBALANCED] = ConfigSpec("all pairs, before the larger classes were cut", names)
    return configs


@dataclass(frozen=True)
class PaperDeclaration:
    """What a dataset that is made from papers declares of itself.

    Attributes:
        declared: What its maker says of it.
        labels: Its label set.
        categories: Its categories: linking phrases and ways to neutral pairs.
        domains: Its domains, one or more.
        splits: Its splits, one or more; each has pairs of every class and domain.
    """

    declared: Declared
    labels: tuple[str, ...]
    categories: tuple[str, ...]
    domains: tuple[str, ...]
    splits: tuple[str, ...]

    def as_json(self) -> Mapping[str, Any]:
        """It as plain values, for the manifest."""
        return {"procedure": PROCEDURE, **asdict(self)}

    @classmethod
    def parse(cls, fields: Mapping[str, Any]) -> "PaperDeclaration":
        """Makes it of what ``as_json`` gives.

        Raises:
            KeyError: A field is missing.
            TypeError: There is one too many.
        """
        values = {
            name: tuple(value) for name, value in fields.items() if isinstance(value, list | tuple)
        }
        return cls(declared=Declared(**fields["declared"]), **values)

    def spec(self) -> DatasetSpec:
        """The declaration of the dataset.

        Raises:
            SchemaError: The name, a domain or the licence is none.
        """
        return DatasetSpec(
            name=self.declared.name,
            pretty_name=self.declared.pretty_name,
            version="1.0.0",
            summary="Pairs of sentences from papers, labelled by distant supervision.",
            labels=self.labels,
            domains=self.domains,
            categories=self.categories,
            group=None,
            metrics=("nli_report", "cartography"),
            configs=paper_configs(self.domains, self.splits),
            extra=EXTRA,
            meanings=MEANINGS,
            license=self.declared.license,
            copyright=self.declared.copyright,
            citation=self.declared.citation,
            paper="https://aclanthology.org/2022.acl-long.511",
            homepage=None,
            offline=False,
            origins=("construct",),
            card="constructed_from_papers",
            language=self.declared.language,
            is_own=True,
            changes="sentences of papers were paired; linking phrases were cut.",
        )

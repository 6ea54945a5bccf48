"""The declaration of a dataset that is made from abstracts; its maker gives most of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....loaders.releases.bionli import LABELS
from ...core.markdown import markdown_table
from ...core.schema import ColumnType
from ...core.spec import ConfigSpec
from ..procedure import Declaration, reasons_cell, units_table

#: The category of a conclusion as it stands in its abstract.
POSITIVE = "positive"

EXTRA: Mapping[str, ColumnType] = dict.fromkeys(
    ("kind", "edit", "regulator", "regulated", "original_hypothesis"), "string"
)
MEANINGS = {
    "id": "PubMed id and kind",
    "premise": "the supporting set: the sentences before the conclusion",
    "hypothesis": "the conclusion or a perturbation of it; `<re> ... <er>` marks the regulator, "
    "`<el> ... <le>` the regulated entity",
    "label": "`entailment` for a conclusion as it stands, `not_entailment` for a perturbed one; "
    "automatic",
    "group": "the mechanism, by the PubMed id of its abstract: a positive and its perturbations",
    "category": "`positive`, or the perturbation in BioNLI's terms",
    "source": "PubMed id of the abstract",
    "kind": "the category, finer for GEN-ND",
    "edit": "what was changed into what, or in what a generated sentence is wrong; null for a "
    "positive",
    "regulator": "the entity marked as regulator in the hypothesis; null where none is",
    "regulated": "the entity marked as regulated in the hypothesis; null where none is",
    "original_hypothesis": "the conclusion before it was perturbed",
}


@dataclass(frozen=True)
class AbstractsDeclaration(Declaration):
    """The declaration of a dataset that is made from abstracts.

    Attributes:
        categories: Its categories: ``positive``, and the strategies.
        domain: Its domain.
        splits: Its splits, one or more.
    """

    PROCEDURE = "perturbation of conclusions"
    MATERIAL = "the abstracts"
    CREDIT = "{BioNLI} (Bastan, Surdeanu and Balasubramanian, 2022)"

    categories: tuple[str, ...]
    domain: str
    splits: tuple[str, ...]

    def count_blocks(self, construction: Mapping[str, Any]) -> dict[str, str]:
        """Return the counts of abstracts, and those of negatives by kind and reason."""
        rows = [
            [f"`{kind}`", f"{n['read']:,}", f"{n['kept']:,}", reasons_cell(n["dropped"])]
            for kind, n in construction["negatives"].items()
        ]
        return {
            "abstracts": units_table("abstracts", construction["abstracts"]),
            "negatives": markdown_table(["kind", "tried", "made", "refused"], rows),
        }

    def spec_fields(self) -> dict[str, Any]:
        """Return labels, configs and prose of a dataset made from abstracts."""
        return {
            "summary": "Biomedical NLI: conclusions of abstracts, and perturbed ones.",
            "labels": LABELS,
            "domains": (self.domain,),
            "categories": self.categories,
            "group": "mechanism",
            "metrics": ("nli_report", "consistency"),
            "configs": {
                "full": ConfigSpec(
                    "a training mechanism has one negative, the others all", self.splits
                ),
                "balanced": ConfigSpec(
                    "the larger rule-based categories of the training set are cut", self.splits
                ),
            },
            "extra": EXTRA,
            "meanings": MEANINGS,
            "paper": "https://aclanthology.org/2022.findings-emnlp.374",
            "card": "constructed_from_abstracts",
            "changes": "entities of conclusions were marked; perturbed ones were added.",
        }

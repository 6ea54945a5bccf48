"""The recipe of a dataset that is made from abstracts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from ....loaders.errors import UnknownNameError, UsageError
from ....loaders.progress import Tell
from ...core.options import parse_names, read_by
from ...dataflow.work import Engine
from ..procedure import Recipe, check_domain
from ..splits import SPLITTING, ByRatio, Ratio
from .choose import PAPER_RATIO, Distribution
from .generate.generate import SMALL, GenerationSettings, ModelWriter
from .mechanisms.mechanism import FINDING, MAX_AFTER, MechanismOptions, MechanismRules
from .negatives import Writer
from .perturb import NAMES

_NEGATIVES = Parameter(group="Negatives")
_TRAINING_ROWS = ("one", "pair")


@dataclass(frozen=True)
class AbstractsRecipe(Recipe, MechanismOptions):
    """Make conclusions of annotated abstracts and wrong variants of them, as BioNLI does.

    The abstracts are PubTator, BioC XML or BioC JSON with entities and relations, or JSON lines of
    mechanisms; files, folders or archives; plain or compressed. The same abstracts give the same
    bytes, whatever the number of processes, and the engine.

    Without a ratio, mechanisms are split as in BioNLI: 9 % are for testing. Those that the draw of
    training rows leaves out, about 14 %, are for validation.

    ``generate`` also takes, in Python, an object of your own that writes negatives, such as
    ``nlihub.construct.ModelWriter``.
    """

    domain: Annotated[str, FINDING] = "biomedical"
    """Domain of the abstracts."""
    strategies: Annotated[Sequence[str], _NEGATIVES, read_by(parse_names, "S,...")] = NAMES
    """Rule-based strategies to use."""
    balance_negation: Annotated[bool, _NEGATIVES] = False
    """Leave out negated VNeg until negatives are negated as often as positives: a negation no
    longer gives the label away."""
    generate: Annotated[str | Writer | None, _NEGATIVES, read_by(str, "small|MODEL")] = None
    """Also write GEN and GEN-ND: small trains a small model from scratch; otherwise a pretrained
    sequence-to-sequence model, trained in five folds (needs nlihub[baselines])."""
    models: Annotated[Path | None, _NEGATIVES] = None
    """With generate: the folder that keeps the models, so that an interrupted run can resume."""
    ratio: Ratio = None
    """Shares of train, validation and test; by default those of the paper."""
    training_rows: Annotated[Literal["one", "pair"], SPLITTING] = "one"
    """Rows of a training mechanism: one, its positive or a negative, as in BioNLI; or pair, its
    positive and a negative."""
    engine: Annotated[Engine | None, Parameter(parse=False)] = None
    """Works on the abstracts; by default processes of this machine."""

    def __post_init__(self) -> None:
        check_domain(self.domain)
        names = self.strategy_names
        for name in names:
            if name not in NAMES:
                raise UnknownNameError.of("strategy", name, NAMES)
        if not names or len(set(names)) < len(names):
            raise UsageError(f"The strategies are {', '.join(names)}; expected some, each once.")
        if not -(2**63) <= self.seed < 2**63:
            raise UsageError(f"The seed is {self.seed}; expected a number of 64 bits.")
        if self.training_rows not in _TRAINING_ROWS:
            raise UnknownNameError.of("number of training rows", self.training_rows, _TRAINING_ROWS)
        if self.models is not None and not isinstance(self.generate, str):
            raise UsageError("models keeps what generate trains; name a model to generate with.")
        _ = self.distribution, self.mechanism_rules

    @property
    def strategy_names(self) -> tuple[str, ...]:
        """Return the names of the rule-based strategies."""
        return (self.strategies,) if isinstance(self.strategies, str) else tuple(self.strategies)

    @cached_property
    def mechanism_rules(self) -> MechanismRules:
        """Return how mechanisms are found."""
        return self.rules()

    @cached_property
    def distribution(self) -> Distribution:
        """Return the rule that puts rows into configs and splits."""
        pairs = self.training_rows == "pair"
        ratio = None if self.ratio is None else ByRatio.of(self.ratio)
        if ratio is None and pairs:
            ratio = PAPER_RATIO
        return Distribution(ratio, pairs)

    def writer(self, tell: Tell) -> Writer | None:
        """Return the writer of negatives besides the rules, if any.

        Args:
            tell: Receives a line for each step of it.
        """
        if not isinstance(self.generate, str):
            return self.generate
        if self.generate == SMALL:
            settings = GenerationSettings.small(self.seed)
        else:
            settings = GenerationSettings(self.generate, seed=self.seed)
        return ModelWriter(settings, self.models, tell=tell)

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that the rows depend on, besides the abstracts and a writer."""
        rules = self.mechanism_rules
        return {
            "conclusion_phrases": {name: list(told) for name, told in rules.phrases.items()},
            "supporting_sentences": [rules.min_supporting, rules.max_supporting],
            "max_sentences_after": MAX_AFTER,
            "roles_by_order": rules.by_order,
            "strategies": list(self.strategy_names),
            **({"balance_negation": True} if self.balance_negation else {}),
            **self.distribution.as_json(),
            "seed": self.seed,
        }

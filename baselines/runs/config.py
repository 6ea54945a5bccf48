"""What a run is asked to do."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ...loaders.errors import UnknownNameError, UsageError

METHODS = ("encoder", "lexicalized", "cbow", "cnn", "bilstm", "zero-shot", "prompt")

_TRAINED = ("train", "validation", "n_shots", "subset", "reference")

#: The fields of a config that mean something to a method, besides those that all have.
_FIELDS = {
    "encoder": ("model", "revision", "view", "new_head", "model_labels", *_TRAINED),
    "lexicalized": ("train", "n_shots", "subset", "view", "details"),
    **dict.fromkeys(("cbow", "cnn", "bilstm"), ("view", "details", *_TRAINED)),
    "zero-shot": ("model", "revision", "view", "model_labels", "reference"),
    "prompt": ("model", "revision", "train", "n_shots", "details"),
}
_FIELDS_OF_ALL = ("name", "method", "tests", "preset", "seed", "options")

#: What of a pair a model sees.
VIEWS = ("pair", "hypothesis")

#: Which training rows are kept, by what cartography says of them; MSciNLI, Table 7.
SUBSETS = ("easy", "hard", "ambiguous", "without_hardest")

_OF_ENCODERS = ("max_length", "truncation", "n_trained_layers", "special_tokens")

_T = TypeVar("_T")


@dataclass(frozen=True)
class Options:
    """Hyper-parameters.

    Attributes:
        learning_rate: Of the optimizer; with ``schedule`` linear, after the warm-up.
        batch_size: Pairs to a step, over all devices and micro-batches.
        max_epochs: Passes over the training rows at most.
        patience: Epochs without a better validation macro-F1 after which training stops; None
            trains for all epochs, and takes the best.
        max_length: Tokens of a pair at most, special ones included.
        truncation: What is cut where a pair has more: ``longest_first`` or ``only_first``, the
            premise alone.
        optimizer: ``adam`` or ``adamw``, both without weight decay unless ``weight_decay`` says.
        weight_decay: Of ``adamw``.
        schedule: ``constant``, or ``linear`` to zero at the end of the last epoch.
        warmup_steps: Steps over which the rate rises from zero.
        max_grad_norm: To which gradients are clipped; None clips none.
        n_trained_layers: Top layers of an encoder that are trained, with its head; None trains all.
        special_tokens: Markers in the texts that become tokens of their own.
    """

    learning_rate: float = 2e-5
    batch_size: int = 64
    max_epochs: int = 5
    patience: int | None = 2
    max_length: int = 300
    truncation: str = "longest_first"
    optimizer: str = "adam"
    weight_decay: float = 0.0
    schedule: str = "constant"
    warmup_steps: int = 0
    max_grad_norm: float | None = 1.0
    n_trained_layers: int | None = None
    special_tokens: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_choice("truncation", self.truncation, ("longest_first", "only_first"))
        _check_choice("optimizer", self.optimizer, ("adam", "adamw"))
        _check_choice("schedule", self.schedule, ("constant", "linear"))
        least = {
            "learning_rate": 0,
            "batch_size": 1,
            "max_epochs": 1,
            "patience": 1,
            "max_length": 4,
            "weight_decay": 0,
            "warmup_steps": 0,
            "max_grad_norm": 0,
            "n_trained_layers": 0,
        }
        for name, lowest in least.items():
            value = getattr(self, name)
            if value is not None and not value >= lowest:  # also refuses NaN
                raise UsageError(f"{name} ({flag(name)}) is {value}; expected {lowest} or more.")
            whole = name not in ("learning_rate", "weight_decay", "max_grad_norm")
            if value is not None and (value == math.inf or (whole and not isinstance(value, int))):
                kind = "a whole number" if whole else "a finite number"
                raise UsageError(f"{name} ({flag(name)}) is {value}; expected {kind}.")
        if self.weight_decay and self.optimizer == "adam":
            raise UsageError("weight_decay goes with the optimizer adamw, not with adam.")


@dataclass(frozen=True)
class Subset:
    """A part of the training rows, chosen by their cartography.

    Attributes:
        kind: ``easy``, ``hard`` or ``ambiguous``, the share that is most so, or
            ``without_hardest``, all but that share.
        share: Of the training rows, between 0 and 1.
        run: The run whose training told easy rows from hard ones, as a path from this run's folder.

    Source: MSciNLI, section 5.1 and Table 7.
    """

    kind: str
    share: float
    run: str

    def __post_init__(self) -> None:
        _check_choice("subset", self.kind, SUBSETS)
        if not 0 < self.share < 1:
            raise UsageError(f"The share of a subset is {self.share}; expected one in (0, 1).")


@dataclass(frozen=True)
class RunConfig:
    """One system, trained or not, on one training set, with one seed.

    Attributes:
        name: What the system is called in reports.
        method: One of ``METHODS``.
        tests: What it is tested on; see ``baselines.runs.data``.
        model: An encoder or language model: a name on the Hub or a folder.
        revision: Of a model on the Hub.
        preset: The preset that it was made from.
        train: What it is trained on; None where it is not trained.
        validation: What epochs are compared on; None takes the last epoch.
        view: What of a pair it sees, ``pair`` or ``hypothesis``.
        seed: Of everything that is drawn: a new head, dropout, the order of rows, few shots.
        n_shots: Training rows a pattern (few-shot learning), or exemplars in a prompt.
        subset: A part of the training rows.
        new_head: Whether a classifier's head is replaced by a new one.
        model_labels: The labels of a classifier in the order of its ids, where its own
            configuration does not name them.
        options: Hyper-parameters.
        details: What a method needs besides: features, a file of vectors, a prompt.
        reference: Whether to train as plainly as the papers did: every row padded to the
            longest, single precision, nothing fused or compiled.
    """

    name: str
    method: str
    tests: tuple[str, ...]
    model: str | None = None
    revision: str | None = None
    preset: str | None = None
    train: str | None = None
    validation: str | None = None
    view: str = "pair"
    seed: int = 1
    n_shots: int | None = None
    subset: Subset | None = None
    new_head: bool = False
    model_labels: tuple[str, ...] = ()
    options: Options = field(default_factory=Options)
    details: Mapping[str, Any] = field(default_factory=dict)
    reference: bool = False

    def __post_init__(self) -> None:
        _check_choice("method", self.method, METHODS)
        _check_choice("view", self.view, VIEWS)
        tests: Any = self.tests  # as it may come from JSON
        if isinstance(tests, str) or not all(isinstance(name, str) for name in tests):
            raise UsageError(f"tests is {tests!r}; expected a list of names.")
        if not self.tests:
            raise UsageError("A run needs something to be tested on.")
        if not isinstance(self.seed, int) or self.seed < 0:
            raise UsageError(f"seed is {self.seed}; expected a whole number, 0 or more.")
        if self.n_shots is not None and self.n_shots < 0:
            raise UsageError(f"n_shots is {self.n_shots}; expected 0 or more.")

    def check_complete(self) -> None:
        """Refuses a config that lacks what its method needs, or has what it would not look at.

        Raises:
            UsageError: A model or training rows are missing, or something is there for nothing.
        """
        has_train = self.train is not None
        if self.method in ("encoder", "zero-shot", "prompt") and self.model is None:
            raise UsageError(f"{self.method} needs a model.")
        if self.method == "prompt" and bool(self.n_shots) != has_train:
            raise UsageError("A prompt with shots needs rows to draw them from, and only then.")
        if self.method not in ("zero-shot", "prompt") and not has_train:
            raise UsageError(f"{self.method} needs a training set.")
        idle = [name for name in _changed(self, RunConfig) if not self.takes(name)]
        idle += [name for name in _changed(self.options, Options) if not self._uses(name)]
        if idle:
            shown = ", ".join(f"{name} ({flag(name)})" for name in idle)
            raise UsageError(f"{shown} would do nothing: {self.method} has no use for it.")

    def takes(self, field: str) -> bool:
        """Whether a field of the config means something to the method."""
        return field in _FIELDS_OF_ALL or field in _FIELDS[self.method]

    def _uses(self, option: str) -> bool:
        """Whether a hyper-parameter means something to the method."""
        if self.method == "zero-shot":
            return option in ("max_length", "truncation")
        if self.method in ("cbow", "cnn", "bilstm"):
            return option not in _OF_ENCODERS
        return self.method == "encoder"

    def as_json(self) -> dict[str, Any]:
        """The config as JSON holds it; ``from_json`` reads it."""
        plain: dict[str, Any] = _plain(dataclasses.asdict(self))
        return plain

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "RunConfig":
        """A config from JSON.

        Args:
            found: What ``as_json`` gave; values that are left out are the default ones.

        Raises:
            UnknownNameError: It names something that a config does not have.
            UsageError: A value is missing or out of its range.
        """
        values = dict(found)
        for name in ("subset", "options", "details"):
            if not isinstance(values.get(name) or {}, Mapping):
                raise UsageError(f"{name} is {values[name]!r}; expected an object with fields.")
        if values.get("subset") is not None:
            values["subset"] = _made(Subset, values["subset"])
        options = dict(values.get("options") or {})
        options["special_tokens"] = tuple(options.get("special_tokens") or ())
        values["options"] = _made(Options, options)
        values["details"] = values.get("details") or {}
        for name in ("tests", "model_labels"):
            given = values.get(name, ())
            values[name] = tuple(given) if isinstance(given, list) else given
        return _made(cls, values)


def flag(name: str) -> str:
    """The option of the command for a field of a config or a hyper-parameter."""
    known = {
        "max_epochs": "epochs",
        "n_trained_layers": "trained-layers",
        "view": "hypothesis-only",
    }
    return "--" + known.get(name, name.replace("_", "-"))


def _made(kind: type[_T], values: Mapping[str, Any]) -> _T:
    known = [part.name for part in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for name in values:
        if name not in known:
            raise UnknownNameError.of("field of a run's config", name, known)
    needed = [
        part.name
        for part in dataclasses.fields(kind)  # type: ignore[arg-type]
        if part.default is part.default_factory is dataclasses.MISSING and part.name not in values
    ]
    if needed:
        raise UsageError(f"This is no config of a run: it has no {', '.join(needed)}.")
    try:
        return kind(**values)
    except TypeError as error:  # a field is missing, or a text stands where a number should
        raise UsageError(f"This is no config of a run: {error}.") from error


def _changed(value: Any, kind: type) -> list[str]:
    """The fields that have another value than by default."""
    return [
        part.name
        for part in dataclasses.fields(kind)
        if getattr(value, part.name)
        != (part.default_factory() if callable(part.default_factory) else part.default)
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple | list) else value


def _check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UnknownNameError.of(what, value, known)

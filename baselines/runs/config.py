"""The config of a run, and its hyper-parameters, given or chosen."""

import dataclasses
import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ...loaders.errors import UnknownNameError, UsageError

METHODS = ("encoder", "lexicalized", "cbow", "cnn", "bilstm", "probe", "zero-shot", "prompt")

_TRAINED = ("train", "validation", "n_rows", "n_shots", "subset", "reference")

#: The fields of a config that a method uses, besides those that all methods use.
_FIELDS = {
    "encoder": ("model", "revision", "view", "new_head", "model_labels", "chosen", *_TRAINED),
    "lexicalized": ("train", "n_rows", "n_shots", "subset", "view", "details"),
    **dict.fromkeys(("cbow", "cnn", "bilstm"), ("view", "details", *_TRAINED)),
    "probe": (
        *("model", "revision", "train", "validation", "n_rows", "n_shots", "subset", "view"),
    ),
    "zero-shot": ("model", "revision", "view", "model_labels", "reference"),
    "prompt": ("model", "revision", "train", "n_shots", "details"),
}
_FIELDS_OF_ALL = ("name", "method", "tests", "preset", "seed", "options")

#: What a model sees of a pair: both texts, or the hypothesis alone; SciNLI, Table 7.
VIEWS = ("pair", "hypothesis")

#: Subsets of the training rows, chosen by their cartography; MSciNLI, Table 7.
SUBSETS = ("easy", "hard", "ambiguous", "without_hardest")

#: The hyper-parameters that are chosen unless they are given.
CHOSEN = (
    "learning_rate",
    "batch_size",
    "max_epochs",
    "patience",
    "max_length",
    "optimizer",
    "weight_decay",
    "schedule",
    "warmup_steps",
)
#: The rate that suits an encoder of so many parameters; larger ones take less.
_RATE, _PARAMETERS, _POWER = 1e-4, 22.7e6, 0.75
_LEAST_RATE, _MOST_RATE = 1e-5, 3e-4
#: Adapters, which start at nothing, take higher ones.
_TIMES_FOR_ADAPTERS, _MOST_FOR_ADAPTERS = 10, 1e-3
#: Fewer rows are learned in small batches, and in more passes.
FEW_ROWS, _SMALL_BATCH, _BATCH = 1_000, 16, 32
_STEPS, _LEAST_EPOCHS, _MOST_EPOCHS = 500, 3, 20
_WARM_UP = 0.06
_LENGTH = 300

_OF_ENCODERS = ("max_length", "truncation", "n_trained_layers", "lora_rank", "special_tokens")

_T = TypeVar("_T")


def _number(default: float | None, *, least: int) -> Any:
    """Declare a number with the lowest value that it may have."""
    return field(default=default, metadata={"least": least})


@dataclass(frozen=True)
class HyperParameters:
    """Hyper-parameters of a baseline.

    Attributes:
        learning_rate: Learning rate of the optimizer, 0 or more, reached after the warm-up.
        batch_size: Pairs of an optimizer step, over all devices and micro-batches; from 1.
        max_epochs: Maximum number of passes over the training rows, from 1.
        patience: Epochs without a better validation macro-F1 after which training stops, from 1;
            None trains all epochs and keeps the best.
        max_length: Maximum number of tokens of a pair, special tokens included; from 4.
        truncation: What to cut from a longer pair: ``longest_first``, or ``only_first`` for the
            premise alone.
        optimizer: ``adam`` or ``adamw``.
        weight_decay: Weight decay of ``adamw``, 0 or more.
        schedule: ``constant``, or ``linear`` decay to zero at the end of the last epoch.
        warmup_steps: Steps over which the learning rate rises from zero, 0 or more.
        max_grad_norm: Norm to which gradients are clipped, 0 or more; None does not clip.
        n_trained_layers: Number of top layers of an encoder to train, with its head; None trains
            the whole encoder.
        lora_rank: Rank, from 1, of the low-rank adapters (LoRA) that are trained, with the head, in
            place of the encoder's own weights; None trains these.
        special_tokens: Markers in the texts that become tokens of their own.

    Raises:
        UnknownNameError: There is no such truncation, optimizer or schedule.
        UsageError: A number is out of its range, weight decay is set for ``adam``, or adapters are
            to be trained and layers too.
    """

    learning_rate: float = _number(2e-5, least=0)
    batch_size: int = _number(64, least=1)
    max_epochs: int = _number(5, least=1)
    patience: int | None = _number(2, least=1)
    max_length: int = _number(300, least=4)
    truncation: str = "longest_first"
    optimizer: str = "adam"
    weight_decay: float = _number(0.0, least=0)
    schedule: str = "constant"
    warmup_steps: int = _number(0, least=0)
    max_grad_norm: float | None = _number(1.0, least=0)
    n_trained_layers: int | None = _number(None, least=0)
    lora_rank: int | None = _number(None, least=1)
    special_tokens: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_choice("truncation", self.truncation, ("longest_first", "only_first"))
        check_choice("optimizer", self.optimizer, ("adam", "adamw"))
        check_choice("schedule", self.schedule, ("constant", "linear"))
        for part in dataclasses.fields(self):
            if (lowest := part.metadata.get("least")) is None:
                continue
            name, value = part.name, getattr(self, part.name)
            if value is not None and not value >= lowest:  # also refuses NaN
                raise UsageError(f"{name} ({_flag(name)}) is {value}; expected {lowest} or more.")
            whole = name not in ("learning_rate", "weight_decay", "max_grad_norm")
            if value is not None and (value == math.inf or (whole and not isinstance(value, int))):
                kind = "a whole number" if whole else "a finite number"
                raise UsageError(f"{name} ({_flag(name)}) is {value}; expected {kind}.")
        if self.weight_decay and self.optimizer == "adam":
            raise UsageError(
                f"weight_decay is {self.weight_decay}, but the optimizer adam has none. Use adamw, "
                "or leave weight_decay at 0."
            )
        if self.lora_rank is not None and self.n_trained_layers is not None:
            raise UsageError(
                f"lora_rank (--lora) is {self.lora_rank} and n_trained_layers (--trained-layers) "
                f"is {self.n_trained_layers}: adapters are trained in place of layers. Leave one "
                "of them out."
            )


@dataclass(frozen=True)
class TrainingSubset:
    """A subset of the training rows, chosen by their cartography.

    Attributes:
        kind: ``easy``, ``hard`` or ``ambiguous`` for the share of rows that is most so;
            ``without_hardest`` for all rows but the hardest share.
        share: Share of the training rows, above 0 and below 1.
        run: Path, from this run's folder, of the run whose training dynamics decide.

    Raises:
        UnknownNameError: There is no such kind.
        UsageError: The share is out of its range.

    Source: MSciNLI, section 5.1 and Table 7.
    """

    kind: str
    share: float
    run: str

    def __post_init__(self) -> None:
        check_choice("subset", self.kind, SUBSETS)
        if not 0 < self.share < 1:
            raise UsageError(
                f"The share of a subset is {self.share}; expected a number above 0 and below 1."
            )


@dataclass(frozen=True)
class RunConfig:
    """The config of a baseline run: one system, one training set, one seed.

    Attributes:
        name: The name of the system in reports.
        method: One of ``METHODS``.
        tests: The test sets, by a name that ``read_run_rows`` takes: a dataset, a config, the
            folder of a built version or a file of rows.
        model: An encoder or language model: a name on the Hub, or a folder.
        revision: Commit, tag or branch of a model on the Hub.
        preset: The preset that the config comes from.
        train: The training set, named like a test set; None if nothing is trained.
        validation: The rows on which epochs are compared, or penalties of a probe, named like a
            test set; None takes the last epoch, or a penalty of 1.
        view: What the system sees of a pair: ``pair``, or ``hypothesis`` alone.
        seed: Seed of all draws: a new head, dropout, the order of rows, few shots; 0 or more.
        n_rows: Training rows to draw, from 1; None takes all.
        n_shots: Training rows of each pattern (few-shot learning), or exemplars in a prompt; 0 or
            more.
        subset: A subset of the training rows.
        new_head: Whether to replace the head of a classifier by a new one.
        model_labels: Labels of a classifier in the order of its ids, if its own configuration does
            not name them.
        options: Hyper-parameters.
        chosen: Names of hyper-parameters that follow from the training rows and the model when the
            run starts (see ``choose_hyperparameters``); what ``options`` has of them is nothing.
        details: Settings of single methods: groups of features, a file of word vectors, a prompt.
        reference: Whether to train as plainly as the papers did: every row padded to the longest,
            in single precision, nothing fused or compiled.

    Raises:
        UnknownNameError: There is no such method or view.
        UsageError: A value is missing or out of its range.
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
    n_rows: int | None = None
    n_shots: int | None = None
    subset: TrainingSubset | None = None
    new_head: bool = False
    model_labels: tuple[str, ...] = ()
    options: HyperParameters = field(default_factory=HyperParameters)
    chosen: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    reference: bool = False

    def __post_init__(self) -> None:
        check_choice("method", self.method, METHODS)
        check_choice("view", self.view, VIEWS)
        for name in self.chosen:
            check_choice("hyper-parameter to choose", name, CHOSEN)
        tests: Any = self.tests  # as it may come from JSON
        if isinstance(tests, str) or not all(isinstance(name, str) for name in tests):
            raise UsageError(f"tests is {tests!r}; expected a list of names.")
        if not self.tests:
            raise UsageError("tests is empty; a run needs at least one test set.")
        if not isinstance(self.seed, int) or self.seed < 0:
            raise UsageError(f"seed is {self.seed}; expected a whole number, 0 or more.")
        if self.n_rows is not None and self.n_rows < 1:
            raise UsageError(f"n_rows (--rows) is {self.n_rows}; expected 1 or more.")
        if self.n_shots is not None and self.n_shots < 0:
            raise UsageError(f"n_shots is {self.n_shots}; expected 0 or more.")

    def check_complete(self) -> None:
        """Check that a config has what its method needs, and nothing that the method ignores.

        Raises:
            UsageError: A model or training rows are missing, or a value would have no effect.
        """
        has_train = self.train is not None
        if self.method in ("encoder", "probe", "zero-shot", "prompt") and self.model is None:
            raise UsageError(f"The method {self.method} needs a model; name one.")
        if self.method == "prompt" and bool(self.n_shots) != has_train:
            raise UsageError(
                f"The prompt has n_shots {self.n_shots} and train {self.train!r}; expected rows to "
                "draw from (train) with shots, and none without."
            )
        if self.method not in ("zero-shot", "prompt") and not has_train:
            raise UsageError(f"The method {self.method} needs a training set; name one.")
        idle = [name for name in _changed(self, RunConfig) if not self.takes(name)]
        idle += [name for name in _changed(self.options, HyperParameters) if not self._uses(name)]
        if idle:
            shown = ", ".join(f"{name} ({_flag(name)})" for name in idle)
            raise UsageError(
                f"{shown} would have no effect: the method {self.method} does not use it. Leave it "
                "out."
            )

    def takes(self, field: str) -> bool:
        """Return whether the method uses a field of the config, given by name."""
        return field in _FIELDS_OF_ALL or field in _FIELDS[self.method]

    def checked_details(self, method: str, known: Collection[str]) -> dict[str, Any]:
        """Return the details of a run, all of which its method must know.

        Raises:
            UnknownNameError: A detail is not among those known to the method.
        """
        for name in self.details:
            if name not in known:
                raise UnknownNameError.of(f"detail of {method}", name, known)
        return dict(self.details)

    def _uses(self, option: str) -> bool:
        """Return whether the method uses a hyper-parameter."""
        if self.method == "zero-shot":
            return option in ("max_length", "truncation")
        if self.method in ("cbow", "cnn", "bilstm"):
            return option not in _OF_ENCODERS
        return self.method == "encoder"

    def as_json(self) -> dict[str, Any]:
        """Return the config as a JSON object, which ``from_json`` reads."""
        plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return plain

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "RunConfig":
        """Make a config from a JSON object as ``as_json`` returns it; fields may be missing.

        Raises:
            UnknownNameError: A field, method, view or other name is unknown.
            UsageError: A value is missing, of the wrong type or out of its range.
        """
        values = dict(found)
        for name in ("subset", "options", "details"):
            if not isinstance(values.get(name) or {}, Mapping):
                raise UsageError(f"{name} is {values[name]!r}; expected an object with fields.")
        if values.get("subset") is not None:
            values["subset"] = _made(TrainingSubset, values["subset"])
        options = dict(values.get("options") or {})
        if values.get("method") == "encoder" and not (values.get("preset") or "chosen" in values):
            values["chosen"] = [name for name in CHOSEN if name not in options]
        options["special_tokens"] = tuple(options.get("special_tokens") or ())
        values["options"] = _made(HyperParameters, options)
        values["details"] = values.get("details") or {}
        for name in ("tests", "model_labels", "chosen"):
            given = values.get(name, ())
            values[name] = tuple(given) if isinstance(given, list) else given
        return _made(cls, values)


def _flag(name: str) -> str:
    """Return the option of the command for a field of a config or a hyper-parameter."""
    known = {
        "max_epochs": "epochs",
        "n_trained_layers": "trained-layers",
        "lora_rank": "lora",
        "view": "hypothesis-only",
        "n_rows": "rows",
    }
    return "--" + known.get(name, name.replace("_", "-"))


def _made(kind: type[_T], values: Mapping[str, Any]) -> _T:
    known = [part.name for part in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for name in values:
        if name not in known:
            raise UnknownNameError.of("field of a run's config", name, known)
    try:
        return kind(**values)
    except TypeError as error:  # a field is missing, or a text stands where a number should
        raise UsageError(f"This is not the config of a run: {error}.") from error


def _changed(value: Any, kind: type) -> list[str]:
    """Return the fields whose value is not the default."""
    return [
        part.name
        for part in dataclasses.fields(kind)
        if getattr(value, part.name)
        != (part.default_factory() if callable(part.default_factory) else part.default)
    ]


def check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    """Check that a setting of a run has one of its known values; else raise UnknownNameError."""
    if value not in known:
        raise UnknownNameError.of(what, value, known)


def choose_hyperparameters(
    n_rows: int, n_parameters: int, max_tokens: int | None, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Choose the hyper-parameters of an encoder that are not given.

    They are ours, not a paper's: AdamW with a rate that falls with the size of the model, linear
    decay after a short warm-up, as many epochs as give at least 500 steps, 3 to 20, of which the
    best on the validation rows is kept. ``benchmarks/README.md`` has what they reach. Adapters
    (``lora_rank`` in ``given``) take ten times the rate, at most 1e-3.

    Args:
        n_rows: Number of training rows, from 1.
        n_parameters: Number of parameters of the model.
        max_tokens: Maximum number of tokens that the model reads; None if there is none.
        given: Hyper-parameters that are not to be chosen, by name; the others suit them.

    Returns:
        The other ones of ``CHOSEN``, by name.
    """
    values: dict[str, Any] = dict(given)

    rate = _RATE * (_PARAMETERS / n_parameters) ** _POWER
    rate = min(max(rate, _LEAST_RATE), _MOST_RATE)
    if values.get("lora_rank") is not None:
        rate = min(_TIMES_FOR_ADAPTERS * rate, _MOST_FOR_ADAPTERS)
    values.setdefault("learning_rate", float(f"{rate:.1g}"))
    values.setdefault("batch_size", _SMALL_BATCH if n_rows < FEW_ROWS else _BATCH)
    n_steps = math.ceil(n_rows / values["batch_size"])
    values.setdefault(
        "max_epochs", min(max(math.ceil(_STEPS / n_steps), _LEAST_EPOCHS), _MOST_EPOCHS)
    )
    values.setdefault("patience", None)
    values.setdefault("max_length", min(_LENGTH, max_tokens or _LENGTH))
    values.setdefault("optimizer", "adamw")
    values.setdefault("weight_decay", 0.01 if values["optimizer"] == "adamw" else 0.0)
    values.setdefault("schedule", "linear")
    values.setdefault("warmup_steps", round(_WARM_UP * n_steps * values["max_epochs"]))
    return {name: values[name] for name in CHOSEN if name not in given}

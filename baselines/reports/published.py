"""The papers' published results, and which of them a run can be compared with.

The results are in ``published.json``.
"""

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from ...builders.core.registry import builders, get_builder
from ...loaders.errors import NLIHubError, SchemaError
from ..presets import PRESETS
from ..runs.config import VIEWS, RunConfig, TrainingSubset
from .names import data_name, short_dataset_name

_SCORE = re.compile(
    r"(macro_f1|accuracy|f1_positive|f1_negative)"
    r"|(macro_f1|f1|recall|macro_recall) [\w-]+"
    r"|(pattern_accuracy|consistency) [01]\.\d+"
)
_SOURCE = re.compile(r"([\w-]+), (Tables? .+|section .+|second-hand)")

#: Later papers with results on the datasets of this package, by their name in a source.
LATER_PAPERS = {
    "MisMatched": "https://aclanthology.org/2025.findings-acl.1109",
    "Co-training": "https://aclanthology.org/2024.acl-long.139",
    "Me-LLaMA": "https://doi.org/10.1038/s41746-025-01533-1",
}


@dataclass(frozen=True)
class PublishedScore:
    """A published score.

    Attributes:
        mean: Mean over runs, from 0 to 1.
        std: Standard deviation over runs, from 0 to 0.5; None if the paper prints none.
        is_lower_bound: Whether the paper only states that the score is above ``mean``.

    Raises:
        SchemaError: A number is out of its range.
    """

    mean: float
    std: float | None = None
    is_lower_bound: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.mean <= 1 or not (self.std is None or 0 <= self.std <= 0.5):
            raise SchemaError(
                f"{self.mean} ± {self.std} is not a score; expected a mean from 0 to 1 and a "
                "standard deviation from 0 to 0.5."
            )


@dataclass(frozen=True)
class PublishedResult:
    """The published result of one system on one test set.

    Attributes:
        source: The paper and its table, ``"SciNLI, Table 6"``.
        system: The paper's name of the system.
        preset: The preset of the same system; None where there is none.
        train: Short name of the training set, ``scinli`` or ``mscinli/hardware``; None without one.
        test: Short name of the test set.
        view: What the system saw of a pair: ``pair`` or ``hypothesis``.
        n_shots: Training rows of each pattern, or exemplars in the prompt; None for none.
        scores: The scores, named like those of ``read_runs.Evaluation.scores``.
        n_runs: Number of runs of the means; None if the paper does not state it.
        subset: The subset of the training rows that the system saw.
        details: Further settings of the system, a part of ``RunConfig.details``.
        needs: Details that a run needs to be the same system, besides those of the preset.
        note: What is odd about the result.
        differs: In what its setting differs from that of any run, so that none is compared with it;
            None where a run can be the same.

    Raises:
        SchemaError: A score, the source or the view is malformed, or there is neither a preset nor
            what differs.
    """

    source: str
    system: str
    preset: str | None
    train: str | None
    test: str
    view: str
    n_shots: int | None
    scores: Mapping[str, PublishedScore]
    n_runs: int | None = None
    subset: TrainingSubset | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    note: str | None = None
    differs: str | None = None

    def __post_init__(self) -> None:
        if self.preset is None and not self.differs:
            raise SchemaError(
                "it has no preset; expected one, or in differs why no run is compared with it."
            )
        unknown = [name for name in self.scores if not _SCORE.fullmatch(name)]
        if unknown or not self.scores:
            raise SchemaError(
                f"{', '.join(unknown) or 'nothing'} is not the name of a score; expected one such "
                "as macro_f1."
            )
        if not _SOURCE.fullmatch(self.source):
            raise SchemaError(
                f"{self.source!r} is not a source; expected one such as 'SciNLI, Table 6'."
            )
        if self.view not in VIEWS:
            raise SchemaError(f"{self.view!r} is not a view; expected one of {', '.join(VIEWS)}.")

    @property
    def decimals(self) -> int:
        """Return the number of decimals of the paper's percentages."""
        return paper_decimals(self.source)


@cache
def published_results() -> tuple[PublishedResult, ...]:
    """Return the results of the papers' tables, in the order of the papers and their tables.

    Source: SciNLI, Tables 4 to 7; MSciNLI, Tables 3 to 9, 14, 15, 17 and 19; BioNLI, Table 5;
        SpaceNLI, Tables 4 and 5, section 4.2.3; of ``LATER_PAPERS``, MisMatched, Table 4, as the
        picture in its authors' repository has it; Me-LLaMA, Table 3; a summary of co-training.
    """
    text = (files(__package__) / "published.json").read_text(encoding="utf-8")
    return read_published_results(json.loads(text))


def read_published_results(entries: Sequence[Mapping[str, Any]]) -> tuple[PublishedResult, ...]:
    """Read published results of papers from JSON objects with the fields of ``PublishedResult``.

    Raises:
        SchemaError: Some results are malformed; the message lists all of them.
    """
    results, problems = [], []
    for number, entry in enumerate(entries, 1):
        try:
            results.append(_result(**entry))
        except (NLIHubError, TypeError, AttributeError) as error:
            problems.append(f"result {number} ({entry.get('source')}): {error}")
    if problems:
        raise SchemaError(f"{len(problems)} published results are wrong:\n" + "\n".join(problems))
    return tuple(results)


def _result(
    *,
    scores: Mapping[str, Any],
    subset: Mapping[str, Any] | None = None,
    needs: Sequence[str] = (),
    **others: Any,
) -> PublishedResult:
    return PublishedResult(
        scores={name: PublishedScore(**score) for name, score in scores.items()},
        subset=None
        if subset is None
        else TrainingSubset(**subset, run=""),  # the run is none of ours
        needs=tuple(needs),
        **others,
    )


_VIEWS = {"pair": "the pair", "hypothesis": "the hypothesis alone"}

#: Number of decimals of the percentages that papers print, if not two.
_DECIMALS = {"BioNLI": 0, "SpaceNLI": 1, "Me-LLaMA": 1}

#: 33 % in a paper is a third of a run's rows.
_SAME_SHARE = 0.005

#: The features of the lexicalized classifier; SciNLI, section 4.2. Those of
#: ``lexical_features.GROUPS``, which needs packages that a report does not.
_FEATURES = ("bleu", "length", "overlap", "unigrams", "bigrams")

#: Details that distinguish results of one preset, or that do not matter: where a model runs.
_NOT_COMPARED = ("groups", "vectors", "server")


@dataclass(frozen=True)
class PaperRow:
    """The results of one system on one test set, merged from tables that agree.

    Attributes:
        sources: The tables.
        system: The paper's name of the system.
        scores: The scores by name.
        n_runs: Number of runs of the means; None if the paper does not state it.
        notes: What is odd about the results, with the table.
    """

    sources: tuple[str, ...]
    system: str
    scores: Mapping[str, PublishedScore]
    n_runs: int | None
    notes: tuple[str, ...]

    @property
    def source(self) -> str:
        """Return the tables as one text."""
        return join_sources(self.sources)

    @property
    def decimals(self) -> int:
        """Return the number of decimals of the paper's percentages."""
        return paper_decimals(self.sources[0])


def paper_decimals(source: str) -> int:
    """Return the number of decimals of the percentages of the paper that a source names."""
    return _DECIMALS.get(source.partition(",")[0], 2)


def place_of(test: str, score: str) -> tuple[str, str]:
    """Return the smallest test set that a score on a test set covers, and the score's name there.

    The rows of a domain are the same in every config that has them.

    >>> place_of("mscinli", "macro_f1 networks")
    ('mscinli/networks', 'macro_f1')
    """
    test = _same_test(test)
    name, _, domain = score.partition(" ")
    dataset = test.partition("/")[0]
    if name == "macro_f1" and domain and dataset in builders():
        spec = get_builder(dataset).SPEC
        if domain in spec.domains:
            if domain in spec.configs:
                return f"{dataset}/{domain}", name
            if domain == "acl" and dataset != "scinli":
                return "scinli", name
    return test, score


def _same_test(test: str) -> str:
    """Return the first test set, by its short name, that has the rows of one."""
    dataset, _, config = test.partition("/")
    if not config or dataset not in builders():
        return test
    declared = get_builder(dataset).SPEC.configs.get(config)
    same = declared.test_of if declared is not None else ""
    return short_dataset_name(f"{dataset}/{same}") if same else test


def find_published(
    config: RunConfig, dataset: Mapping[str, Any], scores: Iterable[str]
) -> tuple[list[PublishedResult], str | None]:
    """Find the papers' results of a run's system, trained and tested on the same data.

    Args:
        config: The config of the run.
        dataset: The description of the test set: ``name``, ``config``, ``split`` and ``rows``.
        scores: Names of the run's scores.

    Returns:
        The results with the same preset, training rows, view, shots and test rows; and, if there
        are none, the reason in words, else None.
    """
    test = data_name(dataset)
    reason = differing_test_set(test, dataset) or _not_the_presets(config)
    if reason is not None:
        return [], reason
    places = {place_of(test, score) for score in scores}
    found = [result for result in published_results() if result.differs is None]
    for words, is_same in _conditions(config, test, places):
        found = [result for result in found if is_same(result)]
        if not found:
            return [], words
    return found, None


def _conditions(
    config: RunConfig, test: str, places: Set[tuple[str, str]]
) -> list[tuple[str, Callable[[PublishedResult], bool]]]:
    """Return the conditions of comparing a result with a run, each with its reason if none does."""
    trained, n_shots = _training_set(config), config.n_shots or None
    no_table = f"no table has {config.preset}"
    on_train = f"{no_table} on {test}, trained on {trained or 'nothing'}"
    return [
        (no_table, lambda r: r.preset == config.preset),
        (f"{no_table} on {test}", lambda r: any(place_of(r.test, s) in places for s in r.scores)),
        (on_train, lambda r: r.train == trained),
        (f"no table has it with {_VIEWS[config.view]}", lambda r: r.view == config.view),
        ("no table has it with that number of shots", lambda r: r.n_shots == n_shots),
        ("no table has it on that part of the training rows", lambda r: _same_part(r, config)),
        ("no table has it with these features", lambda r: _same_features(r, config)),
        (
            "its word vectors are drawn, the paper's are GloVe's",
            lambda r: all(config.details.get(name) is not None for name in r.needs),
        ),
    ]


def _training_set(config: RunConfig) -> str | None:
    """Return the shortest name of a run's training set; None if it has none."""
    if config.train is None or config.method == "prompt":  # exemplars are no training set
        return None
    if re.split("[/:]", config.train)[0] not in builders():
        return "rows of one's own"  # whatever the file or folder is called
    return short_dataset_name(config.train, "train")


def _same_part(result: PublishedResult, config: RunConfig) -> bool:
    ours, theirs = config.subset, result.subset
    if ours is None or theirs is None:
        return ours is theirs
    return ours.kind == theirs.kind and abs(ours.share - theirs.share) < _SAME_SHARE


def _same_features(result: PublishedResult, config: RunConfig) -> bool:
    """Return whether a lexicalized classifier has the same features; none named means all."""
    ours, theirs = (set(d.get("groups") or _FEATURES) for d in (config.details, result.details))
    return ours == theirs


def differing_test_set(test: str, dataset: Mapping[str, Any]) -> str | None:
    """Return why no paper has results on a test set, or None if one has.

    Args:
        test: The result of ``data_name``.
        dataset: The description of the test set: ``name``, ``config``, ``split`` and ``rows``.
    """
    known = {place_of(r.test, score)[0] for r in published_results() for score in r.scores}
    if _same_test(test) not in known:
        return f"no paper has results on {test}"
    if dataset["split"] != "test":
        return f"the papers' results are on the test split, these on {dataset['split']}"
    spec = get_builder(dataset["name"]).SPEC
    counts = spec.published.get(dataset["config"] or spec.default_config, {}).get("test", {})
    n_rows = counts.get("rows", dataset["rows"])
    if n_rows != dataset["rows"]:
        return f"the paper's test set has {n_rows:,} rows, this one {dataset['rows']:,}"
    return None


def _not_the_presets(config: RunConfig) -> str | None:
    """Return why a run is not the system of a paper, or None if it is."""
    if config.preset is None or config.preset not in PRESETS:
        return "it follows no paper's system"
    changed = changed_settings(config)
    return f"it is not as {config.preset} says ({', '.join(changed)})" if changed else None


def changed_settings(config: RunConfig) -> list[str]:
    """List the settings, ``learning_rate 1e-05``, in which a run departs from its preset.

    Data, view and shots are compared with each result, as are features and vectors. The folder of
    a model counts as the model of its name, and the address of a server does not matter.
    """
    preset = PRESETS[str(config.preset)].config
    takes_last_epoch = config.train is not None and config.validation is None
    details = sorted({*config.details, *preset.details}.difference(_NOT_COMPARED))

    def settings(of: RunConfig) -> dict[str, Any]:
        return {
            "method": of.method,
            "new_head": of.new_head,
            "model": (of.model or "").rstrip("/").rpartition("/")[2],
            **({"validation": of.validation} if takes_last_epoch else {}),
            **dataclasses.asdict(of.options),
            **{name: of.details.get(name) for name in details},
        }

    expected = settings(preset)
    given = settings(config).items()
    return [f"{name} {value}" for name, value in given if value != expected[name]]


def merge_published(
    results: Iterable[PublishedResult], wanted: Mapping[tuple[str, str], str]
) -> list[PaperRow]:
    """Merge the results of papers' tables that agree, each row of as many tables as possible.

    Args:
        results: The results.
        wanted: Names of scores in the rows, by the result of ``place_of``; others are left out.
    """
    rows: list[tuple[list[PublishedResult], dict[str, PublishedScore]]] = []
    for result in results:
        scores = {
            wanted[place]: score
            for name, score in result.scores.items()
            if (place := place_of(result.test, name)) in wanted
        }
        for alike, known in rows:
            if all(score.mean == known.get(name, score).mean for name, score in scores.items()):
                alike.append(result)
                with_std = {name for name, score in known.items() if score.std is not None}
                known.update({name: s for name, s in scores.items() if name not in with_std})
                break
        else:
            rows.append(([result], scores))
    return [_paper_row(alike, scores) for alike, scores in rows]


def _paper_row(alike: Sequence[PublishedResult], scores: Mapping[str, PublishedScore]) -> PaperRow:
    n_runs = next((result.n_runs for result in alike if result.n_runs is not None), None)
    sources = tuple(dict.fromkeys(result.source for result in alike))
    notes = tuple(dict.fromkeys(f"{r.source}: {r.note}" for r in alike if r.note is not None))
    return PaperRow(sources, alike[0].system, scores, n_runs, notes)


def results_apart(test: str) -> dict[tuple[str, str], list[str]]:
    """Collect the results on a test set that no run is compared with.

    Args:
        test: The short name of the test set; results on a larger one that has it count.

    Returns:
        By source and what differs, each system with its macro-F1 as a percentage.
    """
    found: dict[tuple[str, str], list[str]] = {}
    wanted = place_of(test, "macro_f1")
    for result in published_results():
        for name, score in result.scores.items():
            if result.differs is not None and place_of(result.test, name) == wanted:
                shown = f"{result.system} {100 * score.mean:.{result.decimals}f}"
                found.setdefault((result.source, result.differs), []).append(shown)
    return found


def join_sources(sources: Iterable[str]) -> str:
    """Join tables of papers into one text.

    >>> join_sources(["MSciNLI, Table 4", "MSciNLI, Table 6"])
    'MSciNLI, Tables 4 and 6'
    """
    by_paper: dict[str, dict[str, None]] = {}
    for source in sources:
        paper, _, place = source.partition(", ")
        places = re.findall(r"\d+", place) if place.startswith("Table") else [place]
        by_paper.setdefault(paper, {}).update(dict.fromkeys(places))
    return "; ".join(f"{paper}, {_join(list(places))}" for paper, places in by_paper.items())


def _join(places: list[str]) -> str:
    tables = sorted(filter(str.isdigit, places), key=int)
    listed = ", ".join([*tables[:-2], " and ".join(tables[-2:])])
    told = [f"Table{'s' * (len(tables) > 1)} {listed}"] if tables else []
    return ", ".join([*told, *(place for place in places if not place.isdigit())])

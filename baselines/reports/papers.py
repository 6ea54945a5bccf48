"""Which of the papers' results a run can stand beside."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from ...builders.core.registry import builders, get_builder
from ..presets import PRESETS
from ..runs.config import RunConfig
from .names import data_name, short_name
from .published import PublishedResult, PublishedScore, published_results

#: Configs whose test set is that of another; see the declarations of their datasets.
_SAME_TEST = {
    "scinli/acl_small": "scinli",
    "mscinli/plus_small": "mscinli/plus",
    "bionli/balanced": "bionli",
}

#: Test sets that are put together from the domains of MSciNLI and, in part, that of SciNLI.
_OF_DOMAINS = ("mscinli", "mscinli/plus")

_VIEWS = {"pair": "the pair", "hypothesis": "the hypothesis alone"}

#: Decimals of the percentages that papers print, where they are not two.
_DECIMALS = {"BioNLI": 0, "SpaceNLI": 1}

#: 33 % in a paper is a third of a run's rows.
_SAME_SHARE = 0.005

#: The features of the lexicalized classifier; SciNLI, section 4.2. Those of
#: ``classical.features.GROUPS``, which needs packages that a report does not.
_FEATURES = ("bleu", "length", "overlap", "unigrams", "bigrams")

#: Details that set results of one preset apart, or that do not matter: where a model runs.
_NOT_COMPARED = ("groups", "vectors", "server")


@dataclass(frozen=True)
class PaperRow:
    """What one or more tables say alike of one system on one test set.

    Attributes:
        sources: The tables.
        system: The system as the paper calls it.
        scores: Its scores.
        n_runs: Over how many runs the means are; None where that is not said.
        notes: What is odd about them, with the table.
    """

    sources: tuple[str, ...]
    system: str
    scores: Mapping[str, PublishedScore]
    n_runs: int | None
    notes: tuple[str, ...]

    @property
    def source(self) -> str:
        """The tables, told together."""
        return join_sources(self.sources)

    @property
    def decimals(self) -> int:
        """How many decimals of a percentage the paper prints."""
        return _DECIMALS.get(self.sources[0].partition(",")[0], 2)


def place_of(test: str, score: str) -> tuple[str, str]:
    """The test set that a score is on, and its name there.

    Args:
        test: Short name of a test set.
        score: Name of a score.

    Returns:
        ``("mscinli/networks", "macro_f1")`` for ``macro_f1 networks`` on ``mscinli``: the rows of a
        domain are the same in every config that has them.
    """
    test = _SAME_TEST.get(test, test)
    name, _, domain = score.partition(" ")
    if name == "macro_f1" and domain and test in _OF_DOMAINS:
        return ("scinli" if domain == "acl" else f"mscinli/{domain}"), name
    return test, score


def find_results(
    config: RunConfig, dataset: Mapping[str, Any], scores: Iterable[str]
) -> tuple[list[PublishedResult], str | None]:
    """What the papers say of the same system, trained and tested on the same data.

    Args:
        config: What the run was asked to do.
        dataset: What it was tested on: ``name``, ``config``, ``split`` and ``rows``.
        scores: The scores that the run has.

    Returns:
        The results with the same preset, training rows, view, shots and test rows, none where the
        run is not as its preset says; and why there is none, in words.
    """
    test = data_name(dataset)
    reason = _not_the_papers(test, dataset) or _not_the_presets(config)
    if reason is not None:
        return [], reason
    places = {place_of(test, score) for score in scores}
    found = list(published_results())
    for words, is_same in _conditions(config, test, places):
        found = [result for result in found if is_same(result)]
        if not found:
            return [], words
    return found, None


def _conditions(
    config: RunConfig, test: str, places: Set[tuple[str, str]]
) -> list[tuple[str, Callable[[PublishedResult], bool]]]:
    """What has to be the same for a result to stand beside a run, and what to say if none is."""
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
    """What a run was trained on, by its shortest name; None if on nothing."""
    if config.train is None or config.method == "prompt":  # exemplars are no training set
        return None
    if re.split("[/:]", config.train)[0] not in builders():
        return "rows of one's own"  # whatever the file or folder is called
    return short_name(config.train, "train")


def _same_part(result: PublishedResult, config: RunConfig) -> bool:
    ours, theirs = config.subset, result.subset
    if ours is None or theirs is None:
        return ours is theirs
    return ours.kind == theirs.kind and abs(ours.share - theirs.share) < _SAME_SHARE


def _same_features(result: PublishedResult, config: RunConfig) -> bool:
    """Whether a lexicalized classifier has the same features; one that names none has all."""
    ours, theirs = (set(d.get("groups") or _FEATURES) for d in (config.details, result.details))
    return ours == theirs


def _not_the_papers(test: str, dataset: Mapping[str, Any]) -> str | None:
    """Why no paper has results on a test set."""
    known = {place_of(r.test, score)[0] for r in published_results() for score in r.scores}
    if _SAME_TEST.get(test, test) not in known:
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
    """Why a run is not the system of a paper."""
    if config.preset is None or config.preset not in PRESETS:
        return "it follows no paper's system"
    changed = changes(config)
    return f"it is not as {config.preset} says ({', '.join(changed)})" if changed else None


def changes(config: RunConfig) -> list[str]:
    """What of a run is not as its preset says, data, view, shots and part of the rows aside.

    Args:
        config: A run with a preset.

    Returns:
        Names and values, such as ``learning_rate 1e-05``. The folder of a model counts as the model
        of its name, features and vectors are left to the results, and it does not matter which
        server a model runs on.
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


def merge_results(
    results: Iterable[PublishedResult], wanted: Mapping[tuple[str, str], str]
) -> list[PaperRow]:
    """Rows in which no two tables contradict each other, each with as many tables as possible.

    Args:
        results: The results.
        wanted: The names that scores get in the rows, by their place; see ``place_of``.
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


def join_sources(sources: Iterable[str]) -> str:
    """Tables of papers, told together.

    Returns:
        ``"MSciNLI, Tables 4 and 6"`` for ``["MSciNLI, Table 4", "MSciNLI, Table 6"]``.
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

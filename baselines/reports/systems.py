"""Group runs into systems, which differ in more than the seed, and their test sets."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ...loaders.errors import SourceNotFoundError, UsageError
from ..runs.config import HyperParameters, RunConfig
from ..runs.defaults import CHOSEN
from ..runs.folder import RunFolder
from .names import benchmark_name, distinct_names, model_name, system_identity
from .read_runs import Evaluation, FinishedRun, find_runs, read_run

#: A mean, and the standard deviation (over n - 1) where there are several values.
Mean = tuple[float, float | None]

#: Metrics and scores by which systems are compared; the first metric that a test set has counts.
_COMPARED = {
    "pattern_accuracy": ("accuracy", "pattern_accuracy 0.95"),
    "consistency": ("macro_f1", "consistency 1.0"),
    "nli_report": ("macro_f1", "accuracy"),
}


@dataclass(frozen=True)
class ReportedSystem:
    """A system of a report: runs that differ in their seed alone.

    Attributes:
        name: The name in the report, which is unique there.
        config: The config of the first run.
        runs: The runs in the order of their seeds.
    """

    name: str
    config: RunConfig
    runs: tuple[FinishedRun, ...]


@dataclass(frozen=True)
class Benchmark:
    """A test set of a report, with the systems that were tested on it.

    Attributes:
        name: The shortest name, ``mscinli/hardware``; with the split if that is not ``test``.
        dataset: The description of the rows; of configs with the same rows, the first by name.
        systems: The systems, sorted by name.
    """

    name: str
    dataset: Mapping[str, Any]
    systems: tuple[ReportedSystem, ...]

    def evaluations(self, system: ReportedSystem) -> dict[int, Evaluation]:
        """Return the results of a system's runs by seed; empty if not tested on these rows."""
        digest = str(self.dataset["digest"])
        runs = (run for run in system.runs if digest in run.evaluations)
        return {run.config.seed: run.evaluations[digest] for run in runs}

    def means(self, system: ReportedSystem) -> dict[str, Mean]:
        """Compute means and standard deviations of a system's scores over its tested runs."""
        found = [evaluation.scores for evaluation in self.evaluations(system).values()]
        shared = [name for name in found[0] if all(name in f for f in found)] if found else []
        return {name: _mean_and_std([scores[name] for scores in found]) for name in shared}

    @cached_property
    def example(self) -> Evaluation:
        """Return one of its evaluations, to see which metrics and scores there are."""
        return next(iter(self.evaluations(self.systems[0]).values()))

    @property
    def metric(self) -> str:
        """Return the metric by which systems are compared."""
        return next(name for name in _COMPARED if name in self.example.metrics)

    @property
    def compared(self) -> tuple[str, ...]:
        """Return the scores by which systems are compared; the first one ranks them."""
        return _COMPARED[self.metric]

    @cached_property
    def ranked(self) -> list[ReportedSystem]:
        """Return the systems, the best first, equal ones by name."""
        score = self.compared[0]
        return sorted(self.systems, key=lambda s: (-self.means(s)[score][0], s.name))

    def middle_run(self, system: ReportedSystem) -> Evaluation:
        """Return the median run by the first score; of two the lower, of equal ones the first."""
        found, score = self.evaluations(system), self.compared[0]
        ranking = sorted(found, key=lambda seed: (found[seed].scores[score], seed))
        return found[ranking[(len(ranking) - 1) // 2]]


def _mean_and_std(values: Sequence[float]) -> Mean:
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None


@dataclass(frozen=True)
class RunCollection:
    """The runs of a report, by system and by test set.

    Attributes:
        systems: The systems, sorted by name.
        benchmarks: The test sets, sorted by name.
        unfinished: Folders of runs that are running or were interrupted.
        repeated: Folders of runs that repeat another with the same result.
    """

    systems: tuple[ReportedSystem, ...]
    benchmarks: tuple[Benchmark, ...]
    unfinished: Sequence[str]
    repeated: Sequence[str]


def collect_runs(folders: Sequence[Path]) -> RunCollection:
    """Read the runs of a report from folders that contain them at any depth, and group them.

    Runs belong to one system if their configs differ only in the seed, the order of the tests, and
    the run that chose a subset.

    Raises:
        SourceNotFoundError: A folder has no runs, or a file of a run is missing.
        UsageError: A run is malformed; two runs of a system have the same seed and different
            results; rows of one name differ between runs, or the training rows of a system.
    """
    done: dict[Path, FinishedRun] = {}
    unfinished = set()
    for given in folders:
        for folder in find_runs(given):
            place = _place(folder, given, is_one_of_many=len(folders) > 1)
            if not RunFolder(folder).is_done:
                unfinished.add(place)
            elif folder.resolve() not in done:
                done[folder.resolve()] = read_run(folder, place)
    if not done:
        raise SourceNotFoundError(
            f"None of the runs has come to its end: {', '.join(sorted(unfinished))}."
        )
    runs = list(done.values())
    _check_digests(runs)
    systems = _systems(runs)
    counted = {run.place for system in systems for run in system.runs}
    repeated = sorted(run.place for run in runs if run.place not in counted)
    return RunCollection(systems, _benchmarks(systems), sorted(unfinished), repeated)


def _place(folder: Path, given: Path, *, is_one_of_many: bool) -> str:
    inner, outer = folder.relative_to(given).as_posix(), given.resolve().name
    if inner == ".":
        return outer
    return f"{outer}/{inner}" if is_one_of_many else inner


def _check_digests(runs: Sequence[FinishedRun]) -> None:
    known: dict[str, tuple[str, FinishedRun]] = {}
    for run in runs:
        for digest, evaluation in run.evaluations.items():
            other, first = known.setdefault(evaluation.key, (digest, run))
            if other != digest:
                raise UsageError(
                    f"The rows of {evaluation.key} are not the same: {other} in {first.folder}, "
                    f"{digest} in {run.folder}. Report on them apart, or repeat one of the runs."
                )


def _systems(runs: Sequence[FinishedRun]) -> tuple[ReportedSystem, ...]:
    by_config: dict[str, dict[int, FinishedRun]] = {}
    for run in sorted(runs, key=lambda run: (run.config.seed, run.place)):
        of_system = by_config.setdefault(system_identity(run.config), {})
        _check_training_rows(next(iter(of_system.values()), run), run)
        first = of_system.setdefault(run.config.seed, run)
        if first is not run:
            _check_same(first, run)
    groups = [tuple(found.values()) for found in by_config.values()]
    configs = [group[0].config for group in groups]
    systems = map(ReportedSystem, distinct_names(configs), configs, groups)
    return tuple(sorted(systems, key=lambda system: system.name))


def _check_training_rows(first: FinishedRun, second: FinishedRun) -> None:
    """Refuse runs of one system that were trained on different rows of the same name."""
    ours, theirs = ((run.record.get("data") or {}).get("train") for run in (first, second))
    if ours and theirs and ours["digest"] != theirs["digest"]:
        raise UsageError(
            f"{first.folder} and {second.folder} are runs of one system, but the rows of "
            f"{first.config.train} were not the same: {ours['digest']} and {theirs['digest']}. "
            "Report on them apart, or repeat one of the runs."
        )


def _check_same(first: FinishedRun, second: FinishedRun) -> None:
    ours, theirs = (
        {digest: evaluation.metrics for digest, evaluation in run.evaluations.items()}
        for run in (first, second)
    )
    if ours != theirs:
        raise UsageError(
            f"{first.folder} and {second.folder} are runs of one system with the seed "
            f"{first.config.seed}, but their results differ. Leave one of them out, or give the "
            "systems different names."
        )


def _benchmarks(systems: Sequence[ReportedSystem]) -> tuple[Benchmark, ...]:
    named: dict[str, dict[str, Mapping[str, Any]]] = {}
    for run in (run for system in systems for run in system.runs):
        for digest, evaluation in run.evaluations.items():
            names = named.setdefault(digest, {})
            names.setdefault(benchmark_name(evaluation.dataset), evaluation.dataset)
    benchmarks = []
    for digest, datasets in named.items():
        name = min(datasets, key=lambda name: (len(name), name))
        tested = tuple(s for s in systems if any(digest in run.evaluations for run in s.runs))
        benchmarks.append(Benchmark(name, datasets[name], tested))
    return tuple(sorted(benchmarks, key=lambda benchmark: benchmark.name))


def system_families(
    systems: Sequence[ReportedSystem], *varied: str
) -> dict[str, list[ReportedSystem]]:
    """Group systems that differ only in the fields ``varied``, besides name, preset and tests.

    Of encoders without a preset also in hyper-parameters that may follow from the rows, where no
    two systems of a family have the same values of ``varied``. Families have two or more members
    and a common name; they keep the order of the systems.
    """
    alike = _group(systems, lambda config: _identity_without_chosen(config, *varied))
    groups = []
    for group in alike:
        values = [[getattr(system.config, name) for name in varied] for system in group]
        if all(values.count(one) == 1 for one in values):
            groups.append(group)
        else:  # their hyper-parameters are what is compared
            groups += _group(group, lambda config: _identity(config, *varied))
    groups = [group for group in groups if len(group) > 1]
    configs = [replace(group[0].config, name=_common_name(group)) for group in groups]
    names = distinct_names(configs, "name", "preset", "tests", *varied)
    return dict(zip(names, groups, strict=True))


def _group(
    systems: Sequence[ReportedSystem], key: Callable[[RunConfig], str]
) -> list[list[ReportedSystem]]:
    found: dict[str, list[ReportedSystem]] = {}
    for system in systems:
        found.setdefault(key(system.config), []).append(system)
    return list(found.values())


def _identity(config: RunConfig, *varied: str) -> str:
    return system_identity(config, "name", "preset", "tests", *varied)


def _identity_without_chosen(config: RunConfig, *varied: str) -> str:
    if config.method == "encoder" and config.preset is None and not config.reference:
        plain = {name: getattr(HyperParameters(), name) for name in CHOSEN}
        config = replace(config, options=replace(config.options, **plain))
    return _identity(config, *varied)


def _common_name(systems: Sequence[ReportedSystem]) -> str:
    """Return the name that all share, else their preset, else their model, else the method."""
    configs = [system.config for system in systems]
    shared = zip(*((c.name, c.preset, model_name(c), c.method) for c in configs), strict=True)
    return next(str(names[0]) for names in shared if names[0] and len(set(names)) == 1)

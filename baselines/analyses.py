"""Plan several runs of a baseline: over seeds, over shots, and for the papers' analyses."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from ..loaders.errors import UnknownNameError, UsageError
from .runs.config import RunConfig, TrainingSubset


@dataclass(frozen=True)
class PlannedRun:
    """A run that is yet to be done, and its folder, relative to the folder of all runs."""

    folder: PurePosixPath
    config: RunConfig


def plan_seeds(config: RunConfig, seeds: Sequence[int], within: str = "") -> list[PlannedRun]:
    """Plan a run for each seed, in folders ``seed-N``; repeated seeds count once.

    Args:
        config: The config that the runs share.
        seeds: The seeds.
        within: The folder, relative to that of all runs, that holds the folders.
    """
    return [
        PlannedRun(PurePosixPath(within) / f"seed-{seed}", replace(config, seed=seed))
        for seed in dict.fromkeys(seeds)
    ]


def plan_shots(config: RunConfig, seeds: Sequence[int], shots: Sequence[int]) -> list[PlannedRun]:
    """Plan few-shot learning with several numbers of shots, in folders ``k-N/seed-N``.

    With 0 shots no rows are drawn, but a new head is, so every seed has its run there too.

    Args:
        config: The config that the runs share.
        seeds: The seeds of each number of shots.
        shots: Numbers of training rows of each pattern, 0 or more.

    Source: SpaceNLI, section 4.2.3 and Figure 3.
    """
    return [
        planned
        for n_shots in dict.fromkeys(shots)
        for planned in plan_seeds(replace(config, n_shots=n_shots), seeds, f"k-{n_shots}")
    ]


#: The domains of the domain-shift matrix: of each a training set of 25,464 rows and a test set.
#: Source: MSciNLI, Table 8.
DOMAINS = {
    "hardware": ("mscinli/hardware", "mscinli/hardware"),
    "networks": ("mscinli/networks", "mscinli/networks"),
    "software_engineering": ("mscinli/software_engineering", "mscinli/software_engineering"),
    "security_privacy": ("mscinli/security_privacy", "mscinli/security_privacy"),
    "neurips": ("mscinli/neurips", "mscinli/neurips"),
    "acl": ("scinli/acl_small", "scinli"),
}

#: The training sets of the experiment across datasets. Source: MSciNLI, Table 9.
DATASETS = ("scinli", "mscinli", "mscinli/plus_small", "mscinli/plus")

#: The parts of the training set. Source: MSciNLI, Table 7.
PARTS = {
    "easy": ("easy", 0.33),
    "hard": ("hard", 0.33),
    "ambiguous": ("ambiguous", 0.33),
    "without-hardest-25": ("without_hardest", 0.25),
    "without-hardest-5": ("without_hardest", 0.05),
}


def plan_hypothesis_only(config: RunConfig, seeds: Sequence[int]) -> list[PlannedRun]:
    """Plan training on the pair, and on the hypothesis alone.

    Source: SciNLI, section 5 and Table 7; MSciNLI, Table 17; BioNLI, Table 5.
    """
    return [
        planned
        for view in ("pair", "hypothesis")
        for planned in plan_seeds(replace(config, view=view), seeds, view)
    ]


def plan_domain_shift(config: RunConfig, seeds: Sequence[int]) -> list[PlannedRun]:
    """Plan training on each domain, and testing on all domains.

    Source: MSciNLI, section 5.2 and Table 8.
    """
    tests = tuple(test for _, test in DOMAINS.values())
    return [
        planned
        for domain, (train, test) in DOMAINS.items()
        for planned in plan_seeds(
            replace(config, train=train, validation=_validation(config, test), tests=tests),
            seeds,
            domain,
        )
    ]


def _validation(config: RunConfig, name: str) -> str | None:
    return name if config.takes("validation") else None


def plan_cross_dataset(config: RunConfig, seeds: Sequence[int]) -> list[PlannedRun]:
    """Plan training on each dataset and on both, and testing on each and on both.

    Source: MSciNLI, section 5.3 and Table 9.
    """
    return [
        planned
        for train in DATASETS
        for planned in plan_seeds(
            replace(
                config,
                train=train,
                validation=_validation(config, train),
                tests=("scinli", "mscinli", "mscinli/plus"),
            ),
            seeds,
            train.replace("/", "-"),
        )
    ]


def plan_cartography(config: RunConfig, seeds: Sequence[int]) -> list[PlannedRun]:
    """Plan training on all rows, then on those that the first run found easy, hard or ambiguous.

    Raises:
        UsageError: The method does not train in epochs.

    Source: MSciNLI, section 5.1 and Table 7.
    """
    if config.method in ("lexicalized", "zero-shot", "prompt"):
        raise UsageError(
            f"The analysis cartography compares epochs of training; the method {config.method} has "
            "none. Choose an encoder, cbow, cnn or bilstm."
        )
    planned = plan_seeds(config, seeds, "all")
    first = planned[0].folder
    for name, (kind, share) in PARTS.items():
        subset = TrainingSubset(kind, share, str(PurePosixPath("../..") / first))
        planned += plan_seeds(replace(config, subset=subset), seeds, name)
    return planned


ANALYSES = {
    "hypothesis-only": plan_hypothesis_only,
    "domain-shift": plan_domain_shift,
    "cross-dataset": plan_cross_dataset,
    "cartography": plan_cartography,
}


def plan_analysis(kind: str, config: RunConfig, seeds: Sequence[int]) -> list[PlannedRun]:
    """Plan the runs of an analysis of the papers, in the order in which they have to be done.

    Args:
        kind: One of ``ANALYSES``.
        config: The config that the runs share.
        seeds: The seeds of each system that the analysis compares.

    Raises:
        UnknownNameError: There is no such analysis.
        UsageError: The analysis does not apply to the config's method.
    """
    if kind not in ANALYSES:
        raise UnknownNameError.of("analysis", kind, ANALYSES)
    return ANALYSES[kind](config, seeds)

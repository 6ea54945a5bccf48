"""Several runs that belong together: seeds, shots, and the papers' analyses."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from ..loaders.errors import UnknownNameError, UsageError
from .runs.config import RunConfig, Subset


@dataclass(frozen=True)
class PlannedRun:
    """A run and where it goes.

    Attributes:
        folder: Its folder, within that of all runs.
        config: What to do.
    """

    folder: PurePosixPath
    config: RunConfig


def over_seeds(config: RunConfig, seeds: Sequence[int], within: str = "") -> list[PlannedRun]:
    """A run with several seeds, each in a folder ``seed-N``."""
    return [
        PlannedRun(PurePosixPath(within) / f"seed-{seed}", replace(config, seed=seed))
        for seed in dict.fromkeys(seeds)
    ]


def over_shots(config: RunConfig, seeds: Sequence[int], shots: Sequence[int]) -> list[PlannedRun]:
    """Few-shot learning with several numbers of shots, in folders ``k-N/seed-N``.

    Without shots there is no draw, but a new head is drawn, so every seed has its run.

    Source: SpaceNLI, section 4.2.3 and Figure 3.
    """
    return [
        planned
        for n_shots in dict.fromkeys(shots)
        for planned in over_seeds(replace(config, n_shots=n_shots), seeds, f"k-{n_shots}")
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


def hypothesis_only(config: RunConfig, seeds: Sequence[int]) -> list[PlannedRun]:
    """The whole pair against the hypothesis alone.

    Source: SciNLI, section 5 and Table 7; MSciNLI, Table 17; BioNLI, Table 5.
    """
    return [
        planned
        for view in ("pair", "hypothesis")
        for planned in over_seeds(replace(config, view=view), seeds, view)
    ]


def domain_shift(config: RunConfig, seeds: Sequence[int]) -> list[PlannedRun]:
    """Training on one domain, testing on all.

    Source: MSciNLI, section 5.2 and Table 8.
    """
    tests = tuple(test for _, test in DOMAINS.values())
    return [
        planned
        for domain, (train, test) in DOMAINS.items()
        for planned in over_seeds(
            replace(config, train=train, validation=_validation(config, test), tests=tests),
            seeds,
            domain,
        )
    ]


def _validation(config: RunConfig, name: str) -> str | None:
    return name if config.takes("validation") else None


def cross_dataset(config: RunConfig, seeds: Sequence[int]) -> list[PlannedRun]:
    """Training on one dataset or on both, testing on each and on both.

    Source: MSciNLI, section 5.3 and Table 9.
    """
    return [
        planned
        for train in DATASETS
        for planned in over_seeds(
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


def cartography(config: RunConfig, seeds: Sequence[int]) -> list[PlannedRun]:
    """Training on all rows, then on those that the first such run found easy, hard or ambiguous.

    Source: MSciNLI, section 5.1 and Table 7.
    """
    if config.method in ("lexicalized", "zero-shot", "prompt"):
        raise UsageError(f"Cartography looks at epochs of training; {config.method} has none.")
    planned = over_seeds(config, seeds, "all")
    first = planned[0].folder
    for name, (kind, share) in PARTS.items():
        subset = Subset(kind, share, str(PurePosixPath("../..") / first))
        planned += over_seeds(replace(config, subset=subset), seeds, name)
    return planned


ANALYSES = {
    "hypothesis-only": hypothesis_only,
    "domain-shift": domain_shift,
    "cross-dataset": cross_dataset,
    "cartography": cartography,
}


def plan_analysis(kind: str, config: RunConfig, seeds: Sequence[int]) -> list[PlannedRun]:
    """The runs of an analysis, in the order in which they have to be done.

    Args:
        kind: One of ``ANALYSES``.
        config: What all have in common.
        seeds: The seeds of each.

    Raises:
        UnknownNameError: There is no such analysis.
        UsageError: It is none for this method.
    """
    if kind not in ANALYSES:
        raise UnknownNameError.of("analysis", kind, ANALYSES)
    return ANALYSES[kind](config, seeds)

"""Plan several runs of a baseline: over seeds, over shots, and for the papers' analyses."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from ..loaders.errors import UnknownNameError, UsageError
from .runs.config import VIEWS, RunConfig, TrainingSubset


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
    configs = {f"k-{n_shots}": replace(config, n_shots=n_shots) for n_shots in shots}
    return _plan_folders(configs, seeds)


def _plan_folders(configs: Mapping[str, RunConfig], seeds: Sequence[int]) -> list[PlannedRun]:
    """Plan a run for each seed of each config, in the config's folder."""
    planned = (plan_seeds(config, seeds, folder) for folder, config in configs.items())
    return list(itertools.chain.from_iterable(planned))


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
    return _plan_folders({view: replace(config, view=view) for view in VIEWS}, seeds)


def plan_domain_shift(config: RunConfig, seeds: Sequence[int]) -> list[PlannedRun]:
    """Plan training on each domain, and testing on all domains.

    Test sets of the config that are of other datasets, such as ``mismatched``, come after them.

    Source: MSciNLI, section 5.2 and Table 8.
    """
    tests = tuple(test for _, test in DOMAINS.values())
    configs = {
        domain: _learning(config, train, test, tests) for domain, (train, test) in DOMAINS.items()
    }
    return _plan_folders(configs, seeds)


def _learning(config: RunConfig, train: str, validation: str, tests: tuple[str, ...]) -> RunConfig:
    """Return a config with other training, validation (if the method has any) and test rows."""
    compared = validation if config.takes("validation") else None
    known = {test.partition("/")[0] for test in tests}
    further = [test for test in config.tests if re.split("[/:]", test)[0] not in known]
    return replace(config, train=train, validation=compared, tests=(*tests, *further))


def plan_cross_dataset(config: RunConfig, seeds: Sequence[int]) -> list[PlannedRun]:
    """Plan training on each dataset and on both, and testing on each and on both.

    Test sets of the config that are of other datasets come after them.

    Source: MSciNLI, section 5.3 and Table 9.
    """
    tests = ("scinli", "mscinli", "mscinli/plus")
    configs = {
        train.replace("/", "-"): _learning(config, train, train, tests) for train in DATASETS
    }
    return _plan_folders(configs, seeds)


def plan_cartography(config: RunConfig, seeds: Sequence[int]) -> list[PlannedRun]:
    """Plan training on all rows, then on those that the first run found easy, hard or ambiguous.

    Raises:
        UsageError: The method does not train in epochs.

    Source: MSciNLI, section 5.1 and Table 7.
    """
    if config.method in ("lexicalized", "probe", "zero-shot", "prompt"):
        raise UsageError(
            f"The analysis cartography compares epochs of training; the method {config.method} has "
            "none. Choose an encoder, cbow, cnn or bilstm."
        )
    planned = plan_seeds(config, seeds, "all")
    first = str(PurePosixPath("../..") / planned[0].folder)
    subsets = {name: TrainingSubset(*part, first) for name, part in PARTS.items()}
    parts = {name: replace(config, subset=subset) for name, subset in subsets.items()}
    return planned + _plan_folders(parts, seeds)


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

"""SciNLI, MSciNLI, BioNLI and SpaceNLI in the Hugging Face ecosystem.

Importing this package is cheap: the Hugging Face libraries are imported by the first call that
needs them.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from .loaders.errors import NLIHubError

if TYPE_CHECKING:
    from .abstracts import (
        BeamSettings,
        EncoderCosine,
        GenerationSettings,
        ModelWriter,
        PretrainedModel,
        Similarity,
        SmallModel,
        TokenF1,
        TrainingSettings,
        build_from_abstracts,
    )
    from .annotation import (
        build_annotated,
        export_annotation,
        import_annotation,
        review_annotation,
    )
    from .api import (
        align_predictions,
        build,
        describe,
        export,
        fetch,
        harmonize,
        install,
        list_datasets,
        load_dataset,
        sample,
        stats,
        strip_markers,
        verify,
    )
    from .everything import publish_all
    from .hub import croissant, diff, publish, publish_metric, versions
    from .negatives import import_judgements, review_judgements, sample_negatives
    from .papers import build_from_papers, spark_engine
    from .perturbations import (
        Antonyms,
        EntityPool,
        Mechanism,
        Mention,
        Negate,
        ReplaceInside,
        ReplaceOutside,
        ReversePolarity,
        Strategy,
        SwapMarkers,
        SwapNames,
        SwapNumber,
        SwapPositions,
        perturb,
        perturb_all,
        perturb_files,
    )
    from .runs import list_presets, push_baseline, report_baselines, run_baseline
    from .scores import plot, score

_MODULES = {
    "TrainingSettings": "abstracts",
    "TokenF1": "abstracts",
    "Similarity": "abstracts",
    "EncoderCosine": "abstracts",
    "BeamSettings": "abstracts",
    "SmallModel": "abstracts",
    "PretrainedModel": "abstracts",
    "ModelWriter": "abstracts",
    "GenerationSettings": "abstracts",
    "Antonyms": "perturbations",
    "EntityPool": "perturbations",
    "Mechanism": "perturbations",
    "Mention": "perturbations",
    "Negate": "perturbations",
    "ReplaceInside": "perturbations",
    "ReplaceOutside": "perturbations",
    "ReversePolarity": "perturbations",
    "Strategy": "perturbations",
    "SwapMarkers": "perturbations",
    "SwapNames": "perturbations",
    "SwapNumber": "perturbations",
    "SwapPositions": "perturbations",
    "align_predictions": "api",
    "build": "api",
    "build_annotated": "annotation",
    "build_from_abstracts": "abstracts",
    "build_from_papers": "papers",
    "croissant": "hub",
    "describe": "api",
    "diff": "hub",
    "export": "api",
    "export_annotation": "annotation",
    "fetch": "api",
    "harmonize": "api",
    "import_annotation": "annotation",
    "import_judgements": "negatives",
    "install": "api",
    "list_datasets": "api",
    "list_presets": "runs",
    "load_dataset": "api",
    "perturb": "perturbations",
    "perturb_all": "perturbations",
    "perturb_files": "perturbations",
    "plot": "scores",
    "publish": "hub",
    "publish_all": "everything",
    "publish_metric": "hub",
    "push_baseline": "runs",
    "report_baselines": "runs",
    "review_annotation": "annotation",
    "review_judgements": "negatives",
    "run_baseline": "runs",
    "sample": "api",
    "sample_negatives": "negatives",
    "score": "scores",
    "spark_engine": "papers",
    "stats": "api",
    "strip_markers": "api",
    "verify": "api",
    "versions": "hub",
}

__all__ = [
    "Antonyms",
    "BeamSettings",
    "EncoderCosine",
    "EntityPool",
    "GenerationSettings",
    "Mechanism",
    "Mention",
    "ModelWriter",
    "NLIHubError",
    "Negate",
    "PretrainedModel",
    "ReplaceInside",
    "ReplaceOutside",
    "ReversePolarity",
    "Similarity",
    "SmallModel",
    "Strategy",
    "SwapMarkers",
    "SwapNames",
    "SwapNumber",
    "SwapPositions",
    "TokenF1",
    "TrainingSettings",
    "align_predictions",
    "build",
    "build_annotated",
    "build_from_abstracts",
    "build_from_papers",
    "croissant",
    "describe",
    "diff",
    "export",
    "export_annotation",
    "fetch",
    "harmonize",
    "import_annotation",
    "import_judgements",
    "install",
    "list_datasets",
    "list_presets",
    "load_dataset",
    "perturb",
    "perturb_all",
    "perturb_files",
    "plot",
    "publish",
    "publish_all",
    "publish_metric",
    "push_baseline",
    "report_baselines",
    "review_annotation",
    "review_judgements",
    "run_baseline",
    "sample",
    "sample_negatives",
    "score",
    "spark_engine",
    "stats",
    "strip_markers",
    "verify",
    "versions",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("nlihub")
    if name in _MODULES:
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

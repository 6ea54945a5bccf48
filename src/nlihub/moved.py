"""Where names, commands and options went; whoever uses an old one is told the new one."""

_CONSTRUCT = (
    "GenerationSettings",
    "ModelWriter",
    "Similarity",
    "spark_engine",
)
_HUB = ("croissant", "diff", "publish", "publish_all", "publish_metric", "versions")
_PERTURBATION = (
    "Antonyms",
    "EntityPool",
    "Mechanism",
    "Mention",
    "Negate",
    "ReplaceInside",
    "ReplaceOutside",
    "ReversePolarity",
    "Strategy",
    "SwapMarkers",
    "SwapNames",
    "SwapNumber",
    "SwapPositions",
    "perturb",
    "perturb_all",
    "perturb_files",
)

#: The new place of each name that stood at the top of the package.
MOVED_NAMES = {
    "build_annotated": "annotation.build",
    "build_from_abstracts": "construct.abstracts",
    "build_from_papers": "construct.papers",
    "export_annotation": "annotation.export",
    "import_annotation": "annotation.import_answers",
    "import_judgements": "annotation.import_answers",
    "list_presets": "baselines.list_presets",
    "push_baseline": "hub.publish_model",
    "report_baselines": "baselines.report",
    "review_annotation": "annotation.review",
    "review_judgements": "annotation.review",
    "run_baseline": "baselines.run",
    "sample_negatives": "annotation.sample_negatives",
    **{name: f"construct.{name}" for name in _CONSTRUCT},
    **{name: f"hub.{name}" for name in _HUB},
    **{name: f"perturbation.{name}" for name in _PERTURBATION},
}

_PAPERS = "nlihub construct papers NAME PATH ... {}"
_ABSTRACTS = "nlihub construct abstracts NAME PATH ... {}"
_EITHER = "nlihub construct papers|abstracts NAME PATH ... {}"

#: By command and option, what took its place; ``{}`` stands for the option.
MOVED_OPTIONS = {
    ("build", "--papers"): "nlihub construct papers NAME PATH ...",
    ("build", "--abstracts"): "nlihub construct abstracts NAME PATH ...",
    ("build", "--phrases"): "nlihub construct papers NAME PATH ... --linking-phrases, or "
    "nlihub construct abstracts NAME PATH ... --conclusion-phrases",
    **{
        ("build", f"--{name}"): _PAPERS.format(f"--{name}")
        for name in (
            "metadata",
            "train-years",
            "evaluation-years",
            "per-class",
            "within",
            "language",
            "spark",
        )
    },
    **{
        ("build", f"--{name}"): _ABSTRACTS.format(f"--{name}")
        for name in (
            "phrase-sets",
            "by-order",
            "strategies",
            "max-per-category",
            "generate",
            "models",
        )
    },
    **{
        ("build", f"--{name}"): _EITHER.format(f"--{name}")
        for name in ("domain", "ratio", "seed", "pretty-name", "license", "citation")
    },
    ("perturb", "--phrases"): "--conclusion-phrases",
    ("sample", "--category"): "--categories",
    ("export", "--category"): "--categories",
    **{
        (command, "--config"): "--configs"
        for command in ("build", "card", "croissant", "fetch", "install", "publish", "stats")
    },
}

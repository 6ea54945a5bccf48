"""The papers' baselines, by name."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..loaders.errors import UnknownNameError
from .runs.config import Options, RunConfig

SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Preset:
    """A baseline of a paper.

    Attributes:
        config: The config to run; it has the preset's name.
        source: Where the paper describes the baseline, and what is not from the paper.
        seeds: As many seeds as the paper has runs; it does not name its seeds.
        shots: Numbers of training rows of each pattern, for few-shot learning; else empty.
    """

    config: RunConfig
    source: str
    seeds: tuple[int, ...] = SEEDS
    shots: tuple[int, ...] = ()

    @property
    def command(self) -> str:
        """Return the command of ``nlihub baseline`` that runs the preset."""
        others = {"encoder": "finetune", "zero-shot": "zero-shot", "prompt": "zero-shot"}
        return "few-shot" if self.shots else others.get(self.config.method, "classical")


def get_preset(name: str) -> Preset:
    """Return the preset of a name.

    Args:
        name: A name in ``PRESETS``.

    Raises:
        UnknownNameError: There is no preset of that name.
    """
    if name not in PRESETS:
        raise UnknownNameError.of("preset", name, PRESETS)
    return PRESETS[name]


#: SciNLI, section 4.3, and its authors' code for what the paper leaves open: cased models, batches
#: of 64, 300 tokens, gradients clipped to 1, epochs compared by macro-F1. Their code puts one
#: separator between the texts and gives no segment ids; here a model's own tokenizer does both.
_SCINLI = Options(
    learning_rate=2e-5, batch_size=64, max_epochs=5, patience=2, max_length=300, max_grad_norm=1.0
)
_SCIENTIFIC_MODELS = {
    "bert": "google-bert/bert-base-cased",
    "scibert": "allenai/scibert_scivocab_cased",
    "roberta": "FacebookAI/roberta-base",
    "xlnet": "xlnet/xlnet-base-cased",
}

#: SciNLI, sections 4.1 and 4.3.
_NEURAL = Options(learning_rate=1e-3, batch_size=64, max_epochs=30, patience=10, max_grad_norm=None)

#: BioNLI, section 4.1, and its authors' code for what the paper leaves open: batches of 16, a
#: linear schedule after 25 steps of warm-up, gradients clipped to 1, markers as tokens, embeddings
#: and the pooler left as they are, the premise alone cut. Their code joins the texts with a token
#: <exp> and ends them with <end>; here a model's own tokenizer does that.
_BIONLI = Options(
    learning_rate=1e-4,
    batch_size=16,
    max_epochs=20,
    patience=None,
    max_length=512,
    truncation="only_first",
    optimizer="adamw",
    schedule="linear",
    warmup_steps=25,
    n_trained_layers=3,
    special_tokens=("<re>", "<er>", "<el>", "<le>"),
)
_BIOMEDICAL_MODELS = {
    "pubmedbert": "microsoft/BiomedNLP-PubMedBERT-base-uncased-abstract-fulltext",
    "biolinkbert": "michiyasunaga/BioLinkBERT-base",
}

#: SpaceNLI, Table 4.
_SPATIAL_MODELS = {
    "deberta-v3-smfa": "Joelzhang/deberta-v3-large-snli_mnli_fever_anli_R1_R2_R3-nli",
    "albert-xxl": "ynie/albert-xxlarge-v2-snli_mnli_fever_anli_R1_R2_R3-nli",
    "deberta-mnli": "microsoft/deberta-large-mnli",
    "roberta": "ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli",
    "bart": "ynie/bart-large-snli_mnli_fever_anli_R1_R2_R3-nli",
    "deberta-v3-mfalw": "MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli",
    "xlnet": "ynie/xlnet-large-cased-snli_mnli_fever_anli_R1_R2_R3-nli",
}

#: Ours: SpaceNLI, section 4.2.3, gives the draws and the shots, and no hyper-parameters.
FEW_SHOT = Options(
    learning_rate=1e-5,
    batch_size=16,
    max_epochs=10,
    patience=None,
    max_length=128,
    optimizer="adamw",
    weight_decay=0.01,
    schedule="linear",
)
SHOTS = (0, 1, 5, 10, 20)

#: MSciNLI, section 4.2.
_LANGUAGE_MODELS = {
    "llama2": "meta-llama/Llama-2-13b-chat-hf",
    "mistral": "mistralai/Mistral-7B-Instruct-v0.1",
}


def _trained(name: str, dataset: str, method: str, source: str, options: Options) -> Preset:
    config = RunConfig(
        name,
        method,
        (dataset,),
        preset=name,
        train=dataset,
        validation=dataset,
        options=options,
    )
    return Preset(config, source)


def _presets() -> Iterator[Preset]:
    epochs = {"scinli": 5, "mscinli": 10}
    where = {
        "scinli": "SciNLI, section 4.3 and Table 6; separators as in the model's own tokenizer",
        "mscinli": "MSciNLI, section 4.2 and Table 4; separators as for SciNLI",
    }
    for dataset, max_epochs in epochs.items():
        options = replace(_SCINLI, max_epochs=max_epochs)
        for short, model in _SCIENTIFIC_MODELS.items():
            made = _trained(f"{dataset}-{short}", dataset, "encoder", where[dataset], options)
            yield replace(made, config=replace(made.config, model=model))
    for kind in ("cbow", "cnn", "bilstm"):
        source = "SciNLI, sections 4.1 and 4.3 and Table 6; vectors drawn unless a file is given"
        yield _trained(f"scinli-{kind}", "scinli", kind, source, _NEURAL)
    yield _trained(
        "mscinli-bilstm", "mscinli", "bilstm", "MSciNLI, section 4.1 and Table 3", _NEURAL
    )
    lexicalized = _trained(
        "scinli-lexicalized", "scinli", "lexicalized", "SciNLI, section 4.2, Tables 5, 6", Options()
    )
    yield replace(lexicalized, config=replace(lexicalized.config, validation=None), seeds=SEEDS[:1])
    for short, model in _BIOMEDICAL_MODELS.items():
        source = "BioNLI, section 4.1 and Table 5; separators as in the model's own tokenizer"
        made = _trained(f"bionli-{short}", "bionli", "encoder", source, _BIONLI)
        yield replace(made, config=replace(made.config, model=model), seeds=SEEDS[:1])
    for short, model in _SPATIAL_MODELS.items():
        name = f"spacenli-{short}"
        config = RunConfig(
            name,
            "zero-shot",
            ("spacenli",),
            model=model,
            preset=name,
            options=Options(max_length=128),
        )
        yield Preset(config, "SpaceNLI, section 4.2 and Table 4", SEEDS[:1])
    for short, model in (
        ("roberta", _SPATIAL_MODELS["roberta"]),
        ("roberta-vanilla", "FacebookAI/roberta-large"),
    ):
        name = f"spacenli-{short}-few-shot"
        config = RunConfig(
            name,
            "encoder",
            ("spacenli/few_shot",),
            model=model,
            preset=name,
            train="spacenli/few_shot",
            options=FEW_SHOT,
        )
        source = "SpaceNLI, section 4.2.3 and Figure 3; the hyper-parameters are ours"
        yield Preset(config, source, shots=SHOTS)
    for short, model in _LANGUAGE_MODELS.items():
        for form in ("p1", "p2", "p3"):
            for word, n_shots in (("zero", 0), ("four", 4)):
                name = f"mscinli-{short}-{form}-{word}-shot"
                config = RunConfig(
                    name,
                    "prompt",
                    ("mscinli",),
                    model=model,
                    preset=name,
                    train="mscinli:validation" if n_shots else None,
                    n_shots=n_shots,
                    details={"prompt": form},
                )
                source = "MSciNLI, section 4.3 and Table 5; the wording and the shots are ours"
                yield Preset(config, source, SEEDS[:1])


#: The presets by name.
PRESETS = {preset.config.name: preset for preset in _presets()}

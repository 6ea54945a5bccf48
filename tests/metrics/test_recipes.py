"""Recipes: the metrics in ``Trainer`` and as an evaluator of sentence-transformers."""

import datasets
import pytest
from nlihub.metrics import compute_metrics
from tiny_models import LABELS, write_encoder, write_rows

pytestmark = pytest.mark.slow  # they train, or load torch


@pytest.fixture
def rows(tmp_path):
    path = write_rows(tmp_path / "rows.jsonl", 32, groups=4)
    read = datasets.load_dataset(
        "json", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache")
    )
    return read.cast_column("label", datasets.ClassLabel(names=list(LABELS)))


def test_compute_metrics_of_trainer(rows, tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    folder = write_encoder(tmp_path / "encoder", labels=LABELS)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    encoded = rows.map(lambda row: tokenizer(row["premise"], row["hypothesis"]), batched=True)
    names = rows.features["label"].names
    report = compute_metrics("nli_report", labels=names)
    # Rows are evaluated in their order, so that columns of the dataset fit.
    patterns = compute_metrics(
        "pattern_accuracy", labels=names, groups=rows["group"], thresholds=0.5
    )

    trainer = transformers.Trainer(
        model=transformers.AutoModelForSequenceClassification.from_pretrained(folder),
        args=transformers.TrainingArguments(
            str(tmp_path / "out"),
            max_steps=1,
            use_cpu=True,
            report_to="none",
        ),
        train_dataset=encoded,
        eval_dataset=encoded,
        processing_class=tokenizer,
        compute_metrics=lambda found: {**report(found), **patterns(found)},
    )
    trainer.train()
    found = trainer.evaluate()
    trainer.log_metrics("eval", found)
    per_class = [found[f"eval_per_class/{label}/f1"] for label in LABELS]
    assert found["eval_macro_f1"] == pytest.approx(sum(per_class) / 4)
    assert 0 <= found["eval_pattern_accuracy"] <= 1

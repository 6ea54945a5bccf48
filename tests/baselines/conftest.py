"""Tiny models and rows that the tests of baselines share."""

import pytest
from tiny_models import write_encoder, write_rows


@pytest.fixture(scope="session")
def tiny_rows(tmp_path_factory):
    """A folder with files of rows to train, to validate and to test."""
    folder = tmp_path_factory.mktemp("rows")
    for name, n_rows, start in (("train", 96, 0), ("validation", 40, 500), ("test", 48, 700)):
        write_rows(folder / f"{name}.jsonl", n_rows, start)
    return folder


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory):
    """The folder of an encoder without a head."""
    pytest.importorskip("transformers", reason="the extra 'baselines' is not installed")
    return write_encoder(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture
def tiny_config(tiny_rows, tiny_encoder):
    """The config of a short run on these."""
    from nlihub.baselines.runs.config import HyperParameters, RunConfig

    return RunConfig(
        "tiny",
        "encoder",
        (str(tiny_rows / "test.jsonl"),),
        model=str(tiny_encoder),
        train=str(tiny_rows / "train.jsonl"),
        validation=str(tiny_rows / "validation.jsonl"),
        options=HyperParameters(
            learning_rate=3e-3, batch_size=16, max_epochs=2, patience=None, max_length=32
        ),
    )

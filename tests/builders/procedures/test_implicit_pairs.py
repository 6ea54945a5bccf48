"""Pairs without a linking phrase, labelled by a model of one's own choice."""

from dataclasses import dataclass

import pytest
from constructing import from_papers
from datasets import load_dataset
from nlihub.builders.procedures.papers.implicit import Classifier
from nlihub.builders.procedures.papers.pairs import SAME_SENTENCE, find_pairs
from nlihub.builders.procedures.papers.recipe import PapersRecipe
from nlihub.builders.procedures.papers.statements import ONLY_FOR_TRAINING
from nlihub.builders.versions.manifest import Manifest
from nlihub.loaders.errors import ModelError, SourceNotFoundError, UsageError
from paper_corpus import as_paper, make_papers, paper_of, write_lines
from tiny_models import write_encoder

import nlihub

LABELS = ("contrasting", "reasoning", "entailment", "neutral")
YEARS = {"train_years": (2018, 2019), "evaluation_years": (2020, 2021)}


@dataclass(frozen=True)
class ByLength:
    """Labels a pair by the number of characters of its sentences."""

    labels: tuple[str, ...] = LABELS

    def __call__(self, premises, hypotheses):
        lengths = (len(p) + len(h) for p, h in zip(premises, hypotheses, strict=True))
        return [self.labels[n % len(self.labels)] for n in lengths]

    def as_json(self):
        return {"model": "by length"}


def pairs_of(papers, **options):
    rules = PapersRecipe(**options).rules
    return [
        (rules.phrases.categories[category], premise.decode(), hypothesis.decode())
        for block in find_pairs(papers, rules)
        for category, premise, hypothesis in zip(
            block.category, block.premises, block.hypotheses, strict=True
        )
    ]


TEXTS = (
    "The first system finds nearly all of the errors.",
    "It overlooks only very few of them in the end.",
    "Thus, the second system has hardly anything to do.",
    "Its authors say so too in their last section.",
)


def test_adjacent_sentences_without_a_phrase_are_pairs():
    paper = paper_of(TEXTS, ("A new paragraph begins with this sentence here.",))
    found = [pair for pair in pairs_of([paper], implicit=ByLength()) if "implicit" in pair[0]]
    expected = [
        (TEXTS[0], "it" + TEXTS[1][2:]),
        (TEXTS[2], "its" + TEXTS[3][3:]),
    ]
    assert [pair[1:] for pair in found] == expected
    labels = ByLength()(*zip(*expected, strict=True))
    assert [pair[0] for pair in found] == [f"implicit {label}" for label in labels]


def test_no_other_pair_changes():
    papers = list(map(as_paper, make_papers(6)))
    plain = pairs_of(papers)
    assert [
        pair for pair in pairs_of(papers, implicit=ByLength()) if "implicit" not in pair[0]
    ] == (plain)


def test_one_sentence_twice_is_dropped():
    rules = PapersRecipe(implicit=ByLength()).rules
    [block] = find_pairs([paper_of((TEXTS[0], TEXTS[0]))], rules)
    [(category, reason)] = block.dropped
    assert (category.partition(" ")[0], reason) == ("implicit", SAME_SENTENCE)
    assert sum(block.found.values()) == 1


def test_a_label_that_there_is_not_is_told():
    with pytest.raises(
        UsageError, match="gives 1 labels, even, for 1 pairs; expected one of contr"
    ):
        pairs_of([paper_of(TEXTS[:2])], implicit=ByLength(("even", "even")))


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    write_lines(folder / "all.jsonl", make_papers(40))
    return folder


def test_training_has_them_and_the_card_says_so(papers, tmp_path):
    made = from_papers("mine", papers, tmp_path, implicit=ByLength(), **YEARS)
    assert nlihub.verify(made.folder).passed
    rows = load_dataset(str(made.folder), "unbalanced")
    kinds = {split: {c.partition(" ")[0] for c in rows[split]["category"]} for split in rows}
    assert ["implicit" in kinds[split] for split in ("train", "validation", "test")] == [
        True,
        False,
        False,
    ]
    for row in rows["train"]:
        if row["category"].startswith("implicit"):
            assert rows["train"].features["label"].int2str(row["label"]) in row["category"]
    pairs = made.counts["pairs"]
    assert all(n["read"] == n["kept"] + sum(n["dropped"].values()) for n in pairs.values())
    assert all(pairs[f"implicit {label}"]["dropped"][ONLY_FOR_TRAINING] for label in LABELS)
    card = (made.folder / "README.md").read_text()
    assert "`implicit LABEL`): model `by length`." in card
    assert "labelled two adjacent sentences without a phrase" in card
    assert Manifest.read(made.folder).parameters["implicit"] == {"model": "by length"}
    again = from_papers("mine", papers, tmp_path / "b", implicit=ByLength(), num_proc=2, **YEARS)
    for path in made.folder.rglob("*.parquet"):
        name = path.relative_to(made.folder)
        assert (again.folder / name).read_bytes() == path.read_bytes()


def test_a_classifier_labels_them(papers, tmp_path):
    pytest.importorskip("transformers")
    write_encoder(tmp_path / "run" / "checkpoint", labels=LABELS)
    model = Classifier.read(tmp_path / "run")
    assert model == Classifier.read(tmp_path / "run" / "checkpoint")
    assert (model.labels, model.model) == (LABELS, "BertForSequenceClassification")
    texts = ["The model is small.", "A corpus of papers is read."] * 20
    labels = model(texts, texts[::-1])
    assert set(labels) <= set(LABELS)
    assert labels[:2] == list(model(texts[:2], texts[::-1][:2]))
    found = pairs_of([paper_of(TEXTS)], implicit=model)
    assert sum(category.startswith("implicit") for category, *_ in found) == 2


def test_a_folder_that_is_no_classifier_of_these_labels(tmp_path):
    with pytest.raises(SourceNotFoundError, match=r"has no classifier; expected config\.json"):
        Classifier.read(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(ModelError, match="names no labels"):
        Classifier.read(tmp_path)
    (tmp_path / "config.json").write_text('{"id2label": {"0": "yes", "1": "no"}}')
    with pytest.raises(
        ModelError, match=r"has the labels yes, no; expected contrasting, reasoning"
    ):
        PapersRecipe(implicit=Classifier.read(tmp_path))

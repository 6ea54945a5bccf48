"""The stages over shards of abstracts: many small pieces give what one piece gives."""

import json
import random
import re
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from abstract_corpus import make_abstract, write_abstracts
from abstract_samples import json_lines
from nlihub.builders.core.options import BuildOptions
from nlihub.builders.dataflow import rows as flow_rows
from nlihub.builders.dataflow.work import read_corpus
from nlihub.builders.procedures.abstracts import negatives, run
from nlihub.builders.procedures.abstracts.choose import SAME_PMID, STATEMENTS, TAKEN
from nlihub.builders.procedures.abstracts.declaration import AbstractsDeclaration
from nlihub.builders.procedures.abstracts.mechanisms.mechanism import MechanismRules
from nlihub.builders.procedures.abstracts.perturb.replace_entities import (
    POOL,
    EntityPool,
    store_pool,
)
from nlihub.builders.procedures.abstracts.perturb.strategy import NoNegative, Perturbed
from nlihub.builders.procedures.abstracts.read import SCHEMAS, ReadAbstracts, parse_mechanism
from nlihub.builders.procedures.abstracts.recipe import AbstractsRecipe
from nlihub.builders.procedures.procedure import About
from nlihub.loaders.corpora.files import find_paper_files
from nlihub.loaders.errors import CorpusError, UsageError
from nlihub.loaders.progress import silent

DECLARED = About().declare("my_bionli", AbstractsDeclaration.MATERIAL, AbstractsDeclaration.CREDIT)
RATIO = (0.5, 0.2, 0.3)


class Writer:
    """Writes one new sentence for most mechanisms, and one that is there already."""

    def write(self, mechanisms):
        return [
            {
                "GEN": Perturbed(f"In truth {one.conclusion}", "wrong", ())
                if int(one.pmid[-1]) % 3
                else NoNegative("the relation is right"),
                "GEN-ND-SEN": Perturbed(one.conclusion, "", ()),
            }
            for one in mechanisms
        ]

    def parameters(self):
        return {"writer": "a test's"}


def write_corpus(folder: Path, seed: int) -> Path:
    """Write what a corpus may have: pmids twice, equal texts, defects, several formats."""
    rng = random.Random(seed)
    numbers = rng.sample(range(1_000), 70)
    conclude = ["We conclude that", "We conclude that", "We conclude that", "Perhaps"]
    texts = [make_abstract(n, conclude=rng.choice(conclude)) for n in numbers]
    for n in rng.sample(numbers, 12):  # the same text under another pmid
        texts.append(re.sub(rf"(?m)^{n}", f"{rng.choice('19')}{n:04d}", make_abstract(n)))
    texts += rng.sample(texts, 8)  # the same pmid
    texts += [text.replace("inhibits", "does not inhibit") for text in rng.sample(texts, 4)]
    texts += ["a line of no abstract\n", "77777|t|A title alone\n"]
    texts += [make_abstract(1500) + "1500\tPPI\tnobody\tx\n1500\tone column\n"]
    rng.shuffle(texts)
    folder.mkdir()
    (folder / "b.pubtator").write_text("\n".join(texts[:60]))
    (folder / "a.pubtator").write_text("\n\n".join([texts[60], "stray", *texts[61:]]) + "\n")
    records = [
        {
            "pmid": 10_000 + n // 2,
            "supporting_set": [f"We saw {n % 9} hens.", "Levels fell.", "They rose."],
            "conclusion": f"We conclude that <re> foxin{n} <er> inhibits <el> henase{n} <le>.",
            "regulator_type": "Gene",
            "regulated_type": "Gene",
            "regulator_id": f"id{n % 4}",
        }
        for n in range(30)
    ]
    (folder / "c.jsonl").write_text(json_lines(*records) + "\n{no json\n")
    (folder / "d.pubtator").write_text("")
    return folder


def cut_into_small_pieces(monkeypatch):
    """Cut all that is cut by size into many pieces."""
    monkeypatch.setattr(run, "SHARD_BYTES", 8_000)
    monkeypatch.setattr(negatives, "_AT_ONCE", 2)
    sizes = {"PART_ROWS": 30, "_RUN_ROWS": 7, "_RUN_SHARDS": 2, "_YIELDED_ROWS": 11}
    for name, n in sizes.items():
        monkeypatch.setattr(flow_rows, name, n)
    monkeypatch.setattr(flow_rows, "_BATCH_ROWS", 3)
    monkeypatch.setattr(flow_rows, "_GROUP_BYTES", 2_000)


@contextmanager
def constructing(folder, recipe, cache, num_proc=1):
    options = BuildOptions(num_proc=num_proc, cache_dir=cache)
    with run.run([folder], recipe, DECLARED, options, silent) as made:
        yield made


def rows_of(made):
    """The ids and texts of each split, in the order of the rows."""
    found = {key: [] for key in made.rows.keys}
    for batch in made.rows.batches():
        for key in batch.members:
            table = batch.table.filter(batch.members[key])
            found[key] += zip(table["id"].to_pylist(), table["hypothesis"].to_pylist(), strict=True)
    return found


RECIPES = {
    "draw": {},
    "a ratio, and balanced": {"ratio": RATIO, "balance_negation": True},
    "pairs": {"ratio": RATIO, "training_rows": "pair"},
    "few strategies": {"ratio": RATIO, "strategies": ["VNeg", "SEN"], "balance_negation": True},
    "a writer": {"ratio": RATIO, "generate": Writer(), "seed": 3},
}


def look_at(folder, recipe, cache):
    """The rows of each split, the counts, and what was not taken or left out."""
    with constructing(folder, recipe, cache) as made:
        counts, rows, n_parts = made.report.counts, rows_of(made), len(made.rows.parts)
        listed = {name: list(entries) for name, entries in made.report.left_out.items()}
    assert not list(cache.glob("construct/*/"))
    abstracts, not_taken = counts["abstracts"], listed["not_taken"]
    assert abstracts["kept"] + sum(abstracts["dropped"].values()) == abstracts["read"]
    assert abstracts["dropped"] == Counter(one["reason"] for one in not_taken)
    n_left_out = Counter(f"{one['unit']}: {one['reason']}" for one in listed["left_out"])
    assert abstracts["left_out"] == n_left_out
    for of_kind in counts["negatives"].values():
        assert of_kind["kept"] + sum(of_kind["dropped"].values()) == abstracts["kept"]
    # Of equal abstracts of one pmid, any may be the one that is taken.
    doubled = {one["pmid"] for one in not_taken if one["reason"] == SAME_PMID}
    places = [one for entries in listed.values() for one in entries if one["pmid"] not in doubled]
    return n_parts, (rows, counts, Counter(json.dumps(one, sort_keys=True) for one in places))


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_small_pieces_give_what_one_piece_gives(name, tmp_path, monkeypatch):
    folder, recipe = write_corpus(tmp_path / "corpus", len(name)), AbstractsRecipe(**RECIPES[name])
    monkeypatch.setattr(run, "_check_labels", lambda *_: None)  # of few rows
    n_parts, expected = look_at(folder, recipe, tmp_path / "whole")
    assert n_parts == 1
    cut_into_small_pieces(monkeypatch)
    n_parts, found = look_at(folder, recipe, tmp_path / "cut")
    assert n_parts > 1
    assert found == expected


def test_the_pool_on_the_disk_is_that_in_memory(tmp_path):
    texts = [make_abstract(n) for n in range(30)]
    for n in (3, 4, 5, 6):  # of another type, with ids in common
        texts.append(
            make_abstract(n, conclude="Here we conclude that")
            .replace(f"\n{n}\t", f"\n9{n}\t")
            .replace(f"{n}|t|", f"9{n}|t|", 1)
            .replace(f"\n{n}|a|", f"\n9{n}|a|")
            .replace("We gave", "We fed ")
            .replace("\tGene\t", "\tChemical\tMESH:1;")
            .replace("PPI\t", "PPI\tMESH:1;")
        )
    (tmp_path / "a.pubtator").write_text("\n".join(texts))
    files = find_paper_files([tmp_path / "a.pubtator"])
    read = ReadAbstracts(MechanismRules())
    options = BuildOptions(cache_dir=tmp_path)
    with read_corpus(files, read, SCHEMAS, {}, None, options, 10**6) as work:
        database = work.database
        work.select([*STATEMENTS, POOL])
        stored = EntityPool.open(store_pool(database, work.folder))
        contents = [one for batch in database.batches(TAKEN) for one in batch["json"].to_pylist()]
        mechanisms = list(map(parse_mechanism, contents))
        pool = EntityPool.of(mechanisms)
        for type_ in ("Gene", "Chemical", "Disease"):
            for start in (0, 5, 10**18 + 7):
                found = list(stored.walk_entities(type_, start))
                assert bool(found) == (type_ != "Disease")
                assert found == list(pool.walk_entities(type_, start))


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (lambda n: [{"positive": NoNegative("none")}] * n, "'positive', which is that of a rule"),
        (lambda n: [{"SEN": NoNegative("none")}] * n, "'SEN', which is that of a rule"),
        (lambda n: [{}] * (n - 1), "gives 19 results; expected one for each of 20 mechanisms"),
    ],
)
def test_a_writer_that_gives_something_else_is_refused(written, message, tmp_path):
    class Other(Writer):
        def write(self, mechanisms):
            return written(len(mechanisms))

    path = write_abstracts(tmp_path / "a.pubtator", range(20))
    recipe = AbstractsRecipe(ratio=(0, 0, 1), generate=Other())
    with (
        pytest.raises(UsageError, match=message),
        constructing(path, recipe, tmp_path / "cache"),
    ):
        pass


def test_an_id_that_ends_like_a_kind_is_refused(tmp_path):
    class Twice(Writer):
        def write(self, mechanisms):
            new = Perturbed("<re> a <er> or <el> c <le>", "", ())
            return [{"SEN-SEN": new} if one.pmid == "1" else {} for one in mechanisms]

    records = [
        {
            "pmid": pmid,
            "supporting_set": [f"We saw {pmid} hens.", "Levels fell.", "They rose."],
            "conclusion": "We conclude that <re> foxin <er> inhibits <el> henase <le>.",
        }
        for pmid in ("1", "1-SEN")
    ]
    path = tmp_path / "records.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    recipe = AbstractsRecipe(ratio=(0, 0, 1), strategies=["SEN"], generate=Twice())
    with (
        constructing(path, recipe, tmp_path / "cache") as made,
        pytest.raises(CorpusError, match="Two rows have the id '1-SEN-SEN'"),
    ):
        list(made.rows.batches())


def count_abstracts(tmp_path, name, files):
    """Build from files of some abstracts each; return the counts of the abstracts."""
    for number, texts in enumerate(files):
        path = tmp_path / name / f"{number}.pubtator"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(texts))
    recipe = AbstractsRecipe(ratio=(0, 0, 1))
    with constructing(tmp_path / name, recipe, tmp_path / "cache") as made:
        return made.report.counts["abstracts"], rows_of(made)


def test_of_one_pmid_that_with_a_mechanism_is_taken_else_by_content(tmp_path):
    every = [make_abstract(n) for n in range(8)]
    without = [make_abstract(n, conclude="Perhaps") for n in range(4)]
    others = [make_abstract(n).replace("% in hens", "% in rats") for n in range(2, 8)]
    found = [
        count_abstracts(tmp_path, str(number), files)
        for number, files in enumerate(
            ([every, without, others], [others, without, every], [others + without + every])
        )
    ]
    assert found[0] == found[1] == found[2]
    counts, rows = found[0]
    assert (counts["kept"], counts["dropped"]) == (8, {SAME_PMID: 10})
    texts = [text for id_, text in rows["full", "test"] if id_.endswith("-positive")]
    assert 0 < sum("rats" in text for text in texts) < 6  # by content, not by place

"""Estimates of a corpus of papers from a sample of it."""

import gzip
import io
import json
import tarfile

import pytest
from command_line import run_command
from constructing import from_papers
from nlihub.builders.procedures.papers import sample_files as module
from nlihub.builders.procedures.papers.sample_files import _cut, sample_files
from nlihub.loaders.corpora.papers.files import find_paper_files
from nlihub.loaders.errors import CorpusError, UsageError
from paper_corpus import make_papers, write_lines

from nlihub.construct import PapersRecipe, estimate_papers

DOUBLED = ("the same texts again", "one of its sentences is in another split")
RECIPE = PapersRecipe(ratio=(0.5, 0.25, 0.25))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of the test's own."""
    monkeypatch.setenv("NLIHUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def write_papers(folder, n_papers, a_file=1):
    """Papers in files of some each."""
    papers = make_papers(n_papers)
    for start in range(0, n_papers, a_file):
        write_lines(folder / f"{start:03}.jsonl", papers[start : start + a_file])
    return folder


def names(files):
    return [file.name for file in files]


class TestSample:
    def test_the_whole_corpus_as_a_sample_tells_what_the_build_gives(self, tmp_path, cache):
        write_papers(tmp_path / "papers", 40, 4)
        doubled = make_papers(6)
        write_lines(tmp_path / "papers/again.jsonl", [{**p, "id": p["id"] + "b"} for p in doubled])
        found = estimate_papers(tmp_path / "papers", RECIPE, sample=1)
        assert not [path for path in cache.rglob("*") if "estimate" in path.name]
        made = from_papers("mine", tmp_path / "papers", tmp_path / "built", ratio=RECIPE.ratio)
        pairs = made.counts["pairs"].values()
        assert found.counts == {
            "papers read": 46,
            "papers kept": 40,
            "papers doubled": 6,
            "pairs found": sum(one["read"] for one in pairs),
            "pairs kept": sum(one["kept"] for one in pairs),
            "pairs doubled": sum(
                one["dropped"].get(reason, 0) for one in pairs for reason in DOUBLED
            ),
        }
        assert found.rows == made.rows
        assert not found.problem
        assert [line.partition(":")[0] for line in found.lines()] == [
            *("sample", "papers", "pairs", "default", "unbalanced", "processor time"),
            *("time, --num-proc 1", "memory of a process", "disk"),
        ]
        assert not any(found.scatter.values())
        version = [path for path in made.folder.rglob("*") if path.is_file()]
        assert found.disk_bytes["version"] == pytest.approx(
            sum(path.stat().st_size for path in version), rel=0.01
        )

    @pytest.mark.slow
    def test_a_part_of_the_corpus_tells_of_all_of_it(self, tmp_path):
        folder = write_papers(tmp_path / "papers", 80)
        found = estimate_papers(folder, RECIPE, sample=0.5)
        made = from_papers("mine", folder, tmp_path / "built", ratio=RECIPE.ratio)
        assert found.counts["papers read"] == 80
        assert found.sample["pieces"] == 40
        kept = sum(one["kept"] for one in made.counts["pairs"].values())
        assert found.counts["pairs kept"] == pytest.approx(kept, rel=0.02)
        for config, splits in made.rows.items():
            assert sum(found.rows[config].values()) == pytest.approx(sum(splits.values()), rel=0.1)
        assert found.processor_s.keys() == found.wall_s.keys() == {"reading", "choosing", "writing"}
        assert 0 < found.scatter["pairs found"] < 0.05

    @pytest.mark.slow
    def test_what_is_doubled_all_over_grows_by_the_square(self, tmp_path):
        papers = make_papers(60)
        for number, paper in enumerate(papers):
            for copy in "ab":
                path = tmp_path / f"papers/{copy}{number:03}.jsonl"
                write_lines(path, [{**paper, "id": f"{paper['id']}{copy}"}])
        found = estimate_papers(tmp_path / "papers", RECIPE, sample=0.5)
        assert found.growth["papers"] > 3
        assert found.counts["papers read"] == 120
        assert found.counts["papers kept"] == pytest.approx(60, abs=12)
        assert found.counts["pairs kept"] == pytest.approx(60 * 36, rel=0.2)

    @pytest.mark.slow
    def test_quotas_are_those_of_the_corpus(self, tmp_path):
        folder = write_papers(tmp_path / "papers", 60)
        asked = PapersRecipe(ratio=RECIPE.ratio, per_class={"test": 30})
        found = estimate_papers(folder, asked, sample=0.4)
        assert found.rows["default"]["test"] == 4 * 30
        asked = PapersRecipe(ratio=RECIPE.ratio, per_class={"test": 10**6})
        found = estimate_papers(folder, asked, sample=0.4)
        assert "expected 1,000,000 or more of each" in found.problem
        assert any(line.startswith("no dataset: ") for line in found.lines())

    def test_a_sample_that_is_too_small_says_so(self, tmp_path):
        folder = write_papers(tmp_path / "papers", 40)
        with pytest.raises(CorpusError, match=r"The sample, .* gives no dataset: .* Take a larger"):
            estimate_papers(folder, RECIPE, sample=0.01)

    def test_papers_without_a_domain_are_no_matter_of_the_share(self, tmp_path):
        papers = [{**paper, "domain": None} for paper in make_papers(20)]
        path = write_lines(tmp_path / "papers.jsonl", papers)
        with pytest.raises(CorpusError, match="Name the domain of papers") as found:
            estimate_papers(path, RECIPE, sample=0.9)
        assert "larger share" not in str(found.value)

    @pytest.mark.parametrize("share", [0, -1, 1.5, float("nan")])
    def test_a_share_is_above_0_and_at_most_1(self, tmp_path, share):
        with pytest.raises(UsageError, match="expected a share of the corpus"):
            estimate_papers(write_papers(tmp_path / "papers", 2), RECIPE, sample=share)


class TestPieces:
    @pytest.fixture(autouse=True)
    def small_pieces(self, monkeypatch):
        monkeypatch.setattr(module, "SHARD_BYTES", 10_000)

    def test_the_same_files_are_drawn_wherever_they_are(self, tmp_path):
        one, two = (write_papers(tmp_path / place / "papers", 30) for place in "ab")
        drawn = [sample_files(find_paper_files([f]), 0.3, 1, tmp_path) for f in (one, two)]
        assert names(drawn[0]) == names(drawn[1])
        other = sample_files(find_paper_files([one]), 0.3, 2, tmp_path)
        assert sorted(names(other)) != sorted(names(drawn[0]))
        assert len(other) == 9

    def test_the_pieces_of_a_file_are_its_lines(self, tmp_path):
        path = write_lines(tmp_path / "papers/all.jsonl", make_papers(20))
        [file] = find_paper_files([path])
        starts = range(0, file.size, module.SHARD_BYTES)
        assert len(starts) > 5
        pieces = [p for s in starts for p in _cut(file, [s], tmp_path / f"pieces-{s}")]
        assert [piece.size for piece in pieces] == [p.path.stat().st_size for p in pieces]
        assert b"".join(piece.path.read_bytes() for piece in pieces) == path.read_bytes()
        assert all(json.loads(x) for p in pieces for x in p.path.read_text().splitlines())
        assert list(_cut(file, list(starts), tmp_path / "whole")) == [file]

    @pytest.mark.slow
    def test_of_a_packed_file_the_head_is_read(self, tmp_path):
        lines = "".join(json.dumps(paper) + "\n" for paper in make_papers(120)).encode()
        path = tmp_path / "papers/all.jsonl.gz"
        path.parent.mkdir()
        path.write_bytes(gzip.compress(lines, compresslevel=1))
        assert path.stat().st_size > 8 * module.SHARD_BYTES
        found = estimate_papers(path, RECIPE, sample=0.5)
        assert 0.4 < found.sample["bytes"] / found.sample["of_bytes"] < 0.6
        assert found.counts["papers read"] == pytest.approx(120, rel=0.1)

    @pytest.mark.slow
    def test_of_an_archive_the_head_is_read(self, tmp_path):
        path = tmp_path / "papers.tar"
        with tarfile.open(path, "w") as archive:
            for paper in make_papers(60):
                content = json.dumps(paper).encode()
                member = tarfile.TarInfo(f"{paper['id']}.json")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        found = estimate_papers(path, RECIPE, sample=0.5)
        assert found.counts["papers read"] == pytest.approx(60, rel=0.1)

    def test_a_file_that_cannot_be_cut_is_whole_or_not_there(self, tmp_path):
        path = tmp_path / "one.json"
        path.write_text(json.dumps(make_papers(8)[0], indent=1) + " " * 20_000)
        [file] = find_paper_files([path])
        assert list(_cut(file, [0], tmp_path / "a")) == [file]
        assert list(_cut(file, [10_000], tmp_path / "b")) == []
        assert sample_files([file], 0.1, 1, tmp_path) == [file]

    @pytest.mark.slow
    def test_a_file_that_is_gone_is_reported_by_its_reader(self, tmp_path):
        folder = write_papers(tmp_path / "papers", 20)
        (folder / "gone.jsonl").symlink_to(folder / "nowhere")
        assert estimate_papers(folder, RECIPE, sample=1).counts["papers read"] == 21


class TestCommand:
    def test_it_answers_and_writes_nothing(self, tmp_path):
        folder = write_papers(tmp_path / "papers", 40, 4)
        arguments = ("construct", "papers", "mine", folder, "--ratio", "0.5,0.25,0.25")
        done = run_command(*arguments, "--dry-run", "--sample", "0.8", "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["counts"]["papers read"] == 40
        assert not (tmp_path / "built").exists()

    def test_a_sample_is_for_a_dry_run(self, tmp_path):
        folder = write_papers(tmp_path / "papers", 2)
        done = run_command("construct", "papers", "mine", folder, "--sample", "1", cwd=tmp_path)
        assert done.returncode == 2
        assert "--sample is for --dry-run alone" in done.stderr

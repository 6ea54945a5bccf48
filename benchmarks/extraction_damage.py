"""How many sentences each rule on damage from extraction drops or mends, in papers and in SciNLI.

    python benchmarks/extraction_damage.py --papers FOLDER --scinli FOLDER [--half odd]

FOLDER of papers is in any format that is read; that of SciNLI has the official files, whose
validation and test sentences people have cleaned. Shares of sentences in per cent; "built" are the
sentences of the pairs that all other rules keep. Papers are halved by a hash of their id, for rules
that are made on one half and judged on the other.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from nlihub.builders.core.keyed import keyed_number
from nlihub.builders.procedures.papers import pairs
from nlihub.builders.procedures.papers.damage import DAMAGE, DAMAGED_PAPER, WHOLE
from nlihub.builders.procedures.papers.pairs import PairRules, find_pairs
from nlihub.builders.procedures.papers.repair import MendedSentences, mend
from nlihub.loaders.corpora.papers.files import find_paper_files
from nlihub.loaders.corpora.papers.paper import Paper
from nlihub.loaders.corpora.papers.read import read_papers
from nlihub.loaders.corpora.papers.sentences import split_sentences

import nlihub


def read_sentences(folder: Path) -> list[bytes]:
    """Return the sentences of SciNLI's validation and test sets, in UTF-8."""
    return [
        row[side].encode()
        for split in ("validation", "test")
        for row in nlihub.load_dataset("scinli", data_dir=str(folder), split=split)
        for side in ("premise", "hypothesis")
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, required=True)
    parser.add_argument("--scinli", type=Path, required=True)
    parser.add_argument("--half", choices=["even", "odd"])
    given = parser.parse_args()

    papers = [
        paper
        for file in find_paper_files([given.papers])
        for paper in read_papers(file, split_sentences)
        if isinstance(paper, Paper)
    ]
    if given.half:
        rest = ("even", "odd").index(given.half)
        papers = [one for one in papers if keyed_number(0, "half", one.id) % 2 == rest]
    results: list[MendedSentences] = []
    before: list[Sequence[bytes]] = []

    def record(sentences: Sequence[bytes], *others: object) -> MendedSentences:
        before.append(sentences)
        results.append(mend(sentences, *others))  # type: ignore[arg-type]
        return results[-1]

    pairs.mend = record  # what the rules are asked, and what they answer
    blocks = list(find_pairs(papers, PairRules()))
    clean = read_sentences(given.scinli)
    of_clean = mend(clean, np.zeros(len(clean), np.int64), [b"\n".join(clean)])

    built = np.concatenate([one.damage for one in results])
    n_mended = sum(
        old not in (first, second)
        for texts, one in zip(before, results, strict=True)
        for old, first, second in zip(texts, one.as_first, one.as_second, strict=True)
    )
    n_of_clean = sum(
        old not in (first, second)
        for old, first, second in zip(clean, of_clean.as_first, of_clean.as_second, strict=True)
    )
    print(f"{len(papers):,} papers, {len(built):,} built sentences, {len(clean):,} of SciNLI\n")
    print("| rule | built, % | SciNLI, % |\n| --- | --- | --- |")
    for number, name in enumerate(DAMAGE):
        print(
            f"| {name} | {100 * np.mean(built == number):.2f} "
            f"| {100 * np.mean(of_clean.damage == number):.2f} |"
        )
    any_built, any_clean = (100 * np.mean(one != WHOLE) for one in (built, of_clean.damage))
    print(f"| any | {any_built:.2f} | {any_clean:.2f} |")
    print(f"| mended | {100 * n_mended / len(built):.2f} | {100 * n_of_clean / len(clean):.2f} |")
    found = sum(n for block in blocks for n in block.found.values())
    lost = sum(n for b in blocks for key, n in b.dropped.items() if key[1] == DAMAGED_PAPER)
    print(f"\n{DAMAGED_PAPER}: {lost:,} labelled pairs of {found:,} pairs")


if __name__ == "__main__":
    main()

"""How well and how fast papers are cut into sentences, by several segmenters.

    python benchmarks/segmentation.py --papers FOLDER [--half even|odd] [--limit N] [--no-speed]

FOLDER holds papers whose sentences are split already (XML with ``<S>`` in ``<SECTION>`` and
``<ABSTRACT>``, one file a paper). The sentences of a section are joined by blanks and cut again.
A segmenter that is not installed is skipped.

The given cuts are another program's, made on scanned text: it cuts behind "et al." and "(e.g.", or
before a word that goes on in lower case. So each figure is given twice. ``raw`` takes every cut as
given. ``clean`` leaves out positions that the text around them does not settle, whoever cuts there:

1. The text before does not end in one of ``. ? !`` right behind a letter, a digit, ``%``, a closing
   bracket or a closing quote, with closing brackets and quotes behind it at most. That is: headings
   without a full stop, dots of an ellipsis, formulae.
2. The word before it is an abbreviation (``ABBREVIATIONS``), a lone letter, or letters with dots
   between them.
3. The text behind does not begin with an upper-case letter, a digit, an opening bracket or an
   opening quote.

``pairs`` is the share of the neighbours of which the second begins with a linking phrase that come
out exactly, both; its clean form leaves out what clean leaves out.
"""

import argparse
import hashlib
import html
import importlib.util
import itertools
import multiprocessing
import os
import random
import re
import statistics
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from nlihub.loaders.corpora.papers.paper import SplitSentences
from nlihub.loaders.corpora.papers.sentences import split_sentences

#: Source: SciNLI, Table 2.
LINKING_PHRASES = (
    *("However", "On the other hand", "In contrast", "On the contrary"),
    *("Therefore", "Thus", "Consequently", "As a result", "As a consequence"),
    *("From here, we can infer", "Specifically", "Precisely", "In particular", "Particularly"),
    *("That is", "In other words"),
)
#: Written before any score was seen; no part of the segmenter.
ABBREVIATIONS = """
    al etc cf vs viz fig figs eq eqs eqn sec sect secs tab no nos vol pp p ch ref refs ed eds
    approx resp dr mr mrs ms prof st jr inc ltd co corp dept univ proc conf trans int ca def thm
    prop ex app
"""

_LINKING = re.compile(rf"(?:{'|'.join(map(re.escape, LINKING_PHRASES))})\b")
_SETTLED_END = re.compile(r"[\w%)\]}\"'\u201d\u2019][.?!][)\]}\"'\u201d\u2019]*\Z")
_UNSETTLED_WORD = re.compile(
    rf"(?<![\w.])(?:{'|'.join(ABBREVIATIONS.split())}|[^\W\d]|[^\W\d]+(?:\.[^\W\d]+)+)\.[)\]}}\"'\u201d\u2019]*\Z",
    re.IGNORECASE,
)
_SETTLED_START = re.compile(r"[(\[{\"'\u201c\u2018]*[^\W_a-zß-öø-ÿ]")  # upper case or a digit
_NAIVE = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
_CONTEXT_CHARS = 40

#: Sections, each with its sentences.
Papers = dict[str, list[list[str]]]


@dataclass
class Counts:
    """What is counted of a segmenter; each twice, raw and clean."""

    given: int = 0
    found: int = 0
    right: int = 0
    pairs: int = 0
    exact_pairs: int = 0

    def __iadd__(self, other: "Counts") -> "Counts":
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))
        return self

    def row(self) -> str:
        """Precision, recall, F1 and the share of pairs."""
        precision, recall = self.right / max(self.found, 1), self.right / max(self.given, 1)
        f1 = 2 * self.right / max(self.found + self.given, 1)
        pairs = self.exact_pairs / max(self.pairs, 1)
        return f"{precision:.4f} | {recall:.4f} | {f1:.4f} | {pairs:.4f}"


def read_papers(folder: Path) -> Papers:
    """Reads the papers of a folder; text outside of sections is left out."""

    def sentences(element: ElementTree.Element) -> list[str]:
        texts = (
            " ".join(html.unescape(child.text or "").split()) for child in element.iterfind("S")
        )
        return [text for text in texts if text]

    papers = {}
    for path in sorted(folder.glob("*.xml")):
        root = ElementTree.parse(path).getroot()  # noqa: S314
        sections = [sentences(child) for child in root if child.tag != "S"]
        papers[path.stem] = [section for section in sections if section]
    return papers


def is_even(name: str) -> bool:
    """Which half of the papers a paper belongs to, whatever the others are."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 0


def cuts_of(sentences: Sequence[str]) -> list[int]:
    """Where sentences end, in characters without blanks."""
    return list(itertools.accumulate(len("".join(sentence.split())) for sentence in sentences))


def is_settled(before: str, after: str) -> bool:
    """Whether a position counts in the clean measure; see above."""
    return bool(
        _SETTLED_END.search(before)
        and not _UNSETTLED_WORD.search(before)
        and _SETTLED_START.match(after)
    )


def unsettled_positions(text: str, positions: set[int]) -> set[int]:
    """Those of the positions, in characters without blanks, that clean leaves out."""
    settled, at, count = set(), 0, 0
    for word in text.split(" "):
        if count in positions:
            before = text[max(0, at - 1 - _CONTEXT_CHARS) : at - 1]
            if is_settled(before, text[at : at + _CONTEXT_CHARS]):
                settled.add(count)
        at, count = at + len(word) + 1, count + len(word)
    return positions - settled  # those inside of words are never settled


def compare(section: Sequence[str], found: Sequence[str]) -> tuple[Counts, Counts]:
    """Counts a section, raw and clean.

    Args:
        section: The sentences as given.
        found: The sentences as a segmenter cuts them.

    Returns:
        The raw and the clean counts.

    Raises:
        ValueError: The segmenter lost or changed characters.
    """
    if "".join("".join(section).split()) != "".join("".join(found).split()):
        raise ValueError("the segmenter lost or changed characters")
    ends, others = cuts_of(section), cuts_of(found)
    inner, other_inner = set(ends[:-1]), set(others[:-1])
    left_out = unsettled_positions(" ".join(section), inner | other_inner)
    both = []
    for ignored in (set[int](), left_out):
        given, cut = inner - ignored, other_inner - ignored
        counts = Counts(len(given), len(cut), len(given & cut))
        wrong = sorted(given ^ cut)
        edges = [0, *ends]
        for start, middle, end, sentence in zip(edges, ends, ends[1:], section[1:], strict=False):
            if _LINKING.match(sentence) and not ignored & {start, middle, end}:
                counts.pairs += 1
                counts.exact_pairs += not any(start <= position <= end for position in wrong)
        both.append(counts)
    return both[0], both[1]


def make_segmenter(name: str, training: str) -> SplitSentences:
    """Makes a segmenter.

    Args:
        name: Its name in ``SEGMENTERS``.
        training: Text of other papers, for one that learns.

    Returns:
        The segmenter.

    Raises:
        ImportError: What it needs is not installed.
    """
    if name == "nlihub":
        return split_sentences
    if name == "nupunkt":
        import nupunkt

        model = nupunkt.load_default_model()
        return lambda text: [sentence for sentence in model.tokenize(text) if sentence.strip()]
    if name == "Punkt, trained":
        from nltk.tokenize.punkt import PunktSentenceTokenizer, PunktTrainer

        trainer = PunktTrainer()
        trainer.INCLUDE_ALL_COLLOCS = True
        trainer.train(training)
        punkt: Any = PunktSentenceTokenizer(trainer.get_params())
        return lambda text: list(punkt.tokenize(text))
    if name == "pysbd":
        import pysbd

        pysbd_segmenter = pysbd.Segmenter(language="en", clean=False)
        return lambda text: list(pysbd_segmenter.segment(text))
    if name == "blingfire":
        import blingfire

        return lambda text: str(blingfire.text_to_sentences(text)).split("\n")
    return _NAIVE.split


#: Each with the package that it needs.
SEGMENTERS = {
    "nlihub": "nupunkt",
    "nupunkt": "nupunkt",
    "Punkt, trained": "nltk",
    "naive expression": "re",
    "pysbd": "pysbd",
    "blingfire": "blingfire",
}


def measure(name: str, papers: Papers, training: str, n_batches: int) -> str:
    """Measures a segmenter; in a process of its own, for the libraries keep what they have seen.

    Args:
        name: Its name in ``SEGMENTERS``.
        papers: The papers to cut.
        training: Text of other papers, for one that learns.
        n_batches: Into how many batches the papers fall whose speeds are taken; every text is cut
            once. 0 takes none.

    Returns:
        Its row of the table; sections of which it changed characters count for speed alone.
    """
    split = make_segmenter(name, training)
    split("A short text. It loads whatever is loaded late.")
    names = sorted(papers)
    random.Random(1).shuffle(names)
    raw, clean, n_changed, speeds = Counts(), Counts(), 0, []
    for batch in range(n_batches or 1):
        sections = [s for paper in names[batch :: n_batches or 1] for s in papers[paper]]
        texts = [" ".join(section) for section in sections]
        start = time.process_time()
        cut = [split(text) for text in texts]
        n_bytes = sum(len(text.encode()) for text in texts)
        speeds.append(n_bytes / 1e6 / (time.process_time() - start))
        for section, found in zip(sections, cut, strict=True):
            try:
                counts = compare(section, found)
            except ValueError:
                n_changed += 1
                continue
            raw += counts[0]
            clean += counts[1]
    speed = "-"
    if n_batches:
        speed = f"{statistics.median(speeds):.1f} ({min(speeds):.1f} to {max(speeds):.1f})"
    return f"| {name} | {raw.row()} | {clean.row()} | {speed} | {n_changed} |"


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, required=True)
    parser.add_argument("--half", choices=("even", "odd"), default="odd", help="papers to measure")
    parser.add_argument("--limit", type=int, help="papers of each half")
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=SEGMENTERS, default=list(SEGMENTERS))
    parser.add_argument("--no-speed", action="store_true")
    arguments = parser.parse_args()
    papers = read_papers(arguments.papers)
    halves: dict[bool, Papers] = {True: {}, False: {}}
    for name in papers:
        half = halves[is_even(name)]
        if arguments.limit is None or len(half) < arguments.limit:
            half[name] = papers[name]
    measured, others = halves[arguments.half == "even"], halves[arguments.half == "odd"]
    training = "\n\n".join(" ".join(section) for paper in others.values() for section in paper)
    sections = [section for paper in measured.values() for section in paper]
    n_sentences = sum(map(len, sections))
    n_bytes = sum(len(" ".join(section).encode()) for section in sections)
    print(
        f"{os.cpu_count()} cores, Python {sys.version.split()[0]}; {len(measured)} papers of "
        f"{arguments.half} hash, {len(sections)} sections, {n_sentences} sentences, "
        f"{n_bytes} bytes\n\n| segmenter | raw: precision | recall | F1 | pairs "
        "| clean: precision | recall | F1 | pairs | MB/s | sections changed |\n|" + " --- |" * 11
    )
    for name in arguments.only:
        if importlib.util.find_spec(SEGMENTERS[name]) is None:
            print(f"| {name} | not installed |")
            continue
        fresh = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=fresh) as process:
            n_batches = 0 if arguments.no_speed else arguments.batches
            print(process.submit(measure, name, measured, training, n_batches).result(), flush=True)


if __name__ == "__main__":
    main()

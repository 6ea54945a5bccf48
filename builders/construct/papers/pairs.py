"""Pairs of sentences from some papers, by distant supervision.

Source:
    SciNLI, section 3.2; MSciNLI, section 3.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_128_digest

from ....loaders.corpora.papers.paper import Paper
from .cleaning import FIT, RULES
from .draws import Words, combine, draw, key_of
from .phrases import APPROACHES
from .procedure import Procedure

Numbers = npt.NDArray[np.int64]

#: Why a pair is dropped before it reaches a split; those on texts are the rules of ``cleaning``.
OPENS_PARAGRAPH = "the phrase opens its paragraph"
NO_RANDOM_SENTENCE = "no random sentence was found"
_MAX_DRAWS = 64
_BLOCK_SENTENCES = 30_000


@dataclass(frozen=True)
class PairBlock:
    """The pairs of some papers, those that no rule on sentences drops.

    Attributes:
        papers: The papers.
        paper_hashes: Of each paper a hash of its sentences, of 128 bits.
        n_sentences: Of each paper the number of its sentences.
        premises: n premises.
        hypotheses: n hypotheses, without their linking phrase, the first letter in lower case.
        categories: n numbers of the phrases' categories.
        paper: n numbers of the papers, in ``papers``.
        first: n positions of the premise among the paper's sentences, from 0.
        second: n positions of the hypothesis.
        order: n keyed hashes, which decide what is cut and what stands where.
        dropped: Number of pairs by category and reason.
    """

    papers: Sequence[Paper]
    paper_hashes: Sequence[bytes]
    n_sentences: Sequence[int]
    premises: Sequence[str]
    hypotheses: Sequence[str]
    categories: Numbers
    paper: Numbers
    first: Numbers
    second: Numbers
    order: Words
    dropped: Counter[tuple[str, str]]

    def __len__(self) -> int:
        return len(self.premises)


def find_pairs(papers: Iterable[Paper], procedure: Procedure) -> Iterator[PairBlock]:
    """Finds the pairs of papers, some papers at a time.

    A pair is two adjacent sentences of a paragraph of which the second opens with a linking phrase;
    the phrase gives the label and is cut off with the punctuation after it. For every such pair
    there is a neutral one of the same paper, in one of three ways:

    - BothRand: two random sentences;
    - FirstRand: a random sentence, and the second one of the pair;
    - SecondRand: the first one of the pair, and a random sentence.

    A random sentence opens with no linking phrase, and does not stand next to the other one. Every
    hypothesis begins in lower case, as in the authors' release, whatever its first word.

    Args:
        papers: The papers.
        procedure: What to do.

    Yields:
        The pairs of some papers; which papers come together changes nothing in them.
    """
    block = _Block(procedure)
    for paper in papers:
        block.add(paper)
        if len(block.texts) >= _BLOCK_SENTENCES:
            yield block.pairs()
            block = _Block(procedure)
    if block.papers:
        yield block.pairs()


class _Block:
    """The sentences of some papers, one after another."""

    def __init__(self, procedure: Procedure) -> None:
        self.procedure = procedure
        self.papers: list[Paper] = []
        self.hashes: list[bytes] = []
        self.starts: list[int] = []  # of the papers
        self.texts: list[str] = []
        self.openings: set[int] = set()  # sentences before which none may be a premise

    def add(self, paper: Paper) -> None:
        texts, openings = self.texts, self.openings
        start = len(texts)
        by_paragraph = self.procedure.within == "paragraph"
        for section in paper.sections:
            openings.add(len(texts))
            for paragraph in section.paragraphs:
                if by_paragraph:
                    openings.add(len(texts))
                texts += paragraph
        self.papers.append(paper)
        self.starts.append(start)
        content = "\n".join(texts[start:]).encode("utf-8", "surrogatepass")
        self.hashes.append(xxh3_128_digest(content))

    def pairs(self) -> PairBlock:
        phrases = self.procedure.phrases
        texts = self.texts
        starts = np.array([*self.starts, len(texts)])
        linking, numbers, cuts = self._linking_sentences()
        paper = np.searchsorted(starts, linking, side="right") - 1
        is_linking = np.zeros(len(texts), bool)
        is_linking[linking] = True
        keys = np.array(
            [key_of(self.procedure.seed, "pairs", p.id) for p in self.papers], np.uint64
        )
        has_premise = np.fromiter((i not in self.openings for i in linking), bool, len(linking))
        dropped = Counter(
            (phrases.phrases[numbers[n]], OPENS_PARAGRAPH) for n in np.flatnonzero(~has_premise)
        )
        linking, numbers, paper = linking[has_premise], numbers[has_premise], paper[has_premise]
        neutral = _neutral_pairs(linking, paper, starts, is_linking, keys)
        is_found = neutral.is_found
        for approach in neutral.approach[~is_found]:
            dropped[APPROACHES[approach], NO_RANDOM_SENTENCE] += 1
        first = np.concatenate([linking - 1, neutral.first[is_found]])
        second = np.concatenate([linking, neutral.second[is_found]])
        paper = np.concatenate([paper, paper[is_found]])
        categories = np.concatenate([numbers, neutral.approach[is_found] + len(phrases.phrases)])
        cut = dict(zip(linking.tolist(), cuts[has_premise].tolist(), strict=True))
        return self._judged(first, second, paper, categories, cut, keys, starts, dropped)

    def _linking_sentences(self) -> tuple[Numbers, Numbers, Numbers]:
        """The sentences that open with a phrase; for each the phrase, and how much to cut."""
        phrases = self.procedure.phrases
        texts, opening = self.texts, phrases.phrases
        number = {phrase: n for n, phrase in enumerate(opening)}
        found, numbers, cuts = [], [], []
        match = phrases.pattern.match
        length = phrases.head_length
        heads = {phrase[:length] for phrase in opening}
        for i in [i for i, text in enumerate(texts) if text[:length] in heads]:  # fast, for all
            if (here := match(texts[i])) is not None:
                found.append(i)
                numbers.append(number[here[1]])
                cuts.append(here.end())
        return np.array(found, np.int64), np.array(numbers, np.int64), np.array(cuts, np.int64)

    def _judged(
        self,
        first: Numbers,
        second: Numbers,
        paper: Numbers,
        categories: Numbers,
        cut: dict[int, int],
        keys: Words,
        starts: Numbers,
        dropped: Counter[tuple[str, str]],
    ) -> PairBlock:
        """The pairs of which both sentences are fit."""
        texts = self.texts
        premises = [texts[i] for i in first.tolist()]
        hypotheses = [texts[i][cut.get(i, 0) :] for i in second.tolist()]
        judge = self.procedure.cleaning.judge
        of_premises = judge(premises, [True] * len(premises))
        of_hypotheses = judge(hypotheses, [i not in cut for i in second.tolist()])
        rule = np.where(of_premises == FIT, of_hypotheses, of_premises)
        names = self.procedure.phrases.categories
        for category, number in zip(categories[rule != FIT], rule[rule != FIT], strict=True):
            dropped[names[category], RULES[number]] += 1
        fit = np.flatnonzero(rule == FIT)
        first, second = first - starts[paper], second - starts[paper]
        order = combine(combine(keys[paper], first), second)
        return PairBlock(
            papers=self.papers,
            paper_hashes=self.hashes,
            n_sentences=np.diff(starts).tolist(),
            premises=[premises[i] for i in fit],
            hypotheses=[_begin_in_lower_case(hypotheses[i]) for i in fit],
            categories=categories[fit],
            paper=paper[fit],
            first=first[fit],
            second=second[fit],
            order=order[fit],
            dropped=dropped,
        )


def _begin_in_lower_case(text: str) -> str:
    return text[:1].lower() + text[1:]


@dataclass(frozen=True)
class _Neutral:
    """Neutral pairs, one for each labelled pair.

    Attributes:
        approach: n numbers of ``APPROACHES``.
        first: n sentences.
        second: n sentences.
        is_found: n booleans, whether random sentences were found.
    """

    approach: Numbers
    first: Numbers
    second: Numbers
    is_found: npt.NDArray[np.bool_]


def _neutral_pairs(
    linking: Numbers,
    paper: Numbers,
    starts: Numbers,
    is_linking: npt.NDArray[np.bool_],
    paper_keys: Words,
) -> _Neutral:
    """Draws a neutral pair for each labelled one, from the same paper.

    Args:
        linking: n sentences, the second ones of the labelled pairs.
        paper: n numbers of papers.
        starts: The first sentence of each paper, and the end of the last.
        is_linking: For each sentence whether it opens with a linking phrase.
        paper_keys: The keys of the papers.
    """
    start = starts[paper]
    size = (starts[paper + 1] - start).astype(np.uint64)
    keys = combine(paper_keys[paper], linking - start)
    approach = (draw(keys, 0) % np.uint64(len(APPROACHES))).astype(np.int64)
    first, second = linking - 1, linking.copy()
    random_first, random_second = approach != 2, approach != 1
    waiting = np.arange(len(linking))
    for attempt in range(_MAX_DRAWS):
        for side, is_random, number in (
            (first, random_first, 1),
            (second, random_second, 2),
        ):
            drawn = draw(keys[waiting], 2 * attempt + number) % size[waiting]
            side[waiting] = np.where(
                is_random[waiting], start[waiting] + drawn.astype(np.int64), side[waiting]
            )
        one, other = first[waiting], second[waiting]
        is_good = (
            (np.abs(one - other) > 1)
            & ~(random_first[waiting] & is_linking[one])
            & ~(random_second[waiting] & is_linking[other])
        )
        waiting = waiting[~is_good]
        if not len(waiting):
            break
    is_found = np.ones(len(linking), bool)
    is_found[waiting] = False
    return _Neutral(approach, first, second, is_found)

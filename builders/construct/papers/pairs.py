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
from .cleaning import FIT, NOT_JUDGED, RULES
from .draws import Words, key_of, subkeys
from .neutral import draw_neutral_pairs
from .phrases import APPROACHES
from .procedure import Procedure

Numbers = npt.NDArray[np.int64]

_OPENERS = "\"'([{“‘„«—–-*•·"  # noqa: RUF001

_BLANKS = " \t\n\u00a0\u2009\u202f"

#: Why a pair is dropped before it reaches a split; those on texts are the rules of ``cleaning``.
OPENS_PARAGRAPH = "the phrase opens its paragraph"
AFTER_A_MARK = "something stands before the phrase"
NO_RANDOM_SENTENCE = "no random sentence was found"
SAME_SENTENCE = "it is one sentence twice"
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
        seconds: The n sentences that the hypotheses are, whole.
        category: n numbers of the phrases' categories.
        paper: n numbers of the papers, in ``papers``.
        first: n positions of the premise among the paper's sentences, from 0.
        second: n positions of the hypothesis.
        order: n keyed hashes, which decide what is cut and what stands where.
        found: Number of pairs that were found, by category.
        dropped: Number of those that are dropped, by category and reason.
    """

    papers: Sequence[Paper]
    paper_hashes: Sequence[bytes]
    n_sentences: Numbers
    premises: Sequence[str]
    hypotheses: Sequence[str]
    seconds: Sequence[str]
    category: Numbers
    paper: Numbers
    first: Numbers
    second: Numbers
    order: Words
    found: Counter[str]
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
        self.candidates: list[int] = []  # sentences that may open with a phrase
        phrases = procedure.phrases.phrases
        self._length = min(map(len, phrases))
        self._heads = {text[: self._length] for phrase in phrases for text in _spellings(phrase)}

    def add(self, paper: Paper) -> None:
        texts, openings = self.texts, self.openings
        by_paragraph = self.procedure.within == "paragraph"
        start, paragraphs = len(texts), []
        for section in paper.sections:
            openings.add(len(texts))
            for paragraph in section.paragraphs:
                if by_paragraph:
                    openings.add(len(texts))
                texts += paragraph
                paragraphs.append(len(texts) - start)
            paragraphs.append(0)  # which ends the section
        self.papers.append(paper)
        self.starts.append(start)
        new, length, heads = texts[start:], self._length, self._heads
        content = "\n".join((str(paragraphs), *new))
        self.hashes.append(xxh3_128_digest(content.encode("utf-8", "surrogatepass")))
        self.candidates += [i for i, text in enumerate(new, start) if text[:length] in heads]

    def pairs(self) -> PairBlock:
        phrases = self.procedure.phrases
        texts = self.texts
        starts = np.array([*self.starts, len(texts)])
        linking, numbers, cuts = self._linking_sentences()
        is_linking = np.zeros(len(texts), bool)
        is_linking[linking] = True
        found = Counter(phrases.phrases[number] for number in numbers.tolist())
        has_premise = np.array([i not in self.openings for i in linking.tolist()], bool)
        dropped = Counter(
            (phrases.phrases[number], OPENS_PARAGRAPH) for number in numbers[~has_premise]
        )
        is_first = cuts >= 0
        for number in numbers[has_premise & ~is_first]:
            dropped[phrases.phrases[number], AFTER_A_MARK] += 1
        has_premise &= is_first
        linking, numbers, cuts = linking[has_premise], numbers[has_premise], cuts[has_premise]
        whole = (texts[i] for i in linking.tolist())
        rests = [text[cut:] for text, cut in zip(whole, cuts.tolist(), strict=True)]
        paper = np.searchsorted(starts, linking, side="right") - 1
        seed = self.procedure.seed
        keys = np.array([key_of(seed, "pairs", p.id) for p in self.papers], np.uint64)
        neutral = draw_neutral_pairs(linking, paper, starts, is_linking, keys)
        is_found = neutral.is_found
        found.update(APPROACHES[approach] for approach in neutral.approach.tolist())
        for approach in neutral.approach[~is_found]:
            dropped[APPROACHES[approach], NO_RANDOM_SENTENCE] += 1
        first = np.concatenate([linking - 1, neutral.first[is_found]])
        second = np.concatenate([linking, neutral.second[is_found]])
        paper = np.concatenate([paper, paper[is_found]])
        category = np.concatenate([numbers, neutral.approach[is_found] + len(phrases.phrases)])
        rule = self._judge(first, second, linking, rests)
        for broken, number in zip(category[rule != FIT], rule[rule != FIT], strict=True):
            dropped[phrases.categories[broken], RULES[number]] += 1
        fit = rule == FIT
        for n in np.flatnonzero(fit & (category >= len(phrases.phrases))).tolist():
            if texts[first[n]] == texts[second[n]]:
                dropped[phrases.categories[category[n]], SAME_SENTENCE] += 1
                fit[n] = False
        first, second, paper = first[fit], second[fit], paper[fit]
        rest_of = dict(zip(linking.tolist(), rests, strict=True))
        hypotheses = [rest_of.get(i, texts[i]) for i in second.tolist()]
        first_place, second_place = first - starts[paper], second - starts[paper]
        return PairBlock(
            papers=self.papers,
            paper_hashes=self.hashes,
            n_sentences=np.diff(starts),
            premises=[texts[i] for i in first.tolist()],
            hypotheses=[_begin_in_lower_case(text) for text in hypotheses],
            seconds=[texts[i] for i in second.tolist()],
            category=category[fit],
            paper=paper,
            first=first_place,
            second=second_place,
            order=subkeys(subkeys(keys[paper], first_place), second_place),
            found=found,
            dropped=dropped,
        )

    def _linking_sentences(self) -> tuple[Numbers, Numbers, Numbers]:
        """The sentences that open with a phrase; for each the phrase, and how much to cut.

        That is -1 where something stands before the phrase, such as a dash or a quotation mark.
        """
        phrases, texts = self.procedure.phrases, self.texts
        number = {phrase: n for n, phrase in enumerate(phrases.phrases)}
        match = phrases.pattern.match
        found = []
        for i in self.candidates:
            text = texts[i]
            rest = text.lstrip(_OPENERS + " ")
            if (here := match(rest)) is not None:
                phrase = number[" ".join(here[1].split())]
                found.append((i, phrase, here.end() if rest is text or rest == text else -1))
        columns = np.array(found, np.int64).reshape(-1, 3)
        return columns[:, 0], columns[:, 1], columns[:, 2]

    def _judge(
        self, first: Numbers, second: Numbers, linking: Numbers, rests: Sequence[str]
    ) -> npt.NDArray[np.int8]:
        """For each pair the first rule that one of its sentences breaks, or ``FIT``.

        A sentence that opens with a phrase is judged whole as a premise, and without its phrase as
        a hypothesis.
        """
        judge = self.procedure.cleaning.judge
        of_rest = np.full(len(self.texts), NOT_JUDGED, np.int8)
        of_rest[linking] = judge(rests, opens=False)
        is_whole = np.zeros(len(self.texts), bool)
        is_whole[first] = True
        is_whole[second] |= of_rest[second] == NOT_JUDGED
        of_whole = np.full(len(self.texts), NOT_JUDGED, np.int8)
        of_whole[is_whole] = judge(
            [self.texts[i] for i in np.flatnonzero(is_whole).tolist()], opens=True
        )
        of_second = np.where(of_rest[second] == NOT_JUDGED, of_whole[second], of_rest[second])
        return np.where(of_whole[first] == FIT, of_second, of_whole[first])


def _spellings(phrase: str) -> Iterator[str]:
    """A phrase with other blanks in it, and with marks before it."""
    for blank in _BLANKS:
        yield phrase.replace(" ", blank)
        yield from (phrase.replace(" ", blank + other) for other in _BLANKS)
    for opener in _OPENERS:
        yield opener + phrase
        yield f"{opener} {phrase}"


def _begin_in_lower_case(text: str) -> str:
    return text[:1].lower() + text[1:]

"""Pairs of sentences from some papers, by distant supervision.

Source:
    SciNLI, section 3.2; MSciNLI, section 3.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_128_digest

from ....loaders.corpora.papers.paper import Paper
from .arrays import Flags, Numbers, Words
from .cleaning import FIT, NOT_JUDGED, RULES
from .draws import key_of, subkeys
from .linking import AFTER_A_MARK, Linking, find_linking
from .neutral import draw_neutral_pairs
from .procedure import Procedure

#: Why a pair is dropped before it reaches a split; those on texts are the rules of ``cleaning``.
OPENS_PARAGRAPH = "the phrase opens its paragraph"
BEHIND_A_MARK = "something stands before the phrase"
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

    def add(self, paper: Paper) -> None:
        texts, openings = self.texts, self.openings
        by_paragraph = self.procedure.within == "paragraph"
        start, ends = len(texts), []
        for section in paper.sections:
            openings.add(len(texts))
            for paragraph in section.paragraphs:
                if by_paragraph:
                    openings.add(len(texts))
                texts += paragraph
                ends.append(len(texts) - start)
            ends.append(0)  # which ends the section
        content = "\n".join((str(ends), *texts[start:]))
        self.papers.append(paper)
        self.starts.append(start)
        self.hashes.append(xxh3_128_digest(content.encode("utf-8", "surrogatepass")))

    def pairs(self) -> PairBlock:
        """The pairs of the papers."""
        tally = _Tally(self.procedure.phrases.categories)
        starts = np.array([*self.starts, len(self.texts)])
        seed = self.procedure.seed
        keys = np.array([key_of(seed, "pairs", paper.id) for paper in self.papers], np.uint64)
        linking = find_linking(self.texts, self.procedure.phrases)
        is_linking = np.zeros(len(self.texts), bool)
        is_linking[linking.sentence] = True
        linking = self._with_premise(linking, tally)
        paper = np.searchsorted(starts, linking.sentence, side="right") - 1
        labelled = _Candidates(linking.sentence - 1, linking.sentence, paper, linking.phrase)
        neutral = draw_neutral_pairs(linking.sentence, paper, starts, is_linking, keys)
        approach = neutral.approach + len(self.procedure.phrases.phrases)
        tally.find(approach)
        tally.drop(approach[~neutral.is_found], NO_RANDOM_SENTENCE)
        random = _Candidates(neutral.first, neutral.second, paper, approach)
        random = random.select(neutral.is_found)
        is_same = np.array([self._is_same(*both) for both in random.sentences()], bool)
        tally.drop(random.category[is_same], SAME_SENTENCE)
        candidates = labelled.join(random.select(~is_same))
        rests = {
            i: self.texts[i][cut:]
            for i, cut in zip(linking.sentence.tolist(), linking.cut.tolist(), strict=True)
        }
        rule = self._judge(candidates, rests)
        for number, name in enumerate(RULES):
            tally.drop(candidates.category[rule == number], name)
        return self._put_together(candidates.select(rule == FIT), rests, starts, keys, tally)

    def _with_premise(self, linking: Linking, tally: "_Tally") -> Linking:
        """The sentences that open with a phrase, nothing before it, and follow another."""
        tally.find(linking.phrase)
        opens = np.array([i in self.openings for i in linking.sentence.tolist()], bool)
        tally.drop(linking.phrase[opens], OPENS_PARAGRAPH)
        linking = linking.select(~opens)
        is_behind = linking.cut == AFTER_A_MARK
        tally.drop(linking.phrase[is_behind], BEHIND_A_MARK)
        return linking.select(~is_behind)

    def _is_same(self, one: int, other: int) -> bool:
        return self.texts[one] == self.texts[other]

    def _judge(self, candidates: "_Candidates", rests: Mapping[int, str]) -> npt.NDArray[np.int8]:
        """For each pair the first rule that one of its sentences breaks, or ``FIT``.

        A sentence that opens with a phrase is judged whole as a premise, and without its phrase as
        a hypothesis.
        """
        judge = self.procedure.cleaning.judge
        first, second = candidates.first, candidates.second
        of_rest = np.full(len(self.texts), NOT_JUDGED, np.int8)
        of_rest[list(rests)] = judge(list(rests.values()), opens=False)
        is_whole = np.zeros(len(self.texts), bool)
        is_whole[first] = True
        is_whole[second] |= of_rest[second] == NOT_JUDGED
        whole = [self.texts[i] for i in np.flatnonzero(is_whole).tolist()]
        of_whole = np.full(len(self.texts), NOT_JUDGED, np.int8)
        of_whole[is_whole] = judge(whole, opens=True)
        of_second = np.where(of_rest[second] == NOT_JUDGED, of_whole[second], of_rest[second])
        return np.where(of_whole[first] == FIT, of_second, of_whole[first])

    def _put_together(
        self,
        pairs: "_Candidates",
        rests: Mapping[int, str],
        starts: Numbers,
        keys: Words,
        tally: "_Tally",
    ) -> PairBlock:
        texts = self.texts
        hypotheses = (rests.get(i, texts[i]) for i in pairs.second.tolist())
        first, second = pairs.first - starts[pairs.paper], pairs.second - starts[pairs.paper]
        return PairBlock(
            papers=self.papers,
            paper_hashes=self.hashes,
            n_sentences=np.diff(starts),
            premises=[texts[i] for i in pairs.first.tolist()],
            hypotheses=[text[:1].lower() + text[1:] for text in hypotheses],
            seconds=[texts[i] for i in pairs.second.tolist()],
            category=pairs.category,
            paper=pairs.paper,
            first=first,
            second=second,
            order=subkeys(subkeys(keys[pairs.paper], first), second),
            found=tally.found,
            dropped=tally.dropped,
        )


@dataclass(frozen=True)
class _Candidates:
    """Pairs that were found.

    Attributes:
        first: n sentences.
        second: n sentences.
        paper: n numbers of papers.
        category: n numbers of categories.
    """

    first: Numbers
    second: Numbers
    paper: Numbers
    category: Numbers

    def select(self, chosen: Flags) -> "_Candidates":
        """The chosen ones of them."""
        return _Candidates(*(column[chosen] for column in self._columns()))

    def join(self, others: "_Candidates") -> "_Candidates":
        """They, and then others."""
        both = zip(self._columns(), others._columns(), strict=True)
        return _Candidates(*(np.concatenate(columns) for columns in both))

    def sentences(self) -> Iterator[tuple[int, int]]:
        """The two sentences of each."""
        return zip(self.first.tolist(), self.second.tolist(), strict=True)

    def _columns(self) -> tuple[Numbers, ...]:
        return self.first, self.second, self.paper, self.category


class _Tally:
    """Counts pairs by category: those that are found, and those that are dropped, by reason."""

    def __init__(self, categories: Sequence[str]) -> None:
        self._categories = categories
        self.found: Counter[str] = Counter()
        self.dropped: Counter[tuple[str, str]] = Counter()

    def find(self, categories: Numbers) -> None:
        """Counts pairs of some categories as found."""
        for number, count in Counter(categories.tolist()).items():
            self.found[self._categories[number]] += count

    def drop(self, categories: Numbers, reason: str) -> None:
        """Counts pairs of some categories as dropped."""
        for number, count in Counter(categories.tolist()).items():
            self.dropped[self._categories[number], reason] += count

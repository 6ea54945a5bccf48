"""Find labelled and neutral pairs of sentences in papers, by distant supervision.

Source:
    SciNLI, section 3.2; MSciNLI, section 3.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_128_digest

from ....loaders.corpora.papers.paper import Paper
from ....loaders.errors import UsageError
from ...core.keyed import keyed_number
from .arrays import Flags, Numbers, Texts, Words, draw, subkeys
from .cleaning import FIT, RULES, Cleaning, end_with_abbreviation
from .content_words import ContentWords
from .damage import DAMAGE, DAMAGED_PAPER, WHOLE, are_damaged
from .phrases import (
    AFTER_A_MARK,
    APPROACHES,
    Linking,
    LinkingPhrases,
    contain_phrase,
    find_linking,
)
from .repair import mend

#: Why a pair is dropped before it reaches a split; those on texts are the rules of ``cleaning``.
OPENS_PARAGRAPH = "the phrase opens its paragraph"
BEHIND_A_MARK = "something stands before the phrase"
IN_LONGER_PHRASE = "the phrase begins a longer one"
NO_RANDOM_SENTENCE = "no random sentence was found"
SAME_SENTENCE = "it is one sentence twice"
#: The papers whose rule random sentences may follow; the first is the default.
RANDOM_SENTENCES = ("mscinli", "scinli")
#: What becomes of sentences whose phrase begins a longer one; the first is the default.
LONGER_PHRASES = ("drop", "keep")
#: The least distance of two sentences of a neutral pair: they do not stand side by side.
NEUTRAL_DISTANCE = 2
_BLOCK_SENTENCES = 30_000
_MAX_DRAWS = 64
#: Returns which of n drawn pairs are fit: of n sentences, n others, and n approaches.
NeutralRule = Callable[[Numbers, Numbers, Numbers], Flags]


@dataclass(frozen=True)
class PairRules:
    """How pairs are taken from a paper: all of a recipe that reading a paper needs.

    Attributes:
        phrases: The linking phrases.
        cleaning: The bounds of the rules on sentences.
        within: What two adjacent sentences must share, ``paragraph`` or ``section``.
        random_sentences: Whose rule random sentences follow, one of ``RANDOM_SENTENCES``; see
            ``find_pairs``.
        longer_phrases: What becomes of sentences whose phrase begins a longer one, as in "In
            contrast to", one of ``LONGER_PHRASES``.
        neutral_distance: Least distance of the two sentences of a neutral pair in their paper, in
            sentences, from 2; 2 is the papers' draw.
        neutral_overlap: Largest share of content words that the two may have in common, 0 to 1; see
            ``ContentWords``. 1 is the papers' draw.
        seed: Decides every random choice.
    """

    phrases: LinkingPhrases = field(default_factory=LinkingPhrases.read)
    cleaning: Cleaning = field(default_factory=Cleaning)
    within: str = "paragraph"
    random_sentences: str = RANDOM_SENTENCES[0]
    longer_phrases: str = LONGER_PHRASES[0]
    neutral_distance: int = NEUTRAL_DISTANCE
    neutral_overlap: float = 1.0
    seed: int = 1

    def __post_init__(self) -> None:
        if self.within not in ("paragraph", "section"):
            raise UsageError(f"within is {self.within!r}; expected paragraph or section.")
        if self.random_sentences not in RANDOM_SENTENCES:
            raise UsageError(
                f"The rule on random sentences is {self.random_sentences!r}; expected "
                f"{' or '.join(RANDOM_SENTENCES)}."
            )
        if self.longer_phrases not in LONGER_PHRASES:
            raise UsageError(
                f"longer_phrases is {self.longer_phrases!r}; expected "
                f"{' or '.join(LONGER_PHRASES)}."
            )
        if self.neutral_distance < NEUTRAL_DISTANCE:
            raise UsageError(
                f"The distance of neutral sentences is {self.neutral_distance}; expected "
                f"{NEUTRAL_DISTANCE} or more."
            )
        if not 0 <= self.neutral_overlap <= 1:
            raise UsageError(
                f"The overlap of neutral sentences is {self.neutral_overlap}; expected 0 to 1."
            )

    def as_json(self) -> Mapping[str, Any]:
        """Return the rules as plain values."""
        return {
            **self.phrases.as_json(),
            "cleaning": asdict(self.cleaning),
            "within": self.within,
            "random_sentences": self.random_sentences,
            "longer_phrases": self.longer_phrases,
            "neutral_distance": self.neutral_distance,
            "neutral_overlap": self.neutral_overlap,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class PairBlock:
    """The pairs of some papers that no rule on sentences drops.

    Attributes:
        papers: The papers, without their sections.
        paper_hashes: For each paper a hash of its sentences, of 128 bits.
        n_sentences: For each paper the number of its sentences.
        premises: n premises, in UTF-8.
        hypotheses: n hypotheses, without their linking phrase, the first letter in lower case.
        seconds: The n sentences that the hypotheses are, whole.
        category: n numbers of the phrases' categories.
        paper: n numbers of the papers, in ``papers``.
        first: n positions of the premise among the paper's sentences, from 0.
        second: n positions of the hypothesis.
        order: n keyed hashes, which decide what is cut and what stands where.
        found: Number of pairs found, by category.
        dropped: Number of pairs dropped, by category and reason.
    """

    papers: Sequence[Paper]
    paper_hashes: Sequence[bytes]
    n_sentences: Numbers
    premises: Sequence[bytes]
    hypotheses: Sequence[bytes]
    seconds: Sequence[bytes]
    category: Numbers
    paper: Numbers
    first: Numbers
    second: Numbers
    order: Words
    found: Counter[str]
    dropped: Counter[tuple[str, str]]


def find_pairs(papers: Iterable[Paper], rules: PairRules) -> Iterator[PairBlock]:
    """Find the pairs of sentences in papers, some papers at a time.

    A pair is two adjacent sentences of a paragraph of which the second opens with a linking phrase;
    the phrase gives the label and is cut off with the punctuation after it. For every such pair
    there is a neutral one of the same paper, in one of three ways:

    - BothRand: two random sentences;
    - FirstRand: a random sentence, and the second one of the pair;
    - SecondRand: the first one of the pair, and a random sentence.

    Sentences whose phrase begins a longer one ("In contrast to ...") give no pair, unless they are
    to be kept, as the papers do.

    A random sentence opens with no linking phrase (MSciNLI), and does not stand next to the other
    one, or farther off where a distance is asked for; where there is a ceiling on their overlap,
    the two keep to it. By the rule of ``scinli``, the two of BothRand also contain no phrase,
    wherever in the sentence (SciNLI). Of the one in FirstRand and SecondRand SciNLI only says that
    it is random; in its release 2 of the 1,500 neutral hypotheses that people have judged open with
    a phrase.

    Every hypothesis begins in lower case, as in the authors' release, whatever its first word.

    Args:
        papers: The papers.
        rules: How pairs are taken.

    Yields:
        The pairs of some papers; which papers come together changes nothing in them.
    """
    block = _Block(rules)
    for paper in papers:
        block.add(paper)
        if len(block) >= _BLOCK_SENTENCES:
            yield block.pairs()
            block = _Block(rules)
    if block.papers:
        yield block.pairs()


class _Block:
    """The sentences of some papers, one after another."""

    def __init__(self, rules: PairRules) -> None:
        self._rules = rules
        self.papers: list[Paper] = []
        self._hashes: list[bytes] = []
        self._contents: list[bytes] = []
        self._starts: list[int] = []  # of the papers
        self._lengths: list[int] = []
        self._openings: list[int] = []  # sentences before which none may be a premise

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, paper: Paper) -> None:
        """Take a paper; of its texts only the bytes are kept."""
        by_paragraph = self._rules.within == "paragraph"
        texts: list[bytes] = []
        ends = []
        start = len(self)
        for section in paper.sections:
            if not by_paragraph:
                self._openings.append(start + len(texts))
            for paragraph in section.paragraphs:
                if by_paragraph:
                    self._openings.append(start + len(texts))
                try:
                    texts += map(str.encode, paragraph)
                except UnicodeEncodeError:
                    texts += [text.encode("utf-8", "surrogatepass") for text in paragraph]
                ends.append(len(texts))
            ends.append(0)  # which ends the section
        content = b"\n".join((str(ends).encode(), *texts, b""))
        self.papers.append(Paper(paper.id, paper.year, paper.domain, (), paper.file, paper.line))
        self._hashes.append(xxh3_128_digest(content))
        self._contents.append(content)
        self._starts.append(start)
        self._lengths += map(len, texts)

    def _texts(self, starts: Numbers) -> Texts:
        """Return the sentences; those of a paper stand at the end of its content."""
        lengths = np.array(self._lengths)
        behind = np.cumsum(lengths + 1)
        of_contents = np.cumsum([len(content) for content in self._contents])
        behind += np.repeat(of_contents - behind[starts[1:] - 1], np.diff(starts))
        return Texts(b"".join(self._contents), behind - lengths - 1, behind - 1)

    def pairs(self) -> PairBlock:
        """Find the pairs of the papers."""
        phrases = self._rules.phrases
        tally = PairTally(phrases.categories)
        starts = np.array([*self._starts, len(self)])
        texts = self._texts(starts)
        seed = self._rules.seed
        keys = np.array([keyed_number(seed, "pairs", paper.id) for paper in self.papers], np.uint64)
        linking = find_linking(texts, phrases)
        is_linking = np.zeros(len(texts), bool)
        is_linking[linking.sentence] = True
        linking = self._with_premise(linking, tally)
        paper = np.searchsorted(starts, linking.sentence, side="right") - 1
        is_damaged = are_damaged(texts, starts)[paper]
        tally.drop(linking.phrase[is_damaged], DAMAGED_PAPER)
        linking, paper = linking.select(~is_damaged), paper[~is_damaged]
        labelled = _Candidates(linking.sentence - 1, linking.sentence, paper, linking.phrase)

        neutral, is_found = _draw_neutral_pairs(
            labelled,
            starts,
            is_linking,
            keys,
            len(phrases.phrases),
            self._neutral_rule(texts, starts),
        )
        tally.find(neutral.category)
        tally.drop(neutral.category[~is_found], NO_RANDOM_SENTENCE)
        others = neutral.select(is_found)
        is_same = _are_same(texts.select(others.first), texts.select(others.second))
        tally.drop(others.category[is_same], SAME_SENTENCE)
        candidates = labelled.join(others.select(~is_same))
        cuts = np.zeros(len(texts), np.int64)
        cuts[linking.sentence] = linking.cut
        rule = self._judge(candidates, texts, cuts)
        for number, name in enumerate(RULES):
            tally.drop(candidates.category[rule == number], name)
        pairs = candidates.select(rule == FIT)
        sentences = self._mend(pairs, texts)
        for number, name in enumerate(DAMAGE):
            tally.drop(pairs.category[sentences.damage == number], name)
        is_whole = sentences.damage == WHOLE
        pairs = pairs.select(is_whole)
        seconds = list(compress(sentences.seconds, is_whole.tolist()))
        cut = cuts[pairs.second].tolist()
        first, second = pairs.first - starts[pairs.paper], pairs.second - starts[pairs.paper]
        return PairBlock(
            papers=self.papers,
            paper_hashes=self._hashes,
            n_sentences=np.diff(starts),
            premises=list(compress(sentences.firsts, is_whole.tolist())),
            hypotheses=_begin_in_lower_case(
                [text[n:] for text, n in zip(seconds, cut, strict=True)]
            ),
            seconds=seconds,
            category=pairs.category,
            paper=pairs.paper,
            first=first,
            second=second,
            order=subkeys(subkeys(keys[pairs.paper], first), second),
            found=tally.found,
            dropped=tally.dropped,
        )

    def _mend(self, pairs: "_Candidates", texts: Texts) -> "_Mended":
        """Mend the sentences of pairs where the extraction has damaged them, or tell how it has."""
        numbers, place = np.unique(np.concatenate((pairs.first, pairs.second)), return_inverse=True)
        papers = np.zeros(len(numbers), np.int64)
        papers[place] = np.concatenate((pairs.paper, pairs.paper))
        mended = mend(texts.select(numbers).to_list(), papers, self._contents)
        first, second = place.reshape(2, -1)
        damage = np.where(
            mended.damage[first] == WHOLE, mended.damage[second], mended.damage[first]
        )
        return _Mended(
            [mended.as_first[number] for number in first.tolist()],
            [mended.as_second[number] for number in second.tolist()],
            damage,
        )

    def _neutral_rule(self, texts: Texts, starts: Numbers) -> "NeutralRule":
        """Return the rule that tells which drawn pairs are fit."""
        rules = self._rules
        words = ContentWords(texts, starts)

        def is_fit(first: Numbers, second: Numbers, approach: Numbers) -> Flags:
            fit: Flags = np.abs(first - second) >= rules.neutral_distance
            if rules.random_sentences == "scinli":
                both = np.flatnonzero(fit & (approach == 0))
                some, others = (texts.select(side[both]) for side in (first, second))
                fit[both] = ~(
                    contain_phrase(some, rules.phrases) | contain_phrase(others, rules.phrases)
                )
            if rules.neutral_overlap < 1:
                left = np.flatnonzero(fit)
                fit[left] = words.overlap(first[left], second[left]) <= rules.neutral_overlap
            return fit

        return is_fit

    def _with_premise(self, linking: Linking, tally: "PairTally") -> Linking:
        """Return the sentences that open with a phrase, nothing before it, and follow another."""
        tally.find(linking.phrase)
        is_opening = np.zeros(len(self), bool)
        is_opening[self._openings] = True
        opens = is_opening[linking.sentence]
        tally.drop(linking.phrase[opens], OPENS_PARAGRAPH)
        linking = linking.select(~opens)
        is_behind = linking.cut == AFTER_A_MARK
        tally.drop(linking.phrase[is_behind], BEHIND_A_MARK)
        linking = linking.select(~is_behind)
        if self._rules.longer_phrases == "keep":
            return linking
        tally.drop(linking.phrase[linking.is_longer], IN_LONGER_PHRASE)
        return linking.select(~linking.is_longer)

    def _judge(self, pairs: "_Candidates", texts: Texts, cuts: Numbers) -> npt.NDArray[np.int8]:
        """Return for each pair the first rule that one of its sentences breaks, or ``FIT``.

        A sentence that opens with a phrase is judged whole as a premise, and without its phrase as
        a hypothesis. One behind a sentence that was cut at an abbreviation is the rest of it.
        """
        judge = self._rules.cleaning.judge
        is_cut = cuts[pairs.second] > 0
        is_whole = np.zeros(len(texts), bool)
        is_whole[pairs.first] = True
        is_whole[pairs.second[~is_cut]] = True
        whole = np.flatnonzero(is_whole)
        of_whole = np.full(len(texts), FIT, np.int8)
        of_whole[whole] = judge(texts.select(whole).to_list(), opens=True)
        before = np.setdiff1d(whole, self._openings) - 1
        rest = before[end_with_abbreviation(texts.select(before).to_list())] + 1
        of_whole[rest[of_whole[rest] == FIT]] = RULES.index("begins in the middle")
        cut = np.unique(pairs.second[is_cut])
        of_cut = of_whole.copy()
        of_cut[cut] = judge(texts.select(cut).without(cuts[cut]).to_list(), opens=False)
        of_first = of_whole[pairs.first]
        return np.where(of_first == FIT, of_cut[pairs.second], of_first)


def by_category(dropped: Mapping[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    """Return numbers of dropped pairs by category, then by reason, in alphabetical order."""
    found: dict[str, dict[str, int]] = {}
    for (category, reason), number in sorted(dropped.items()):
        found.setdefault(category, {})[reason] = number
    return found


def _are_same(some: Texts, others: Texts) -> Flags:
    """Return for each of n texts whether it is the same as another."""
    found: Flags = (some.end - some.start) == (others.end - others.start)
    for number in np.flatnonzero(found).tolist():
        found[number] = some[number] == others[number]
    return found


def _begin_in_lower_case(texts: Sequence[bytes]) -> Sequence[bytes]:
    """Lowercase the first letter of texts in UTF-8."""
    lowered = [text[:1].lower() + text[1:] for text in texts]
    for number, text in enumerate(texts):
        if text[0] >= 0x80:  # of a letter beyond ASCII
            decoded = text.decode()
            lowered[number] = (decoded[:1].lower() + decoded[1:]).encode()
    return lowered


class _Mended(NamedTuple):
    """The two sentences of n pairs, and n kinds of damage that is left; see ``find_damage``."""

    firsts: Sequence[bytes]
    seconds: Sequence[bytes]
    damage: npt.NDArray[np.int8]


class _Candidates(NamedTuple):
    """Pairs that were found: n sentences, n others, the papers of both, and the categories."""

    first: Numbers
    second: Numbers
    paper: Numbers
    category: Numbers

    def select(self, chosen: Flags) -> "_Candidates":
        """Return the chosen pairs."""
        return _Candidates(*(column[chosen] for column in self))

    def join(self, others: "_Candidates") -> "_Candidates":
        """Return these pairs, then others."""
        return _Candidates(*map(np.concatenate, zip(self, others, strict=True)))


def _draw_neutral_pairs(
    labelled: _Candidates,
    starts: Numbers,
    is_linking: Flags,
    paper_keys: Words,
    n_phrases: int,
    rule: NeutralRule,
) -> tuple[_Candidates, Flags]:
    """Draw a neutral pair for each of n labelled ones, from the same paper.

    Args:
        labelled: The labelled pairs.
        starts: The first sentence of each paper, and the end of the last.
        is_linking: For each sentence whether it opens with a linking phrase.
        paper_keys: The keys of the papers.
        n_phrases: The number of the first category that is an approach.
        rule: Returns which of some drawn pairs, of sentences that open with no phrase where they
            are random, are fit; it takes both sentences and the approach.

    Returns:
        The neutral pairs, and n booleans, whether random sentences were found.
    """
    start = starts[labelled.paper]
    size = (starts[labelled.paper + 1] - start).astype(np.uint64)
    keys = subkeys(paper_keys[labelled.paper], labelled.second - start)
    approach = (draw(keys, 0) % np.uint64(len(APPROACHES))).astype(np.int64)
    first, second = labelled.first.copy(), labelled.second.copy()
    random_first, random_second = approach != 2, approach != 1
    is_found = np.zeros(len(start), bool)
    for attempt in range(_MAX_DRAWS):
        waiting = np.flatnonzero(~is_found)
        if not len(waiting):
            break
        for side, is_random, number in ((first, random_first, 1), (second, random_second, 2)):
            drawn = draw(keys[waiting], 2 * attempt + number) % size[waiting]
            side[waiting] = np.where(
                is_random[waiting], start[waiting] + drawn.astype(np.int64), side[waiting]
            )
        one, other = first[waiting], second[waiting]
        opens = random_first[waiting] & is_linking[one] | random_second[waiting] & is_linking[other]
        left = np.flatnonzero(~opens)
        is_fit = np.zeros(len(waiting), bool)
        is_fit[left] = rule(one[left], other[left], approach[waiting][left])
        is_found[waiting] = is_fit
    return _Candidates(first, second, labelled.paper, approach + n_phrases), is_found


class PairTally:
    """Counts pairs by category: those that are found, and those that are dropped, by reason."""

    def __init__(self, categories: Sequence[str]) -> None:
        self._categories = categories
        self.found: Counter[str] = Counter()
        self.dropped: Counter[tuple[str, str]] = Counter()

    def find(self, categories: Numbers) -> None:
        """Count pairs of some categories as found."""
        self.found.update(self._categories[number] for number in categories.tolist())

    def drop(self, categories: Numbers, reason: str) -> None:
        """Count pairs of some categories as dropped."""
        self.dropped.update((self._categories[number], reason) for number in categories.tolist())

"""Compare the vocabularies of domains: the words that they share, the cosine of their counts."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod, sqrt

from ...loaders.errors import UnmeasuredError
from ..core.schema import TEXTS
from ..versions.version import BuiltVersion
from .tokens import find_words

#: Maximal number of words of a domain that are compared.
MAX_WORDS = 10_000

# English words that say nothing about a field: articles, pronouns, prepositions, auxiliaries,
# conjunctions, and the stems of contractions ("isn" of "isn't").
_FUNCTION_WORDS = """
a an the this that these those each every either neither both all any some no none such another
other others same own several many much more most few fewer less least enough
he him his she her hers it its they them their theirs we us our ours you your yours me my mine
himself herself itself themselves ourselves yourself one ones who whom whose which what
whatever someone something anyone anything everyone everything nothing nobody
of in on at by for from to with without within into onto upon over under above below between
among across along through throughout during before after since until about around against
toward towards behind beyond beside besides despite per via off out up down near like unlike
except than as
and or but nor so yet if then else because while whereas although though unless whether once
however therefore thus hence also too even only just very quite rather still again already ever
never always often here there where when why how not
is are was were be been being am do does did doing done has have had having will would shall
should can cannot could may might must ought
isn aren wasn weren don doesn didn hasn haven hadn won wouldn shouldn couldn mustn ll re ve
"""
#: Words left out of the comparison.
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())

# Each domain with its cosines with those before it. Source: MSciNLI, Table 13.
_COSINES: Mapping[str, Sequence[float]] = {
    "hardware": (),
    "networks": (0.94,),
    "software_engineering": (0.95, 0.95),
    "security_privacy": (0.93, 0.96, 0.97),
    "neurips": (0.70, 0.63, 0.63, 0.61),
    "acl": (0.76, 0.69, 0.71, 0.68, 0.81),
}
#: By dataset and pair of domains.
_PUBLISHED_COSINES = {
    "mscinli": {
        frozenset((one, other)): cosine
        for one, row in _COSINES.items()
        for other, cosine in zip(_COSINES, row, strict=False)
    }
}


@dataclass(frozen=True)
class SharedWords:
    """What the vocabularies of two domains share.

    Attributes:
        domains: The domains.
        words: Number of the most frequent words of one that are among those of the other.
        share: Their percentage among the compared words.
        cosine: Cosine of the counts of all words of the two, 0 (no word in common) to 1 (the same
            words, equally often).
        published_cosine: That of the paper; None where it publishes none.
    """

    domains: tuple[str, str]
    words: int
    share: float
    cosine: float
    published_cosine: float | None


@dataclass(frozen=True)
class Vocabularies:
    """The vocabularies of some domains, compared.

    Attributes:
        compared_words: Number of the most frequent words of a domain that are compared: 10,000, or
            all words of the domain with the fewest.
        different_words: Number of distinct words of each domain.
        shared: The shared words of each pair of domains.
    """

    compared_words: int
    different_words: dict[str, int]
    shared: tuple[SharedWords, ...]


def compare_vocabularies(version: BuiltVersion, config: str) -> Vocabularies:
    """Compare the vocabularies of each two domains over all splits.

    The share is that of the most frequent words, as many of each domain; it depends on how much
    text a domain has, so compare domains of about the same size. The cosine is that of the counts
    of all words, for domains of any size.

    Words are runs of two or more letters in lower case, without stop words. Equally frequent words
    rank in alphabetical order. Only counts are held in memory, not rows.

    Args:
        version: The version.
        config: The config.

    Raises:
        UnmeasuredError: There is only one domain, or a domain has no word.
        VerificationError: A file is missing or malformed.

    Source: Gururangan et al. (2020), "Don't Stop Pretraining", section 3 and Figure 2: the
        10,000 most frequent words without stop words, and the overlap in percent. MSciNLI, Table
        13: the cosine. Of which words and weights is not known to us; stop words are left out here
        because with them any two fields are near 1, where the table goes down to .61.
    """
    spec = version.builder.SPEC
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    # Rows are read where they can be of several domains.
    for split in version.manifest.configs[config] if len(spec.domains) > 1 else ():
        for batch in version.batches(config, split, ["domain", *TEXTS]):
            for row in batch.to_pylist():
                for name in TEXTS:
                    counts[row["domain"]].update(find_words(row[name] or ""))
    if len(counts) < 2:
        raise UnmeasuredError("all rows are of one domain")
    for words in counts.values():
        for word in STOP_WORDS:
            words.pop(word, None)
    n_words = min(MAX_WORDS, *map(len, counts.values()))
    if not n_words:
        raise UnmeasuredError("a domain has no words")
    ranked = {d: sorted(words, key=lambda w: (-words[w], w)) for d, words in counts.items()}
    published = _PUBLISHED_COSINES.get(spec.name, {})
    shared = []
    for one, other in combinations(counts, 2):
        n_shared = len({*ranked[one][:n_words]} & {*ranked[other][:n_words]})
        share = round(100 * n_shared / n_words, 1)
        product = sum(n * counts[other][word] for word, n in counts[one].items())
        norms = (sum(n * n for n in counts[domain].values()) for domain in (one, other))
        cosine = round(product / sqrt(prod(norms)), 2)
        theirs = published.get(frozenset((one, other)))
        shared.append(SharedWords((one, other), n_shared, share, cosine, theirs))
    return Vocabularies(n_words, {d: len(words) for d, words in counts.items()}, tuple(shared))

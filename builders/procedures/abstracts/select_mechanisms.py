"""Which mechanisms a dataset takes, and in which split each is."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ....loaders.corpora.abstracts.abstract import Skipped
from ..splits import ByRatio
from .mechanisms.mechanism import Mechanism, NoMechanism

#: Why a mechanism is not taken.
SAME_TEXTS = "another abstract has the same supporting set"


@dataclass(frozen=True)
class Selection:
    """The mechanisms of a corpus.

    Attributes:
        mechanisms: Those that are taken, by pmid.
        splits: The split of each.
        n_read: Abstracts and records that were found, whether they could be read or not.
        not_taken: Why the others give no mechanism, in the order of the files; then those whose
            mechanism is not taken, by pmid alone.
        left_out: Entities, relations and lines that were not read; their abstracts were, without
            them.
    """

    mechanisms: Sequence[Mechanism]
    splits: Sequence[str]
    n_read: int
    not_taken: Sequence[Skipped | NoMechanism]
    left_out: Sequence[Skipped]

    def dropped(self) -> dict[str, int]:
        """Number of abstracts that are not taken, by reason, the most frequent first."""
        return dict(Counter(entry.reason for entry in self.not_taken).most_common())


def select_mechanisms(
    found: Iterable[Mechanism | NoMechanism | Skipped], splitting: ByRatio, seed: int
) -> Selection:
    """Take each mechanism once, and put each into a split by its pmid.

    Of those with the same supporting set, however it is cut into sentences, that with the least
    pmid is taken: no premise is in two splits, and none has a sentence for a positive and for a
    negative. A file that is not read at all counts as one abstract.

    Args:
        found: What was found of a corpus.
        splitting: How abstracts are split.
        seed: Decides which split an abstract is in.
    """
    mechanisms: list[Mechanism] = []
    not_taken: list[Skipped | NoMechanism] = []
    left_out: list[Skipped] = []
    for one in found:
        if isinstance(one, Mechanism):
            mechanisms.append(one)
        elif isinstance(one, NoMechanism) or one.unit in ("abstract", "record", "file"):
            not_taken.append(one)
        else:
            left_out.append(one)
    n_read = len(mechanisms) + len(not_taken)
    taken: dict[str, Mechanism] = {}
    for one in sorted(mechanisms, key=lambda mechanism: mechanism.pmid):
        first = taken.setdefault(" ".join(" ".join(one.supporting).split()), one)
        if first is not one:
            detail = f"that of {first.pmid} is taken"
            not_taken.append(NoMechanism("", 0, one.pmid, SAME_TEXTS, detail))
    chosen = list(taken.values())
    splits = [splitting.place_of(one.pmid, None, seed).split or "" for one in chosen]
    return Selection(chosen, splits, n_read, not_taken, left_out)

"""Put the rows of mechanisms into the splits of BioNLI's two configs, by its draw or another rule.

The draw of BioNLI, under which a training mechanism is one row, its positive or one negative:

1.  A share of the mechanisms is for testing. Every row of the others has a number from 0 to 1, the
    same for both configs.
2.  A row of a preferred kind whose number is .9 or more puts its mechanism into validation.
3.  Other rows of preferred kinds are accepted; a row of another kind is accepted where its number
    is below the share of its category, which depends on the config (``ACCEPTED``, ``OTHERS``).
4.  ``full`` draws one accepted row of each remaining mechanism for training; a mechanism without
    one goes to validation.
5.  ``balanced`` draws one row of each remaining mechanism, accepted or not; it is for training if
    it is accepted. Validation has those of the validation of ``full`` that are not in training; the
    others are in no split.

A row of a preferred kind is drawn before all others, which are equally likely. Validation and test
have all rows of a mechanism. The authors prefer what is rare in BioNLI, SRE, GEN and GEN-ND; where
most mechanisms have one, nearly all training rows would be of that kind (``find_rare_kinds``).

With the shares of splits given, these decide instead of steps 1 and 2, all rows of preferred kinds
are accepted, and a training mechanism of ``full`` without an accepted row is one of all its rows.
With pairs, a training mechanism is its positive and one negative, each category equally likely;
``balanced`` has those whose negative is accepted.

Source:
    BioNLI, section 3.4, Tables 2 and 3, has the sizes. Steps 2 to 5 and their shares are those of
    the authors' code, StonyBrookNLP/BioNLI, ``src/data_preparation.py``; the validation of
    ``balanced`` that of ``src/prediction.py``. Keyed hashes take the place of a random stream. The
    caption of Table 3 has a limit of 500 rows, their code none: the largest rule-based one has 452.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...core.keyed import keyed_number
from ...core.schema import SPLITS
from ..splits import ByRatio
from .declaration import POSITIVE
from .perturb.apply import NAMES

TRAIN, VALIDATION, TEST = SPLITS
CONFIGS = FULL, BALANCED = ("full", "balanced")

#: Shares of mechanisms, of which Table 2 has 16,997, 3,000 and 2,000.
PAPER_RATIO = ByRatio(16_997 / 21_997, 3_000 / 21_997)
_TEST_SHARE = 2_000 / 21_997
#: Kinds of which the draw of BioNLI takes a row before all others. They are rare in it: the most
#: frequent has 102 rows for 2,000 mechanisms (Table 2, test).
PREFERRED = ("SRE", "GEN", "GEN-ND")
_MAX_RARE = 0.1
#: Share of the rows of preferred kinds that leave their mechanism in training.
UNMARKED = 0.9
#: By config, the share of rows of a category that are accepted for training.
ACCEPTED: Mapping[str, Mapping[str, float]] = {
    FULL: {POSITIVE: 0.65, "LPR": 0.3, "SN": 0.3},
    BALANCED: {POSITIVE: 0.7, "LPR": 0.4, "SN": 0.4},
}
#: The same of any other category.
OTHERS: Mapping[str, float] = {FULL: 0.2, BALANCED: 0.1}


class Membership(NamedTuple):
    """The rows of a mechanism in a config.

    Attributes:
        split: The split that they are in; None where the config has none of them.
        kinds: The kinds of the rows that are there; None for all.
    """

    split: str | None
    kinds: tuple[str, ...] | None = None

    def has_kind(self, kind: str) -> bool:
        """Return whether the row of a kind is in its split, if any."""
        return self.split is not None and (self.kinds is None or kind in self.kinds)


def find_rare_kinds(with_category: Mapping[str, int], n_mechanisms: int) -> tuple[str, ...]:
    """Return the kinds that BioNLI's draw prefers and that are rare here too.

    Args:
        with_category: Number of mechanisms that have a negative of a category.
        n_mechanisms: Number of all mechanisms.

    Returns:
        Those of ``PREFERRED`` of which at most 10 % of the mechanisms have a negative.
    """
    at_most = _MAX_RARE * n_mechanisms
    return tuple(name for name in PREFERRED if with_category.get(name, 0) <= at_most)


class _Lot(NamedTuple):
    """A row in the draw: its category, kind and id, and its number from 0 to 1."""

    category: str
    kind: str
    id: str
    number: float


@dataclass(frozen=True)
class Distribution:
    """A rule that puts the rows of mechanisms into configs and splits.

    Attributes:
        ratio: How mechanisms are split; None leaves it to the draw.
        pairs: Whether a training mechanism is its positive and one negative; needs a ratio.
        preferred: Categories of which the draw takes a row before all others.
        max_per_category: Greatest number of rows of a rule-based category in the training set of
            ``balanced``; None sets no limit.
        seed: Seed of every choice.
    """

    ratio: ByRatio | None = None
    pairs: bool = False
    preferred: Sequence[str] = PREFERRED
    max_per_category: int | None = None
    seed: int = 1

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that have rows."""
        return SPLITS if self.ratio is None else self.ratio.splits

    @property
    def rule(self) -> str:
        """The name of the rule: ``draw`` as in BioNLI; by a ratio, ``one`` row or a ``pair``."""
        if self.ratio is None:
            return "draw"
        return "pair" if self.pairs else "one"

    def as_json(self) -> Mapping[str, Any]:
        """Return the rule as plain values, for the manifest."""
        by_draw = {"by": "draw", "test": _TEST_SHARE}
        return {
            "split": by_draw if self.ratio is None else self.ratio.as_json(),
            "training_rows": "pair" if self.pairs else "one",
            "preferred": list(self.preferred),
            "max_per_category": self.max_per_category,
        }

    def split_of(self, pmid: str) -> str | None:
        """Return the split of a mechanism, as far as its id decides it; None leaves it to the draw.

        Args:
            pmid: The id of its abstract.
        """
        if self.ratio is not None:
            return self.ratio.place_of(pmid, None, self.seed).split
        found = ByRatio(1 - _TEST_SHARE, 0).place_of(pmid, None, self.seed).split
        return TEST if found == TEST else None

    def place(self, pmid: str, kinds: Sequence[tuple[str, str]]) -> tuple[Membership, Membership]:
        """Return where the rows of a mechanism are, in ``full`` and in ``balanced``.

        It depends on no other mechanism; the limit of a category is not applied yet.

        Args:
            pmid: The id of its abstract.
            kinds: Category and kind of each row, the positive first.
        """
        split = self.split_of(pmid)
        if split in (VALIDATION, TEST):
            return Membership(split), Membership(split)
        lots = self._lots(pmid, kinds)
        if self.pairs:
            return self._place_pair(pmid, lots)
        if split is None and any(self._is_marked(lot) for lot in lots):
            return Membership(VALIDATION), Membership(VALIDATION)
        accepted = [lot for lot in lots if self._accepts(FULL, lot)]
        if not accepted and split == TRAIN:
            accepted = lots
        full = Membership(VALIDATION)
        if accepted:
            full = Membership(TRAIN, (self._draw(FULL, accepted).kind,))
        drawn = self._draw(BALANCED, lots)
        if self._accepts(BALANCED, drawn):
            return full, Membership(TRAIN, (drawn.kind,))
        return full, _outside_training(full)

    def _place_pair(self, pmid: str, lots: Sequence[_Lot]) -> tuple[Membership, Membership]:
        """Return where a training mechanism is that has its positive and one negative."""
        by_category = defaultdict(list)
        for lot in lots[1:]:
            by_category[lot.category].append(lot)
        if not by_category:
            return Membership(TRAIN), Membership(None)
        names = sorted(by_category)
        of_it = by_category[names[keyed_number(self.seed, "category", pmid) % len(names)]]
        of_it.sort(key=lambda lot: lot.kind)
        drawn = of_it[keyed_number(self.seed, "negative", pmid) % len(of_it)]
        pair = Membership(TRAIN, (POSITIVE, drawn.kind))
        return pair, pair if self._accepts(BALANCED, drawn) else Membership(None)

    def _lots(self, pmid: str, kinds: Sequence[tuple[str, str]]) -> list[_Lot]:
        """Return the rows of a mechanism in the draw, the positive first."""
        lots = []
        for category, kind in kinds:
            name = f"{pmid}-{kind}"
            number = keyed_number(self.seed, "accept", name) / 2**64
            lots.append(_Lot(category, kind, name, number))
        return lots

    def _is_marked(self, lot: _Lot) -> bool:
        return lot.category in self.preferred and lot.number >= UNMARKED

    def _accepts(self, config: str, lot: _Lot) -> bool:
        is_preferred = lot.category in self.preferred
        return is_preferred or lot.number < ACCEPTED[config].get(lot.category, OTHERS[config])

    def _draw(self, config: str, lots: Sequence[_Lot]) -> _Lot:
        """Draw a row for a config, one of a preferred kind if there is one."""

        def place(lot: _Lot) -> tuple[bool, int]:
            order = keyed_number(self.seed, f"draw {config}", lot.id)
            return lot.category not in self.preferred, order

        return min(lots, key=place)

    def limited_category(self, balanced: Membership) -> str | None:
        """Return the category whose limit a mechanism counts for in ``balanced``; None for none."""
        if self.max_per_category is None or balanced.split != TRAIN:
            return None
        return next((kind for kind in balanced.kinds or () if kind in NAMES), None)

    def limit_order(self, pmid: str) -> int:
        """Return a number of 64 bits; mechanisms above a limit are those with the greatest."""
        return keyed_number(self.seed, "balanced", pmid)


def _outside_training(full: Membership) -> Membership:
    """Return where a mechanism that ``balanced`` does not train on is in it."""
    return Membership(VALIDATION if full.split == VALIDATION else None)

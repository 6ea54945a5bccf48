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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.schema import IN_NO_SPLIT, SPLITS
from ...core.sql import Statement
from ..splits import ByRatio
from .declaration import POSITIVE
from .perturb.apply import NAMES

TRAIN, VALIDATION, TEST = SPLITS
#: The table of what rows are chosen by; see ``negatives.CANDIDATE_SCHEMA``.
CANDIDATES = "candidates"
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

_TRAIN, _VALIDATION, _TEST = map(SPLITS.index, SPLITS)
#: Where mechanisms are that the draw of training rows decides on, and rows that it may take.
_UNDECIDED = -2


def find_rare_kinds(with_category: Mapping[str, int], n_mechanisms: int) -> tuple[str, ...]:
    """Return the kinds that BioNLI's draw prefers and that are rare here too.

    Args:
        with_category: Number of mechanisms that have a negative of a category.
        n_mechanisms: Number of all mechanisms.

    Returns:
        The kinds in ``PREFERRED`` that at most 10 % of the mechanisms have.
    """
    at_most = _MAX_RARE * n_mechanisms
    return tuple(name for name in PREFERRED if with_category.get(name, 0) <= at_most)


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
            return self.ratio.place_of(pmid, "", None, self.seed).split
        found = ByRatio(1 - _TEST_SHARE, 0).place_of(pmid, "", None, self.seed).split
        return TEST if found == TEST else None

    def statements(self, n_flipped: int | None) -> tuple[Statement, ...]:
        """Return the statements that put rows into splits, after those of ``CANDIDATES``.

        ``assigned`` has the mechanism's split and the row's in each config, ``IN_NO_SPLIT`` where
        there is none; ``chosen`` the rows that are in one.

        Args:
            n_flipped: How many negated ``VNeg`` are kept, by their order; None keeps all.
        """
        kept = CANDIDATES
        if n_flipped is not None:
            place = "ROW_NUMBER() OVER (PARTITION BY balance IS NULL ORDER BY balance, pmid)"
            kept = f"""(
                SELECT * FROM (SELECT *, {place} AS balance_place FROM {CANDIDATES}) AS placed
                WHERE balance IS NULL OR balance_place <= {n_flipped}
            ) AS kept"""
        return (
            # What the draw needs to know of each row, and of its mechanism.
            Statement(
                "lots",
                f"""
                SELECT *, MAX({_flag("is_preferred AND accept >= " + str(UNMARKED))})
                    OVER (PARTITION BY pmid) AS any_marked
                FROM (
                    SELECT *,
                        kind = '{POSITIVE}' AS is_positive,
                        category IN ({_list(self.preferred)}) AS is_preferred,
                        {self._split()} AS split
                    FROM {kept}
                ) AS known
                """,
            ),
            Statement("drawn", self._drawn()),
            Statement("assigned", self._assigned()),
            Statement(
                "chosen",
                """
                SELECT shard, row, in_full, in_balanced FROM assigned
                WHERE in_full >= 0 OR in_balanced >= 0 ORDER BY shard, row
                """,
            ),
        )

    def _split(self) -> str:
        """Return the split of a mechanism as SQL, as far as its id decides it."""
        train, validation = 1 - _TEST_SHARE, 0.0
        if self.ratio is not None:
            train, validation = self.ratio.train, self.ratio.validation
        return (
            f"CASE WHEN share < {train!r} THEN {_UNDECIDED} "
            f"WHEN share < {train + validation!r} THEN {_VALIDATION} ELSE {_TEST} END"
        )

    def _drawn(self) -> str:
        """Return the query that draws the training rows of each mechanism, for each config."""
        marked = "any_marked = 1" if self.ratio is None else "FALSE"
        first, second = (_accepts(config) for config in CONFIGS)
        if self.pairs:  # the positive, and of each category alike one negative
            order = "draw_category, draw_balanced"
            place = f"ROW_NUMBER() OVER (PARTITION BY pmid, is_positive ORDER BY {order})"
            full_place = balanced_place = place
        else:
            full_place, balanced_place = (
                f"ROW_NUMBER() OVER (PARTITION BY pmid ORDER BY {order}, kind)"
                for order in (
                    f"{_flag(first)} DESC, {_flag('is_preferred')} DESC, draw_full",
                    f"{_flag('is_preferred')} DESC, draw_balanced",
                )
            )
        return f"""
            SELECT shard, row, pmid, kind, category, is_positive, limit_order,
                CASE WHEN split = {_UNDECIDED} AND {marked} THEN {_VALIDATION} ELSE split END
                    AS split,
                {first} AS accepts_full, {second} AS accepts_balanced,
                {full_place} AS full_place, {balanced_place} AS balanced_place
            FROM lots
        """

    def _assigned(self) -> str:
        """Return the query that says for each row where it and its mechanism are."""
        train_full = "any_full = 1" if self.ratio is None else "TRUE"
        limit = "FALSE"
        if self.max_per_category is not None:
            limit = f"limited_place > {self.max_per_category}"
        ruled = f"is_drawn = 1 AND kind IN ({_list(NAMES)})"
        drawn = "balanced_place = 1" + (" AND NOT is_positive" if self.pairs else "")
        full = (
            f"CASE WHEN split <> {_UNDECIDED} THEN split "
            f"WHEN {train_full} THEN {_TRAIN} ELSE {_VALIDATION} END"
        )
        return f"""
            WITH known AS (
                SELECT *, {full} AS full_split,
                    MAX({_flag(f"{drawn} AND accepts_balanced")}) OVER (PARTITION BY pmid)
                        AS any_balanced,
                    {_flag(f"{drawn} AND accepts_balanced AND split = {_UNDECIDED}")} AS is_drawn
                FROM (
                    SELECT *, MAX({_flag("accepts_full")}) OVER (PARTITION BY pmid) AS any_full
                    FROM drawn
                ) AS accepted
            ),
            ranked AS (
                SELECT *, ROW_NUMBER() OVER (
                    PARTITION BY {_flag(ruled)}, kind ORDER BY limit_order, pmid
                ) AS limited_place
                FROM known
            ),
            limited AS (
                SELECT *, MAX({_flag(f"{ruled} AND {limit}")}) OVER (PARTITION BY pmid) AS is_above
                FROM ranked
            ),
            placed AS (
                SELECT *, CASE WHEN split <> {_UNDECIDED} THEN split
                    WHEN any_balanced = 1 AND is_above = 0 THEN {_TRAIN}
                    WHEN full_split = {_VALIDATION} THEN {_VALIDATION} ELSE {IN_NO_SPLIT} END
                    AS balanced_split
                FROM limited
            )
            SELECT shard, row, pmid, kind, category, is_positive, full_split, balanced_split,
                CAST({_place(FULL)} AS TINYINT) AS in_full,
                CAST({_place(BALANCED)} AS TINYINT) AS in_balanced
            FROM placed
        """


def _accepts(config: str) -> str:
    """Return whether the draw may take a row for training, as SQL."""
    shares = " ".join(f"WHEN '{name}' THEN {n}" for name, n in ACCEPTED[config].items())
    return f"(is_preferred OR accept < CASE category {shares} ELSE {OTHERS[config]} END)"


def _place(config: str) -> str:
    """Return the split of a row as SQL: in training only what is drawn, elsewhere all rows."""
    is_there = f"{config}_split <> {_TRAIN} OR {config}_place = 1"
    return f"CASE WHEN {is_there} THEN {config}_split ELSE {IN_NO_SPLIT} END"


def _flag(condition: str) -> str:
    return f"CASE WHEN {condition} THEN 1 ELSE 0 END"


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "NULL"

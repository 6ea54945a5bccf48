"""Choose papers and pairs by SQL: none twice, no sentence in two splits, classes of one size.

Every decision is by keyed hashes of ids and positions, so that neither the order of the shards nor
how they were cut matters. Texts stay on disk until they are written.

The statements read two tables of the shards, ``papers`` (``PLACED``) and ``pairs``
(``PAIR_SCHEMA``), and each the results of those before it. What is doubled is few, so it is looked
for first, and joined then: windows over all rows take half as long again.

Source:
    SciNLI, section 3.4: the larger classes are cut to the size of the smallest, in each split.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.schema import SPLITS
from ...core.sql import Statement
from .phrases import LinkingPhrases

SAME_PAPER = "the same paper again"
SAME_ID = "another paper has its id"
SAME_TEXT = "another paper has its text"
NOT_TAKEN = "its paper is not taken"
SAME_TEXTS = "the same texts again"
IN_TWO_SPLITS = "one of its sentences is in another split"

_TRAIN, _VALIDATION, _TEST = map(SPLITS.index, ("train", "validation", "test"))

#: Of several papers with one id the first is taken by hash, year and domain; then, of several with
#: one text, the first by id.
PAPER_STATEMENTS = (
    Statement(
        "papers_of_one_id",
        f"""
        SELECT shard, paper,
            CASE WHEN content = 1 THEN '{SAME_PAPER}' ELSE '{SAME_ID}' END AS reason
        FROM (
            SELECT papers.shard, papers.paper,
                RANK() OVER (
                    PARTITION BY papers.id
                    ORDER BY papers.hash_high, papers.hash_low, papers.year, papers.domain
                ) AS content,
                ROW_NUMBER() OVER (
                    PARTITION BY papers.id
                    ORDER BY papers.hash_high, papers.hash_low, papers.year, papers.domain,
                        papers.shard, papers.paper
                ) AS place
            FROM papers JOIN (
                SELECT id FROM papers WHERE split >= 0 GROUP BY id HAVING COUNT(*) > 1
            ) AS doubled ON papers.id = doubled.id
            WHERE papers.split >= 0
        ) AS ranked
        WHERE place > 1
        """,
    ),
    Statement(
        "doubled_papers",
        f"""
        WITH candidates AS (
            SELECT * FROM papers
            WHERE split >= 0 AND NOT EXISTS (
                SELECT 1 FROM papers_of_one_id AS again
                WHERE again.shard = papers.shard AND again.paper = papers.paper
            )
        )
        SELECT shard, paper, reason FROM papers_of_one_id
        UNION ALL
        SELECT shard, paper, '{SAME_TEXT}' AS reason
        FROM (
            SELECT candidates.shard, candidates.paper,
                ROW_NUMBER() OVER (
                    PARTITION BY candidates.hash_high, candidates.hash_low ORDER BY candidates.id
                ) AS place
            FROM candidates JOIN (
                SELECT hash_high, hash_low FROM candidates
                GROUP BY hash_high, hash_low HAVING COUNT(*) > 1
            ) AS doubled
            ON candidates.hash_high = doubled.hash_high AND candidates.hash_low = doubled.hash_low
        ) AS ranked
        WHERE place > 1
        """,
    ),
    Statement(
        "taken_papers",
        """
        SELECT shard_key, shard, paper, split, id, year, domain, hash_high, hash_low, n_sentences
        FROM papers
        WHERE split >= 0 AND NOT EXISTS (
            SELECT 1 FROM doubled_papers AS doubled
            WHERE doubled.shard = papers.shard AND doubled.paper = papers.paper
        )
        """,
    ),
)

_FROM_CANDIDATES = """
    FROM pairs JOIN taken_papers AS taken
    ON pairs.shard_key = taken.shard_key AND pairs.paper = taken.paper
"""
_IS_NOT_AGAIN = """
    NOT EXISTS (
        SELECT 1 FROM pairs_again AS again
        WHERE again.shard = taken.shard AND again.pair = pairs.pair
    )
"""


def pair_statements(phrases: LinkingPhrases, quotas: Mapping[str, int]) -> Sequence[Statement]:
    """Return the statements that choose pairs, after ``PAPER_STATEMENTS``.

    Of several pairs with the same two texts the one with the lowest hash is taken. A sentence is in
    one split only, of test, train and validation the first that has it. ``buckets`` has the number
    of pairs of each class, before the larger ones are cut, ``chosen`` the pairs after it.

    Args:
        phrases: The phrases, which have the labels of the categories.
        quotas: By split, pairs of each class and domain; without one, those of its smallest class.
    """
    label = _case("category", enumerate(phrases.label_of_category))
    size = _case("split", ((SPLITS.index(name), n) for name, n in quotas.items()), "MIN(n)")
    return (
        Statement(
            "doubled_texts",
            f"SELECT pairs.texts_key {_FROM_CANDIDATES} GROUP BY texts_key HAVING COUNT(*) > 1",
        ),
        Statement(
            "pairs_again",
            f"""
            SELECT shard, pair, category
            FROM (
                SELECT taken.shard, pairs.pair, pairs.category,
                    ROW_NUMBER() OVER (
                        PARTITION BY pairs.texts_key
                        ORDER BY pairs.order_key, taken.shard, pairs.pair
                    ) AS place
                {_FROM_CANDIDATES}
                JOIN doubled_texts ON pairs.texts_key = doubled_texts.texts_key
            ) AS ranked
            WHERE place > 1
            """,
        ),
        Statement(
            "evaluation_sentences",
            f"""
            SELECT sentence,
                MAX(CASE WHEN split = {_TEST} THEN 1 ELSE 0 END) AS in_test,
                MAX(CASE WHEN split = {_VALIDATION} THEN 1 ELSE 0 END) AS in_validation
            FROM (
                SELECT taken.split,
                    CASE WHEN side = 0 THEN pairs.premise_key ELSE pairs.second_key END AS sentence
                {_FROM_CANDIDATES}
                CROSS JOIN (SELECT 0 AS side UNION ALL SELECT 1 AS side) AS sides
                WHERE taken.split <> {_TRAIN} AND {_IS_NOT_AGAIN}
            ) AS sentences
            GROUP BY sentence
            """,
        ),
        # For each sentence of a training pair that is also in another split.
        Statement(
            "training_sentences",
            f"""
            SELECT shard, pair, category, sentences.sentence, in_test
            FROM (
                SELECT taken.shard, pairs.pair, pairs.category,
                    CASE WHEN side = 0 THEN pairs.premise_key ELSE pairs.second_key END AS sentence
                {_FROM_CANDIDATES}
                CROSS JOIN (SELECT 0 AS side UNION ALL SELECT 1 AS side) AS sides
                WHERE taken.split = {_TRAIN} AND {_IS_NOT_AGAIN}
            ) AS sentences
            JOIN evaluation_sentences AS others ON sentences.sentence = others.sentence
            """,
        ),
        # Validation has no sentence of test, and none of training pairs that are left.
        Statement(
            "pairs_in_two_splits",
            f"""
            WITH training_pairs AS (
                SELECT shard, pair, category FROM training_sentences
                GROUP BY shard, pair, category HAVING MAX(in_test) = 1
            ),
            earlier_sentences AS (
                SELECT sentence FROM evaluation_sentences WHERE in_test = 1 AND in_validation = 1
                UNION
                SELECT sentence FROM training_sentences AS kept
                WHERE NOT EXISTS (
                    SELECT 1 FROM training_pairs AS gone
                    WHERE gone.shard = kept.shard AND gone.pair = kept.pair
                )
            )
            SELECT shard, pair, category FROM training_pairs
            UNION ALL
            SELECT taken.shard, pairs.pair, pairs.category
            {_FROM_CANDIDATES}
            LEFT JOIN earlier_sentences AS one ON pairs.premise_key = one.sentence
            LEFT JOIN earlier_sentences AS other ON pairs.second_key = other.sentence
            WHERE taken.split = {_VALIDATION} AND {_IS_NOT_AGAIN}
                AND (one.sentence IS NOT NULL OR other.sentence IS NOT NULL)
            """,
        ),
        Statement(
            "taken_pairs",
            f"""
            SELECT taken.shard, pairs.pair, taken.split, domains.number AS domain, pairs.category,
                {label} AS label, pairs.draw_bucket, pairs.draw_key
            {_FROM_CANDIDATES}
            JOIN (
                SELECT domain, CAST(ROW_NUMBER() OVER (ORDER BY domain) - 1 AS INT) AS number
                FROM (SELECT DISTINCT domain FROM taken_papers) AS found
            ) AS domains ON taken.domain = domains.domain
            WHERE NOT EXISTS (
                SELECT 1 FROM (
                    SELECT shard, pair FROM pairs_again
                    UNION ALL SELECT shard, pair FROM pairs_in_two_splits
                ) AS gone
                WHERE gone.shard = taken.shard AND gone.pair = pairs.pair
            )
            """,
        ),
        Statement(
            "buckets",
            """
            SELECT split, domain, label, draw_bucket, COUNT(*) AS n FROM taken_pairs
            GROUP BY split, domain, label, draw_bucket
            """,
        ),
        # The last pair of each class that is left when it is cut.
        Statement(
            "last_pairs",
            f"""
            SELECT split, domain, label, draw_key, shard, pair
            FROM (
                SELECT pairs.split, pairs.domain, pairs.label, pairs.draw_key, pairs.shard,
                    pairs.pair, bounds.size - bounds.before AS n_left,
                    ROW_NUMBER() OVER (
                        PARTITION BY pairs.split, pairs.domain, pairs.label
                        ORDER BY pairs.draw_key, pairs.shard, pairs.pair
                    ) AS place
                FROM taken_pairs AS pairs JOIN (
                    SELECT buckets.split, buckets.domain, label, draw_bucket, size, n,
                        SUM(n) OVER (
                            PARTITION BY buckets.split, buckets.domain, label ORDER BY draw_bucket
                        ) - n AS before
                    FROM buckets JOIN (
                        SELECT split, domain, {size} AS size
                        FROM (
                            SELECT split, domain, SUM(n) AS n FROM buckets
                            GROUP BY split, domain, label
                        ) AS classes
                        GROUP BY split, domain
                    ) AS sizes ON buckets.split = sizes.split AND buckets.domain = sizes.domain
                ) AS bounds
                ON pairs.split = bounds.split AND pairs.domain = bounds.domain
                    AND pairs.label = bounds.label AND pairs.draw_bucket = bounds.draw_bucket
                WHERE bounds.before < bounds.size AND bounds.before + bounds.n >= bounds.size
            ) AS ranked
            WHERE place = n_left
            """,
        ),
        Statement(
            "chosen",
            """
            SELECT pairs.shard, pairs.pair, pairs.split, pairs.domain, pairs.label,
                pairs.draw_key < bounds.draw_key OR pairs.draw_key = bounds.draw_key AND (
                    pairs.shard < bounds.shard
                    OR pairs.shard = bounds.shard AND pairs.pair <= bounds.pair
                ) AS is_balanced
            FROM taken_pairs AS pairs JOIN last_pairs AS bounds
            ON pairs.split = bounds.split AND pairs.domain = bounds.domain
                AND pairs.label = bounds.label
            ORDER BY pairs.shard, pairs.pair
            """,
        ),
    )


def _case(column: str, values: Any, otherwise: str = "NULL") -> str:
    """Return an expression of SQL with a number for each number of a column."""
    cases = " ".join(f"WHEN {number} THEN {value}" for number, value in values)
    return f"CASE {column} {cases} ELSE {otherwise} END" if cases else otherwise

"""Choose the mechanisms of a corpus by SQL: of each pmid one, and of each supporting set one.

So no premise is in two splits, and none has a sentence for a positive and for a negative. The
statements read the tables of ``read``, and each the results of those before it.
"""

from ...core.sql import Statement
from .read import MECHANISMS, PARTS, UNITS

#: Why an abstract is not taken.
SAME_PMID = "pmid twice"
SAME_TEXTS = "another abstract has the same supporting set"

_IS_NOT_AGAIN = """
    NOT EXISTS (SELECT 1 FROM again WHERE again.shard = units.shard AND again.seq = units.seq)
"""

STATEMENTS = (
    # Of several abstracts of one pmid that with a mechanism is taken; of several, by its content.
    Statement(
        "again",
        f"""
        SELECT shard, seq
        FROM (
            SELECT units.shard, units.seq,
                ROW_NUMBER() OVER (
                    PARTITION BY units.pmid
                    ORDER BY CASE WHEN units.reason IS NULL THEN 0 ELSE 1 END,
                        COALESCE(units.content, 0), units.shard, units.seq
                ) AS place
            FROM {UNITS} AS units JOIN (
                SELECT pmid FROM {UNITS} WHERE was_read GROUP BY pmid HAVING COUNT(*) > 1
            ) AS doubled ON units.pmid = doubled.pmid
            WHERE units.was_read
        ) AS ranked
        WHERE place > 1
        """,
    ),
    Statement(
        "positives",
        f"""
        SELECT shard, seq, pmid, digest FROM {UNITS} AS units
        WHERE was_read AND reason IS NULL AND {_IS_NOT_AGAIN}
        """,
    ),
    # Of the mechanisms with one supporting set, however it is cut, that with the least pmid.
    Statement(
        "doubles",
        """
        SELECT positives.shard, positives.seq, doubled.pmid AS taken
        FROM positives JOIN (
            SELECT digest, MIN(pmid) AS pmid FROM positives GROUP BY digest HAVING COUNT(*) > 1
        ) AS doubled ON positives.digest = doubled.digest
        WHERE positives.pmid <> doubled.pmid
        """,
    ),
    Statement(
        "taken",
        """
        SELECT shard, seq, pmid FROM positives
        WHERE NOT EXISTS (
            SELECT 1 FROM doubles
            WHERE doubles.shard = positives.shard AND doubles.seq = positives.seq
        )
        """,
    ),
    Statement(
        "not_taken",
        f"""
        SELECT file, line, pmid, unit, reason, detail FROM {UNITS} AS units
        WHERE reason IS NOT NULL AND {_IS_NOT_AGAIN}
        UNION ALL
        SELECT file, line, pmid, unit, '{SAME_PMID}' AS reason,
            'another abstract of this pmid is taken' AS detail
        FROM {UNITS} AS units JOIN again ON again.shard = units.shard AND again.seq = units.seq
        UNION ALL
        SELECT file, line, pmid, unit, '{SAME_TEXTS}' AS reason,
            CONCAT('that of ', doubles.taken, ' is taken') AS detail
        FROM {UNITS} AS units JOIN doubles
        ON doubles.shard = units.shard AND doubles.seq = units.seq
        """,
    ),
    # What was left out of abstracts that were read.
    Statement(
        "left_out",
        f"""
        SELECT file, line, pmid, unit, reason, detail FROM {PARTS} AS units
        WHERE {_IS_NOT_AGAIN}
        """,
    ),
)

#: The mechanisms that are taken, by pmid.
TAKEN = f"""
    SELECT mechanisms.shard, mechanisms.seq, mechanisms.json
    FROM {MECHANISMS} AS mechanisms JOIN taken
    ON taken.shard = mechanisms.shard AND taken.seq = mechanisms.seq ORDER BY mechanisms.pmid
"""

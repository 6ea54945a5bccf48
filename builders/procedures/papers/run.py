"""Make a dataset from files of papers: rows, a report and a declaration.

Papers and pairs are chosen by SQL over the tables of ``read``: none twice, no sentence in two
splits, classes of one size. Every choice is by keyed hashes of ids and positions, so that neither
the order of the files nor how they are cut into shards matters. What is doubled is little, so it
is looked for first and joined then: windows over all rows take half as long again.

Source:
    SciNLI, section 3.4: the larger classes are cut to the size of the smallest, in each split.
"""

import inspect
import logging
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ....loaders.corpora.files import find_paper_files
from ....loaders.corpora.papers.paper import Metadata
from ....loaders.corpora.papers.sentences import split_sentences
from ....loaders.errors import CorpusError, UnknownNameError
from ....loaders.progress import Tell
from ...core.options import BuildOptions
from ...core.schema import IN_NO_SPLIT, SPLITS
from ...core.sql import Database, Statement
from ...dataflow.report import (
    ConstructionReport,
    Entries,
    TooFewError,
    list_reasons,
    show_entries,
    tally,
)
from ...dataflow.rows import DROPPED, OrderedRows
from ...dataflow.work import read_corpus
from ..procedure import Construction, Declared
from ..splits import OTHER_DOMAINS, ByYear, list_uneven_splits
from .declaration import UNBALANCED, PapersDeclaration
from .read import NO_DOMAIN, SCHEMAS, ReadPapers
from .recipe import PapersRecipe

_LOGGER = logging.getLogger(__name__)
#: Least size of a shard.
SHARD_BYTES = 8_000_000
_MAX_SHOWN = 10

AUTOMATIC = (
    "**The labels of all splits are automatic**, those of validation and test too: they follow\n"
    "from the linking phrase, or from the way to the neutral pair, and nobody has checked them."
)


@contextmanager
def run(
    paths: Sequence[Path],
    recipe: PapersRecipe,
    declared: Declared,
    options: BuildOptions,
    tell: Tell,
) -> Iterator[Construction]:
    """Make a dataset from papers; see ``RunProcedure``.

    Raises:
        SourceNotFoundError: There is no paper file.
        MetadataError: The table of papers is malformed.
        UnknownNameError: Years are given for a domain that no paper is of.
        TooFewError: No paper is taken, a split has no pair of a class, or fewer than its quota.
    """
    if recipe.split_sentences is split_sentences and not declared.language.startswith("en"):
        _LOGGER.warning("Paragraphs that are not split into sentences are split by English rules.")
    splitting, phrases = recipe.splitting, recipe.phrases
    # Before the long read: what the maker declares may be wrong.
    PapersDeclaration(declared, ("a", "b"), (), (), splitting.splits).spec()
    metadata = Metadata.read(recipe.metadata, recipe.domain)
    files = find_paper_files(paths)
    read = ReadPapers(replace(recipe, engine=None), metadata)
    # What reading depends on, besides papers and the code of this package.
    splitter = recipe.split_sentences
    code = inspect.getsource(splitter) if inspect.isfunction(splitter) else repr(splitter)
    others = {"per_class": None, "splitter": code, "metadata": asdict(metadata)}
    identity = {**recipe.parameters(), **others}
    with read_corpus(files, read, SCHEMAS, identity, recipe.engine, options, SHARD_BYTES) as work:
        database = work.database
        is_whole = work.share == 1  # a sample may lack some domains and papers
        if isinstance(splitting, ByYear) and is_whole:
            _check_domains(splitting, database)
        work.select(PAPER_STATEMENTS)
        domains = _column(database, "SELECT DISTINCT domain FROM taken_papers ORDER BY domain")
        papers = _count_papers(database)
        left_out: dict[str, Any] = {
            "unknown_in_metadata": _ids_of_no_paper(metadata.ids, database) if is_whole else [],
            "skipped": Entries(database.tables["left_out"], "file, line, reason, detail"),
        }
        try:
            if not papers["kept"]:
                raise CorpusError(f"No paper of {len(files):,} files is taken.")
            work.select(PAIR_STATEMENTS)
            query = "SELECT split, domain, label, COUNT(*) FROM taken_pairs GROUP BY ALL"
            classes = {(s, d, label): n for s, d, label, n in database.execute(query)}
            names, quotas = phrases.label_names, recipe.per_class
            sizes = class_sizes(classes, splitting.splits, domains, names, quotas)
        except CorpusError as error:
            counts: dict[str, Any] = {"papers": papers}
            report = ConstructionReport(counts, left_out, list(_summary(counts, left_out)))
            raise TooFewError(f"{error} {_say_why(papers, database)}", report) from error
        work.select([balance_statement(sizes, domains)])

        counts = {
            "annotation": AUTOMATIC,
            "random_sentences": recipe.random_sentences,
            "longer_phrases": recipe.longer_phrases,
            "neutral_distance": recipe.neutral_distance,
            "neutral_overlap": recipe.neutral_overlap,
            "papers": papers,
            "pairs": _count_pairs(phrases.categories, database),
        }
        summary = list(_summary(counts, left_out))
        if not recipe.per_class:
            by_split: Counter[str] = Counter()
            for (split, _), size in sizes.items():
                by_split[SPLITS[split]] += len(phrases.label_names) * size
            summary += list_uneven_splits(splitting, by_split, "pairs")
        declaration = PapersDeclaration(
            declared, phrases.label_names, phrases.categories, tuple(domains), splitting.splits
        )
        folders = [shard.folder for shard in work.shards]
        source, parameters = _describe_source(database), work.parameters(recipe.parameters())
        rows = OrderedRows(work, folders, declaration.spec(), [source], parameters)
        report = ConstructionReport(counts, left_out, summary)
        yield Construction(rows, report, declaration, work.share)


def _check_domains(splitting: ByYear, database: Database) -> None:
    """Refuse years of a domain that no paper is of."""
    known = _column(database, "SELECT DISTINCT domain FROM papers WHERE domain IS NOT NULL")
    unknown = sorted(splitting.domains.keys() - set(known) - {OTHER_DOMAINS})
    if known and unknown:  # where no paper has a domain, that is what is wrong
        raise UnknownNameError.of("domain", unknown[0], known)


def _ids_of_no_paper(ids: Collection[str], database: Database) -> Sequence[str]:
    """Return which ids of the table of papers are of no paper, in alphabetical order."""
    if not ids:
        return []
    path = database.folder / "listed.parquet"
    pq.write_table(pa.table({"id": pa.array(sorted(ids), pa.string())}), path)
    database.add("listed", [path])
    return _column(database, "SELECT id FROM listed ANTI JOIN papers USING (id) ORDER BY id")


def _count_papers(database: Database) -> Mapping[str, Any]:
    splits = dict(database.execute("SELECT split, COUNT(*) FROM taken_papers GROUP BY split"))
    dropped = database.execute("SELECT 'papers', reason, COUNT(*) FROM left_out GROUP BY reason")
    counts = tally([("papers", None, sum(splits.values())), *dropped], ["papers"])["papers"]
    by_name = {name: splits.get(number, 0) for number, name in enumerate(SPLITS)}
    return {**counts, "splits": by_name}


def _count_pairs(categories: Sequence[str], database: Database) -> Mapping[str, Mapping[str, Any]]:
    """Return the numbers of pairs found, taken and, by reason, dropped, by category."""
    query = f"""
        SELECT category, NULL, COUNT(*) FROM taken_pairs GROUP BY category
        UNION ALL SELECT category, '{SAME_TEXTS}', COUNT(*) FROM pairs_again GROUP BY category
        UNION ALL
        SELECT category, '{IN_TWO_SPLITS}', COUNT(*) FROM pairs_in_two_splits GROUP BY category
        UNION ALL
        SELECT category, '{NOT_TAKEN}', COUNT(*) FROM pairs ANTI JOIN taken_papers
        USING (shard, paper) GROUP BY category
    """
    chosen = [(categories[n], reason, number) for n, reason, number in database.execute(query)]
    return tally([*chosen, *database.execute(f"FROM {DROPPED}")], categories)


def _describe_source(database: Database) -> Mapping[str, Any]:
    """Return the papers that are taken as one source: how many, and a hash of their content."""
    digest = sha256()
    n_papers = n_sentences = 0
    query = (
        "SELECT id, year, domain, hash_high, hash_low, n_sentences FROM taken_papers ORDER BY id"
    )
    for batch in database.batches(query):
        for key, year, domain, high, low, sentences in zip(
            *(column.to_pylist() for column in batch.columns), strict=True
        ):
            words = f"{high + 2**63:016x}{low + 2**63:016x}"
            digest.update(f"{key}\n{year}\n{domain}\n{words}\n".encode())
            n_papers += 1
            n_sentences += sentences
    return {
        "url": "the papers",
        "papers": n_papers,
        "sentences": n_sentences,
        "sha256": digest.hexdigest(),
    }


def _summary(counts: Mapping[str, Any], left_out: Mapping[str, Any]) -> Iterator[str]:
    skipped, unknown = left_out["skipped"], left_out["unknown_in_metadata"]
    yield from show_entries(skipped, len(skipped), "skipped ")
    if unknown:
        shown = ", ".join(unknown[:_MAX_SHOWN])
        yield f"{len(unknown):,} ids of the table are of no paper: {shown}"
    papers = counts["papers"]
    of_all = f"{papers['kept']:,} of {papers['read']:,} papers"
    yield "; ".join([of_all, *list_reasons(papers["dropped"])])
    if pairs := counts.get("pairs", {}).values():
        kept, read = sum(one["kept"] for one in pairs), sum(one["read"] for one in pairs)
        yield f"{kept:,} of {read:,} pairs"


def _say_why(papers: Mapping[str, Any], database: Database) -> str:
    """Say why most of what was read is not taken."""
    pairs: Counter[str] = Counter()
    for reason, n in database.execute(f"SELECT reason, n FROM {DROPPED}"):
        pairs[reason] += n
    kinds = {"Papers that are not taken": Counter(papers["dropped"]), "Dropped pairs": pairs}
    sentences = [
        f"{what}: " + ", ".join(f"{n:,} {reason}" for reason, n in why.most_common(4)) + "."
        for what, why in kinds.items()
        if why
    ]
    if NO_DOMAIN in papers["dropped"]:
        sentences.append("Name the domain of papers that state none: --domain, or --metadata FILE.")
    return " ".join(sentences)


def _column(database: Database, query: str) -> list[Any]:
    return [value for (value,) in database.execute(query)]


# ---- choosing ------------------------------------------------------------------------------------

SAME_PAPER = "the same paper again"
SAME_ID = "another paper has its id"
SAME_TEXT = "another paper has its text"
NOT_TAKEN = "its paper is not taken"
SAME_TEXTS = "the same texts again"
IN_TWO_SPLITS = "one of its sentences is in another split"

_TRAIN = SPLITS.index("train")

#: Of several papers with one id the first is taken by hash, year and domain; then, of several with
#: one text, the first by id.
PAPER_STATEMENTS = (
    Statement(
        "judged_papers",
        f"""
        SELECT *, CASE
                WHEN place > 1 AND content = 1 THEN '{SAME_PAPER}'
                WHEN place > 1 THEN '{SAME_ID}'
                WHEN ROW_NUMBER() OVER (
                    PARTITION BY hash_high, hash_low, place = 1 ORDER BY id
                ) > 1 THEN '{SAME_TEXT}'
            END AS why
        FROM (
            SELECT shard, paper, split, id, year, domain, hash_high, hash_low, n_sentences,
                file, line,
                RANK() OVER (
                    PARTITION BY id ORDER BY hash_high, hash_low, year, domain
                ) AS content,
                ROW_NUMBER() OVER (
                    PARTITION BY id ORDER BY hash_high, hash_low, year, domain, shard, paper
                ) AS place
            FROM papers WHERE split >= 0
        ) AS ranked
        """,
    ),
    Statement(
        "taken_papers",
        """
        SELECT shard, paper, split, id, year, domain, hash_high, hash_low, n_sentences
        FROM judged_papers WHERE why IS NULL
        """,
    ),
    Statement(
        "left_out",
        """
        SELECT file, line, reason, detail FROM papers WHERE reason IS NOT NULL
        UNION ALL
        SELECT file, line, why, CONCAT('paper ''', id, '''') AS detail
        FROM judged_papers WHERE why IS NOT NULL
        """,
    ),
)

_CANDIDATES = """
    FROM pairs JOIN taken_papers AS taken
    ON pairs.shard = taken.shard AND pairs.paper = taken.paper
"""
_IS_NOT_AGAIN = """
    NOT EXISTS (
        SELECT 1 FROM pairs_again AS again
        WHERE again.shard = pairs.shard AND again.row = pairs.row
    )
"""
#: The two sentences of each pair.
_SENTENCES = f"""
    SELECT pairs.shard, pairs.row, pairs.category, taken.split,
        CASE WHEN side = 0 THEN pairs.premise_key ELSE pairs.hypothesis_key END AS sentence
    {_CANDIDATES}
    CROSS JOIN (SELECT 0 AS side UNION ALL SELECT 1 AS side) AS sides
    WHERE {_IS_NOT_AGAIN}
"""

#: Of several pairs with the same two texts the one with the lowest hash is taken. A sentence is in
#: one split only: of test, validation and train the first that has it.
PAIR_STATEMENTS = (
    Statement(
        "doubled_texts",
        f"SELECT pairs.texts_key {_CANDIDATES} GROUP BY texts_key HAVING COUNT(*) > 1",
    ),
    Statement(
        "pairs_again",
        f"""
        SELECT shard, row, category
        FROM (
            SELECT pairs.shard, pairs.row, pairs.category,
                ROW_NUMBER() OVER (
                    PARTITION BY pairs.texts_key ORDER BY pairs.order_key, pairs.shard, pairs.row
                ) AS place
            {_CANDIDATES}
            JOIN doubled_texts ON pairs.texts_key = doubled_texts.texts_key
        ) AS ranked
        WHERE place > 1
        """,
    ),
    Statement(
        "evaluation_sentences",
        f"SELECT DISTINCT sentence FROM ({_SENTENCES} AND taken.split <> {_TRAIN}) AS sentences",
    ),
    Statement(
        "pairs_in_two_splits",
        f"""
        SELECT DISTINCT shard, row, category
        FROM (
            SELECT shard, row, category, split,
                MAX(split) OVER (PARTITION BY sentences.sentence) AS last_split
            FROM ({_SENTENCES}) AS sentences JOIN evaluation_sentences AS others
            ON sentences.sentence = others.sentence
        ) AS found
        WHERE split < last_split
        """,
    ),
    Statement(
        "taken_pairs",
        f"""
        SELECT pairs.shard, pairs.row, taken.split, taken.domain, pairs.category, pairs.label,
            pairs.draw_key
        {_CANDIDATES}
        WHERE NOT EXISTS (
            SELECT 1 FROM (
                SELECT shard, row FROM pairs_again
                UNION ALL SELECT shard, row FROM pairs_in_two_splits
            ) AS gone
            WHERE gone.shard = pairs.shard AND gone.row = pairs.row
        )
        """,
    ),
)


def balance_statement(sizes: Mapping[tuple[int, str], int], domains: Sequence[str]) -> Statement:
    """Return the statement that cuts the larger classes, and says which configs have a pair.

    Args:
        sizes: The size of the classes by the number of the split, and domain.
        domains: The domains.
    """
    cases = " ".join(
        f"WHEN split = {split} AND domain = '{domain}' THEN {n}"
        for (split, domain), n in sizes.items()
    )
    size = f"CASE {cases} END"
    configs = {UNBALANCED: "TRUE", "default": "is_balanced"}
    if len(domains) > 1:
        configs |= {name: f"is_balanced AND domain = '{name}'" for name in domains}
    columns = (
        f"CAST(CASE WHEN {is_in} THEN split ELSE {IN_NO_SPLIT} END AS TINYINT) AS in_{name}"
        for name, is_in in configs.items()
    )
    return Statement(
        "chosen",
        f"""
        SELECT shard, row, {", ".join(columns)}
        FROM (
            SELECT shard, row, split, domain, {size} >= ROW_NUMBER() OVER (
                PARTITION BY split, domain, label ORDER BY draw_key, shard, row
            ) AS is_balanced
            FROM taken_pairs
        ) AS ranked
        ORDER BY shard, row
        """,
    )


def class_sizes(
    counts: Mapping[tuple[int, str, int], int],
    splits: Sequence[str],
    domains: Sequence[str],
    labels: Sequence[str],
    quotas: Mapping[str, int],
) -> dict[tuple[int, str], int]:
    """Return the number of pairs per class after balancing, for each split and domain.

    Args:
        counts: The number of pairs by split number, domain and label number.
        splits: The splits that have pairs.
        domains: The domains.
        labels: The label set.
        quotas: Pairs of each class and domain, by split; by default, the smallest class's size.

    Raises:
        CorpusError: In some split and domain, a class has no pairs or fewer than the quota.
    """
    sizes: dict[tuple[int, str], int] = {}
    problems = []
    for name, domain in product(splits, domains):
        key = (SPLITS.index(name), domain)
        found = [counts.get((*key, label), 0) for label in range(len(labels))]
        sizes[key] = wanted = quotas.get(name, max(min(found), 1))
        if min(found) < wanted:
            listed = ", ".join(f"{n:,} {label}" for label, n in zip(labels, found, strict=True))
            problems.append(f"{name} of {domain} has {listed}, expected {wanted:,} or more of each")
    if problems:
        raise CorpusError(
            f"The corpus is too small: {'; '.join(problems)}. Give more papers, split them "
            "otherwise, or ask for less."
        )
    return sizes

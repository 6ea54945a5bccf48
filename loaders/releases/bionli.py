"""Reads BioNLI's release: conclusions of biomedical abstracts, and perturbations of them.

Source: BioNLI (Findings of EMNLP 2022), section 3; the columns are those that the authors' code
writes. Which file is which cannot be told by a name, since none is documented: they are told by
their number of rows (Tables 2 and 3).
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import NLIHubError, NotDataError, ReleaseError, SourceNotFoundError
from ..fetching.catalogue import Source, Variant
from ..fetching.obtain import SourceFile, accept_file
from ..fetching.sniff import refuse_html
from .layout import Column, Layout
from .oddities import Oddities
from .tables import FORMATS, count_rows, read_batches

#: The release's name of each way in which a pair came to be, and the paper's.
CATEGORIES = {
    "pos": "positive",
    "SEN": "SEN",
    "SEP": "SEP",
    "SRE": "SRE",
    "SREO": "SREO",
    "posToNeg": "VNeg",
    "negToPos": "VNeg",
    "swap_number": "SN",
    "LPR": "LPR",
    "generation_nd": "GEN-ND",
    "generation_nd_SEN": "GEN-ND",
    "generation_nd_SRE": "GEN-ND",
    "generation": "GEN",
}
LAYOUT = Layout(
    (
        Column("pmid", is_number=True),
        Column("supp_set"),
        Column("conclusion"),
        Column("label_cat", frozenset(CATEGORIES)),
        Column("ori_conclusion", is_required=False),
    ),
    may_have_others=True,
)
_OPENING = r"<(?:re|el)>"
_CLOSING = r"<(?:er|le)>"


def read_bionli(path: Path, oddities: Oddities | None = None) -> Iterator[pa.RecordBatch]:
    """Reads a file of the release, CSV or JSON lines.

    Args:
        path: The file.
        oddities: Counts to add to; None counts nothing.

    Yields:
        Batches with the columns ``pmid`` (digits), ``supp_set``, ``conclusion``, ``label_cat`` and,
        where the file has it, ``ori_conclusion``, all strings.

    Raises:
        ReleaseError: The file is malformed; lists what is wrong, with line and value.
    """
    for batch in read_batches(path, LAYOUT, oddities):
        if oddities is not None:
            _count_markers(batch.column("conclusion"), oddities)
        yield batch


def _count_markers(conclusions: pa.Array, oddities: Oddities) -> None:
    for entity, marker in (("regulator", "<re>"), ("regulated entity", "<el>")):
        counts = pc.count_substring(conclusions, marker)
        for what, is_odd in (
            (f"conclusions without a marked {entity}", pc.equal(counts, 0)),
            (f"conclusions with more than one marked {entity}", pc.greater(counts, 1)),
        ):
            if found := pc.sum(is_odd).as_py():
                oddities[what] += found


def marked_entities(texts: pa.Array, marker: str) -> pa.Array:
    """The first entity between markers in each text.

    Args:
        texts: n texts.
        marker: ``"re"`` for the regulator (``<re> ... <er>``), ``"el"`` for the regulated entity
            (``<el> ... <le>``).

    Returns:
        n strings; null where there is none.
    """
    closing = marker[::-1]
    found = pc.extract_regex(texts, rf"(?s)<{marker}>\s*(?P<entity>.*?)\s*<{closing}>")
    return pc.struct_field(found, "entity")


def strip_markers(text: str) -> str:
    """A conclusion without the markers of its entities.

    Each marker goes with the blank that sets it apart from the entity.

    Args:
        text: A text with ``<re> regulator <er>`` and ``<el> regulated entity <le>``.

    Example:
        >>> strip_markers("The <re> ABA <er>-induced <el> pH <le>(i) increase.")
        'The ABA-induced pH(i) increase.'
    """
    return re.sub(rf"{_OPENING} ?| ?{_CLOSING}", "", text)


def find_files(sources: Sequence[Source], place: Path, cache_dir: Path) -> list[SourceFile]:
    """Finds the files of the release in a local place, by their number of rows.

    Args:
        sources: What to find.
        place: A folder, searched with its sub-folders, or a file.
        cache_dir: Where the lock file is.

    Returns:
        A file for each source.

    Raises:
        SourceNotFoundError: There is none for a source; says what each file there is.
        ReleaseError: The file that has the name of a source, or the only one, is malformed.
        NotDataError: It is a web page.
        ChecksumError: A file is another one than was recorded for its source.
    """
    if not place.exists():
        raise SourceNotFoundError(f"{place} is no folder and no file.")
    inside = place / "bionli" if (place / "bionli").is_dir() else place
    candidates = (
        sorted(path for path in inside.rglob("*") if path.suffix in FORMATS and path.is_file())
        if place.is_dir()
        else [place]
    )
    by_rows: dict[int, Path] = {}
    malformed: dict[str, NLIHubError] = {}
    notes = []
    for path in candidates:
        name = path.relative_to(inside).as_posix() if place.is_dir() else path.name
        try:
            refuse_html(path, str(path))
            n_rows = count_rows(path, LAYOUT)
        except (ReleaseError, NotDataError) as error:
            malformed[Path(name).with_suffix("").as_posix()] = error
            fault = error.defects[0].message if isinstance(error, ReleaseError) else "a web page"
            notes.append(f"{name}: {fault}")
        else:
            by_rows.setdefault(n_rows, path)
            notes.append(f"{name}: {n_rows:,} rows")
    missing = [source for source in sources if source.rows not in by_rows]
    for source in missing:  # by its name, or because it is the only file, it was meant
        meant = Path(source.paths[0]).with_suffix("").as_posix()
        if len(candidates) == 1 and malformed:
            raise next(iter(malformed.values()))
        if meant in malformed:
            raise malformed[meant]
    if missing:
        wanted = ", ".join(f"{source.name} ({source.rows or 0:,} rows)" for source in missing)
        held = "".join(f"\n  {note}" for note in notes) or " nothing that could be one."
        advice = " ".join(dict.fromkeys(source.how_to_get() for source in missing))
        raise SourceNotFoundError(
            f"{place} has no file of BioNLI that is {wanted}. It holds:{held}\n{advice}"
        )
    return [_accept(source, by_rows[source.rows or 0], cache_dir) for source in sources]


def _accept(source: Source, path: Path, cache_dir: Path) -> SourceFile:
    released = Path(source.variants[0].path)
    variant = source.variants[0]
    if released.suffix != path.suffix:
        variant = Variant(released.with_suffix(path.suffix).as_posix())
    return accept_file(source, variant, path, cache_dir)

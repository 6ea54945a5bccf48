"""The style that all pictures share: size, colours and markers; and how to save a picture."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..inputs.problems import MetricInputError, MissingLibraryError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Seven colours that colour-blind readers tell apart (Okabe and Ito 2008).
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo")

_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "nlihub",  # the same picture gives the same bytes
}
_FORMATS = (".png", ".svg", ".pdf")


@contextmanager
def new_figure(width: float = 5.5, height: float = 3.4) -> Iterator[tuple["Figure", "Axes"]]:
    """Make a figure in the style of this package.

    Args:
        width: Width in inches; the text block of a paper is about 6.3 wide, a column 3.1.
        height: Height in inches.

    Yields:
        The figure and its axes; draw inside the context, where the style applies.

    Raises:
        MissingLibraryError: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        message = "Pictures need matplotlib, which comes with the extra nlihub[plots]."
        raise MissingLibraryError(message) from error
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure, figure.add_subplot()


def lighten(color: str) -> str:
    """Return a light shade of a color; both are written ``"#rrggbb"``."""
    parts = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - 0.38 * (255 - part)):02x}" for part in parts)


def check_picture_name(path: str | Path) -> str:
    """Return the suffix of a picture's name in lower case.

    Args:
        path: A file that ends in ``.png``, ``.svg`` or ``.pdf``.

    Raises:
        MetricInputError: The suffix is another one.
    """
    ending = Path(path).suffix.lower()
    if ending not in _FORMATS:
        raise MetricInputError([f"{path}: expected a file that ends in {', '.join(_FORMATS)}."])
    return ending


def save_figure(figure: "Figure", path: str | Path) -> None:
    """Save a picture of a metric's result; the same picture gives the same bytes.

    Args:
        figure: The picture.
        path: A file that ends in ``.png`` (300 dots per inch), ``.svg`` or ``.pdf``.

    Raises:
        MetricInputError: The suffix is another one.
        OSError: The file cannot be written.
    """
    import matplotlib as mpl

    ending = check_picture_name(path)
    # Leave out the date, which would change the bytes.
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(ending)
    with mpl.rc_context(_STYLE):
        figure.savefig(path, dpi=300, metadata=metadata)


def check_results(results: Mapping[str, Mapping[str, Any]], *keys: str) -> None:
    """Check that results have what a picture shows.

    Args:
        results: Results by name of the system.
        *keys: Keys that every result must have.

    Raises:
        MetricInputError: There are no results, more than there are colours, or a key is missing.
    """
    if not 1 <= len(results) <= len(COLORS):
        raise MetricInputError([f"{len(results)} systems; expected 1 to {len(COLORS)}."])
    missing = [
        f"{name}: the result has no {key!r}; it has {', '.join(result) or 'nothing'}."
        for name, result in results.items()
        for key in keys
        if key not in result
    ]
    if missing:
        raise MetricInputError(missing)

"""What an app needs to know of its metric."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ..rows import Rows


@dataclass(frozen=True)
class AppSpec:
    """An app.

    Attributes:
        name: Name of the metric.
        title: Title of the page.
        description: What the metric says, in a paragraph of Markdown.
        columns: What the file has to have, and may have, in Markdown.
        options: Text fields: label and first value by name.
        example: A small file of predictions, as CSV.
        score: Gives the result for the rows of a file and the texts of the options.
        scores: The scores of a result.
        breakdowns: Its further tables, by title; the page shows the first two.
        draw: The picture of a result, or None.
    """

    name: str
    title: str
    description: str
    columns: str
    options: Mapping[str, tuple[str, str]]
    example: str
    score: Callable[[pa.Table, Mapping[str, str]], dict[str, Any]]
    scores: Callable[[Mapping[str, Any]], Rows]
    breakdowns: Callable[[Mapping[str, Any]], dict[str, Rows]]
    draw: Callable[[Mapping[str, Any]], Any] | None

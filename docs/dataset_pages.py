"""The head of a dataset's page: example rows, how to load it, facts, and a chart of its labels."""

import json
from html import escape
from pathlib import Path

from nlihub.builders.core.markdown import markdown_table
from nlihub.builders.core.registry import get_builder

_EXAMPLES = json.loads((Path(__file__).parent / "examples.json").read_text(encoding="utf-8"))
#: Datasets whose files users have to give; the guide on loading says which.
_NEEDS_FILES = {"bionli", "mismatched"}
#: What no paper says of our own dataset.
_OWN = {
    "open_spacenli": {
        "test": {"label": {"entailment": 11_800, "neutral": 10_600, "contradiction": 10_600}}
    }
}
_BAR, _WIDTH = 22, 640


def page_head(name: str) -> str:
    """Return the head of a dataset's page, in Markdown."""
    spec = get_builder(name).SPEC
    needed = ', data_dir="FOLDER"' if name in _NEEDS_FILES else ""
    published = spec.published.get(spec.default_config) or _OWN.get(name, {})
    counts = {
        split: of["label"] if "label" in of else {"": of["rows"]} for split, of in published.items()
    }
    if name in _OWN:
        origin = "Rows of the dataset. Load all"
    else:
        origin = "Invented in the style of the dataset. Load real ones"
    rows = _EXAMPLES.get(name, [])
    cells = [[escape(text, quote=False) for text in row] for row in rows]
    facts = [
        ["rows", ", ".join(f"{split} {sum(n.values()):,}" for split, n in counts.items())],
        ["configs", ", ".join(f"`{config}`" for config in spec.configs)],
        ["metrics", ", ".join(f"[`{metric}`](../metrics.md)" for metric in spec.metrics)],
        ["licence", spec.license],
        ["paper", f"<{spec.paper}>"],
    ]
    load = f'rows = nlihub.load_dataset("{name}", split="test"{needed})'
    if needed:
        origin += " from [its files](../guides/load.md#use-your-own-copy-of-the-files)"
    parts = [
        markdown_table(["premise", "hypothesis", "label"], cells) if cells else "",
        f"{origin}:",
        f"```python\nimport nlihub\n\n{load}\nprint(rows[:3])\n```",
        markdown_table(["", f"`{spec.default_config}`"], facts),
        _chart(counts) if counts else "",
    ]
    return "\n\n".join(parts)


def _chart(counts: dict[str, dict[str, int]]) -> str:
    """Draw the number of rows of each label in each split as bars, in the colours of the page."""
    bars = [(split, label, n) for split, labels in counts.items() for label, n in labels.items()]
    most = max(n for *_, n in bars)
    lines = []
    for place, (split, label, n) in enumerate(bars):
        y = place * _BAR
        width = max(1, round(300 * n / most))
        lines += [
            f'<text x="0" y="{y + 15}">{split} {escape(label)}</text>',
            f'<rect x="200" y="{y + 4}" width="{width}" height="14" rx="2" opacity="0.6"/>',
            f'<text x="{206 + width}" y="{y + 15}">{n:,}</text>',
        ]
    height = len(bars) * _BAR
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="Rows by split and label" '
        f'style="max-width: {_WIDTH}px; font-size: 13px" fill="currentColor">'
        + "".join(lines)
        + "</svg>"
    )

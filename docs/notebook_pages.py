"""The pages of the notebooks: their cells, with what they show when they run."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PAGE = """{cells}

[Download this notebook]({name}) and run it in Jupyter; it needs no network.
"""
#: A cell that writes a file, with the file's name.
_FILE = re.compile(r"%%writefile (\S+)\n")


def run_notebook(path: Path, folder: Path) -> dict[str, Any]:
    """Run a notebook from top to bottom.

    Args:
        path: The file.
        folder: Where it runs.

    Returns:
        The notebook, with the outputs of its cells.

    Raises:
        SystemExit: A cell fails, or takes more than two minutes.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(folder)}}
    try:
        NotebookClient(notebook, timeout=120, resources=place).execute()
    except (CellExecutionError, CellTimeoutError) as error:
        raise SystemExit(f"{path.name}: {error}") from error
    return notebook


def read_notebook(path: Path) -> dict[str, Any]:
    """Read a notebook without running it."""
    return json.loads(path.read_text(encoding="utf-8"))


def notebook_page(notebook: dict[str, Any], name: str) -> str:
    """Write a notebook as Markdown.

    Args:
        notebook: The notebook, with outputs or without.
        name: Name of its file, which the page links.
    """
    parts = [part for cell in notebook["cells"] for part in _cell(cell)]
    return _PAGE.format(cells="\n\n".join(parts), name=name)


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    if file := _FILE.match(source):
        language = file[1].rpartition(".")[2]
        yield f'```{language} title="{file[1]}"\n{source[file.end() :]}\n```'
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data = output.get("data", {})
        shown = data.get("text/plain") or output.get("text", "")
        if picture := data.get("image/png"):
            yield f"![What the cell draws](data:image/png;base64,{''.join(picture.split())})"
        elif output.get("name") != "stderr":  # warnings about the machine at hand
            yield f"````text\n{shown.strip()}\n````"

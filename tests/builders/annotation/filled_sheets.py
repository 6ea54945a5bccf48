"""Sheets of a batch as people fill them in, and a version made from papers to draw from."""

import csv

from constructing import from_papers
from paper_corpus import make_papers, write_lines


def version_from_papers(folder, domains=("acl",)):
    """Make a version from papers; return its folder, ``folder/b/my_nli``."""
    path = write_lines(folder / "papers.jsonl", make_papers(60, domains=domains))
    return from_papers("my_nli", path, folder / "b", ratio=(0.5, 0.25, 0.25)).folder


def fill_in(batch, folder, say):
    """Write the filled sheets of a batch into a folder; return them.

    ``say`` gives what a person writes into the sheet's columns, or the answer, for an item.
    """
    folder.mkdir(exist_ok=True)
    sheets = []
    for person in batch.people:
        path = batch.sheets / f"{person}-b{batch.folder.name[-3:]}.csv"
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            said = say(person, batch.items[row["id"]])
            row.update(said if isinstance(said, dict) else {"answer": said})
        sheets.append(folder / path.name)
        with sheets[-1].open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    return sheets

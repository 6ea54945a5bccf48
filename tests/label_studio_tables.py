"""Tables as Label Studio 1.23.2 exports them, from the records of its JSON-MIN."""

import csv
import json


def write_table(path, records, delimiter=",", without=()):
    """Writes records of JSON-MIN as a table of Label Studio.

    Its columns are in the order of the alphabet; texts are in quotes, numbers are not; several
    choices are an object in JSON; a control that nobody used has no column.
    """
    columns = sorted({name for record in records for name in record} - set(without))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(
            file, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n"
        )
        writer.writerow(columns)
        writer.writerows([_cell(record.get(name), name) for name in columns] for record in records)
    return path


def _cell(value, name):
    if isinstance(value, dict):
        return json.dumps(value, separators=(",", ":"))
    if value is None:
        return ""
    return str(value) if name == "annotator" else value

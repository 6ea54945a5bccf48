"""Years and domains of papers in a table of their own, which goes before what files state."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...errors import Defect, MetadataError
from ...paths import local_path
from .paper import Paper, parse_year


@dataclass(frozen=True)
class Metadata:
    """What is known of papers besides their files.

    Attributes:
        years: Year by id.
        domains: Domain by id.
        domain: Domain of papers for which neither the table nor the file states one.
    """

    years: Mapping[str, int] = field(default_factory=dict)
    domains: Mapping[str, str] = field(default_factory=dict)
    domain: str | None = None

    @classmethod
    def read(cls, path: Path | None = None, domain: str | None = None) -> "Metadata":
        """Read a table of papers: CSV with the columns ``id``, and ``year`` or ``domain`` or both.

        Args:
            path: The file, in UTF-8; None for no table.
            domain: Domain of all papers that have no other.

        Raises:
            MetadataError: The file is missing or malformed; all its defects are listed.
        """
        if path is None:
            return cls(domain=domain)
        path = local_path(path)
        defects: list[Defect] = []
        years: dict[str, int] = {}
        domains: dict[str, str] = {}
        seen: set[str] = set()

        def report(line: int, message: str) -> None:
            defects.append(Defect(str(path), line, "", message))

        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                reader = csv.DictReader(file, strict=True)
                names = set(reader.fieldnames or ())
                if "id" not in names or not names & {"year", "domain"}:
                    report(1, f"has the columns {sorted(names)}, expected id, year, domain")
                    raise MetadataError(defects)
                for row in reader:
                    line, key = reader.line_num, row["id"]
                    if rest := row.pop(None, []):
                        report(line, f"has {len(row) + len(rest)} values, expected {len(row)}")
                    if not key:
                        report(line, "has no id")
                    elif key in seen:
                        report(line, f"names {key!r} again")
                    seen.add(key)
                    if year := row.get("year"):
                        if (read := parse_year(year)) is not None and year.strip().isdecimal():
                            years[key] = read
                        else:
                            report(line, f"year is {year!r}, expected a number from 1500 to 2100")
                    if value := row.get("domain"):
                        domains[key] = value
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            report(0, f"cannot be read: {error}")
        if defects:
            raise MetadataError(defects)
        return cls(years, domains, domain)

    @property
    def ids(self) -> frozenset[str]:
        """The ids in the table."""
        return frozenset({*self.years, *self.domains})

    def complete(self, paper: Paper) -> Paper:
        """Return a paper with the year and domain that the table has for it."""
        year = self.years.get(paper.id, paper.year)
        domain = self.domains.get(paper.id, paper.domain or self.domain)
        if (year, domain) == (paper.year, paper.domain):
            return paper
        return replace(paper, year=year, domain=domain)

"""The layout of MSciNLI's release: pairs of sentences from papers of five domains.

Source: the files of MSciNLI (NAACL 2024). Five columns are documented, of which ``id``,
``sentence1``, ``sentence2`` and ``label`` are known by name; the fifth has to be the domain, and is
recognised by its values.
"""

from .layout import Column, Layout, read_text
from .scinli import SENTENCE_COLUMNS

#: Our name of each domain, and how its name in the release may begin, in lower-case letters.
DOMAINS = {
    "hardware": ("hardware",),
    "networks": ("network",),
    "software_engineering": ("software", "swe"),
    "security_privacy": ("security",),
    "neurips": ("neurips", "nips"),
}


def _read_domain(value: object) -> str:
    released = read_text(value).casefold()
    for name, beginnings in DOMAINS.items():
        if released.startswith(beginnings):
            return name
    known = ", ".join(beginning for beginnings in DOMAINS.values() for beginning in beginnings)
    raise ValueError(f"{value!r} begins with none of {known}")


LAYOUT = Layout((*SENTENCE_COLUMNS, Column("domain", _read_domain, names=())))

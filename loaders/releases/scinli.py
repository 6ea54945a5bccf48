"""The layouts of the releases of SciNLI and MSciNLI: pairs of sentences from papers.

Source: the files of SciNLI (ACL 2022), from the ACL Anthology, and their readme.txt. The sentences
have line breaks and control characters of the PDFs that they are from; ``dev.csv`` has a column
without a name. The training rows that people labelled are in ``data/`` of
github.com/msadat3/weighted_cotraining (ACL 2024): TSV with the quotes of CSV, whose lines end in CR
and LF.

The files of MSciNLI (NAACL 2024), from five domains. Five columns are documented, of which ``id``,
``sentence1``, ``sentence2`` and ``label`` are known by name; the fifth has to be the domain, and is
recognised by its values.
"""

from .layout import Column, Layout, one_of, read_text

#: The label ids of the authors' code.
LABELS = ("contrasting", "reasoning", "entailment", "neutral")
SENTENCE_COLUMNS = (
    Column("id"),
    Column("sentence1"),
    Column("sentence2"),
    Column("label", one_of(LABELS)),
)
LAYOUT = Layout(SENTENCE_COLUMNS)
HUMAN_LAYOUT = Layout(SENTENCE_COLUMNS, delimiter="\t")

#: Our name of each domain, and how its name in the release may begin, in lower-case letters.
MSCINLI_DOMAINS = {
    "hardware": ("hardware",),
    "networks": ("network",),
    "software_engineering": ("software", "swe"),
    "security_privacy": ("security",),
    "neurips": ("neurips", "nips"),
}


def _read_domain(value: object) -> str:
    released = read_text(value).casefold()
    for name, beginnings in MSCINLI_DOMAINS.items():
        if released.startswith(beginnings):
            return name
    known = ", ".join(
        beginning for beginnings in MSCINLI_DOMAINS.values() for beginning in beginnings
    )
    raise ValueError(f"{value!r} begins with none of {known}")


MSCINLI_LAYOUT = Layout((*SENTENCE_COLUMNS, Column("domain", _read_domain, names=())))

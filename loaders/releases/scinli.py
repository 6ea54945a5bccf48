"""The layout of SciNLI's release: pairs of sentences from papers of the ACL Anthology.

Source: the files of SciNLI (ACL 2022) and their readme.txt. The sentences have line breaks and
control characters of the PDFs that they are from; ``dev.csv`` has a column without a name. The
training rows that people labelled are in ``data/`` of github.com/msadat3/weighted_cotraining (ACL
2024): TSV with the quotes of CSV, whose lines end in CR and LF.
"""

from .layout import Column, Layout, one_of

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

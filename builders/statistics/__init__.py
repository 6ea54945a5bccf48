"""What ``nlihub stats`` measures on a built version: the card's statistics, the papers' tables.

``survey`` measures and prints it all; every other module has the tables on one subject.
Every built version has the statistics on its card: see ``versions.row_tables``.
"""

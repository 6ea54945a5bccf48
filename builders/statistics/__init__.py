"""What ``nlihub stats`` measures on a built version: the card's statistics, the papers' tables.

``survey`` measures it all and ``show`` prints it; every other module is one table, or a tool of
several. The statistics on the card are measured in ``versions.card_statistics``, since every
built version has them.
"""

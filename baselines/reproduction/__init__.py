"""Every table, figure and numbered analysis of the four papers: a registry, and how to make each.

The entries are data, a file for each paper; ``entries`` reads them, ``inputs`` says what can be
made, ``make`` makes it from what the other modules of this package and the rooms below measure.
"""

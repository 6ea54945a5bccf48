"""How each paper makes its data: from papers, from abstracts, from patterns."""

#: The procedures by the names of their folders.
PROCEDURES = ("abstracts", "papers", "patterns")

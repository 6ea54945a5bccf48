"""How each paper makes its data: from papers, from abstracts, from patterns."""

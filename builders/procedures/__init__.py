"""How each paper makes its data: from papers, from abstracts, from patterns."""

from pathlib import Path

#: The procedures by the names of their folders.
PROCEDURES = tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("*/recipe.py")))

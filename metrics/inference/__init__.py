"""How sure a score is: intervals and tests."""

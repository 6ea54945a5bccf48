"""Readers of pattern banks and of the mini world that fills them."""

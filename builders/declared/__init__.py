"""Datasets that people make by a procedure of this package: what they declare of them."""

"""Metrics as single files that need nothing of this package, for the Hub and for the cache."""

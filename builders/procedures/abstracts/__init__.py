"""BioNLI's procedure end to end: from annotated abstracts to a dataset."""

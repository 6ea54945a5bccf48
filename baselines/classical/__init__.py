"""Models of features that are counted: the lexicalized classifier of the SciNLI paper."""

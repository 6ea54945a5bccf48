"""F1 by class, macro-F1 and accuracy, also by domain (SciNLI, MSciNLI)."""

"""SciNLI's and MSciNLI's procedure: pairs of sentences from papers, by distant supervision."""

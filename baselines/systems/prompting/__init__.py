"""Large language models prompted for labels, zero-shot and few-shot (MSciNLI, Table 5)."""

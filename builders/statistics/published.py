"""What the papers publish of texts, to stand beside what is measured."""

from collections.abc import Mapping

#: Words of premise and hypothesis, overlap in percent, share of S roots in percent of each.
_NAMES = ("premise_tokens", "hypothesis_tokens", "overlap", "premise_s_roots", "hypothesis_s_roots")

#: By dataset and config; over all splits of the release.
_FIGURES = {
    # SciNLI, Table 3.
    ("scinli", "default"): {
        "class contrasting": (27.41, 24.50, 31.33, 97.3, 97.4),
        "class reasoning": (28.25, 24.32, 32.75, 97.5, 97.7),
        "class entailment": (27.08, 28.90, 32.98, 96.9, 95.9),
        "class neutral": (26.76, 26.02, 23.18, 95.3, 95.6),
        "all": (27.38, 25.93, 30.06, 96.8, 96.7),
    },
    # MSciNLI, Table 2.
    ("mscinli", "default"): {
        "domain hardware": (26.10, 24.59, 30.52, 94.3, 94.5),
        "domain networks": (26.37, 25.01, 30.17, 93.9, 93.7),
        "domain software_engineering": (25.80, 24.51, 29.83, 93.9, 94.1),
        "domain security_privacy": (26.14, 24.50, 29.91, 94.0, 94.2),
        "domain neurips": (29.80, 29.66, 31.04, 96.0, 95.1),
        "all": (26.84, 25.85, 30.29, 94.4, 94.3),
    },
}


def published_texts(dataset: str, config: str, part: str) -> Mapping[str, float]:
    """What a paper publishes of the texts of some rows.

    Args:
        dataset: The dataset.
        config: The config.
        part: The rows, as ``TextFigures`` names them.

    Returns:
        The figures by name; empty where the paper has none.
    """
    figures = _FIGURES.get((dataset, config), {}).get(part)
    return dict(zip(_NAMES, figures, strict=True)) if figures else {}

"""Where nlihub keeps what it downloads and builds."""

import os
from pathlib import Path


def default_cache_dir() -> Path:
    """Return ``$NLIHUB_CACHE``, or ``nlihub`` in the Hugging Face home."""
    from huggingface_hub.constants import HF_HOME

    return Path(os.environ.get("NLIHUB_CACHE") or Path(HF_HOME) / "nlihub")

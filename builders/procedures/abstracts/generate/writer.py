"""Models that write negatives, as the builder of a dataset asks for them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .....loaders.progress import Tell, silent
from ..mechanisms.mechanism import Mechanism
from ..perturb.strategy import Perturbed, Refused
from .generate import generate_negatives
from .settings import GenerationSettings
from .similarity import Similarity, TokenF1


@dataclass(frozen=True)
class ModelWriter:
    """Writes GEN and GEN-ND: ``nlihub.build_from_abstracts(..., writer=ModelWriter())``.

    Attributes:
        settings: How; by default a small model from scratch, whose prose is poor.
        folder: Where the models of folds are kept, so that a run that died goes on; None keeps
            none.
        quality: What GEN is bounded by; BLEURT in the paper.
        similarity: What GEN-ND-SRE is bounded by; BioLinkBERT in the paper.
        tell: Is told of each step.
    """

    settings: GenerationSettings = field(default_factory=GenerationSettings.small)
    folder: str | Path | None = None
    quality: Similarity = field(default_factory=TokenF1)
    similarity: Similarity = field(default_factory=TokenF1)
    tell: Tell = silent

    def write(self, mechanisms: Sequence[Mechanism]) -> Sequence[Mapping[str, Perturbed | Refused]]:
        """For each of n mechanisms by kind its negative, or why there is none.

        Raises:
            NLIHubError: As ``generate_negatives``.
        """
        generated = generate_negatives(
            mechanisms,
            self.settings,
            folder=Path(self.folder).expanduser() if self.folder is not None else None,
            quality=self.quality,
            similarity=self.similarity,
            tell=self.tell,
        )
        return generated.outcomes

    def parameters(self) -> Mapping[str, Any]:
        """All that the sentences depend on, besides the mechanisms."""
        model: Any = self.settings.model
        return {
            **asdict(self.settings),
            "model": {"kind": type(model).__name__, **asdict(model)},
            "quality": self.quality.name,
            "similarity": self.similarity.name,
        }

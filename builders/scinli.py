"""SciNLI (Sadat and Caragea, ACL 2022), from its authors' release."""

from ..loaders.fetching import list_sources
from ..loaders.releases.scinli import LABELS, read_scinli
from .release_builder import Part, ReleaseBuilder, everything
from .sentence_pairs import ACL_SMALL_PER_CLASS, MEANINGS, acl_small, pair_encoder
from .spec import ConfigSpec, DatasetSpec, PublishedCounts

_SPLITS = ("train", "validation", "test")


def _per_class(n: int) -> dict[str, int]:
    return dict.fromkeys(LABELS, n)


#: Table 3.
_PUBLISHED: dict[str, PublishedCounts] = {
    split: {"rows": n * len(LABELS), "label": _per_class(n)}
    for split, n in {"train": 25_353, "validation": 500, "test": 1_000}.items()
}


class SciNLI(ReleaseBuilder):
    """SciNLI: 107,412 pairs of sentences from the ACL Anthology."""

    SPEC = DatasetSpec(
        name="scinli",
        pretty_name="SciNLI",
        version="1.0.0",
        summary="NLI on scientific text: pairs of sentences from papers of the ACL Anthology.",
        labels=LABELS,
        domains=("acl",),
        categories=(),
        group=None,
        metrics=("nli_report",),
        configs={
            "default": ConfigSpec("the release", _SPLITS),
            "acl_small": ConfigSpec(
                "the training set cut to the size of one domain of MSciNLI; validation and test "
                "as in `default`",
                _SPLITS,
            ),
        },
        extra={},
        meanings={name: text for name, text in MEANINGS.items() if name != "id"}
        | {"id": "the id of the release"},
        license="cc-by-sa-4.0",
        copyright="Copyright (c) 2022 Mobashir Sadat and Cornelia Caragea",
        citation="""@inproceedings{sadat-caragea-2022-scinli,
  title = {{SciNLI}: A Corpus for Natural Language Inference on Scientific Text},
  author = {Sadat, Mobashir and Caragea, Cornelia},
  booktitle = {Proceedings of the 60th Annual Meeting of the Association for Computational
    Linguistics (Volume 1: Long Papers)},
  month = may,
  year = {2022},
  address = {Dublin, Ireland},
  pages = {7399--7409},
  url = {https://aclanthology.org/2022.acl-long.511}
}
""",
        paper="https://aclanthology.org/2022.acl-long.511",
        homepage="https://github.com/msadat3/SciNLI",
        offline=False,
        origins=("release",),
        published={
            "default": _PUBLISHED,
            "acl_small": {
                **_PUBLISHED,
                "train": {
                    "rows": ACL_SMALL_PER_CLASS * len(LABELS),
                    "label": _per_class(ACL_SMALL_PER_CLASS),
                },
            },
        },
        known_defects=frozenset({"no example is in two splits", "no text has two labels"}),
    )

    @classmethod
    def parts(cls) -> list[Part]:
        """Train, validation and test, one file each."""
        sources = list_sources("scinli")
        return [
            Part(
                sources[split],
                read_scinli,
                pair_encoder("acl"),
                {
                    ("default", split): everything,
                    ("acl_small", split): acl_small() if split == "train" else everything,
                },
            )
            for split in _SPLITS
        ]

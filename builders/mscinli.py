"""MSciNLI (Sadat and Caragea, NAACL 2024), from its authors' release."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..loaders.errors import SourceNotFoundError
from ..loaders.fetching import SourceFile, list_sources, obtain
from ..loaders.releases.mscinli import DOMAINS, read_mscinli
from ..loaders.releases.scinli import LABELS
from ..loaders.releases.scinli import LAYOUT as ACL_LAYOUT
from .core.options import BuildOptions
from .core.release_builder import Part, ReleaseBuilder, every_row, rows_of_domain
from .core.spec import ConfigSpec, DatasetSpec, PublishedCounts
from .scinli import ACL_SMALL_PER_CLASS, MEANINGS, acl_small, lowest_ids, pair_encoder

if TYPE_CHECKING:
    import pyarrow as pa

_SPLITS = ("train", "validation", "test")
_ACL_PREFIX = "scinli/"
_IN_WORDS = {
    "hardware": "hardware",
    "networks": "networks",
    "software_engineering": "software and its engineering",
    "security_privacy": "security and privacy",
    "neurips": "NeurIPS",
}
#: Rows a class and domain: Table 2 of MSciNLI, and Table 3 of SciNLI for the domain ``acl``.
_PER_CLASS = {"train": 6_366, "validation": 50, "test": 200}
_PER_CLASS_ACL = {"train": 25_353, "validation": 500, "test": 1_000}

#: Training rows a class and domain in ``merged_small``: together as many as one domain has, rounded
#: down. Source: Table 14, 5,092 rows of each domain.
MERGED_SMALL_PER_CLASS = _PER_CLASS["train"] // len(DOMAINS)
_MERGED_SMALL_KEY = b"merged_small"


def _published(
    n_domains: int,
    per_class_acl: Mapping[str, int],
    per_class_own: Mapping[str, int] = _PER_CLASS,
) -> dict[str, PublishedCounts]:
    """Return the counts of a config with some domains of MSciNLI and perhaps some of SciNLI."""
    published: dict[str, PublishedCounts] = {}
    for split in _SPLITS:
        own, acl = per_class_own[split], per_class_acl.get(split, 0)
        per_class = own * n_domains + acl
        published[split] = {
            "rows": len(LABELS) * per_class,
            "label": dict.fromkeys(LABELS, per_class),
        }
        if n_domains == len(DOMAINS):
            names = [*DOMAINS, *["acl"] * bool(acl)]
            published[split] |= {  # type: ignore[operator]
                "domain, label": {
                    (domain, label): acl if domain == "acl" else own
                    for domain in names
                    for label in LABELS
                }
            }
    return published


def _merged_small(rows: "pa.Table", file: SourceFile) -> "pa.BooleanArray":
    """Return which training rows are in the cut of all domains to the size of one.

    Of each class and domain the ``MERGED_SMALL_PER_CLASS`` rows with the lowest keyed hash of their
    ids. The authors' own cut is a random one that they have not published; that its classes are of
    one size is our reading.

    Source:
        MSciNLI, Table 14.
    """
    import pyarrow.compute as pc

    return pc.is_in(rows["id"].combine_chunks(), _merged_small_ids(file.path, file.sha256))


@cache
def _merged_small_ids(path: Path, sha256: str) -> "pa.Array":
    columns = ("id", "label", "domain")
    rows = (
        (name, (label, domain))
        for batch in read_mscinli(path, is_known=True)  # it was just read for its rows
        for name, label, domain in zip(*(batch[c].to_pylist() for c in columns), strict=True)
    )
    return lowest_ids(rows, MERGED_SMALL_PER_CLASS, _MERGED_SMALL_KEY)


class MSciNLI(ReleaseBuilder):
    """MSciNLI: 132,320 pairs of sentences from papers of five domains."""

    SPEC = DatasetSpec(
        name="mscinli",
        pretty_name="MSciNLI",
        version="1.1.0",
        summary="NLI on scientific text: pairs of sentences from papers of five domains.",
        labels=LABELS,
        domains=(*DOMAINS, "acl"),
        categories=(),
        group=None,
        metrics=("nli_report",),
        configs={
            "default": ConfigSpec("the release: all five domains", _SPLITS),
            **{name: ConfigSpec(f"the domain {_IN_WORDS[name]}", _SPLITS) for name in DOMAINS},
            "merged_small": ConfigSpec(
                "the training sets of the five domains together cut to the size of one; validation "
                "and test as in `default`",
                _SPLITS,
                test_of="default",
            ),
            "plus": ConfigSpec("MSciNLI and SciNLI (MSciNLI+ in the paper)", _SPLITS),
            "plus_small": ConfigSpec(
                "MSciNLI and `acl_small` of SciNLI (MSciNLI+(S) in the paper)",
                _SPLITS,
                test_of="plus",
            ),
        },
        extra={},
        meanings=MEANINGS,
        license="cc-by-sa-4.0",
        copyright="Copyright (c) 2024 Mobashir Sadat and Cornelia Caragea",
        citation="""@inproceedings{sadat-caragea-2024-mscinli,
  title = {{MSciNLI}: A Diverse Benchmark for Scientific Natural Language Inference},
  author = {Sadat, Mobashir and Caragea, Cornelia},
  booktitle = {Proceedings of the 2024 Conference of the North American Chapter of the Association
    for Computational Linguistics: Human Language Technologies (Volume 1: Long Papers)},
  month = jun,
  year = {2024},
  address = {Mexico City, Mexico},
  url = {https://aclanthology.org/2024.naacl-long.90}
}
""",
        paper="https://aclanthology.org/2024.naacl-long.90",
        homepage="https://github.com/msadat3/MSciNLI",
        offline=False,
        origins=("release",),
        creation={
            "annotations_creators": ("machine-generated", "expert-generated"),
            "language_creators": ("found",),
            "source_datasets": ("original", "extended|other"),
        },
        after=("scinli",),
        published={
            "default": _published(len(DOMAINS), {}),
            **{name: _published(1, {}) for name in DOMAINS},
            "merged_small": _published(
                len(DOMAINS), {}, {**_PER_CLASS, "train": MERGED_SMALL_PER_CLASS}
            ),
            "plus": _published(len(DOMAINS), _PER_CLASS_ACL),
            "plus_small": _published(
                len(DOMAINS), {**_PER_CLASS_ACL, "train": ACL_SMALL_PER_CLASS}
            ),
        },
        known_defects=frozenset(
            {
                "no example is in two splits",
                "no text has two labels",
                "counts are the published ones",
            }
        ),
    )

    @classmethod
    def find_sources(cls, options: BuildOptions) -> list[SourceFile]:
        """Get the files; in a folder, those of SciNLI are in its sub-folder ``scinli``.

        Otherwise a file of MSciNLI would be taken for that of SciNLI: their names are the same.

        Raises:
            SourceNotFoundError: The sub-folder is missing.
            NLIHubError: A source is missing or not the pinned one.
        """
        sources = cls.wanted_sources(options)
        if options.folder is None:
            return super().find_sources(options)
        place = options.folder if options.folder.is_dir() else options.folder.parent
        acl = place / "scinli"
        if any(source.dataset == "scinli" for source in sources) and not acl.is_dir():
            own = ",".join(name for name in cls.SPEC.configs if not name.startswith("plus"))
            raise SourceNotFoundError(
                f"plus and plus_small also need the files of SciNLI, in {acl}. Put them there, or "
                f"leave these configs out: nlihub build mscinli --configs {own}"
            )
        return [
            obtain(
                source,
                place=acl if source.dataset == "scinli" else options.folder,
                cache_dir=options.cache_dir,
            )
            for source in sources
        ]

    @classmethod
    def parts(cls) -> list[Part]:
        """Return train, validation and test of MSciNLI, then those of SciNLI."""
        own, acl = list_sources("mscinli"), list_sources("scinli")
        return [
            Part(
                own[split],
                read_mscinli,
                pair_encoder(None),
                {
                    **{(c, split): every_row for c in ("default", "plus", "plus_small")},
                    **{(domain, split): rows_of_domain(domain) for domain in DOMAINS},
                    ("merged_small", split): _merged_small if split == "train" else every_row,
                },
            )
            for split in _SPLITS
        ] + [
            Part(
                acl[split],
                ACL_LAYOUT.read,
                pair_encoder("acl", _ACL_PREFIX),
                {
                    ("plus", split): every_row,
                    ("plus_small", split): acl_small(_ACL_PREFIX)
                    if split == "train"
                    else every_row,
                },
            )
            for split in _SPLITS
        ]

"""SciNLI (Sadat and Caragea, ACL 2022), from its authors' release."""

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..loaders.fetching import SourceFile, list_sources
from ..loaders.releases.scinli import HUMAN_LAYOUT, LABELS, LAYOUT
from .core.release_builder import Encoder, Membership, Part, ReleaseBuilder, every_row
from .core.schema import uniform_features
from .core.spec import ConfigSpec, DatasetSpec, PublishedCounts

if TYPE_CHECKING:
    import pyarrow as pa

MEANINGS = {
    "id": "the id of the release; that of a SciNLI row has `scinli/` before it in MSciNLI",
    "premise": "the first sentence, as released",
    "hypothesis": "the second sentence, as released: without its linking phrase",
    "label": "the relation between the sentences, by the linking phrase that was there",
    "group": "null",
    "category": "null: the release does not say which linking phrase there was",
    "source": "null: the release does not say which paper it is from",
}

#: Rows a class in the cut of SciNLI's training set: a domain of MSciNLI has 25,464 (its Table 2).
ACL_SMALL_PER_CLASS = 25_464 // len(LABELS)
_ACL_SMALL_KEY = b"acl_small"


def pair_encoder(domain: str | None, id_prefix: str = "") -> Callable[[], Encoder]:
    """Return what makes the function that turns batches of SciNLI or MSciNLI into rows.

    Args:
        domain: The domain of every row; None takes the column ``domain``.
        id_prefix: Goes before each id.
    """

    def make() -> Encoder:
        import pyarrow as pa
        import pyarrow.compute as pc

        from .core.encode import encode

        features = uniform_features(LABELS, {})
        schema = features.arrow_schema

        def encode_pairs(batch: pa.RecordBatch) -> pa.Table:
            nothing = pa.nulls(len(batch))
            ids = batch.column("id")
            return encode(
                {
                    "id": pc.binary_join_element_wise(id_prefix, ids, "") if id_prefix else ids,
                    "premise": batch.column("sentence1"),
                    "hypothesis": batch.column("sentence2"),
                    "label": batch.column("label"),
                    "group": nothing,
                    "category": nothing,
                    "domain": pa.repeat(domain, len(batch)) if domain else batch.column("domain"),
                    "source": nothing,
                },
                features,
                schema,
            )

        return encode_pairs

    return make


def acl_small(id_prefix: str = "") -> Membership:
    """Return the membership of SciNLI's training rows in its cut to a domain of MSciNLI's size.

    Of each class the ``ACL_SMALL_PER_CLASS`` rows with the lowest keyed hash of their ids. The
    authors' own cut is a random one that they have not published.

    Args:
        id_prefix: Stands before each id of the rows.

    Source:
        MSciNLI, experiment on domain shift (ACL-SMALL).
    """

    def is_member(rows: "pa.Table", file: SourceFile) -> "pa.BooleanArray":
        import pyarrow.compute as pc

        ids = rows["id"].combine_chunks()
        if id_prefix:
            ids = pc.utf8_slice_codeunits(ids, len(id_prefix))
        return pc.is_in(ids, _acl_small_ids(file.path, file.sha256))

    return is_member


@cache
def _acl_small_ids(path: Path, sha256: str) -> "pa.Array":
    return lowest_ids(_ids_and_labels(path), ACL_SMALL_PER_CLASS, _ACL_SMALL_KEY)


def lowest_ids(rows: Iterable[tuple[str, Hashable]], n_per_kind: int, key: bytes) -> "pa.Array":
    """Return the ids of the rows of each kind with the lowest keyed hashes.

    Args:
        rows: The id and the kind, such as the class, of each row.
        n_per_kind: Number of rows of a kind.
        key: Names the draw; another draws other rows.
    """
    import pyarrow as pa

    ranked: dict[Hashable, list[tuple[bytes, str]]] = {}
    for name, kind in rows:
        digest = hashlib.blake2b(name.encode(), digest_size=16, key=key).digest()
        ranked.setdefault(kind, []).append((digest, name))
    chosen = (sorted(of_kind)[:n_per_kind] for of_kind in ranked.values())
    return pa.array([name for of_kind in chosen for _, name in of_kind], pa.string())


def _ids_and_labels(path: Path) -> Iterator[tuple[str, str]]:
    for batch in LAYOUT.read(path, is_known=True):  # it was just read for its rows
        yield from zip(
            batch.column("id").to_pylist(), batch.column("label").to_pylist(), strict=True
        )


_SPLITS = ("train", "validation", "test")

#: Before the ids of the rows that people labelled: whatever they changed, the ids stay unique.
_HUMAN_PREFIX = "human/"

#: Table 3.
_PUBLISHED: dict[str, PublishedCounts] = {
    split: {"rows": n * len(LABELS), "label": dict.fromkeys(LABELS, n)}
    for split, n in {"train": 25_353, "validation": 500, "test": 1_000}.items()
}


class SciNLI(ReleaseBuilder):
    """SciNLI: 107,412 pairs of sentences from the ACL Anthology."""

    SPEC = DatasetSpec(
        name="scinli",
        pretty_name="SciNLI",
        version="1.1.0",
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
                test_of="default",
            ),
            "human": ConfigSpec(
                "2,000 training rows that people labelled; validation and test as in `default`",
                _SPLITS,
                test_of="default",
            ),
        },
        extra={},
        meanings={
            **MEANINGS,
            "id": "the id of the release; that of a training row of `human` has `human/` before it",
            "label": "the relation between the sentences: by the linking phrase that was there; in "
            "`human`, by people's judgement",
        },
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
@inproceedings{sadat-caragea-2024-co,
  title = {Co-training for Low Resource Scientific Natural Language Inference},
  author = {Sadat, Mobashir and Caragea, Cornelia},
  booktitle = {Proceedings of the 62nd Annual Meeting of the Association for Computational
    Linguistics (Volume 1: Long Papers)},
  month = aug,
  year = {2024},
  address = {Bangkok, Thailand},
  pages = {2538--2550},
  url = {https://aclanthology.org/2024.acl-long.139},
  note = {the training rows of the config human}
}
""",
        paper="https://aclanthology.org/2022.acl-long.511",
        homepage="https://github.com/msadat3/SciNLI",
        offline=False,
        origins=("release",),
        creation={
            "annotations_creators": ("machine-generated", "expert-generated"),
            "language_creators": ("found",),
            "source_datasets": ("original",),
        },
        published={
            "default": _PUBLISHED,
            "acl_small": {
                **_PUBLISHED,
                "train": {
                    "rows": ACL_SMALL_PER_CLASS * len(LABELS),
                    "label": dict.fromkeys(LABELS, ACL_SMALL_PER_CLASS),
                },
            },
            "human": {**_PUBLISHED, "train": {"rows": 2_000}},
        },
        exemplars="scinli/human",
        known_defects=frozenset({"no example is in two splits", "no text has two labels"}),
    )

    @classmethod
    def parts(cls) -> list[Part]:
        """Return train, validation and test, one file each, then the rows that people labelled."""
        sources = list_sources("scinli")
        released = [
            Part(
                sources[split],
                LAYOUT.read,
                pair_encoder("acl"),
                {
                    ("default", split): every_row,
                    ("acl_small", split): acl_small() if split == "train" else every_row,
                    **({("human", split): every_row} if split != "train" else {}),
                },
            )
            for split in _SPLITS
        ]
        return released + [
            Part(
                sources[name],
                HUMAN_LAYOUT.read,
                pair_encoder("acl", _HUMAN_PREFIX),
                {("human", "train"): every_row},
            )
            for name in ("human_1", "human_2")
        ]

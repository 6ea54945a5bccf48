"""Annotated abstracts of our own in the formats that are read, and one with everything."""

import json
from xml.sax.saxutils import escape

TITLE = "Foxin calms henase."
BODY = (
    "We fed foxes. Foxin (mol. wt. 70) was given to 12 hens. Levels of henase fell. "
    "We conclude that foxin inhibits henase in hens."
)
TEXT = f"{TITLE} {BODY}"
#: Mention, how many of that name stand before it, type, id.
ENTITIES = (
    ("Foxin", 0, "Gene", "11"),
    ("henase", 0, "Gene", "22;23"),
    ("Foxin", 1, "Gene", "11"),
    ("henase", 1, "Gene", "22;23"),
    ("foxin", 0, "Gene", "11"),
    ("henase", 2, "Gene", "22;23"),
)
RELATIONS = (("PPI", "11", "22"),)


def place(text, mention, n_before=0):
    """Where a mention begins and ends."""
    start = -1
    for _ in range(n_before + 1):
        start = text.index(mention, start + 1)
    return start, start + len(mention)


def pubtator(title=TITLE, body=BODY, entities=ENTITIES, relations=RELATIONS, pmid="7", columns=()):
    """An abstract in PubTator's format, ten lines as it stands."""
    text = f"{title} {body}"
    lines = [f"{pmid}|t|{title}", f"{pmid}|a|{body}"]
    for mention, n_before, kind, identifier in entities:
        start, end = place(text, mention, n_before)
        lines.append("\t".join(map(str, (pmid, start, end, mention, kind, identifier, *columns))))
    lines += ["\t".join((pmid, *relation)) for relation in relations]
    return "\n".join(lines) + "\n"


def bioc(title=TITLE, body=BODY, entities=ENTITIES, relations=RELATIONS, pmid="7"):
    """The same as a document of BioC JSON, as PubTator 3 serves it."""
    text = f"{title} {body}"
    passages = [
        {"infons": {"type": "title"}, "offset": 0, "text": title, "annotations": []},
        {"infons": {"type": "abstract"}, "offset": len(title) + 1, "text": body, "annotations": []},
    ]
    for number, (mention, n_before, kind, identifier) in enumerate(entities):
        start, end = place(text, mention, n_before)
        passages[start > len(title)]["annotations"].append(
            {
                "id": str(number),
                "infons": {"type": kind, "identifier": identifier, "valid": True},
                "text": mention,
                "locations": [{"offset": start, "length": end - start}],
            }
        )
    told = [
        {
            "id": f"R{number}",
            "infons": {
                "type": kind,
                "role1": {"type": "Gene", "identifier": first},
                "role2": {"type": "Gene", "identifier": second},
            },
            "nodes": [{"refid": "9", "role": "0,1"}],
        }
        for number, (kind, first, second) in enumerate(relations)
    ]
    return {"_id": f"{pmid}|None", "id": pmid, "passages": passages, "relations": told}


def bioc_xml(*documents, head="<!DOCTYPE collection SYSTEM 'BioC.dtd'>"):
    """Documents of BioC JSON as BioC XML, one element a line."""
    lines = ["<?xml version='1.0' encoding='UTF-8'?>", head, "<collection><source>x</source>"]
    for document in documents:
        lines.append(f"<document><id>{document['id']}</id>")
        for passage in document["passages"]:
            lines.append(f"<passage><infon key='type'>{passage['infons']['type']}</infon>")
            lines.append(f"<offset>{passage['offset']}</offset>")
            lines.append(f"<text>{escape(passage['text'])}</text>")
            for one in passage["annotations"]:
                infons, (location,) = one["infons"], one["locations"]
                lines.append(
                    f"<annotation id='{one['id']}'>"
                    f"<infon key='type'>{infons['type']}</infon>"
                    f"<infon key='identifier'>{infons['identifier']}</infon>"
                    f"<location offset='{location['offset']}' length='{location['length']}'/>"
                    f"<text>{escape(one['text'])}</text></annotation>"
                )
            lines.append("</passage>")
        for relation in document["relations"]:
            infons = relation["infons"]
            roles = "".join(
                f"<infon key='{role}'>Gene|{infons[role]['identifier']}</infon>"
                for role in ("role1", "role2")
            )
            lines.append(f"<relation id='R1'>{roles}<infon key='type'>{infons['type']}</infon>")
            lines.append("<node refid='9' role='0,1'/></relation>")
        lines.append("</document>")
    return "\n".join([*lines, "</collection>"])


RECORD = {
    "pmid": 7,
    "supporting_set": ["We fed foxes.", "Foxin was given.", "Levels fell."],
    "conclusion": "We conclude that <re> foxin <er> inhibits <el> henase <le>.",
    "polarity": "negative_activation",
}


def json_lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)

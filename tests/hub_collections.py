"""The addresses of collections of the Hub of the tests."""

from datetime import UTC, datetime

from hub_answers import Refusal, answer
from hub_routes import stamp
from hub_store import Collection, Item

_SLUG = r"/api/collections/(?P<slug>[\w.-]+/[\w.-]+)"
_LISTED_ITEMS = 4  # of each collection in a list of them


def _found(call, slug, *, writes=False):
    """The collection of a slug: its end counts, so that one with a former title is found too."""
    namespace, _, name = slug.partition("/")
    if writes:
        call.refuse_others(namespace)
    collection = call.hub.collections.get(name.rpartition("-")[2])
    is_seen = collection is not None and (call.is_known or not collection.private)
    if not is_seen or collection.namespace != namespace:
        raise Refusal(404, "Collection not found")
    return collection


def _told(collection):
    items = [
        {"_id": item.object_id, "id": item.name, "type": item.kind, "position": position}
        | ({"note": {"text": item.note, "html": item.note}} if item.note else {})
        for position, item in enumerate(collection.items)
    ]
    return {
        "slug": collection.slug,
        "title": collection.title,
        "description": collection.description,
        "owner": {"type": "user", "name": collection.namespace, "fullname": collection.namespace},
        "items": items,
        "lastUpdated": stamp(collection.updated),
        "private": collection.private,
        "theme": collection.theme,
        "upvotes": 0,
        "gating": False,
        "isUpvotedByUser": False,
        "position": collection.position,
    }


def _listed(collection):
    told = _told(collection)
    del told["position"]  # clients take it from the order of the list, and may not find it here
    return told | {"items": told["items"][:_LISTED_ITEMS]}


def _refuse_long(name, text, n_chars):
    if text and len(text) > n_chars:
        raise Refusal(400, f'"{name}" must NOT have more than {n_chars} characters')


def _list(call):
    listed = call.hub.collections.values()
    if not call.is_known:
        listed = [collection for collection in listed if not collection.private]
    if owners := call.query.get("owner"):
        listed = [collection for collection in listed if collection.namespace in owners]
    if asked := call.query.get("item"):
        listed = [c for c in listed if {f"{i.kind}s/{i.name}" for i in c.items} & set(asked)]
    n_listed = int(call.query.get("limit", [100])[0])
    return answer([_listed(collection) for collection in list(listed)[:n_listed]])


def _create(call):
    asked, hub = call.json(), call.hub
    namespace = asked.get("namespace") or hub.user
    call.refuse_others(namespace)
    _refuse_long("description", asked.get("description"), 150)
    for known in hub.collections.values():
        if (known.namespace, known.title) == (namespace, asked["title"]):
            raise Refusal(409, "This collection already exists.", slug=known.slug)
    made = Collection(
        namespace, asked["title"], asked.get("description", ""), bool(asked.get("private"))
    )
    hub.collections[made.object_id] = made
    return answer(_told(made))


def _get(call, slug):
    return answer(_told(_found(call, slug)))


def _update(call, slug):
    collection, asked = _found(call, slug, writes=True), call.json()
    _refuse_long("description", asked.get("description"), 150)
    for name in ("title", "description", "private", "theme", "position"):
        setattr(collection, name, asked.get(name, getattr(collection, name)))
    collection.updated = datetime.now(UTC)
    return answer({"success": True, "data": _told(collection)})


def _delete(call, slug):
    del call.hub.collections[_found(call, slug, writes=True).object_id]
    return answer({"success": True})


def _add_item(call, slug):
    collection, asked = _found(call, slug, writes=True), call.json()
    kind, name = asked["item"]["type"], asked["item"]["id"]
    _refuse_long("note", asked.get("note"), 500)
    prefix = {"model": "", "dataset": "datasets/", "space": "spaces/"}.get(kind)
    if prefix is not None and prefix + name not in call.hub.repos:
        raise Refusal(404, f"The {kind} {name} does not exist.")
    if any((item.kind, item.name) == (kind, name) for item in collection.items):
        raise Refusal(409, "This item is already in the collection.")
    collection.items.append(Item(kind, name, asked.get("note", "")))
    collection.updated = datetime.now(UTC)
    return answer(_told(collection))


def _item(collection, object_id):
    for item in collection.items:
        if item.object_id == object_id:
            return item
    raise Refusal(404, "Item not found")


def _update_item(call, slug, object_id):
    collection, asked = _found(call, slug, writes=True), call.json()
    item = _item(collection, object_id)
    _refuse_long("note", asked.get("note"), 500)
    item.note = asked.get("note", item.note)
    if "position" in asked:
        collection.items.remove(item)
        collection.items.insert(asked["position"], item)
    collection.updated = datetime.now(UTC)
    return answer({"success": True})


def _delete_item(call, slug, object_id):
    collection = _found(call, slug, writes=True)
    collection.items.remove(_item(collection, object_id))
    collection.updated = datetime.now(UTC)
    return answer({"success": True})


ROUTES = [
    ("GET", r"/api/collections", _list),
    ("POST", r"/api/collections", _create),
    ("GET", _SLUG, _get),
    ("PATCH", _SLUG, _update),
    ("DELETE", _SLUG, _delete),
    ("POST", rf"{_SLUG}/items", _add_item),
    ("PATCH", rf"{_SLUG}/items/(?P<object_id>\w+)", _update_item),
    ("DELETE", rf"{_SLUG}/items/(?P<object_id>\w+)", _delete_item),
]

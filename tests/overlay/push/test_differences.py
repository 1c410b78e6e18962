"""One difference does what several do one after the other, on tiny domains with equal rows."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from overlay.delivery.bag_delivery import bag_change
from overlay.delivery.list_delivery import list_change, list_difference
from overlay.push.differences import Difference, composed

Json = object
rows = st.lists(st.sampled_from(["[0]", '["a"]', "[null]"]), max_size=5)
states = st.lists(rows, min_size=1, max_size=6)
tables = st.lists(st.dictionaries(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=6)


def difference(body: str) -> Difference:
    told = msgspec.json.decode(f"{{{body}}}", type=dict[str, msgspec.Raw])
    return Difference(bytes(told["removed"]), bytes(told["added"]), bytes(told["key"]) if "key" in told else None)


def one_of(differences: list[Difference]) -> dict[str, list[Json]]:
    """Return what they are composed into, as a reader sees it."""
    return msgspec.json.decode(msgspec.json.encode(composed(differences)))


def texts(members: list[Json]) -> list[str]:
    return [msgspec.json.encode(member).decode() for member in members]


@given(states)
def test_bags(bags: list[list[str]]) -> None:
    counted = list(map(Counter, bags))
    told = [
        difference(bag_change(list((old - new).elements()), list((new - old).elements())))
        for old, new in pairwise(counted)
    ]
    one = one_of(told)
    first, last = counted[0], counted[-1]
    assert Counter(texts(one["removed"])) == first - last
    assert Counter(texts(one["added"])) == last - first


@given(states)
def test_lists(lists: list[list[str]]) -> None:
    told = [difference(list_change(*list_difference(old, new))) for old, new in pairwise(lists)]
    one, held = one_of(told), list(lists[0])
    for place, row in one["removed"]:
        assert held.pop(place) == texts([row])[0]
    for place, row in one["added"]:
        assert place <= len(held)
        held.insert(place, texts([row])[0])
    assert held == lists[-1]


@given(tables, st.data())
def test_rows_by_key(tables: list[dict[int, int]], data: st.DataObject) -> None:
    """A row that changes within is not told, so a reader holds it as it came, and what leaves is as it is then."""
    told = []
    held, before = dict(tables[0]), tables[0]
    for table in tables[1:]:
        gone, came = sorted(before.keys() - table.keys()), sorted(table.keys() - before.keys())
        body = bag_change([f"[{key},{before[key]}]" for key in gone], [f"[{key},{table[key]}]" for key in came], (0,))
        told.append(difference(body))
        held = {key: value for key, value in held.items() if key not in gone} | {key: table[key] for key in came}
        before = data.draw(
            st.fixed_dictionaries({key: st.just(value) | st.integers(0, 2) for key, value in table.items()})
        )
    if not told:
        return
    one, reader = one_of(told), dict(tables[0])
    assert one["key"] == [0]
    for key, _ in one["removed"]:
        assert reader.pop(key) is not None
    for key, value in one["added"]:
        assert key not in reader
        reader[key] = value
    assert reader == held


def test_values_of_a_distinct_stay_as_they_were_written() -> None:
    told = [Difference(b'[1,"a"]', b"[2.5]"), Difference(b"[2.5]", b'["a",null]')]
    assert composed(told) == {"removed": [1], "added": [None]}
    assert composed([Difference(b'["[0,["]', b"[]")]) == {"removed": ["[0,["], "added": []}

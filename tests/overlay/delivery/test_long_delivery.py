"""Long deliveries are cut at their values, and nothing else is touched."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.delivery.delivery import delivery, json_text
from overlay.delivery.long_delivery import cut

texts = st.text(max_size=30)
rows = st.lists(texts | st.integers(), max_size=3)
values = st.lists(
    texts | rows | st.integers() | st.none() | st.floats(allow_nan=False, allow_infinity=False), max_size=20
)
AT = '{"epoch":1,"batch":2}'


@settings(deadline=None)
@given(
    values,
    values,
    st.sampled_from(["snapshot", "ended"]),
    st.integers(150, 400),
    texts,
    st.sampled_from(["", '"form":"bag",', '"form":"list","whole":true,', '"form":"bag","snapshot":"none","key":[0],']),
)
def test_the_parts_make_the_whole(removed: list, added: list, kind: str, most: int, name: str, said: str) -> None:
    body = f'{said}"removed":{json_text(removed)},"added":{json_text(added)}'
    value = delivery(json_text(name), kind, 3, 4, body, AT, json_text("SELECT"), "quota" if kind == "ended" else None)
    parts = cut(value, most)
    if len(value) <= most:
        assert parts == [value]
        return
    read = [msgspec.json.decode(part) for part in parts]
    whole = msgspec.json.decode(value)
    for name in ("removed", "added"):
        assert [one for part in read for one in part[name]] == whole[name]
    for number, part in enumerate(read):
        assert {**part, "removed": whole["removed"], "added": whole["added"]} == whole | {
            "part": number,
            "of": len(read),
        }
        assert list(part) == [*whole, "part", "of"]
        assert len(parts[number]) <= most or len(part["removed"]) + len(part["added"]) <= 1


def test_what_is_no_distinct_or_only_looks_like_one_is_left_as_it_is() -> None:
    for old in ("x" * 500, '"added":' * 50):
        value = delivery('"a"', "change", 1, 2, f'"old":{json_text(old)},"new":null', AT)
        assert cut(value, 100) == [value]

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.query.recent import Recent


def test_the_least_recently_used_is_forgotten() -> None:
    recent: Recent[str, int] = Recent(2)
    assert recent.put("a", 1) is None
    assert recent.put("b", 2) is None
    assert recent.get("a") == 1
    assert recent.put("c", 3) == "b"
    assert (recent.get("a"), recent.get("b"), recent.get("c"), len(recent)) == (1, None, 3, 2)


def test_putting_again_replaces() -> None:
    recent: Recent[str, int] = Recent(1)
    recent.put("a", 1)
    assert recent.put("a", 2) is None
    assert recent.get("a") == 2


def test_capacity_is_positive() -> None:
    with pytest.raises(ValueError, match="got 0"):
        Recent(0)


@given(
    st.integers(1, 4),
    st.lists(st.tuples(st.booleans(), st.integers(0, 6), st.sampled_from([None, 1, 2])), max_size=40),
)
def test_a_list_in_the_order_of_use_says_the_same(capacity: int, steps: list[tuple[bool, int, int | None]]) -> None:
    recent: Recent[int, int | None] = Recent(capacity)
    twin: list[tuple[int, int | None]] = []
    for puts, key, value in steps:
        held = [entry for entry in twin if entry[0] == key]
        twin = [entry for entry in twin if entry[0] != key]
        if not puts:
            assert recent.get(key) == (held[0][1] if held else None)
            twin += held
            continue
        gone = recent.put(key, value)
        twin.append((key, value))
        assert gone == (twin.pop(0)[0] if len(twin) > capacity else None)
        assert len(recent) == len(twin)

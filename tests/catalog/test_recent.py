import pytest

from catalog.recent import Recent


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

from __future__ import annotations

from tidewire.verification.records.sample import EVERY_ONE, Sample

IDS = [b"id-%d" % i for i in range(10_000)]


def test_a_share_is_about_as_large_as_it_says_and_part_of_a_larger_one() -> None:
    few, more = ({id for id in IDS if Sample(share).has(id)} for share in (0.01, 0.1))
    assert 60 < len(few) < 140 and 900 < len(more) < 1100 and few < more


def test_all_and_none() -> None:
    assert all(EVERY_ONE.has(id) for id in IDS) and not any(Sample(0.0).has(id) for id in IDS)


def test_records_beside_the_subscriptions_are_taken_always() -> None:
    none = Sample(0.0)
    assert none.takes(b"@progress") and none.takes(b"@packed") and none.takes(None) and not none.takes(b"mine")

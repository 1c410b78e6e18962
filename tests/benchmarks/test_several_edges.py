"""Subscribers are followed to the letter, and their last answers recomputed."""

from __future__ import annotations

from benchmarks.crowd import Crowd, Section
from benchmarks.several_edges import Delivered, Followed, K, _against_recomputation, _pauses
from connectors.topics import Topics


def test_a_gap_a_repeat_and_a_wrong_old_value_are_told() -> None:
    followed = Followed()
    right = [Delivered("snapshot", 7, 1, None, "1"), Delivered("change", 7, 2, "1", "2")]
    for delivery in [*right, Delivered("snapshot", 9, 1, None, "3")]:
        followed.take(b"a", delivery)
    assert followed.wrong == [] and followed.deliveries == 3
    for delivery in (
        Delivered("change", 9, 3, "3", "4"),
        Delivered("change", 9, 3, "4", "5"),
        Delivered("change", 9, 4, "4", "6"),
        Delivered("change", 10, 1, None, "6"),
    ):
        followed.take(b"a", delivery)
    assert len(followed.wrong) == 4


def test_last_answers_are_recomputed() -> None:
    crowd = Crowd([Section(K, 50, 40)], 100, "stock")
    records = list(crowd.subscriptions(Topics()))
    list(crowd.changes(K, 200))
    risks, prices = crowd.rows(K)
    followed = Followed()
    for record in records:
        low, high = (float(text.strip(b'"}')) for text in (record.value or b"").split(b"BETWEEN ")[1].split(b" AND "))
        inside = [price for risk, price in zip(risks, prices, strict=True) if low <= risk <= high]
        least = f"{min(inside) / 100:.2f}" if inside else None
        followed.take(record.key or b"", Delivered("snapshot", 1, 1, None, least))
    assert list(_against_recomputation(followed, crowd, records)) == []
    followed.held[records[3].key or b""] = Delivered("snapshot", 1, 1, None, "0.01")
    del followed.held[records[5].key or b""]
    assert len(list(_against_recomputation(followed, crowd, records))) == 2


def test_pauses_are_told_by_what_happened_when_they_began() -> None:
    followed = Followed(progress={0: [1_000, 2_000, 2_500, 9_000], 1: [3_000, 3_100]})
    assert _pauses(followed, [0, 2_200, 2_900, 4_000]) == {"steady": 1.0, "one joined": 6.5, "one was killed": 0.1}

import pytest

from tidewire.scenario.subscriber import Subscriber

SNAPSHOT = {"kind": "snapshot", "version": 4, "n": 1, "old": None, "new": 7}


def change(n, old, new, kind="change", version=4):
    return {"kind": kind, "version": version, "n": n, "old": old, "new": new}


def follow(*deliveries):
    subscriber = Subscriber()
    for delivery in deliveries:
        subscriber.take(delivery)
    return subscriber


def test_it_holds_the_last_answer_and_counts():
    subscriber = follow(SNAPSHOT, change(2, 7, 5), change(3, 5, None))
    assert subscriber.fault is None and subscriber.answer is None and subscriber.live
    assert subscriber.counted() == 3 and subscriber.counted() == 0


def test_a_resync_to_the_same_answer_is_not_a_notification():
    subscriber = follow(SNAPSHOT, change(1, 7, 7, kind="resync"))
    assert subscriber.fault is None and subscriber.counted() == 1


def test_an_end_is_the_end():
    assert not follow(SNAPSHOT, change(2, 7, None, kind="ended")).live


@pytest.mark.parametrize(
    ("delivery", "fault"),
    [
        (change(3, 7, 5), "n = 3 after 1"),
        (change(1, 7, 5), "n = 1 after 1"),
        (change(2, 6, 5), "old = 6 where 7 was held"),
        (change(2, 7, 5, version=3), "a change of version 3, the live one is 4"),
    ],
)
def test_what_does_not_fit_is_a_fault(delivery, fault):
    assert follow(SNAPSHOT, delivery).fault == fault

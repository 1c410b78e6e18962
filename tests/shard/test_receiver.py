from __future__ import annotations

from catalog.query.shape import Region
from operators.control import RegisterAll, Withdraw, encode_control
from operators.counters import Counters
from operators.packed import Header, pack_registrations
from operators.reply import Asked
from shard.receiver import Receiver, read_records
from tests.shard.test_register import EPOCH, GOOD, GROUPED, LOW, mixed, records, registration, summary, withdrawal


class Noting(Receiver):
    """Notes what it is handed; nothing of shape GROUPED fits."""

    def __init__(self) -> None:
        super().__init__("t/0", EPOCH, 2, 4, Counters(), set())
        self.handed: list[object] = []

    def _listen(self, ve, record, asked):
        reasons = ["grouped" * (region.shape == GROUPED) for region in record.regions]
        fitting = self._fitting(record, range(len(reasons)), reasons, asked)
        self.handed.append((ve, [version for version, _, _ in fitting]))
        asked.regions += [(version, region) for version, region, _ in fitting]

    def _replace(self, record):
        self.handed.append(("summary", record.header.ve))

    def _withdraw(self, record):
        self.handed.append(record)


def counted(receiver: Receiver) -> tuple[int, int, int]:
    counters = receiver.counters
    return counters.ignored_registrations, counters.unfit_registrations, counters.unreadable_registrations


def test_records_are_handed_on_in_their_order():
    receiver = Noting()
    asked = receiver.take(
        read_records(records(registration(1, (0, 2), (3, 4)), summary(1), withdrawal(1), registration(3, (0, 9))))
    )
    assert receiver.handed == [(1, [0, 1]), ("summary", 1), Withdraw(EPOCH, 1, [LOW]), (3, [0])]
    assert [(ve, len(each.regions)) for ve, each in asked.items()] == [(1, 2), (3, 1)] and counted(receiver) == (
        0,
        0,
        0,
    )


def test_what_is_of_another_epoch_or_of_what_had_the_name_before_is_counted_and_not_handed_on():
    receiver = Noting()
    older = [registration(1, (0, 2), catalog=1), summary(1, catalog=1), registration(1, (0, 2), epoch=6)]
    assert receiver.take(read_records(records(*older, summary(1, epoch=8), withdrawal(1, 6), None))) == {}
    assert receiver.handed == [] and counted(receiver) == (5, 0, 0) and receiver.hurt == set()


def test_whose_record_cannot_be_read_is_hurt():
    receiver = Noting()
    taken = records(b"\xffgarbage", encode_control(RegisterAll(EPOCH, 1)), registration(1, (0, 2)))
    taken.partition[:] = 3, 2, 1
    receiver.take(read_records(taken))
    assert receiver.hurt == {2, 3} and counted(receiver) == (2, 0, 2) and receiver.handed == [(1, [0])]


def test_what_does_not_fit_is_refused_and_the_rest_of_its_record_taken():
    receiver = Noting()
    (asked,) = receiver.take(read_records(records(mixed(GOOD, Region(GROUPED, b"[]"), GOOD)))).values()
    assert [version for version, _ in asked.regions] == [0, 2]
    ((version, refused),) = asked.refused
    assert (version, refused.code) == (1, "unfit") and "`t/0`" in refused.message and "grouped" in refused.message
    assert counted(receiver) == (1, 1, 0) and receiver.counters.unfit_reasons == ["grouped"]


def test_digests_are_asked_only_of_filters():
    receiver = Noting()
    looks = pack_registrations(Header("register", EPOCH, "t/0", ve=0, catalog=3), [-5, 4], [GOOD] * 2)
    digests = pack_registrations(
        Header("register", EPOCH, "t/0", ve=1, catalog=3), [5], [GOOD], asked=[Asked(None, True)]
    )
    asked = receiver.take(read_records(records(*looks, *digests)))
    assert [[version for version, _ in each.refused] for each in asked.values()] == [[], [5]]


def test_a_virtual_edge_that_is_not_there_is_asked_nothing():
    receiver = Noting()
    assert receiver.take(read_records(records(registration(4, (0, 2))))) == {} and receiver.handed == []
    assert receiver.counters.unfit_reasons == ["virtual edge 4 of 4"]

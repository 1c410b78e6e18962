from tidewire.verification.input.silences import Silenced, Silences, is_silence
from tidewire.verification.records.batches import Batch, Position
from tidewire.verification.records.journal import Record, TopicLog

TOLD = b'{"stream":"s","born":3,"partition":1,"after":%d,"upto":%d%s}'
SAID = b'{"kind":"silence","stream":"s","partition":1,"after":4,"upto":70}'


def log(name: str, *values: bytes) -> TopicLog:
    return TopicLog.of(name, [Record(0, i, 0, b"s/0", value) for i, value in enumerate(values)])


def test_silences_of_one_stream_come_in_the_order_in_which_they_count() -> None:
    told = log("silences", TOLD % (9, 80, b""), TOLD % (4, 70, b""), TOLD % (4, 60, b',"hole":true'))
    silences = Silences(told)
    assert silences.of("S", 3) == [Silenced(4, False, 60, 1), Silenced(4, True, 70, 1), Silenced(9, True, 80, 1)]
    assert silences.of("s", 4) == [] and silences.trimmed


def test_it_is_known_in_which_batch_one_was_heard() -> None:
    silences = Silences(None, log("registrations", b"ARROW1", SAID, b'{"kind":"withdraw"}'))
    place = ("registrations", 0)
    assert silences.heard("s", Batch(Position(0, 1), 0, {place: 0}, {place: 2})) == [Silenced(4, True, 70, 1)]
    assert silences.heard("s", Batch(Position(0, 2), 0, {place: 2}, {place: 3})) == [] and not silences.trimmed


def test_only_what_is_addressed_to_a_stream_may_be_a_silence() -> None:
    assert is_silence([b"s/0"], b"s/0", SAID)
    assert not any(is_silence([b"s/0"], *pair) for pair in ((b"t/0", SAID), (None, SAID), (b"s/0", None)))

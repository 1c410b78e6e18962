from __future__ import annotations

import msgspec

from connectors.log.mark import Gap, LogMark, decode_mark, encode_mark, mark_of_commit, moved

MARK = LogMark(
    home="h", writer="w", number=3, time="t", ids={"s": "a"}, end={"s": {"0": 7, "1": 2}}, gaps=[Gap("s", 0, 1, 2)]
)


def test_a_mark_survives_a_commit_file() -> None:
    line = msgspec.json.encode({"commitInfo": {"operation": "WRITE", "userMetadata": encode_mark(MARK)}})
    assert mark_of_commit(line + b'\n{"add":{}}\n') == MARK
    assert mark_of_commit(b'{"add":{}}\n' + line) == MARK


def test_what_is_no_mark() -> None:
    assert mark_of_commit(b'{"commitInfo":{"operation":"OPTIMIZE"}}') is None
    assert mark_of_commit(b'{"add":{}}') is None
    assert decode_mark("a user's own text") is None
    assert decode_mark('{"kind":"tidewire-log","number":"x"}') is None


def test_where_a_commit_began() -> None:
    before = {"s": {"0": 5}}
    assert moved(before, {"s": "a"}, MARK) == {"s": {"0": 5, "1": 0}}
    assert moved(before, {"s": "other"}, MARK) == {"s": {"0": 0, "1": 0}}

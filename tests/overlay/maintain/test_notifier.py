"""Deliveries are numbered, and say how many changes each stands for."""

from __future__ import annotations

import msgspec

from overlay.maintain.notifier import Notifier


def test_a_delivery_stands_for_all_changes_since_the_last_one() -> None:
    lines: list[tuple[bytes, dict]] = []
    notifier = Notifier(lambda key, line: lines.append((key, msgspec.json.decode(line))), b"a", '{"id":"a"', 4)
    for changes in (1, 3):
        notifier.changes, notifier.at = changes, str(changes)
        notifier.tell('"new":1')
    assert [(key, line["n"], line["at"], line.get("changes", 1)) for key, line in lines] == [
        (b"a", 5, 1, 1), (b"a", 6, 3, 3)
    ]  # fmt: skip
    assert (notifier.told, notifier.conflated, notifier.changes) == (2, 2, 0)

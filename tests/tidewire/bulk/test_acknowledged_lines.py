"""What is surely written stands before the first record that is not acknowledged, in whatever order they come."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tidewire.bulk.acknowledged_lines import AcknowledgedLines


@given(st.data(), st.lists(st.booleans(), max_size=30), st.integers(1, 100))
def test_any_order_of_acknowledgements(data: st.DataObject, are_records: list[bool], first: int) -> None:
    lines = AcknowledgedLines(first)
    sent: list[int] = []
    waiting = {}
    for line, is_record in enumerate(are_records, first):
        if is_record:
            waiting[line] = lines.sent(line)
            sent.append(line)
        else:
            lines.passed(line)
        while waiting and data.draw(st.booleans()):
            waiting.pop(data.draw(st.sampled_from(sorted(waiting))))(0, 7)
        open_from = min(waiting, default=first + len(are_records))
        assert lines.written == sum(line < open_from for line in sent)
        assert lines.written + lines.open == len(sent)
        assert lines.acknowledged == len(sent) - len(waiting)
        assert lines.next_line == (min(waiting) if waiting else line + 1)

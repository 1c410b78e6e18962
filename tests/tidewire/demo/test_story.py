"""A story's tables, and how its questions are drawn."""

from __future__ import annotations

from tests.tidewire.demo.watched import story
from tidewire.demo.story import Event, ask, plain


def test_tables_are_those_to_which_something_happens() -> None:
    events = [Event(1.0, "w", {"k": 1}, {"k": 1}), Event(2.0, "f", {"k": 1}, None), Event(3.0, "w", {"k": 1}, None)]
    assert story(events).tables == ["f", "w"]


def test_families_ask_in_turn_and_the_same_in_each_run() -> None:
    families = [lambda choose: ("one", f"a{choose.random()}"), lambda choose: ("other", f"b{choose.random()}")]
    asked = ask(families, 5)
    assert list(asked) == ["0000 one", "0001 other", "0002 one", "0003 other", "0004 one"]
    assert [sql[0] for sql in asked.values()] == [*"ababa"] and len(set(asked.values())) == 5
    assert ask(families, 5) == asked


def test_answers_are_written_plainly_unless_a_story_says_how() -> None:
    assert [plain(None), plain("1.50"), plain([0, None])] == ["none", "1.50", "0, none"]

"""What is remembered is what would be found now, and large answers are found once a step."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from connectors.http.answer import Found, Unknown
from overlay.process.large_answers import LARGE_BYTES, MOST_BYTES, LargeAnswers

SIZES = {b"small": 1, b"large": LARGE_BYTES, b"huge": MOST_BYTES}


class World:
    """Answers that change with each step; `gone` has none now and then."""

    def __init__(self) -> None:
        self.step = 0
        self.made: list[tuple[bytes, int]] = []
        self.answers = LargeAnswers(lambda: self.step)

    def now(self, key: bytes) -> Found | Unknown | None:
        if key == b"gone":
            return Unknown() if self.step % 2 else None
        return Found({"id": key, "step": self.step}, SIZES[key])

    def find(self, key: bytes) -> Found | Unknown | None:
        self.made.append((key, self.step))
        return self.now(key)

    def ask(self, key: bytes) -> Found | Unknown | None:
        return self.answers.find(key, self.find)


@given(st.lists(st.sampled_from([*SIZES, b"gone", None]), max_size=30))
def test_it_finds_what_is_there_now(asked: list[bytes | None]) -> None:
    world = World()
    for key in asked:
        if key is None:
            world.step += 1
            continue
        answer = world.ask(key)
        assert answer == world.now(key)
        if key in (b"large", b"huge"):
            assert world.ask(key) is answer
        assert sum(one.size for one in world.answers._found.values()) == world.answers._bytes
        assert world.answers._bytes <= MOST_BYTES + LARGE_BYTES
        assert world.answers._bytes <= MOST_BYTES or len(world.answers._found) == 1


def test_a_large_one_is_found_once_a_step_and_a_small_one_each_time() -> None:
    world = World()
    for _ in range(3):
        for _ in range(300):
            world.ask(b"large")
            world.ask(b"small")
        world.step += 1
    assert [key for key, _ in world.made].count(b"large") == 3
    assert [key for key, _ in world.made].count(b"small") == 900

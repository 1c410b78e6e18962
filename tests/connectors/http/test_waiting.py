"""The waiting room: places for newcomers, whoever else waits, and an end for everybody."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.http.waiting import WaitingRoom, neighbourhood

MOST, MOST_BYTES, SECONDS = 4, 100, 10.0


@dataclass(eq=False)
class Sitting:
    address: str
    said: list[str] = field(default_factory=list)

    def give_up(self) -> None:
        self.said.append("given up")

    def too_late(self) -> None:
        self.said.append("too late")


class World:
    def __init__(self) -> None:
        self.now = 0.0
        self.room = WaitingRoom(MOST, MOST_BYTES, SECONDS, lambda: self.now)


STEPS = st.tuples(
    st.sampled_from(["enter", "leave", "again", "wait"]), st.integers(0, 9), st.sampled_from("aab"), st.integers(0, 60)
)


@given(st.lists(STEPS, max_size=40))
def test_nobody_waits_too_long_and_not_too_many_wait(steps: list[tuple[str, int, str, int]]) -> None:
    world = World()
    here: dict[Sitting, float] = {}
    everybody: list[Sitting] = []
    for verb, number, address, size in steps:
        if verb == "enter":
            everybody.append(Sitting(address))
            world.room.enter(everybody[-1], size)
            here[everybody[-1]] = world.now
        elif verb == "wait":
            world.now += number
            world.room.expire()
        elif everybody:
            one = everybody[number % len(everybody)]
            if one in here and verb == "leave":
                world.room.leave(one)
                del here[one]
            elif one in here:
                world.room.enter(one, size)
                here[one] = world.now
        world.room.check()
        for one in [one for one in here if one.said]:
            since = here.pop(one)
            assert (one.said == ["too late"]) == (since + SECONDS <= world.now)
        assert len(world.room) == len(here)
        assert all(since + SECONDS > world.now for since in here.values()) or verb != "wait"


def test_a_crowd_makes_room_out_of_its_own() -> None:
    world = World()
    alone, crowd = Sitting("alone"), [Sitting("crowd") for _ in range(1_000)]
    world.room.enter(alone)
    for one in crowd:
        world.room.enter(one)
    assert alone.said == []
    assert [one.said for one in crowd] == [["given up"]] * (1_000 - MOST + 1) + [[]] * (MOST - 1)


def test_who_takes_no_answers_makes_room_for_others() -> None:
    world = World()
    guests = [Sitting(str(number)) for number in range(3)]
    for guest in guests:
        world.room.enter(guest, 60)
    assert [guest.said for guest in guests] == [["given up"], ["given up"], []]


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
    ],
)
def test_what_counts_as_one_address(host: str, expected: str) -> None:
    assert neighbourhood((host, 1)) == expected


def test_a_connection_without_an_address_has_one_as_well() -> None:
    assert neighbourhood(None) == neighbourhood(None)

"""Refused is who asks about a window of which rows may have gone, and nobody else."""

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.shape import Region
from catalog.query.value_set import ValueSet
from catalog.schema.stream import HOUR, Closing
from operators.reply import Refused
from operators.wire.header import NO_HORIZON
from shard.gone_windows import GoneWindows
from shard.snapshot import Questions

KEPT = Closing("hour", "hour", 3 * HOUR)


def asking(first: int, last: int) -> Region:
    shape = FilterShape("v", ("hour",), (), ("hour",), (), ())
    return Region(shape, b"[]", terms=encode_terms([{0: ValueSet(((first * HOUR, last * HOUR),))}]))


def refused(closing: Closing | None, upto: int, first: int, last: int, live: bool = False) -> bool:
    asked = Questions()
    region = asking(first, last)
    taken = GoneWindows(closing, upto).refuse([(7, region, live)], asked)
    assert taken == ([] if asked.refused else [(7, region, live)])
    for version, reply in asked.refused:
        assert version == 7 and isinstance(reply, Refused) and reply.code == "window_gone"
    return bool(asked.refused)


def test_from_when_on_it_is_refused() -> None:
    assert not refused(KEPT, 3 * HOUR - 1, 0, 0) and refused(KEPT, 3 * HOUR, 0, 0)
    assert refused(KEPT, 3 * HOUR, 0, 0, live=True)
    assert not refused(KEPT, 3 * HOUR, 1, 1)


def test_the_first_of_several_is_enough() -> None:
    assert refused(KEPT, 3 * HOUR, 0, 2) and not refused(KEPT, 3 * HOUR, 1, 3)


def test_what_never_becomes_final_is_answered() -> None:
    assert not refused(KEPT, 99 * HOUR, 0, 3) and not refused(KEPT, 99 * HOUR, -1000, 2)


def test_where_all_is_kept_or_nothing_is_known_nobody_is_refused() -> None:
    assert not refused(Closing("hour", "hour"), 99 * HOUR, 0, 0)
    assert not refused(None, 99 * HOUR, 0, 0) and not refused(KEPT, NO_HORIZON, 0, 0)

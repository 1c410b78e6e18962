from __future__ import annotations

from dataclasses import replace
from random import Random

import msgspec
import pytest

from catalog.ddl.statements import apply_ddl
from catalog.query.channel import ImageChannel
from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import encode_terms
from catalog.query.output import Output
from catalog.query.shape import Region, Shape
from catalog.query.value_set import ValueSet
from catalog.schema.catalog import Catalog
from catalog.schema.join import Join
from operators.answer_quota import AnswerQuota
from operators.control import Withdraw, Write, encode_control
from operators.packed import Header, PackedSnapshot, pack_summary, unpack
from operators.reply import Asked, Digest, Later, Refused, Rows, Same
from operators.row_window import WindowBounds
from shard import cell_answers
from shard.bounds import Bounds
from state.boxes import Boxes
from tests.shard.cell_stack import TOPICS, CellStack

CATALOG = Catalog()
for _version, _text in enumerate(
    (
        "CREATE TABLE a (id INTEGER PRIMARY KEY, k INTEGER, x INTEGER)",
        "CREATE TABLE b (id INTEGER PRIMARY KEY, k INTEGER, x INTEGER)",
        "CREATE JOIN a, b; CREATE JOIN a, a",
    )
):
    CATALOG = apply_ddl(CATALOG, _text, _version)
JOIN, _ = Join.of(["a", "b"], [((0, "k"), (1, "k"))])
OTHER, _ = Join.of(["a", "b"], [((0, "x"), (1, "k"))])
SELF, _ = Join.of(["a", "a"], [((0, "k"), (1, "x"))])
GROUP = JOIN.cell
SHAPE = FilterShape(JOIN.name, ("0.id", "1.id"), (), ("0.x",), (), (0, 1))


def region(lo: int, hi: int, shape: FilterShape = SHAPE) -> Region:
    return Region(shape, b"[]", terms=encode_terms([{0: ValueSet.of([(lo, hi)])}]))


def stack_of(rows: int = 4, bounds: Bounds | None = None) -> CellStack:
    """Two tables of as many rows, all of one key, whose x is their id."""
    stack = CellStack(CATALOG, 3, Random(1), bounds)
    for table in "ab":
        for id in range(rows):
            stack.append(table, b'{"id":%d}' % id, b'{"id":%d,"k":1,"x":%d}' % (id, id))
    stack.run()
    return stack


def replies_of(stack: CellStack, group: str = GROUP) -> dict[int, object]:
    """Run a batch; return what each version is answered."""
    sent = [unpack(record.value) for record in stack.run()[group] if record.topic == TOPICS.notifications]
    chunks = [chunk for chunk in sent if isinstance(chunk, PackedSnapshot)]
    return {version: chunk.replies[i] for chunk in chunks for i, version in enumerate(chunk.version.tolist())}


def follows(stack: CellStack, join: Join = JOIN) -> list[int]:
    return sorted(stack.cell(join.cell).interests.of(join))


def test_a_registration_is_answered_with_the_joined_rows_of_before_and_followed():
    stack = stack_of()
    stack.register(GROUP, 2, [11], [region(1, 1)])
    stack.append("b", b'{"id":9}', b'{"id":9,"k":1,"x":1}')
    reply = replies_of(stack)[11]
    assert isinstance(reply, Rows) and len(reply.rows) == 4
    assert follows(stack) == [2] and stack.cell(GROUP).counters.registrations == 1
    assert stack.cell(GROUP).counters.shipped == 2, "the row that came, and its partner"


def test_it_is_answered_as_it_is_asked():
    stack = stack_of()
    stack.register(GROUP, 0, [1, 2], [region(0, 1)] * 2, asked=[Asked(None, True), Asked(None, True, True)])
    digest, keys = replies_of(stack).values()
    assert isinstance(digest, Digest) and digest.count == 8 and digest == keys
    told = Asked((8, digest.low, digest.high))
    stack.register(GROUP, 0, [3, 4], [region(0, 1), region(0, 2)], asked=[told, told])
    same, other = replies_of(stack).values()
    assert same == Same(digest.count, digest.low, digest.high) and isinstance(other, Rows) and len(other.rows) == 12


def test_a_look_is_answered_and_listens_to_nothing():
    stack = stack_of()
    stack.register(GROUP, 0, [-5], [region(0, 0)])
    assert len(replies_of(stack)[-5].rows) == 4
    assert follows(stack) == [] and stack.cell(GROUP).counters.registrations == 0


def test_what_an_edge_withdraws_is_not_sent_any_more():
    stack = stack_of()
    stack.register(GROUP, 0, [1], [region(0, 9)])
    stack.register(GROUP, 1, [1], [region(0, 9)])
    stack.run()
    stack.tell(GROUP, 0, Withdraw(7, 0, [ImageChannel(JOIN.name), ImageChannel(OTHER.name)]))
    stack.run()
    assert follows(stack) == [1]
    stack.tell(GROUP, 1, Withdraw(7, 1, [ImageChannel(JOIN.name)]))
    stack.append("a", b'{"id":9}', b'{"id":9,"k":1,"x":1}')
    assert [record.topic for record in stack.run()[GROUP]] == [TOPICS.engines]
    assert all(copy.table.orderings == 0 for copy in stack.cell(GROUP).copies.values())


def test_a_summary_is_passed_over():
    stack = stack_of()
    stack.register(GROUP, 0, [1], [region(0, 9)])
    header = Header("summary", 7, GROUP, ve=0, catalog=2)
    value = pack_summary(header, {ImageChannel(JOIN.name): Boxes.none()}, {ImageChannel(JOIN.name): []})
    stack.append(TOPICS.registrations, GROUP.encode(), value)
    stack.run()
    assert follows(stack) == [0] and stack.cell(GROUP).counters.ignored_registrations == 0


def shaped(**members: object) -> Region:
    return region(0, 9, msgspec.structs.replace(SHAPE, **members))


@pytest.mark.parametrize(
    "unfit",
    [
        shaped(relation=SELF.name),
        shaped(relation="a", shown=("id",), tested=("x",), keys=()),
        shaped(relation=JOIN.name.replace('"k"', '"no"')),
        shaped(relation="no join"),
        shaped(shown=("0.no",)),
        shaped(shown=(), outputs=(Output("count", None),), keys=()),
        shaped(keys=(1, 0)),
        Region(SHAPE, b"[]", terms=b"\xc1"),
        Region(SHAPE, b"[1]", terms=encode_terms([{}])),
        Region(Shape(JOIN.name, (Output("min", "0.x"),), (), "0.x"), b"[]", 0, 9),
    ],
)
def test_what_no_cell_can_answer_is_refused_and_all_else_taken(unfit):
    stack = stack_of()
    stack.register(GROUP, 0, [1, 2, 3], [region(0, 0), unfit, region(1, 1)])
    replies = replies_of(stack)
    assert isinstance(replies[1], Rows) and isinstance(replies[3], Rows)
    assert isinstance(replies[2], Refused) and replies[2].code == "unfit" and GROUP in replies[2].message
    counters = stack.cell(GROUP).counters
    assert (counters.registrations, counters.unfit_registrations) == (2, 1)


@pytest.mark.parametrize("header", [{"epoch": 6}, {"epoch": 8}, {"catalog": 1}])
def test_what_is_of_another_epoch_or_another_cell_is_counted_and_passed_over(header):
    stack = stack_of()
    stack.epoch = header.get("epoch", 7)
    stack.catalog, catalog = replace(CATALOG, version=header.get("catalog", 2)), stack.catalog
    stack.register(GROUP, 0, [1], [region(0, 9)])
    stack.epoch, stack.catalog = 7, catalog
    assert replies_of(stack) == {} and follows(stack) == []
    assert stack.cell(GROUP).counters.ignored_registrations == 1


def test_who_wrote_what_cannot_be_read_is_told():
    stack = stack_of()
    stack.append(TOPICS.registrations, GROUP.encode(), b"\xffbroken", 1)
    (told, _) = stack.run()[GROUP]
    chunk = unpack(told.value)
    assert told.partition == 1 and isinstance(chunk, PackedSnapshot) and chunk.header.lost
    counters = stack.cell(GROUP).counters
    assert (counters.ignored_registrations, counters.unreadable_registrations) == (1, 1)


def test_a_virtual_edge_that_is_not_there_is_not_written_to():
    stack = stack_of()
    stack.register(GROUP, 3, [1], [region(0, 9)])
    assert replies_of(stack) == {} and follows(stack) == []
    assert stack.cell(GROUP).counters.unfit_reasons == ["virtual edge 3 of 3"]


@pytest.mark.parametrize(
    ("bounds", "what"),
    [(Bounds(channels=1), "1 joins"), (Bounds(orderings=2), "2 orderings"), (Bounds(state_bytes=10), "bytes of state")],
)
def test_a_join_that_there_is_no_room_for_is_refused_but_for_a_subscription_that_has_begun(bounds, what):
    stack = stack_of()
    stack.register(GROUP, 0, [1], [region(0, 9)])
    stack.run()
    stack.bounds = bounds
    other = FilterShape(OTHER.name, ("0.id",), (), ("0.x",), (), ())
    stack.register(GROUP, 0, [2, 3], [region(0, 9, other), region(1, 1)])
    replies = replies_of(stack)
    assert isinstance(replies[2], Refused) and replies[2].code == "quota" and what in replies[2].message
    assert isinstance(replies[3], Rows), "what is followed already needs no more"
    assert follows(stack, OTHER) == []
    stack.register(GROUP, 0, [4], [region(0, 9, other)], live=[True])
    assert isinstance(replies_of(stack)[4], Rows) and follows(stack, OTHER) == [0]


def test_what_views_keep_of_the_copies_takes_room():
    stack = stack_of()
    view = "CREATE VIEW w WITH ('topic'='out') AS SELECT a.id, b.id AS other FROM a JOIN b ON a.x = b.x"
    stack.declare(apply_ddl(CATALOG, view, 3))
    stack.append(TOPICS.registrations, b"w/0", encode_control(Write(7, 3, True)), 0)
    stack.run()
    other = FilterShape(OTHER.name, ("0.id",), (), ("0.x",), (), ())
    stack.bounds = Bounds(orderings=3)
    stack.register(GROUP, 0, [1, 2], [region(0, 9), region(0, 9, other)])
    replies = replies_of(stack)
    assert isinstance(replies[1], Refused) and "has 2 orderings and may have 3" in replies[1].message
    assert isinstance(replies[2], Rows), "one of its two orderings is a view's too"
    assert follows(stack) == [] and follows(stack, OTHER) == [0]


def test_room_is_counted_over_the_joins_of_a_record():
    stack = stack_of()
    ordering = 4 * 4
    stack.bounds = Bounds(state_bytes=stack.cell(GROUP).size + 2 * ordering)
    other = FilterShape(OTHER.name, ("0.id",), (), ("0.x",), (), ())
    stack.register(GROUP, 0, [1, 2, 3], [region(0, 9), region(0, 9, other), region(1, 1)])
    replies = replies_of(stack)
    assert isinstance(replies[1], Rows) and isinstance(replies[3], Rows)
    assert isinstance(replies[2], Refused) and f"needs {ordering} more" in replies[2].message
    assert follows(stack) == [0] and follows(stack, OTHER) == []


def test_beyond_the_quota_a_region_is_refused_with_its_count():
    stack = stack_of(4, Bounds(whole=AnswerQuota(rows=3)))
    stack.register(GROUP, 0, [1], [region(0, 2)])
    reply = replies_of(stack)[1]
    assert isinstance(reply, Refused) and reply.message.startswith("12 rows")


def test_answers_beyond_the_budget_come_later_in_order_of_versions(monkeypatch):
    monkeypatch.setattr(cell_answers, "_FEW", 1)
    stack = stack_of(4, Bounds(batch_bytes=1))
    stack.register(GROUP, 1, [7, 5], [region(0, 0)] * 2)
    stack.register(GROUP, 0, [6], [region(0, 0)])
    replies = replies_of(stack)
    assert isinstance(replies[5], Rows) and replies[6] == replies[7] == Later()
    assert follows(stack) == [0, 1]


def test_a_version_that_is_registered_twice_in_a_batch_is_answered_once():
    stack = stack_of()
    stack.register(GROUP, 0, [1, 1], [region(0, 0), region(0, 1)])
    assert len(replies_of(stack)[1].rows) == 4


def test_a_table_is_joined_with_itself_in_a_cell_of_its_own():
    stack = stack_of()
    stack.register(SELF.cell, 0, [1], [region(0, 9, FilterShape(SELF.name, ("0.id", "1.id"), (), ("0.x",), (), ()))])
    assert len(replies_of(stack, SELF.cell)[1].rows) == 4, "each with the row whose x is 1"


def test_an_edge_that_has_lost_what_it_was_sent_is_sent_it_again_and_others_are_not():
    stack = stack_of(bounds=Bounds(window=WindowBounds(8)))
    for ve in (1, 2):
        stack.register(GROUP, ve, [1], [region(0, 9)])
    stack.run()

    def told_of(id: int) -> tuple[int, int]:
        """Add a row to b, which joins all rows of a; return how many rows are sent, and how many are only named."""
        before = stack.cell(GROUP).counters
        stack.append("b", b'{"id":%d}' % id, b'{"id":%d,"k":1,"x":0}' % id)
        stack.run()
        after = stack.cell(GROUP).counters
        return after.shipped - before.shipped, after.named - before.named

    assert told_of(10) == (2 * 5, 0)
    assert told_of(11) == (2, 2 * 4)
    stack.register(GROUP, 1, [2], [region(0, 8)], anew=True)
    assert told_of(12) == (5 + 1, 4), "edge 1 is sent all, edge 2 what is new"
    assert told_of(13) == (2, 2 * 4)
    stack.register(GROUP, 1, [3], [region(0, 7)])
    assert told_of(14) == (2, 2 * 4), "one that registers more has lost nothing"

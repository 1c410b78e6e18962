"""Answers to bags: they start with all rows or none, and are resynced by what they held."""

from __future__ import annotations

from operators.control import EpochBegins, Progress, RegisterAll
from operators.reply import Digest, Later, Refused, Reply, Same
from tests.overlay.filter_bench import FilterBench, rows_of, stock

ALL = "SELECT symbol, price FROM stock"
A, B = ("a", 600), ("b", None)


def in_a_new_epoch(bench: FilterBench, *replies: Reply) -> list[dict]:
    """Begin an epoch in which version 0 is answered so, and return what is told."""
    bench.epoch += 1
    bench.control(EpochBegins(bench.epoch, 0), RegisterAll(bench.epoch, 0))
    bench.asked = [one for packed in bench.registered() for one in packed.asked.values()]
    bench.answer(0, [(0, reply) for reply in replies])
    bench.control(Progress(bench.epoch, 0, 0, "t"))
    return bench.told()


def test_rows_come_sorted_and_are_resynced_only_where_they_differ() -> None:
    bench = FilterBench()
    bench.start(ALL, B, A)
    (line,) = bench.told()
    wanted = {"form": "bag", "n": 1, "removed": [], "added": [["a", "6.00"], ["b", None]], "kind": "snapshot"}
    assert {name: line[name] for name in wanted} == wanted
    (line,) = in_a_new_epoch(bench, Same())
    assert (line["kind"], line["n"], line["same"], line["added"]) == ("resync", 1, True, [])
    (told,) = bench.asked
    assert told.told is not None and told.told.count == 2 and not (told.digest_only or told.by_keys)
    (line,) = in_a_new_epoch(bench, rows_of(A, B))
    assert (line["n"], line.get("same")) == (1, True)
    (line,) = in_a_new_epoch(bench, rows_of(A))
    assert (line["n"], line["whole"], line["added"], line["form"]) == (2, True, [["a", "6.00"]], "bag")
    bench.again()


def test_who_wants_no_snapshot_is_told_by_digests() -> None:
    bench = FilterBench()
    bench.ask(0, "a", ALL + " SNAPSHOT NONE")
    (registered,) = bench.registered()
    assert registered.asked[0].digest_only and registered.asked[0].told is None
    bench.answer(0, [(0, Digest(2, 5, 6))])
    bench.end(0)
    (line,) = bench.told()
    assert (line["snapshot"], line["added"], line["n"]) == ("none", [], 1)
    (line,) = in_a_new_epoch(bench, Digest(2, 5, 6))
    assert (line["n"], line["same"]) == (1, True)
    (line,) = in_a_new_epoch(bench, Digest(3, 5, 6))
    assert (line["n"], line["whole"], line["added"]) == (2, "look", [])
    view = bench.edge.find(b"a")
    assert view is not None and (view.rows, view.snapshot) == (3, "none")


def test_rows_told_by_key_are_the_same_where_their_keys_are() -> None:
    bench = FilterBench()
    bench.start(ALL + " NOTIFY TRANSITIONS", A)
    (line,) = bench.told()
    assert line["key"] == [0]
    (line,) = in_a_new_epoch(bench, rows_of(("a", 900)))
    assert bench.asked[0].by_keys and (line["n"], line["same"]) == (1, True)
    (line,) = in_a_new_epoch(bench, rows_of(("c", 900)))
    assert (line["n"], line["whole"], line["added"]) == (2, True, [["c", "9.00"]])


def test_a_refusal_ends_what_waits_and_what_has_grown_beyond_its_quota() -> None:
    bench = FilterBench()
    bench.ask(0, "a", ALL)
    bench.take()
    bench.answer(0, [(0, Refused("quota", "100,001 rows"))])
    bench.end(0)
    (ack,) = bench.lines("acks")
    assert (ack["status"], ack["code"]) == ("refused", "quota")
    bench = FilterBench()
    bench.start(ALL, A)
    bench.take()
    (line,) = in_a_new_epoch(bench, Refused("quota", "100,001 rows"))
    assert (line["kind"], line["reason"], line["added"], line["n"]) == ("ended", "quota", [], 2)
    assert bench.edge.counters.over_quota == 1 and bench.edge.find(b"a") is None


def test_what_comes_later_is_registered_again_and_only_the_first_answer_counts() -> None:
    bench = FilterBench()
    bench.ask(0, "a", ALL)
    bench.take()
    bench.answer(0, [(0, Later())], chunk=0, of=2)
    bench.answer(0, [(0, rows_of(A))], chunk=1, of=2)
    bench.end(0)
    assert bench.edge.counts["accepted"] == 1
    (registered,) = bench.registered()
    assert registered.versions == [0]


def test_a_first_answer_in_several_records_is_one_snapshot() -> None:
    bench = FilterBench()
    bench.ask(0, "a", ALL)
    bench.take()
    bench.answer(0, [(0, rows_of(B, last=False))], chunk=0, of=3)
    bench.answer(0, [(0, rows_of(A))], chunk=1, of=3)
    bench.answer(0, [(0, rows_of(A, A))], chunk=2, of=3)
    bench.end(0)
    (line,) = bench.told()
    assert line["added"] == [["a", "6.00"], ["b", None]]


def test_a_replacement_begins_with_its_own_rows() -> None:
    bench = FilterBench()
    bench.start(ALL, A)
    bench.ask(1, "a", "SELECT symbol FROM stock WHERE price IS NULL")
    bench.take()
    bench.answer(1, [(1, rows_of(("b",)))], chunk=0, of=2)
    bench.images(1, (None, stock("c")), chunk=1, of=2)
    bench.end(1)
    lines = bench.told()
    assert [(line["kind"], line["version"], line["n"], line["added"]) for line in lines] == [
        ("snapshot", 1, 1, [["b"]]),
        ("change", 1, 2, [["c"]]),
    ]
    bench.again()

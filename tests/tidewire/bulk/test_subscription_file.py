"""Files of subscriptions in each form, good entries and bad ones."""

from __future__ import annotations

import datetime as dt
import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.subscription_id import wrong_id
from overlay.delivery.ack import Refusal
from overlay.intake.subscription_request import Request, read_request
from state.errors import UserError
from tests.connectors import json_texts
from tests.effort import examples
from tests.overlay import odd_records
from tidewire.bulk.subscription_file import Defaults, Entry, SubscriptionFile
from tidewire.text_input import MAX_LINE_BYTES, UnreadableInput

TEMPLATE = "SELECT MIN(y) FROM t WHERE x > ?"


def entries(path: Path, defaults: Defaults | None = None) -> list[Entry]:
    file = SubscriptionFile(path, defaults or Defaults())
    found = list(file)
    assert file.share == 1.0
    return found


def values(found: list[Entry]) -> list[tuple[str, object]]:
    return [(entry.key.decode(), json.loads(entry.value)) for entry in found if entry.problem is None]


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "subs.jsonl"
    lines = [
        '{"id": "a", "sql": "SELECT MIN(y) FROM t", "notify": "LATEST", "deliver": "packed"}',
        "",
        '{"id": "b", "params": [1.10, "x", null], "ttl": 5}',
        '{"id": "c", "params": [1], "template": "SELECT ?"}',
    ]
    path.write_text("\n".join(lines))
    found = entries(path, Defaults(TEMPLATE, ttl=60))
    assert values(found) == [
        ("a", {"sql": "SELECT MIN(y) FROM t", "notify": "LATEST", "ttl": 60, "deliver": "packed"}),
        ("b", {"template": TEMPLATE, "params": [1.1, "x", None], "ttl": 5}),
        ("c", {"template": "SELECT ?", "params": [1], "ttl": 60}),
    ]
    assert b"[1.10," in found[1].value
    assert [entry.number for entry in found] == [1, 3, 4]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "it is no JSON"),
        ('{"id": "a", "params": [NaN]}', "NaN is not a JSON value"),
        ("[1]", "expected a JSON object"),
        ('{"sql": "x"}', "expected a text as `id`, got None"),
        ('{"id": 5, "sql": "x"}', "got 5"),
        ('{"id": "a"}', "expected `sql`, or `params`"),
        ('{"id": "a", "sql": "x", "params": []}', "`sql` and `params`"),
        ('{"id": "a", "params": []}', "there is no template"),
        ('{"id": "a", "sql": "x", "notfy": "LATEST"}', "`notfy` means nothing"),
        ('{"id": "\\ud83d", "sql": "x"}', "lacks the other half"),
        ('{"id": "%s", "sql": "x"}' % ("x" * 1_025), "must have 1 to 1024 bytes, got 1025"),
        ('{"id": "@x", "sql": "x"}', "are reserved"),
        ('{"id": "a", "params": [1e99999999999999999999]}', "an exponent beyond 999,999"),
        ('{"id": "a", "params": [%s]}' % ("9" * 5_000), "more than 4,000 digits"),
        ('{"id": "a", "params": "1", "template": "x"}', "expected a list as `params`, got '1'"),
        ('{"id": %s, "sql": "x"}' % ("[" * 65 + "]" * 65), "nested more than 64 deep"),
        ('{"id": "a", "x": %s' % ("[" * 30_000), "nested more than 64 deep"),
        ('{"id": "a", "%s": 1, "sql": "x"}' % ("k" * 3_000), "means nothing"),
        ('{"id": "a", "sql": "%s"}' % ("x" * MAX_LINE_BYTES), "is longer than 2,097,152 bytes"),
    ],
)
def test_what_is_no_subscription(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "subs.jsonl"
    path.write_text(f'{line}\n{{"id": "good", "sql": "x"}}\n')
    bad, good = entries(path)
    assert bad.problem is not None and problem in bad.problem
    assert (good.key, good.problem, good.number) == (b"good", None, 2)
    assert len(bad.problem) < 500


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
@pytest.mark.parametrize("first", ["id,x\n", "ID,X\n", '"Id",x\r\n', " id ,x\n", ""])
def test_a_byte_order_mark_is_no_part_of_the_first_cell_or_line(tmp_path: Path, suffix: str, first: str) -> None:
    path = tmp_path / f"subs{suffix}"
    text = first + "a,1\n" if suffix == ".csv" else '{"id":"a","params":[1]}'
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert values(entries(path, Defaults(TEMPLATE))) == [("a", {"template": TEMPLATE, "params": [1]})]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (b"a," + b"9" * 5_000, "more than 4,000 digits"),
        (b"a,1,1e99999999999999999999", "an exponent beyond 999,999"),
        (b"a\xff,1", "cell 1 holds the byte 0xff, which is no UTF-8"),
        (b"a,1,caf\xe9", "cell 3 holds the byte 0xe9, which is no UTF-8"),
        (b"," + b"1", "expected a text as `id`"),
        (b"x" * 1_025 + b",1", "must have 1 to 1024 bytes"),
        (b"@a,1", "are reserved"),
        (b"a," + b"x" * 140_000, "it is no CSV"),
    ],
)
def test_a_bad_row_of_a_csv_stops_no_other(tmp_path: Path, row: bytes, problem: str) -> None:
    path = tmp_path / "subs.csv"
    path.write_bytes(b"before,12345678901234567890.12\n" + row + b"\ngood,1e400\n")
    before, bad, good = entries(path, Defaults(TEMPLATE))
    assert bad.number == 2 and problem in (bad.problem or "") and len(bad.problem or "") < 300
    assert before.value.endswith(b'"params":[12345678901234567890.12]}')
    assert (good.key, good.number) == (b"good", 3) and good.value.endswith(b'"params":[1E+400]}')


def check(suffix: str, lines: list[bytes]) -> None:
    """Each line is an entry or a problem of its own, and what is sent is what an edge can judge."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"subs{suffix}"
        path.write_bytes(b"\n".join([*lines, b'{"id":"last","sql":"x"}' if suffix == ".jsonl" else b"last,1"]))
        found = entries(path, Defaults(TEMPLATE if suffix == ".csv" else None))
    for entry in found:
        assert (entry.problem is None) == bool(entry.key)
        if entry.problem is None:
            assert isinstance(read_request(entry.value), Request | Refusal) and wrong_id(entry.key) is None
        else:
            assert 0 < len(entry.problem) < 700 and entry.problem.encode()
    if suffix == ".jsonl":
        assert len(found) == sum(bool(line.strip()) for line in lines) + 1
        assert found[-1].key == b"last"


cells = st.one_of(
    json_texts.scalars.map(lambda text: text.encode(errors="surrogatepass")),
    st.sampled_from(
        [b"a", b"id", b"'007'", b"caf\xe9", b"\xef\xbb\xbf", b'"x', b'"a,b"', b"\0", b"\r", b"x" * 140_000]
    ),
    st.binary(max_size=5),
)
csv_lines = st.lists(st.lists(cells, min_size=1, max_size=4).map(b",".join), max_size=5)
json_lines = st.lists(odd_records.bodies.map(lambda line: line.replace(b"\n", b" ")), max_size=5)
files = st.one_of(st.tuples(st.just(".csv"), csv_lines), st.tuples(st.just(".jsonl"), json_lines))


@settings(max_examples=examples(400), deadline=None)
@given(files)
def test_any_lines_are_entries_or_problems(drawn: tuple[str, list[bytes]]) -> None:
    check(*drawn)


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "subs.csv"
    path.write_text('id,lo,hi\na,1,2.50\n"b,c",,"x"\nd,true,\'007\'\ne,1e3,it\'s\n')
    found = entries(path, Defaults(TEMPLATE))
    assert [(id, value["params"]) for id, value in values(found)] == [  # type: ignore[index]
        ("a", [1, 2.5]),
        ("b,c", [None, "x"]),
        ("d", [True, "007"]),
        ("e", [1000.0, "it's"]),
    ]
    path.write_text('a,"SELECT MIN(y) FROM t, u"\nb\n')
    found = entries(path)
    assert values(found) == [("a", {"sql": "SELECT MIN(y) FROM t, u"})]
    assert "expected an id and SQL, got 1 cells" in (found[1].problem or "")


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "subs.parquet"
    pq.write_table(pa.table({"id": ["a", "b"], "sql": ["x", None], "notify": [None, "LATEST"]}), path)
    a, b = entries(path)
    assert values([a]) == [("a", {"sql": "x"})]
    assert b.problem == "expected `sql`, or `params` and a template"
    pq.write_table(pa.table({"id": ["a"], "day": [dt.date(2026, 3, 1)], "x": [1.5], "ttl": [9]}), path)
    expected = [("a", {"template": TEMPLATE, "params": ["2026-03-01", 1.5], "ttl": 9})]
    assert values(entries(path, Defaults(TEMPLATE))) == expected
    pq.write_table(pa.table({"id": ["a"], "params": [[1, 2]]}), path)
    assert values(entries(path, Defaults(TEMPLATE))) == [("a", {"template": TEMPLATE, "params": [1, 2]})]
    odd = {"id": ["a", "b", "c"], "x": [float("nan"), float("inf"), 1.5]}
    pq.write_table(pa.table(odd), path)
    found = entries(path, Defaults(TEMPLATE))
    assert [entry.problem is None for entry in found] == [False, False, True]
    assert "a finite number or a text, got nan" in (found[0].problem or "")
    pq.write_table(pa.table({"id": ["a"], "params": ["12"]}), path)
    assert "expected a list as `params`" in (entries(path, Defaults(TEMPLATE))[0].problem or "")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="cannot be read"):
        list(SubscriptionFile(tmp_path / "none.jsonl"))
    with pytest.raises(UserError, match="expected a file named"):
        list(SubscriptionFile(tmp_path / "subs.txt"))
    path = tmp_path / "subs.parquet"
    path.write_bytes(b"no")
    with pytest.raises(UnreadableInput, match="is no Parquet file"):
        list(SubscriptionFile(path))

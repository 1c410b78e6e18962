"""Files of subscriptions in each form, good entries and bad ones."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from state.errors import UserError
from tidewire.subscription_file import Defaults, Entry, SubscriptionFile
from tidewire.text_input import UnreadableInput

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
        ('{"id": "\\ud83d", "sql": "x"}', "surrogates not allowed"),
    ],
)
def test_what_is_no_subscription(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "subs.jsonl"
    path.write_text(f'{line}\n{{"id": "good", "sql": "x"}}\n')
    bad, good = entries(path)
    assert bad.problem is not None and problem in bad.problem
    assert (good.key, good.problem, good.number) == (b"good", None, 2)


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


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="cannot be read"):
        list(SubscriptionFile(tmp_path / "none.jsonl"))
    with pytest.raises(UserError, match="expected a file named"):
        list(SubscriptionFile(tmp_path / "subs.txt"))
    path = tmp_path / "subs.parquet"
    path.write_bytes(b"no")
    with pytest.raises(UnreadableInput, match="is no Parquet file"):
        list(SubscriptionFile(path))

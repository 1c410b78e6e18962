"""Filters and best-k of the simulated engine: what they are as SQL, and what is right of them, by brute force."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]

CONDITIONS: dict[str, Callable[[Row], bool]] = {
    "": lambda row: True,
    "x <> 1": lambda row: row["x"] not in (None, 1),
    "g IN ('u', NULL)": lambda row: row["g"] == "u",
    "g NOT IN ('u', NULL)": lambda row: False,
    "NOT (g = 'u' AND x = 2)": lambda row: row["g"] not in (None, "u") or row["x"] not in (None, 2),
    "g IS NULL OR y > 1.5": lambda row: row["g"] is None or (row["y"] is not None and row["y"] > 1),
    "NOT y BETWEEN 1 AND 2 OR x NOT IN (0, 2)": lambda row: row["y"] == 3 or row["x"] == 1,
    "g LIKE 'u%' AND x IS NOT NULL": lambda row: row["g"] == "u" and row["x"] is not None,
}
"""Over x in 0 … 2, y in 1 … 3, g in 'u', 'v', and NULL in each."""
ORDERS: dict[str, Callable[[Row], tuple[Any, ...]]] = {
    "y, id": lambda row: (row["y"] is None, row["y"] or 0, row["id"]),
    "y DESC, id": lambda row: (row["y"] is not None, -(row["y"] or 0), row["id"]),
    "y NULLS FIRST, id DESC": lambda row: (row["y"] is not None, row["y"] or 0, -row["id"]),
    "y DESC NULLS LAST, x, id": lambda row: (
        row["y"] is None, -(row["y"] or 0), row["x"] is None, row["x"] or 0, row["id"],
    ),
}  # fmt: skip


class Held:
    """An answer: its rows as they are shown, by id, in order where it is a list."""

    def __init__(self, rows: dict[int, tuple[Any, ...]], listed: bool) -> None:
        self.rows, self.listed = rows, listed

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Held):
            return False
        one, two = list(self.rows.values()), list(other.rows.values())
        return one == two if self.listed else Counter(one) == Counter(two)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class AskedRows:
    """SELECT shown FROM p [WHERE condition] [ORDER BY order LIMIT limit] [NOTIFY policy] [SNAPSHOT NONE]."""

    shown: tuple[str, ...] = ("id", "y")
    condition: str = ""
    order: str = ""
    limit: int = 0
    policy: str = ""
    bare: bool = False
    push: bool = False

    @property
    def form(self) -> str:
        return "list" if self.order else "bag"

    @property
    def sql(self) -> str:
        where = f" WHERE {self.condition}" if self.condition else ""
        best = f" ORDER BY {self.order} LIMIT {self.limit}" if self.order else ""
        notify = f" NOTIFY {self.policy}" if self.policy else ""
        options = notify + (" SNAPSHOT NONE" if self.bare else "") + (" DELIVER PUSH" if self.push else "")
        return f"SELECT {', '.join(self.shown)} FROM p{where}{best}{options}"

    @property
    def columns(self) -> list[str]:
        return [c for shown in self.shown for c in (["id", "g", "x", "y"] if shown == "*" else [shown])]

    @property
    def by_key(self) -> bool:
        return self.policy in ("TRANSITIONS", "ENTER")

    def answer(self, rows: dict[int, Row]) -> Held:
        chosen = [row for row in rows.values() if CONDITIONS[self.condition](row)]
        if self.order:
            chosen = sorted(chosen, key=ORDERS[self.order])[: self.limit]
        return Held({row["id"]: tuple(row[column] for column in self.columns) for row in chosen}, bool(self.order))

    def changes(self, old: Held, new: Held) -> bool:
        """Whether the policy, if it is not LATEST, tells of a change."""
        if not self.by_key:
            return old != new
        came, went = new.rows.keys() - old.rows.keys(), old.rows.keys() - new.rows.keys()
        return bool(came or (went and self.policy == "TRANSITIONS"))

    def is_same(self, old: Held, new: Held) -> bool:
        return old.rows.keys() == new.rows.keys() if self.by_key else old == new

    def said(self, kind: str, old: Held, new: Held) -> dict[str, Any]:
        if kind == "resync" and self.is_same(old, new):
            return {"same": True, "removed": [], "added": []}
        whole = kind in ("snapshot", "resync")
        head: dict[str, Any] = {"form": self.form} if whole else {}
        if kind == "resync":
            head["whole"] = "look" if self.bare else True
        elif kind == "snapshot" and self.bare:
            head["snapshot"] = "none"
        if self.by_key and kind != "ended":
            head["key"] = [self.columns.index("id")]
        if (whole and self.bare) or (kind == "ended" and not self.order):
            return head | {"removed": [], "added": []}
        return head | self._difference(Held({}, old.listed) if whole else old, new)

    def _difference(self, old: Held, new: Held) -> dict[str, Any]:
        if self.order:
            return _places(list(old.rows.values()), list(new.rows.values()))
        went, came = old.rows, new.rows
        if self.by_key:
            went = {id: row for id, row in old.rows.items() if id not in new.rows and self.policy == "TRANSITIONS"}
            came = {id: row for id, row in new.rows.items() if id not in old.rows}
        gone, come = Counter(went.values()), Counter(came.values())
        return {"removed": in_text_order(gone - come), "added": in_text_order(come - gone)}


def in_text_order(rows: Counter[tuple[Any, ...]]) -> list[list[Any]]:
    return sorted(map(list, rows.elements()), key=json.dumps)


def _places(old: list[Any], new: list[Any]) -> dict[str, Any]:
    """All from the first row that is another one on: not the shortest way, but one."""
    first = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    removed = [[i, list(old[i])] for i in range(first, len(old))]
    return {"removed": removed[::-1], "added": [[i, list(new[i])] for i in range(first, len(new))]}


def random_rows(choose: random.Random) -> AskedRows:
    """Any question of rows that there is."""
    shown = choose.choice([("id", "y"), ("y",), ("*",), ("x", "g"), ("g", "id", "g"), ("y", "*")])
    condition = choose.choice(list(CONDITIONS))
    if choose.random() < 0.4:
        plain = choose.choice(["", "x <> 1"])
        return AskedRows(
            shown, plain, choose.choice(list(ORDERS)), choose.randrange(4), choose.choice(["", "", "LATEST"])
        )
    keyed = "id" in shown or "*" in shown
    policy = choose.choice(["", "", "LATEST", *(["TRANSITIONS", "ENTER"] if keyed else [])])
    return AskedRows(shown, condition, policy=policy, bare=choose.random() < 0.15)

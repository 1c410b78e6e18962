"""Views of the product's own code, judged: over tables of several formats, changed at random, in the pure pipeline."""

from __future__ import annotations

import json
import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.sql.errors import CatalogError
from operators.control import Write, encode_control
from overlay.subscriptions.summaries import PATIENT, Patience
from tests.effort import deep_examples
from tests.tidewire.verification.damaged_delivery import check_that_damage_is_found
from tests.tidewire.verification.test_against_the_chain import EDGES
from tests.tidewire.verification.test_joins_against_the_chain import DAMAGE, DDL, WIDER, Joined
from tidewire.verification.records.journal import Journal
from tidewire.verification.verify import verify

BASE = {
    "low": "SELECT g, MIN(l) AS low, MAX(n) AS high, COUNT(*) AS rows FROM a GROUP BY g",
    "sums": "SELECT g, SUM(n) AS total, AVG(l) AS mean FROM a WHERE k > 0 GROUP BY g HAVING COUNT(l) > 1",
    "doubles": "SELECT l, SUM(d) AS total, AVG(d) AS mean, MAX(g) AS high FROM b GROUP BY l",
    "whole": "SELECT COUNT(*) AS rows, SUM(l) AS total, MIN(d) AS low FROM b",
    "newest": "SELECT g, LATEST(id BY d) AS id, LATEST(l BY d) AS l FROM b GROUP BY g",
    "mapped": "SELECT k, n * 2 + l AS twice, COALESCE(l, 0) - 1 AS less, g FROM a WHERE n <= l",
    "kept": "SELECT * FROM b WHERE d >= 0.5 AND g IN ('u', 'v')",
    "first": "SELECT k, g, n FROM a QUALIFY ROW_NUMBER() OVER (PARTITION BY g ORDER BY n DESC, k) <= 2",
    "placed": "SELECT id, l, ROW_NUMBER() OVER (ORDER BY l NULLS FIRST, id DESC) AS place FROM b QUALIFY place <= 3",
    "united": "SELECT g, l FROM a UNION ALL SELECT g, l FROM b WHERE d IS NOT NULL",
    "in_buckets": 'SELECT "H", COUNT(*) AS rows, SUM(n) AS total FROM c GROUP BY "H"',
    "of_buckets": 'SELECT "H", k, n FROM c WHERE n > 0.5',
}
OVER_SEVERAL = {
    "pairs": "SELECT a.k, b.id, a.g, a.n, b.d FROM a JOIN b ON a.g = b.g",
    "left_pairs": "SELECT a.k, a.g, b.id, b.l FROM a LEFT JOIN b ON a.l = b.l WHERE a.k < 4",
    "lonely": "SELECT a.k, a.n FROM a LEFT JOIN b ON a.k = b.id WHERE b.id IS NULL",
    "looked_up": "SELECT b.id, b.d, a.n FROM b LEFT JOIN a ON b.l = a.k",
    "self": "SELECT x.k, y.k AS other, x.n FROM a x JOIN a y ON x.l = y.k",
    "mixed": "SELECT a.k, b.id FROM a JOIN b ON a.n = b.d",
    "three": "SELECT a.k, b.id, c.k AS c_k FROM a JOIN b ON a.g = b.g LEFT JOIN c ON c.g = b.g",
}
ABOVE = {
    "low": {"lows": "SELECT low, COUNT(*) AS groups, SUM(rows) AS rows FROM low GROUP BY low",
            "lowest": "SELECT g, low FROM low QUALIFY ROW_NUMBER() OVER (ORDER BY low, g) <= 1",
            "diamond": "SELECT x.g, x.low - y.rows AS d FROM low x JOIN low y ON x.g = y.g"},
    "sums": {"grand": "SELECT SUM(total) AS total, MAX(mean) AS mean FROM sums"},
    "first": {"of_first": "SELECT g, SUM(n) AS total, COUNT(*) AS rows FROM first GROUP BY g"},
    "united": {"of_united": "SELECT g, COUNT(*) AS rows, MIN(l) AS low FROM united GROUP BY g"},
    "pairs": {"of_pairs": "SELECT g, COUNT(*) AS pairs, MAX(d) AS high FROM pairs GROUP BY g"},
    "whole": {"beside": "SELECT a.k, w.total FROM a JOIN whole w ON a.l = w.rows"},
    "doubles": {"with_low": "SELECT d.l, d.total, low.high FROM doubles d JOIN low ON d.l = low.low"},
    "left_pairs": {"few": "SELECT k, COUNT(id) AS partners FROM left_pairs GROUP BY k HAVING COUNT(id) < 2"},
}  # fmt: skip


class Viewed(Joined):
    """What asks about a view is written to it by what the catalog says of its columns.

    told: the views that were told to write themselves to their topics, by name, with their `born`.
    """

    def __init__(self, patience: Patience = PATIENT, window: int = 0) -> None:
        super().__init__(patience, window)
        self.told: dict[str, int] = {}

    def question(self, choose: random.Random, view: str) -> str:
        """Return any question of a view."""
        relation = self.catalog.views[view].relation
        columns = [f'"{column.name}"' for column in relation.columns]
        numbers = [f'"{c.name}"' for c in relation.columns if c.type.kind.value not in ("VARCHAR", "BOOLEAN")]
        some = choose.choice(columns)
        number = choose.choice(numbers or ["*"])
        met = choose.choice([f"{number} BETWEEN 0 AND 2", f"{some} IS NULL", f"{number} > 0.5", f"{number} <> 1"])
        home = "\"H\" = 'é'" if relation.bucket_by else ""
        conditions = [one for one in (home, met if number != "*" and choose.random() < 0.6 else "") if one]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        policy = choose.choice(["", "", "", " NOTIFY LATEST", " DELIVER PACKED", " TTL 90"])
        kind = choose.random()
        if kind < 0.5 and numbers:
            items = choose.choice([
                f"MIN({some})", f"MAX({number})", f"SUM({number})", f"AVG({number}), COUNT(*)", f"COUNT({some})",
                f"DISTINCT {some}", f"COUNT(DISTINCT {some})",
            ])  # fmt: skip
            return f"SELECT {items} FROM {view}{where}{policy}"
        shown = choose.choice(["*", some, ", ".join(choose.sample(columns, len(columns)))])
        if kind < 0.7:
            order = ", ".join(
                [f"{some}{choose.choice(['', ' DESC', ' NULLS FIRST'])}", *(c for c in columns if c != some)]
            )
            return f"SELECT {shown} FROM {view}{where} ORDER BY {order} LIMIT {choose.randrange(1, 4)}{policy}"
        more = choose.choice(["", "", " SNAPSHOT NONE", " NOTIFY TRANSITIONS"])
        return f"SELECT {shown} FROM {view}{where}{policy}{more}"

    def joined_question(self, choose: random.Random) -> str:
        """Return a question that joins a view with another, with itself, or with a table; or tables, as views do."""
        names = [choose.choice(choose.choice([list(self.catalog.views), self.catalog.names])) for _ in range(2)]
        choose.shuffle(names)
        called = dict(zip("xy", names, strict=True))
        columns = {
            alias: [(f'{alias}."{c.name}"', c.type.kind.value) for c in self.catalog.named(name).declared]
            for alias, name in called.items()
        }
        pairs = [
            (one, other)
            for one, kind in columns["x"]
            for other, its in columns["y"]
            if kind == its or not {kind, its} & {"VARCHAR", "BOOLEAN"}
        ]
        if not pairs:
            return f"SELECT * FROM {names[0]}"
        some = [name for each in columns.values() for name, _ in each]
        numbers = [name for each in columns.values() for name, kind in each if kind not in ("VARCHAR", "BOOLEAN")]
        met = choose.choice(["", "", f" WHERE {choose.choice(some)} IS NOT NULL"])
        if numbers and not met:
            met = choose.choice(["", f" WHERE {choose.choice(numbers)} BETWEEN 0 AND 2"])
        one, other = choose.choice(pairs)
        items = choose.choice(
            ["*", "x.*", ", ".join(choose.sample(some, choose.randrange(1, 4) if len(some) > 3 else 1))]
        )
        policy = choose.choice(["", "", " NOTIFY LATEST", " DELIVER PACKED", " SNAPSHOT NONE"])
        return f"SELECT {items} FROM {called['x']} x JOIN {called['y']} y ON {one} = {other}{met}{policy}"

    def declare_any(self, choose: random.Random) -> None:
        """Declare a view, or drop one; what is refused changes nothing."""
        there = dict(self.catalog.views)
        wanted = BASE | OVER_SEVERAL
        for name in there:
            wanted |= ABOVE.get(name, {})
        name = choose.choice(list(wanted))
        if name in there:
            self.try_to(f"DROP VIEW {name}", "conflict")
        elif choose.random() < 0.6 or not self.try_to(
            f"CREATE VIEW {name} WITH ('topic'='out-{name}') AS {wanted[name]}", "unsupported", "unknown_table"
        ):
            self.try_to(f"CREATE VIEW {name} AS {wanted[name]}", "unknown_table")

    def try_to(self, text: str, *codes: str) -> bool:
        """Apply a statement, which may be refused with one of some codes; return whether it was not."""
        try:
            self.apply(text)
        except CatalogError as refused:
            assert refused.code in codes, (text, str(refused))
            return False
        return True

    def begin_epoch(self) -> None:
        super().begin_epoch()
        self.told.clear()

    def write_views(self, choose: random.Random) -> None:
        """Tell views that are written to topics to begin, as an engine does; now and then one that is told already."""
        for view in self.catalog.views.values():
            if view.topic and (self.told.get(view.name) != view.born or choose.random() < 0.05):
                self.told[view.name] = view.born
                newest = dict(self.logs[view.topic][0])
                keys = [(key or b"").decode() for key, value in newest.items() if value is not None]
                for shard in view.relation.shards:
                    said = encode_control(Write(self.epoch, self.catalog.version, True, keys))
                    self.append(self.topics.registrations, shard.encode(), said, 0)

    def journal(self) -> Journal:
        made = super().journal()
        topics = [topic for topic in self.logs if topic.startswith("out-")]
        made.written = {topic: self.log(topic, 1) for topic in topics}
        return made


def drive(seed: int, losses: bool = False, window: int = 0) -> Viewed:
    choose = random.Random(seed)
    chain = Viewed(window=window)
    chain.apply(DDL)
    for _ in range(choose.randrange(1, 4)):
        chain.declare_any(choose)
    for _ in range(choose.randrange(10, 40)):
        action, views = choose.random(), list(chain.catalog.views)
        if action < 0.5:
            for _ in range(choose.randrange(1, 10)):
                choose.choice([chain.change_a, chain.change_b, chain.change_c])(choose)
        elif action < 0.75 and views:
            joined = choose.random() < 0.5
            asked = chain.joined_question(choose) if joined else chain.question(choose, choose.choice(views))
            record = json.dumps({"sql": asked}).encode()
            chain.append(chain.topics.subscriptions, choose.choice([b"s1", b"s2", b"s3", b"s4", b"s5"]), record)
        elif action < 0.78:
            chain.append(chain.topics.subscriptions, choose.choice([b"s1", b"s2"]), None)
        elif action < 0.82:
            chain.restart()
        elif action < 0.85:
            chain.begin_epoch()
        elif action < 0.93:
            chain.settle()
            chain.declare_any(choose)
        elif action < 0.95:
            chain.apply(WIDER)
        elif action < 0.96:
            chain.break_off(choose.random())
        elif losses and views:
            shard = f"{choose.choice(views)}/0".encode()
            topic = choose.choice([chain.topics.notifications, chain.topics.registrations])
            chain.append(topic, shard, b"\xff\xff\xff\xffdamaged", choose.randrange(EDGES))
        chain.write_views(choose)
        if choose.random() < 0.6:
            chain.settle()
        if choose.random() < 0.6:
            chain.make_cells()
    for _ in range(2):
        chain.settle()
        chain.make_cells()
    chain.settle()
    assert losses or not [lost for edge in chain.edges for lost in edge.losses()]
    return chain


@pytest.mark.deep
@settings(max_examples=deep_examples(60), deadline=None)
@given(st.integers(0, 10**9))
def test_views_are_clean(seed: int) -> None:
    report = verify(drive(seed, window=3 * (seed % 2)).journal())
    assert report.clean and report.unjudged == 0, report.faults


@pytest.mark.parametrize("source", ["a WHERE l >= 0", "a", "a x JOIN a y ON x.k = y.k WHERE x.l + y.l > 0"])
def test_of_rows_of_the_same_time_the_one_with_the_greatest_key_is_the_latest(source: str) -> None:
    chain = Viewed()
    chain.apply(DDL)
    name = "x." if " x " in source else ""
    chain.apply(f"CREATE VIEW v AS SELECT LATEST({name}l BY {name}n) AS l FROM {source}")
    chain.append(chain.topics.subscriptions, b"s", b'{"sql":"SELECT MAX(l) FROM v"}')
    for k, value in ((2, 5), (1, 9), (0, 7)):
        chain.append("a", b'{"k":%d}' % k, b'{"k":%d,"l":%d,"n":1}' % (k, value), 0)
        chain.settle()
    assert chain.answer("s") == 5
    report = verify(chain.journal())
    assert report.clean and report.right == 2, report.faults


@pytest.mark.parametrize(
    "query",
    ["SELECT a.k, b.id FROM a LEFT JOIN b ON a.l = b.l", "SELECT x.k, y.k AS id FROM a x JOIN a y ON x.l = y.l"],
)
def test_who_asks_about_a_view_is_told_on_when_its_table_gets_a_column(query: str) -> None:
    chain = Viewed()
    chain.apply(DDL)
    chain.apply(f"CREATE VIEW v AS {query}")
    for id, item in {b"s1": "MAX(k)", b"s2": "id", b"s3": "DISTINCT k"}.items():
        chain.append(chain.topics.subscriptions, id, json.dumps({"sql": f"SELECT {item} FROM v"}).encode())
    for k in range(4):
        chain.append("a", b'{"k":%d}' % k, b'{"k":%d,"l":1}' % k, 0)
        chain.settle()
        if k == 1:
            chain.apply(WIDER)
    assert chain.answer("s1") == 3
    report = verify(chain.journal())
    assert report.clean and report.right > 9, report.faults


@pytest.mark.parametrize(
    "query",
    [
        "SELECT l, SUM(d) AS s FROM b GROUP BY l",
        "SELECT id, d * 2 AS s FROM b",
        "SELECT id, COALESCE(d * 2 - d, 0) AS s FROM b",
        "SELECT id, d AS s FROM b WHERE d + d > 0",
        "SELECT id, AVG(d) AS s FROM b GROUP BY id HAVING SUM(d) - MAX(d) * -1 > 0",
    ],
)
def test_what_is_beyond_all_doubles_is_null(query: str) -> None:
    chain = Viewed()
    chain.apply(DDL)
    chain.apply(f"CREATE VIEW v AS {query}")
    for id, items in {b"s1": "MAX(s)", b"s2": "COUNT(s), COUNT(*)", b"s3": "s", b"s4": "SUM(s)"}.items():
        chain.append(chain.topics.subscriptions, id, json.dumps({"sql": f"SELECT {items} FROM v"}).encode())
    for lsn, d in enumerate((1.7e308, 1e308, -1.7e308, 1.0)):
        event = {"op": "c", "before": None, "after": {"id": lsn, "g": "u", "l": 1, "d": d}, "source": {"lsn": lsn}}
        chain.append("b", b'{"id":%d}' % lsn, json.dumps(event).encode(), 0)
        chain.settle()
    report = verify(chain.journal())
    assert report.clean and report.right > 4 and report.unjudged == 0, report.faults


@pytest.mark.deep
@settings(max_examples=deep_examples(15), deadline=None)
@given(st.integers(0, 10**9))
def test_what_was_lost_on_the_way_to_an_edge_is_made_up_for_by_resyncs(seed: int) -> None:
    report = verify(drive(seed, losses=True).journal())
    assert report.clean and report.unjudged == 0, report.faults


@cache
def journal_of(seed: int) -> Journal:
    """Return what a chain told, which is run once for all damages: each of them is mended again."""
    return drive(seed).journal()


@pytest.mark.deep
@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_of_what_the_chain_told_is_found(damage: str) -> None:
    check_that_damage_is_found(journal_of, lambda told: None if "new" in told else DAMAGE[damage](told))

import pytest

from state.errors import UserError
from tidewire.scenario.engine import Refusal
from tidewire.scenario.run import Skipped, run_scenario
from tidewire.scenario.script import read_scenario


class Scripted:
    """An engine that accepts all and delivers what it is told to."""

    def __init__(self, deliveries=(), refusal=None):
        self.waiting = list(deliveries)
        self.refusal = refusal

    def declare(self, ddl):
        raise UserError("no table for you")

    def publish(self, table, rows): ...

    def delete(self, table, keys): ...

    def subscribe(self, subscription, sql):
        return self.refusal

    def unsubscribe(self, subscription): ...

    def restart(self): ...

    def deliveries(self, subscription):
        taken, self.waiting = self.waiting, []
        return taken


def run(tmp_path, engine, *steps):
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(['{"scenario": "s"}', *steps]))
    return run_scenario(path, read_scenario(path), engine)


def snapshot(value):
    return {"kind": "snapshot", "version": 0, "n": 1, "old": None, "new": value}


SUBSCRIBE = '{"subscribe": "a", "sql": "SELECT MIN(y) FROM t"}'


@pytest.mark.parametrize(
    ("answer", "expected", "holds"),
    [
        (2.0, "2", True),
        (1, "true", False),
        (True, "true", True),
        ("2.50", '"2.5"', True),
        ("2.50", '"2.51"', False),
        (None, "null", True),
        (0, "null", False),
        (9007199254740993, "9007199254740992", False),
    ],
)
def test_values_are_compared_exactly(tmp_path, answer, expected, holds):
    engine = Scripted([snapshot(answer)])
    failure = run(tmp_path, engine, SUBSCRIBE, f'{{"expect": "a", "rows": [[{expected}]], "notified": 1}}')
    assert (failure is None) is holds


def test_a_wrong_count_is_a_failure_that_shows_both(tmp_path):
    failure = run(tmp_path, Scripted([snapshot(3)]), SUBSCRIBE, '{"expect": "a", "rows": [[3]], "notified": 0}')
    assert failure is not None
    assert failure.step == "line 3: expect a"
    assert failure.expected == {"rows": [[3]], "notified": 0} and failure.got == {"rows": [[3]], "notified": 1}


def test_no_delivery_is_no_answer(tmp_path):
    failure = run(tmp_path, Scripted(), SUBSCRIBE, '{"expect": "a", "rows": [[3]]}')
    assert failure is not None and failure.got == "no live subscription"


def test_refusals_both_ways(tmp_path):
    refused = SUBSCRIBE[:-1] + ', "refused": true}'
    assert run(tmp_path, Scripted(), refused).got == "accepted"
    assert run(tmp_path, Scripted(refusal=Refusal("syntax", "no")), refused) is None
    assert run(tmp_path, Scripted(refusal=Refusal("syntax", "no")), SUBSCRIBE).got == "refused (syntax): no"


def test_an_unsupported_type_skips_the_file(tmp_path):
    with pytest.raises(Skipped):
        run(tmp_path, Scripted(refusal=Refusal("unsupported_type", "VARCHAR")), SUBSCRIBE)


def test_an_error_of_the_engine_is_the_steps_failure(tmp_path):
    assert run(tmp_path, Scripted(), '{"catalog": "CREATE"}').got == "no table for you"

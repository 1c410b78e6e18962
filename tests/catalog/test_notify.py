from decimal import Decimal

import pytest

from catalog.compiler import Compiler
from catalog.notify import EVERY_CHANGE, Notify, OptionRefused, read_options, read_policy
from tests.catalog.sample import CATALOG

SELECT = "SELECT MIN(price) FROM stock"


@pytest.mark.parametrize(
    ("behind", "notify", "ttl"),
    [
        ("", None, None),
        (";", None, None),
        (" NOTIFY EVERY CHANGE", EVERY_CHANGE, None),
        ("\nnotify\tlatest ;", Notify("latest"), None),
        (" NOTIFY MIN CHANGE 0.5", Notify("min_change", Decimal("0.5")), None),
        (" NOTIFY MIN CHANGE 5%", Notify("min_change", Decimal(5), True), None),
        (" TTL 90", None, 90),
        (" TTL 2 HOURS NOTIFY LATEST", Notify("latest"), 7_200),
        (" NOTIFY LATEST TTL 1 day", Notify("latest"), 86_400),
    ],
)
def test_options_stand_behind_the_statement(behind, notify, ttl) -> None:
    options = read_options(SELECT + behind)
    assert (options.notify, options.ttl) == (notify, ttl)
    assert SELECT + behind.rstrip("; ") == SELECT or options.end == len(SELECT) or notify is ttl is None
    compiled = Compiler(CATALOG).compile(SELECT + behind)
    assert (compiled.notify, compiled.ttl) == (notify or EVERY_CHANGE, ttl)
    assert compiled.sql == SELECT + behind


@pytest.mark.parametrize(
    "sql",
    [
        SELECT + " WHERE exchange = ' NOTIFY LATEST'",
        SELECT + " -- NOTIFY LATEST",
        SELECT + " /* NOTIFY LATEST",
        SELECT + " AS NOTIFY",
    ],
)
def test_what_only_looks_like_an_option_stays(sql) -> None:
    assert read_options(sql) == (len(sql), None, None, None)


@pytest.mark.parametrize("behind", [" TTL 0", " TTL 40000 DAYS", " TTL 1 TTL 2", " NOTIFY LATEST NOTIFY LATEST"])
def test_wrong_options_are_refused(behind) -> None:
    with pytest.raises(OptionRefused):
        read_options(SELECT + behind)


def test_a_policy_is_written_as_it_is_read() -> None:
    for text in ("EVERY CHANGE", "LATEST", "MIN CHANGE 0.5", "MIN CHANGE 12 %"):
        policy = read_policy(text)
        assert policy is not None and policy.text == text
    assert read_policy("NEVER") is None


def test_the_options_of_a_template_stay_behind_it() -> None:
    compiled = Compiler(CATALOG).compile_template(SELECT + " WHERE volume = ? NOTIFY LATEST TTL 5", [3])
    assert compiled.sql == SELECT + " WHERE volume = 3 NOTIFY LATEST TTL 5"
    assert (compiled.notify.kind, compiled.ttl) == ("latest", 5)


def test_a_known_template_keeps_each_statements_options() -> None:
    compiler = Compiler(CATALOG)
    for number, behind, kind in ((1, "", "every"), (2, " NOTIFY LATEST", "latest"), (3, " TTL 9", "every")):
        compiled = compiler.compile(f"{SELECT} WHERE volume < {number}{behind}")
        assert (compiled.region.hi, compiled.notify.kind) == (number - 1, kind)


def test_the_form_of_deliveries_is_an_option_too() -> None:
    compiler = Compiler(CATALOG)
    for behind, deliver in (
        ("", "records"),
        (" DELIVER PACKED", "packed"),
        (" ttl 5 deliver records;", "records"),
        (" DELIVER push", "push"),
    ):
        assert compiler.compile(SELECT + behind).deliver == deliver
    both = compiler.compile(SELECT + " DELIVER packed NOTIFY LATEST TTL 9")
    assert (both.deliver, both.notify.kind, both.ttl) == ("packed", "latest", 9)
    with pytest.raises(OptionRefused, match="DELIVER is said twice"):
        read_options(SELECT + " DELIVER PACKED DELIVER PACKED")

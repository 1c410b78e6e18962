import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.query.compiler import Compiler
from catalog.sql.errors import SubscriptionError
from catalog.sql.notify import EVERY_CHANGE, GRAMMAR, Notify, OptionRefused, read_options, read_policy
from tests.catalog.sample import CATALOG, compiler
from tests.effort import examples
from tidewire.verification.records.policy import cut_options

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
        SELECT + " /* NOTIFY LATEST */",
        SELECT + ' AS "x NOTIFY LATEST"',
        SELECT + " AS NOTIFY",
    ],
)
def test_what_only_looks_like_an_option_stays(sql) -> None:
    assert read_options(sql) == (len(sql), None, None, None, None)


@pytest.mark.parametrize("behind", [" TTL 0", " TTL 40000 DAYS", " TTL 1 TTL 2", " NOTIFY LATEST NOTIFY LATEST"])
def test_wrong_options_are_refused(behind) -> None:
    with pytest.raises(OptionRefused):
        read_options(SELECT + behind)


def test_an_answer_of_rows_may_begin_empty() -> None:
    assert read_options("SELECT a FROM t SNAPSHOT NONE TTL 5").snapshot == "none"
    assert read_options("SELECT a FROM t snapshot\nnone;") == (15, None, None, None, "none")
    assert read_options("SELECT a FROM t WHERE snapshot = none").snapshot is None
    compiled = compiler().compile("SELECT price FROM stock WHERE open SNAPSHOT NONE NOTIFY LATEST DELIVER PUSH")
    assert (compiled.snapshot, compiled.notify.kind, compiled.deliver) == ("none", "latest", "push")
    assert compiler().compile("SELECT price FROM stock").snapshot == "rows"
    assert compiler().compile(f"{SELECT} snapshot").snapshot == "rows"


ACCEPTED = {
    "symbol, price": {"LATEST", "TRANSITIONS", "ENTER"}, "*": {"LATEST", "TRANSITIONS", "ENTER"}, "price": {"LATEST"},
    "COUNT(*)": {"LATEST", "MIN CHANGE 1"}, "COUNT(*), SUM(price)": {"LATEST"},
    "AVG(price)": {"LATEST", "MIN CHANGE 1"},
    "COUNT(symbol)": {"LATEST", "MIN CHANGE 1"},
}  # fmt: skip


@pytest.mark.parametrize("policy", ["EVERY CHANGE", "LATEST", "MIN CHANGE 1", "TRANSITIONS", "ENTER"])
@pytest.mark.parametrize("selected", ACCEPTED)
@pytest.mark.parametrize("condition", ["volume <> 3", "volume = 3"])
def test_which_policies_an_answer_may_have(condition, selected, policy) -> None:
    sql = f"SELECT {selected} FROM stock WHERE {condition} NOTIFY {policy}"
    if policy in ("EVERY CHANGE", *ACCEPTED[selected]):
        assert compiler().compile(sql).notify.text == policy
        return
    with pytest.raises(SubscriptionError) as caught:
        compiler().compile(sql)
    assert caught.value.code == "unsupported" and caught.value.hint


def test_a_policy_is_written_as_it_is_read() -> None:
    for text in ("EVERY CHANGE", "LATEST", "MIN CHANGE 0.5", "MIN CHANGE 12 %", "TRANSITIONS", "ENTER"):
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


def either_case(text: str) -> st.SearchStrategy[str]:
    return st.sampled_from([text, text.lower(), text.title()])


gaps = st.sampled_from([" ", "\n", "\t ", " /* it's -- \" NOTIFY LATEST */ ", " -- TTL 5 '\n", "\r\n"])
texts = st.text("ab'\"-/* ;%\n", max_size=8).map(lambda t: "'" + t.replace("'", "''") + "'")
strings = texts | st.sampled_from(["'a--b'", "'/*'", "'*/ TTL 5'", "'x NOTIFY LATEST'", "'--'' DELIVER PUSH'", "'a;'"])
names = st.sampled_from(["stock", 'stock AS "-- /* x"', "stock AS ttl", 'stock AS "it\'s NOTIFY LATEST"', "stock s"])
amounts = st.decimals(0, 10**6, places=2).map(lambda d: f"{d:f}") | st.integers(0, 99).map(str)
POLICIES = st.one_of(
    st.just(("EVERY CHANGE", EVERY_CHANGE)),
    st.just(("LATEST", Notify("latest"))),
    amounts.map(lambda a: (f"MIN CHANGE {a}", Notify("min_change", Decimal(a)))),
    amounts.map(lambda a: (f"MIN CHANGE {a} %", Notify("min_change", Decimal(a), True))),
)
TIMES = st.tuples(st.integers(1, 900), st.sampled_from([("", 1), (" SECOND", 1), (" MINUTES", 60), (" DAY", 86_400)]))
FORMS = st.sampled_from(["RECORDS", "PACKED", "PUSH"])


@st.composite
def with_options(draw):
    """A statement, the same with options behind it, and what these say."""
    conditions = [f"exchange = {draw(strings)}" for _ in range(draw(st.integers(0, 2)))]
    statement = f"SELECT MIN(price) FROM {draw(names)}" + (" WHERE " if conditions else "") + " AND ".join(conditions)
    notify, ttl, deliver = draw(st.none() | POLICIES), draw(st.none() | TIMES), draw(st.none() | FORMS)
    said = [] if notify is None else [f"NOTIFY {notify[0]}"]
    said += [] if ttl is None else [f"TTL {ttl[0]}{ttl[1][0]}"]
    said += [] if deliver is None else [f"DELIVER {deliver}"]
    words = [draw(either_case(word)) for option in draw(st.permutations(said)) for word in option.split(" ")]
    written = statement + "".join(draw(gaps) + word for word in words) + draw(st.sampled_from(["", ";", " ; -- TTL 5"]))
    told = notify[1] if notify else EVERY_CHANGE, ttl and ttl[0] * ttl[1][1], deliver.lower() if deliver else "records"
    return statement, written, told


@given(with_options(), st.booleans())
@settings(deadline=None, max_examples=examples(300))
def test_options_are_found_behind_whatever_a_statement_holds(case, again) -> None:
    statement, written, told = case
    shared = compiler()
    for _ in range(1 + again):
        compiled = shared.compile(written)
        assert (compiled.notify, compiled.ttl, compiled.deliver) == told
        assert compiled.region == shared.compile(statement).region
        assert compiled.sql == written


@given(with_options())
@settings(deadline=None, max_examples=examples(300))
def test_the_verification_finds_the_same_options(case) -> None:
    _, written, (notify, ttl, deliver) = case
    policy = cut_options(written)[1]
    kind = {"every": "every", "latest": "latest", "min_change": "least"}[notify.kind]
    assert (policy.kind, policy.ttl) == (kind, ttl)
    assert (policy.amount, policy.percent) == (notify.amount, notify.percent)
    assert (policy.packed, policy.pushed) == (deliver == "packed", deliver == "push")


WRONG = [
    "NOTIFY MIN CHANGE .5", "NOTIFY MIN CHANGE 1e2", "NOTIFY MIN CHANGE -1", "NOTIFY MIN CHANGE 5.", "NOTIFY MIN 5",
    "NOTIFY MIN CHANGE", "NOTIFY MIN CHANGE '5'", "NOTIFY MIN CHANGE ?", "NOTIFY MIN CHANGE 1.2.3", "NOTIFY EVERY",
    "NOTIFY", "NOTIFY ALWAYS", "NOTIFY 'LATEST'", "NOTIFY = LATEST", "NOTIFY LATEST, TTL 5", "NOTIFY LATEST AND TTL 5",
    "TTL", "TTL '5'", "TTL 5 MIN", "TTL 5.5", "TTL -5", "TTL ?", "TTL = 5", "TTL 1_000", "TTL 5 YEARS", "TTL 1e3",
    "DELIVER", "DELIVER JSON", "DELIVER TO x", "NOTIFY LATEST WHERE volume = 3", "TTL 5 LIMIT 5", "TTL 5 ORDER BY x",
    "NOTIFY LATEST GROUP BY exchange", "LATEST", "EVERY", "PACKED", "PUSH", "NOTIFY MIN CHANGE 5 % %",
]  # fmt: skip


@pytest.mark.parametrize("where", ["", " WHERE volume = 3", " WHERE exchange = 'a--b'", " s WHERE open = TRUE"])
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_option_is_refused_with_the_grammar(wrong, where) -> None:
    if where and wrong in ("LATEST", "EVERY", "PACKED", "PUSH"):
        return
    with pytest.raises(SubscriptionError) as caught:
        compiler().compile(SELECT + where + " " + wrong)
    error = caught.value
    assert error.code == "syntax" and GRAMMAR in (error.hint or "")
    assert error.start >= len(SELECT + where)


def test_the_grammar_of_options_is_right() -> None:
    assert GRAMMAR.count(";") == 3
    for option in re.findall(r"(?:NOTIFY|TTL|DELIVER|SNAPSHOT) [A-Z0-9 .%]*[A-Z0-9%]", GRAMMAR):
        assert read_options(f"{SELECT} {option}").end == len(SELECT)


@pytest.mark.parametrize("word", ["notify", "TTL", "Deliver", "latest", "every", "change", "records", "packed", "push"])
def test_a_word_of_the_options_names_a_table_only_behind_as(word) -> None:
    for behind in ("", " WHERE volume = 3", ";"):
        with pytest.raises(SubscriptionError, match="no option is complete"):
            compiler().compile(f"{SELECT} {word}{behind}")
        for alias in (f"AS {word}", f'"{word}"'):
            assert compiler().compile(f"{SELECT} {alias}{behind}")


@pytest.mark.parametrize("digits", [13, 5_000])
def test_long_numbers_are_refused(digits) -> None:
    with pytest.raises(OptionRefused):
        read_options(f"{SELECT} TTL {'9' * digits}")
    assert (read_policy("MIN CHANGE " + "9" * digits) is None) is (digits > 100)
    assert read_policy("MIN CHANGE 0.0000001").text == "MIN CHANGE 0.0000001"

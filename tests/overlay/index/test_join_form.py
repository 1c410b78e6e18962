"""Which subscriptions fit the fast way of joins, and what their form and constants are."""

from __future__ import annotations

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import Box, encode_terms
from catalog.query.output import Output
from catalog.query.value_set import ValueSet
from catalog.schema.join import Join
from catalog.types.order_key import after
from overlay.index.join_form import EVERYTHING, Constants, Form, Further, fit
from state.order_code import INT64_MAX

JOIN, _ = Join.of(["a", "b"], [((0, "k"), (1, "k"))])
SELF, _ = Join.of(["a", "a"], [((0, "k"), (1, "k"))])
THREE, _ = Join.of(["a", "b", "c"], [((0, "k"), (1, "k")), ((1, "k"), (2, "k"))])
ONE, RANGE, REST = ValueSet(((4, 4),)), ValueSet(((4, 9),)), ValueSet(((1, 2), (4, 9)))
TEXT = ValueSet(((b"x", after(b"x")),))


def fitted(
    conditions: dict[str, ValueSet], join: str = JOIN.name, outputs: tuple[Output, ...] = ()
) -> tuple[Form, Constants] | None:
    tested = tuple(sorted(conditions))
    shape = FilterShape(join, ("0.k",), outputs, tested, (), ())
    return fit(shape, encode_terms([{i: conditions[name] for i, name in enumerate(tested)}]))


def test_fixed_values_ranges_and_further_conditions_are_told_apart() -> None:
    conditions = {"0.s": TEXT, "0.x": RANGE, "0.y": REST, "1.k": ONE, "1.x": ValueSet(((5, INT64_MAX),))}
    form = Form(JOIN.name, (("s",), ("k",)), ("x", "x"))
    further = (Further(0, "y", REST),)
    assert fitted(conditions) == (form, Constants(((b"x",), (4,)), ((4, 9), (5, INT64_MAX)), further))
    assert form.attributes == [0, 1, 2, 3]


def test_a_second_range_of_a_table_and_what_holds_null_are_further() -> None:
    null = ValueSet(((4, 9),), True)
    form, constants = fitted({"0.x": RANGE, "0.y": RANGE, "1.x": null, "1.s": ValueSet((), True)}) or (None, None)
    assert form == Form(JOIN.name, ((), ()), ("x", None)) and form.attributes == [2]
    assert constants == Constants(
        ((), ()),
        ((4, 9), EVERYTHING),
        (Further(0, "y", RANGE), Further(1, "s", ValueSet((), True)), Further(1, "x", null)),
    )


def test_who_compares_nothing_is_of_the_form_of_everything() -> None:
    form, constants = fitted({}) or (None, None)
    assert form == Form(JOIN.name, ((), ()), (None, None)) and form.attributes == [0]
    assert constants == Constants(((), ()), (EVERYTHING, EVERYTHING), ())


def test_who_does_not_fit() -> None:
    assert fitted({}, "stock") is None
    assert fitted({}, SELF.name) is None
    assert fitted({}, THREE.name) is None
    assert fitted({}, outputs=(Output("COUNT", None),)) is None
    assert fitted({"0.s": ValueSet(((b"x", b"y"),))}) is None
    boxes: list[Box] = [{0: ONE}, {0: ValueSet(((7, 7),))}]
    shape = FilterShape(JOIN.name, ("0.k",), (), ("0.x",), (), ())
    assert fit(shape, encode_terms(boxes)) is None
    assert fit(shape, encode_terms([])) is None

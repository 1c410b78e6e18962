from tidewire.scenario.own_names import OwnNames, TakenNames


def test_what_nobody_has_used_keeps_its_name_and_is_met_once() -> None:
    taken = TakenNames()
    first, second, third = (OwnNames(taken, number) for number in (1, 2, 3))
    assert [first("t"), first("t"), first("u")] == ["t", "t", "u"]
    assert [second("t"), second("v"), second("t")] == ["t-2", "v", "t-2"]
    assert [third("t-2"), third("t"), third("u"), third("w")] == ["t-2-3", "t-3", "u-3", "w"]


def test_a_name_that_looks_like_a_changed_one_is_another() -> None:
    taken = TakenNames()
    OwnNames(taken, 1)("t")
    second = OwnNames(taken, 2)
    assert (second("t"), second("t-2")) == ("t-2", "t-2-2")

"""Terms by slot: shared, counted, and forgotten with the last that has them."""

from __future__ import annotations

import numpy as np

from catalog.sql.notify import FORMS, PACKED, RECORDS, Notify
from overlay.table.slot_rows import Terms
from overlay.table.slot_terms import SlotTerms

LATEST = Notify("latest")
PLAIN, CHEAP = Terms("a", LATEST), Terms("b", LATEST, PACKED)


def test_slots_share_terms_until_the_last_one_leaves() -> None:
    terms = SlotTerms()
    terms.reserve(4)
    slots = np.arange(4)
    terms.put(slots, [PLAIN, CHEAP], np.array([0, 1, 0, 1]))
    assert [terms.of(slot) for slot in slots.tolist()] == [PLAIN, CHEAP, PLAIN, CHEAP]
    assert [FORMS[form] for form in terms.forms(slots[:2]).tolist()] == [RECORDS, PACKED]
    assert terms.by_key(slots).tolist() == [False] * 4 and len(terms.by_key(slots[:0])) == 0
    distinct, places = terms.stored(slots[1:])
    assert [distinct[place] for place in places.tolist()] == [CHEAP, PLAIN, CHEAP]
    terms.check(slots)
    terms.leave(slots[:3])
    terms.check(slots[3:])
    assert terms.value(int(terms.number[3])) == CHEAP


def test_who_goes_by_the_primary_key() -> None:
    terms = SlotTerms()
    terms.reserve(3)
    terms.put(np.arange(3), [PLAIN, Terms("a", Notify("enter"))], np.array([1, 0, 1]))
    assert terms.by_key(np.arange(3)).tolist() == [True, False, True]

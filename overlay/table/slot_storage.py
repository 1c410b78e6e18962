"""Slots in and out of the rows in which they are stored (`overlay/table/slot_rows.py`).

Reading back: `put_slots` for each record and `SlotTable.put_freed` for what it frees, in the order in which they were
written, and in the end `SlotTable.rebuild`. Cost: 0.3 us a slot to give, 1 us to take in.
"""

from __future__ import annotations

import numpy as np

from overlay.table.slot_rows import ROW, Slots, StoredTerms
from overlay.table.slot_table import SlotTable
from state.change_batch import I64

_COLUMNS = {"eras": "era"} | {name: name for name in ("version", "lo", "hi", "value", "known", "n", "shape", "empty")}
"""Columns of the table by name, and of the rows."""


def stored_slots(table: SlotTable, slots: I64) -> Slots:
    """Return slots in use as they are stored."""
    rows = np.zeros(len(slots), ROW)
    for name, stored in _COLUMNS.items():
        rows[stored] = getattr(table, name)[slots]
    rows["slot"], rows["expires"] = slots, table.expiry.of(slots)
    groups, rows["group"] = np.unique(table.group[slots], return_inverse=True)
    terms, rows["term"] = table.terms.stored(slots)
    ids, literals, templates, rows["template"] = table.texts.stored(slots)
    (keys, rows["key_size"]), (flat, rows["literals_size"]) = ids, literals
    filters, constants = table.filters.stored(slots)
    return Slots(
        rows.tobytes(),
        keys,
        flat,
        table.groups.keys(groups.astype(np.int64)),
        [StoredTerms.of(one) for one in terms],
        templates,
        filters.tobytes(),
        constants,
        table.finals.stored(slots).tobytes(),
    )


def put_slots(table: SlotTable, slots: Slots) -> None:
    """Take in stored slots, over what they were before."""
    rows = slots.table
    if not len(rows):
        return
    at = rows["slot"].astype(np.int64)
    table.replace(at, {name: rows[stored] for name, stored in _COLUMNS.items()}, rows["expires"])
    ids, literals, templates, groups, terms = (
        rows[name].astype(np.int64) for name in ("key_size", "literals_size", "template", "group", "term")
    )
    table.texts.put_stored(at, (slots.keys, ids), (slots.literals, literals), slots.templates, templates)
    table.group[at] = table.groups.enter(slots.groups, groups)
    table.terms.put(at, [one.terms for one in slots.terms], terms)
    table.finals.put_stored(at, slots.final_table)
    if slots.filters:
        table.filters.put_stored(at, slots.filter_table, slots.constants)

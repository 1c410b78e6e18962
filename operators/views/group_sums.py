"""Sums of groups in limbs (`operators/exact_sums.py`), and what SUM and AVG make of them.

One limb does where 2**31 values of the column fit into 64 bits. AVG is the double nearest to the exact quotient; a SUM
of doubles is the nearest to the exact sum, and NULL beyond all doubles.

Cost: 2 ns a total where 64 bits hold it, else 0.5 us.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalog.types.column_type import ColumnType
from operators.batch_view import BatchView
from operators.exact_sums import Limbs, totals_of
from operators.exact_units import double_of_units, units_of_one
from operators.views.row_values import EXACT_KINDS, RowValues, scaled
from state.change_batch import I64

_ONE_LIMB = 2**32
_LIMB_BITS = 32
_SHARES = (2**62, 2**30)
_EXACT_DOUBLE = 2**53


@dataclass(frozen=True, slots=True)
class Summed:
    """The sums of a column in an answer: its place among the counted ones, and its limbs [begin, end)."""

    type: ColumnType
    count: int
    begin: int
    end: int
    lowest: int


def is_small(type_: ColumnType) -> bool:
    """Whether 2**31 values fit into 64 bits."""
    return type_.kind in EXACT_KINDS and type_.coded and max(-type_.reach[0], type_.reach[1]) <= _ONE_LIMB


def limbs_of(view: BatchView, column: int, group: I64) -> Limbs:
    """Return the values of a column in the versions that have a group, 0 in the others: of few doubles, few limbs."""
    type_, codes = view.relation.columns[column].type, view.replay.codes[column]
    if type_.coded:
        return Limbs.of(type_, np.where(group >= 0, codes, 0))
    return Limbs.of_texts(type_, codes, view.replay.valid[column] & (group >= 0), view.rows, column)


def sum_of(column: ColumnType, lowest: int, limbs: I64, counts: I64, type_: ColumnType) -> RowValues:
    """Return totals of values of type `column`, given in limbs, as values of a type that holds them."""
    there = counts > 0
    if column.kind not in EXACT_KINDS:
        one = units_of_one(column)
        nearest = [double_of_units(one, total) for total in totals_of(limbs, lowest)]
        return RowValues.of_doubles(type_, np.array(nearest, np.float64), there)
    totals = _totals(limbs) if type_.coded or _fit(limbs) else np.array(totals_of(limbs, lowest), np.object_)
    return RowValues.of_units(type_, scaled(totals, type_.scale - column.scale), there)


def average_of(column: ColumnType, lowest: int, limbs: I64, counts: I64, type_: ColumnType) -> RowValues:
    """Return the doubles nearest to the exact quotients."""
    there, one = counts > 0, units_of_one(column)
    counts = np.where(there, counts, 1)
    if len(limbs) == 1 and max(np.abs(limbs[0]).max(initial=0), int(counts.max(initial=1)) * one) < _EXACT_DOUBLE:
        return RowValues.of_doubles(type_, limbs[0] / (counts * one), there)
    pairs = zip(totals_of(limbs, lowest), counts.tolist(), strict=True)
    means = [double_of_units(one, total, count) for total, count in pairs]
    return RowValues.of_doubles(type_, np.array(means, np.float64), there)


def _fit(limbs: I64) -> bool:
    """Whether totals surely fit into 64 bits: there are two limbs at most, each below its share of 2**63."""
    pairs = zip(limbs, _SHARES, strict=False)
    return len(limbs) <= len(_SHARES) and all(np.abs(limb).max(initial=0) < share for limb, share in pairs)


def _totals(limbs: I64) -> I64:
    """Return totals that fit into 64 bits, whatever their limbs were on the way."""
    with np.errstate(over="ignore"):
        return limbs[0] if len(limbs) == 1 else limbs[0] + (limbs[1] << _LIMB_BITS)


def narrowed(limbs: I64) -> I64:
    """Return the same totals in as few limbs as say all, in one where 64 bits hold them."""
    while len(limbs) > 1 and not limbs[-1].any():
        limbs = limbs[:-1]
    return _totals(limbs)[None] if _fit(limbs) else limbs

"""Whether regions of filters fit a relation: what an edge of another version may ask that cannot be, or damaged bytes.

A filter fits where its columns are the relation's, its group fixes the relation's buckets, and its terms are boxes
whose bounds are of the kinds of the columns that they are about.
"""

from __future__ import annotations

from catalog.query.filter_shape import FilterShape
from catalog.query.filter_terms import decode_terms
from catalog.query.shape import Region
from catalog.schema.relation import Relation
from operators.exact_units import is_summable
from state.order_code import INT64_MAX, INT64_MIN

FUNCTIONS = ("count", "sum", "avg")


class FilterFit:
    """Judges regions of one shape. Cost: that of reading their terms, 5 us for a few columns.

    why_none: why none of the shape fits, '' where some do.  coded: whether each bucket column has order codes.
    tested: whether each compared column has.
    """

    tested: tuple[bool, ...] = ()

    def __init__(self, shape: FilterShape, relation: Relation) -> None:
        self.why_none = _why_none(shape, relation)
        if not self.why_none:
            self.coded = tuple(relation.column(name).type.coded for name in shape.bucket)
            self.tested = tuple(relation.column(name).type.coded for name in shape.tested)
            self._bounds = [int if coded else bytes for coded in self.tested]

    def why_not(self, region: Region, read: bool = False) -> str:
        """Return why the terms and bounds of `region` do not fit, '' where they do. `read`: its terms are known to."""
        if (region.lo, region.hi) != (INT64_MIN, INT64_MAX):
            return f"bounds {region.lo!r} and {region.hi!r}, expected none for a filter"
        if read:
            return ""
        try:
            boxes = decode_terms(region.terms)
        except ValueError as error:
            return str(error)
        for place, values in ((place, values) for box in boxes for place, values in box.items()):
            if place >= len(self._bounds):
                return f"terms about column {place} of {len(self._bounds)} that are compared"
            if values.intervals and type(values.intervals[0][0]) is not self._bounds[place]:
                return f"terms with bounds of another kind than {self._bounds[place].__name__} for column {place}"
        return ""


def _why_none(shape: FilterShape, relation: Relation) -> str:
    outputs = [output.column for output in shape.outputs if output.column is not None]
    named, names = {*shape.shown, *shape.tested, *outputs}, {column.name for column in relation.columns}
    if shape.relation != relation.name or not named <= names:
        return f"a filter of table `{shape.relation}` with columns {sorted(named)}, expected some of {sorted(names)}"
    if bool(shape.shown) == bool(shape.outputs):
        return f"shown {list(shape.shown)} and outputs {len(shape.outputs)}, expected just one of them"
    if shape.bucket != relation.bucket_by:
        return f"buckets by {list(shape.bucket)}, expected {list(relation.bucket_by)}"
    if len(set(shape.tested)) < len(shape.tested):
        return f"a column compared twice: {list(shape.tested)}"
    if shape.keys and [shape.shown[place] for place in shape.keys if 0 <= place < len(shape.shown)] != [*relation.key]:
        return f"the key at {list(shape.keys)} of {list(shape.shown)}, expected {list(relation.key)} there"
    return _why_no_output(shape, relation)


def _why_no_output(shape: FilterShape, relation: Relation) -> str:
    for function, column in ((output.function, output.column) for output in shape.outputs):
        if function not in FUNCTIONS or (column is None and function != "count"):
            return f"output `{function}` of {column!r}, expected {', '.join(FUNCTIONS)}"
        if column is not None and function != "count" and not is_summable(relation.column(column).type):
            return f"output `{function}`: column `{column}` is {relation.column(column).type}; only numbers have sums"
    return ""

"""Reads to whom a table's rows are told: WITH ('audience'='age:for_age, region:for_region').

Each pair is an attribute that subscribers have, and the column that says which of them a row is for: a range column
holds the values that it is for, any other the one value. So publishers choose their subscribers as these choose
publications (Subject spaces, section 3.1: a publication has a filter of its own), and a row changes its audience as it
changes anything else.

NULL in such a column means what `null.range` says: `nothing`, the row is for nobody, or `everything`, for everybody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from catalog.ddl.given_options import GivenOptions, Option
from catalog.schema.relation import Audience, Column
from catalog.sql.errors import suggestion

_PAIR = re.compile(r'\s*([A-Za-z_][A-Za-z0-9_]*)\s*:\s*(?:"((?:[^"]|"")+)"|([^":,\s]+))\s*(?:,|$)', re.ASCII)
_FORM = "Write 'audience'='age:for_age, region:for_region': attributes of subscribers, each with a column."


def read_audience(given: GivenOptions, table: str, columns: Sequence[Column]) -> Audience:
    """Return pairs of attribute and column, () where the option is not given.

    Raises CatalogError: `malformed`, `conflict`, `unknown_column`.
    """
    option = given.get("audience")
    if option is None:
        return ()
    pairs = _pairs(option.value)
    if not pairs:
        what = f"audience lists pairs of an attribute and a column, got {option.value[:60]!r}"
        raise given.source.refusal("malformed", what, option.value_span, _FORM)
    _check(given, option, table, pairs, [column.name for column in columns])
    return pairs


def _check(given: GivenOptions, option: Option, table: str, pairs: Audience, names: Sequence[str]) -> None:
    for i, (attribute, column) in enumerate(pairs):
        if column not in names:
            what = f"audience names `{column}`, which is no column of `{table}`"
            hint = suggestion(column, names, "column")
            raise given.source.refusal("unknown_column", what, option.value_span, hint)
        if any(attribute == other or column == another for other, another in pairs[:i]):
            what = f"audience names an attribute or a column twice: `{attribute}:{column}`"
            raise given.source.refusal("conflict", what, option.value_span, "Name each attribute and column once.")


def _pairs(value: str) -> Audience:
    """Return the pairs that `value` lists; none of them if it is no list of pairs.

    >>> _pairs('Age:For_Age, region:"For Region"'), _pairs("age"), _pairs("a:b,")
    ((('age', 'for_age'), ('region', 'For Region')), (), ())
    """
    pairs, at = list[tuple[str, str]](), 0
    while at < len(value):
        found = _PAIR.match(value, at)
        if found is None:
            return ()
        column = found[3].lower() if found[2] is None else found[2].replace('""', '"')
        pairs.append((found[1].lower(), column))
        at = found.end()
    return () if value.rstrip().endswith(",") else tuple(pairs)

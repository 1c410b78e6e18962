"""What each record format may and must be told in WITH (...), beside `topic`, `format` and `absent`.

    debezium-json
      schema        `inline`: every record carries its schema, which says how its values are written
      timestamp     how a TIMESTAMP is written where a record carries no schema: micros, millis, nanos, zoned
      date          the same of a DATE: days, iso
      decimal       the same of a DECIMAL: base64, string, number
      column.NAME   the same of the column NAME alone, and before the others
      placeholder   the text that stands for a large value that did not change

    avro
      schema.ID     the Avro schema that the registry's number ID stands for, where records are framed
      schema        the one Avro schema of all records, where they are not; or `registry`: they are framed, and the
                    registry has the schemas that are not listed
    protobuf
      schema.ID, schema   the same, each a descriptor set in base64 (`catalog/schema/proto_schema.py`)
      message       the message that rows are, by its full name; needed where `schema` has several
    csv
      delimiter     one character between fields, or '\\t' for a tab; a comma by default

A number such as 1772409599000000 does not say what it counts, and a text such as MTIz may be base64 or not. So a
table whose records may lack their schema, and which has a column of these types without a unit, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from catalog.schema.avro_names import AvroSchemaError
from catalog.schema.avro_schema import AvroSchema
from catalog.schema.proto_schema import ProtoSchema, ProtoSchemaError
from catalog.schema.relation import Column, Relation
from catalog.types.column_type import Kind

UNITS: dict[Kind, tuple[str, ...]] = {
    Kind.TIMESTAMP: ("micros", "millis", "nanos", "zoned"),
    Kind.DATE: ("days", "iso"),
    Kind.DECIMAL: ("base64", "string", "number"),
}
"""How values of a type may be written, where that is not plain."""
DELIMITER = ","
TAB = "\\t"
"""How a tab may be written as a delimiter, beside itself."""
REGISTRY = "registry"
PLACEHOLDER = "__debezium_unavailable_value"
_OF_COLUMN = "column."
_WORDS = frozenset(kind.value.lower() for kind in UNITS)
_LONGEST_PLACEHOLDER = 200


class OptionFault(Exception):
    """Why options do not fit: `option` is the one at fault (None: one is missing), `hint` what would work."""

    def __init__(self, option: str | None, code: str, what: str, hint: str) -> None:
        super().__init__(what)
        self.option = option
        self.code = code
        self.what = what
        self.hint = hint


def known_options(format: str) -> tuple[str, ...]:
    """Return the names of the options that a format adds."""
    return _FORMATS[format][0] if format in _FORMATS else ()


def read_format_options(
    format: str, given: Mapping[str, str], columns: Sequence[Column]
) -> tuple[tuple[str, str], ...]:
    """Return the options in canonical order and spelling. `given` has those that are not every table's.

    Raises OptionFault.
    """
    names, read = _FORMATS.get(format, ((), _nothing))
    for name in given:
        general = re.sub(r"^column\..*", "column.NAME", re.sub(r"^schema\.[0-9]{1,10}$", "schema.ID", name))
        if general not in names:
            raise OptionFault(name, "unsupported", f"there is no option `{name}`", "")
    return tuple(sorted(read(given, columns)))


def unit_of(relation: Relation, column: Column) -> str | None:
    """Return how values of `column` are written where a record carries no schema; None where that needs no word."""
    options = dict(relation.options)
    word = _word(column)
    return None if word is None else options.get(f"{_OF_COLUMN}{column.name}", options.get(word))


def reading(relation: Relation, columns: Iterable[Column]) -> dict[str, str]:
    """Return what the options say of how `columns` are read, by name: one that says so elsewhere says the same."""
    units = {f"unit of `{c.name}`": unit_of(relation, c) for c in columns}
    found = {name: unit for name, unit in units.items() if unit is not None}
    return found | {f"option {n}": v for n, v in relation.options if n not in _WORDS and not n.startswith(_OF_COLUMN)}


def _word(column: Column) -> str | None:
    return column.type.kind.value.lower() if column.type.kind in UNITS else None


def _debezium(given: Mapping[str, str], columns: Sequence[Column]) -> Iterable[tuple[str, str]]:
    made = {_spelled(name, columns): _debezium_value(name, value, columns) for name, value in given.items()}
    if made.get("schema") != "inline":
        for column in columns:
            word = _word(column)
            if word is not None and word not in made and f"{_OF_COLUMN}{column.name}" not in made:
                raise _no_unit(column, word)
    return made.items()


def _debezium_value(name: str, value: str, columns: Sequence[Column]) -> str:
    if name == "placeholder":
        if not 1 <= len(value) <= _LONGEST_PLACEHOLDER:
            what = f"a placeholder has 1 to {_LONGEST_PLACEHOLDER} characters"
            raise OptionFault(name, "malformed", what, f"Debezium's own is '{PLACEHOLDER}'.")
        return value
    return _one_of(name, value, ("inline",) if name == "schema" else _units(name, columns))


def _units(name: str, columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the units that an option may name."""
    if not name.startswith(_OF_COLUMN):
        return UNITS[Kind[name.upper()]]
    column = _column_of(name, columns)
    if column is None:
        known = ", ".join(f"`{c.name}`" for c in columns)
        what = f"option `{name}` is about no column of the table"
        raise OptionFault(name, "unknown_column", what, f"The columns are {known}.")
    if column.type.kind not in UNITS:
        what = f"column `{column.name}` is {column.type}, of which no unit can be said"
        raise OptionFault(name, "unsupported", what, f"Units belong to {', '.join(k.value for k in UNITS)}.")
    return UNITS[column.type.kind]


def _column_of(name: str, columns: Sequence[Column]) -> Column | None:
    """Return the column that an option is about; names of options come in lower case."""
    named = name.removeprefix(_OF_COLUMN)
    return next((c for c in columns if name.startswith(_OF_COLUMN) and c.name.lower() == named), None)


def _spelled(name: str, columns: Sequence[Column]) -> str:
    column = _column_of(name, columns)
    return name if column is None else f"{_OF_COLUMN}{column.name}"


def _one_of(name: str, value: str, known: tuple[str, ...]) -> str:
    if value.lower() not in known:
        what = f"{name} {value[:60]!r} is not known"
        raise OptionFault(name, "unsupported", what, f"Known: {', '.join(known)}.")
    return value.lower()


def _no_unit(column: Column, word: str) -> OptionFault:
    what = f"nothing says how Debezium writes the {column.type.kind.value} of column `{column.name}`"
    hint = (
        f"Write WITH ('{word}'='{UNITS[column.type.kind][0]}') or another of {', '.join(UNITS[column.type.kind])}, "
        f"for this column alone '{_OF_COLUMN}{column.name}'='...', or 'schema'='inline' if each record has its schema."
    )
    return OptionFault(None, "malformed", what, hint)


def _avro(given: Mapping[str, str], columns: Sequence[Column]) -> Iterable[tuple[str, str]]:
    """Check every schema, so that no record can meet one that is none."""
    schemas, given = _schemas(given, "{...}")
    for name, text in schemas.items():
        try:
            AvroSchema(text, name)
        except AvroSchemaError as error:
            raise OptionFault(name, "malformed", str(error), "Take it from the registry as it is.") from None
    return given.items()


def _protobuf(given: Mapping[str, str], columns: Sequence[Column]) -> Iterable[tuple[str, str]]:
    """Check every schema, and that one has the message."""
    message, made = given.get("message", ""), []
    schemas, given = _schemas(given, "@trade.desc")
    for name, text in schemas.items():
        try:
            made.append(ProtoSchema(text, name))
            if name != "schema":
                made[-1].only_root()
        except ProtoSchemaError as error:
            hint = "Make it by `protoc --include_imports --descriptor_set_out=trade.desc trade.proto`, one file."
            raise OptionFault(name, "malformed", str(error), hint) from None
    if "schema" in schemas or (message and REGISTRY not in given.values()):
        _check_message(message, made)
    return given.items()


def _check_message(message: str, schemas: Sequence[ProtoSchema]) -> None:
    """Refuse a message that no schema has."""
    faults = []
    for schema in schemas:
        try:
            schema.message(message)
        except ProtoSchemaError as error:
            faults.append(str(error))
    if len(faults) == len(schemas):
        hint = "Name one, with its package: 'message'='shop.Trade'."
        raise OptionFault("message" if message else None, "malformed", faults[0], hint)


def _schemas(given: Mapping[str, str], shown: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the schemas, and all options: those of the registry's numbers, or the one of all records."""
    schemas = {name: text for name, text in given.items() if name != "message"}
    if schemas.get("schema", "").lower() == REGISTRY:
        given = {**given, "schema": schemas.pop("schema").lower()}
    elif not schemas or ("schema" in schemas and len(schemas) > 1):
        what = "records are framed with schemas' numbers, or all of one schema: the table says neither or both"
        hint = (
            f"Write WITH ('schema.7'='{shown}') for each number, or 'schema'='registry' if the registry is to be "
            f"asked, or 'schema'='{shown}' where records are not framed."
        )
        raise OptionFault(None, "malformed", what, hint)
    for name in schemas:
        if name != "schema" and int(name.removeprefix("schema.")) >= 1 << 32:
            raise OptionFault(name, "malformed", "a schema's number has 32 bits", "Look it up in the registry.")
    return schemas, given


def _csv(given: Mapping[str, str], columns: Sequence[Column]) -> Iterable[tuple[str, str]]:
    delimiter = given.get("delimiter", DELIMITER)
    if delimiter == TAB:
        return {**given, "delimiter": "\t"}.items()
    if len(delimiter) != 1 or delimiter in '"\r\n':
        what = f"a delimiter is one character, no quote and no line break, got '{delimiter[:20]}'"
        raise OptionFault("delimiter", "malformed", what, f"Usual are ',', ';', '|' and '{TAB}' (a tab).")
    return given.items()


def _nothing(given: Mapping[str, str], columns: Sequence[Column]) -> Iterable[tuple[str, str]]:
    return ()


_Reader = Callable[[Mapping[str, str], Sequence[Column]], Iterable[tuple[str, str]]]
_FORMATS: dict[str, tuple[tuple[str, ...], _Reader]] = {
    "json": ((), _nothing),
    "debezium-json": (("schema", "timestamp", "date", "decimal", "column.NAME", "placeholder"), _debezium),
    "avro": (("schema", "schema.ID"), _avro),
    "protobuf": (("schema", "schema.ID", "message"), _protobuf),
    "csv": (("delimiter",), _csv),
}
FORMATS = tuple(_FORMATS)
"""Formats that a table can be declared with; `connectors` has a decoder for each."""

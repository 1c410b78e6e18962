"""Avro schemas as writers used them: what a datum is, and what each field's values are."""

from __future__ import annotations

import json
from collections.abc import Mapping

from catalog.schema.avro_names import AvroSchemaError, resolved
from catalog.schema.avro_type import AvroRecord, AvroType, scalar_type

_LONGEST_FAULT = 300


class AvroSchema:
    """One writer's schema. `fields`: type by field of a record, None where it is no single scalar; `whole`: that of
    any other datum; `datum`: the type of all of it; `label` says which schema it is.
    """

    def __init__(self, text: str, label: str) -> None:
        """Parse `text`; `label` says which schema it is. Raises AvroSchemaError."""
        try:
            document = json.loads(text)
            self.datum = resolved(document)
        except AvroSchemaError as error:
            raise AvroSchemaError(f"no Avro schema: {error}"[:_LONGEST_FAULT]) from None
        except ValueError:
            raise AvroSchemaError("no Avro schema: not a JSON text") from None
        except RecursionError:
            raise AvroSchemaError("no Avro schema: nested too deep") from None
        self.is_record = isinstance(self.datum, AvroRecord) and document.get("type") == "record"
        record = self.datum if isinstance(self.datum, AvroRecord) and self.is_record else None
        self.fields: Mapping[str, AvroType | None] = (
            {name: scalar_type(type_) for name, type_ in record.fields} if record is not None else {}
        )
        self.whole = None if record is not None else scalar_type(self.datum)
        self.label = f"{label} `{record.full_name}`" if record is not None else label

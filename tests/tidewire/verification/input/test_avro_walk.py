"""The walk ends where fastavro's writer has ended, whatever it has written, and nowhere earlier."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from tests.connectors.avro_samples import Sample, samples
from tests.effort import examples
from tidewire.verification.input.avro_walk import Walk
from tidewire.verification.input.decoding import Bad
from tidewire.verification.schemas.avro_schemas import avro_schema


@settings(max_examples=examples(200), deadline=None)
@given(samples())
def test_a_walk_goes_over_all_that_was_written(sample: Sample) -> None:
    schema = avro_schema(json.dumps(sample.schema))
    assert Walk(schema, sample.data + b"?").over(schema.whole) == sample.data
    with pytest.raises(Bad):
        Walk(schema, sample.data[:-1]).over(schema.whole)


@pytest.mark.parametrize(
    ("data", "sound"),
    [
        (b"\2\2\0", True), (b"\1\2\2\0", True), (b"\4\2\4\0", True), (b"\0", True), (b"\2\2\2\2\0", True),
        (b"\1\4\2\0", False), (b"\3\0\2\0", False), (b"\4\2\0", False), (b"\6\2\2", False), (b"", False),
    ],
)  # fmt: skip
def test_blocks(data: bytes, sound: bool) -> None:
    schema = avro_schema('{"type":"array","items":"int"}')
    if sound:
        assert Walk(schema, data).over(schema.whole) == data
    else:
        with pytest.raises(Bad):
            Walk(schema, data).over(schema.whole)

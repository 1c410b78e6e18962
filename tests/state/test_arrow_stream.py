import pyarrow as pa
import pytest

from state.arrow_stream import stream_of

BATCH = pa.RecordBatch.from_pydict({"n": pa.array([1, None, 3]), "text": ["a", "", None]}, metadata={b"k": b"v"})


@pytest.mark.parametrize("records", [BATCH, BATCH.slice(1), pa.Table.from_batches([BATCH, BATCH])])
def test_records_come_back_with_their_schema(records):
    with pa.ipc.open_stream(stream_of(records)) as reader:
        assert reader.schema.equals(records.schema, check_metadata=True)
        assert reader.read_all().to_pylist() == records.to_pylist()

"""Arrow IPC: a table or a batch of records as one binary value."""

from __future__ import annotations

import pyarrow as pa


def stream_of(records: pa.Table | pa.RecordBatch) -> bytes:
    """Return `records` as an Arrow IPC stream, not compressed. Cost: O(bytes)."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, records.schema) as writer:
        writer.write(records)
    return bytes(sink.getvalue().to_pybytes())

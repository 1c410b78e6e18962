"""Packed messages of which each has a cause of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from operators.operator import Messages
from operators.packed import Header, pack_messages
from state.causes import Causes
from state.change_batch import I64


def pack_apart(header: Header, messages: Messages, seq: I64, partition: I64, offset: I64) -> bytes:
    """Return one record of messages, the cause of each at its partition and offset."""
    count = len(messages)
    causes = Causes(["t"], np.zeros(count, np.int32), np.asarray(partition).astype(np.int32), np.asarray(offset))
    return pack_messages(header, replace(messages, cause=np.arange(count, dtype=np.int32)), seq, causes)

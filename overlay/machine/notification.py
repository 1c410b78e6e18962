"""Records of `notifications` as a virtual edge reads them: chunks of batches, and control records."""

from __future__ import annotations

from operators.control import ControlError, EpochBegins, Progress, RegisterAll, Silence, Withdraw, Write, decode_control
from operators.packed import Packed, PackedError, PackedSnapshot, is_packed, unpack
from operators.record_error import RecordError
from overlay.maintain.batch_buffer import Chunk
from state.errors import TidewireError

_CHUNKS_SHARED = 48

_shared: dict[bytes, Packed] = {}
"""Virtual edges that want the same shapes are sent the very same chunks: a process unpacks them once.

A snapshot answers one virtual edge. Kept, the rows of the last 48 would be there for good, 1,100 bytes a filter.
"""

Control = EpochBegins | RegisterAll | Progress


class NotificationError(TidewireError):
    """A record in `notifications` was written by a newer engine: nobody here knows what it says."""

    code = "notification"


def read_notification(value: bytes, where: str) -> Chunk | Control:
    """Read a notification, which stands at `where`. Cost: 0.1 ms for a chunk that no other virtual edge has read.

    Raises RecordError if an edge cannot take it, NotificationError if a newer engine wrote it.
    """
    try:
        return _read(value)
    except RecordError as error:
        if not error.newer:
            raise
        raise NotificationError(
            f"{where} cannot be read: {error}. Run an edge of the engine's version, which goes on from here."
        ) from error


def _unpack_shared(value: bytes) -> Packed:
    """Unpack a record, or find it among the last that other virtual edges may have been sent too."""
    packed = _shared.get(value)
    if packed is None:
        packed = unpack(value)
        if not isinstance(packed, PackedSnapshot):
            if len(_shared) >= _CHUNKS_SHARED:
                del _shared[next(iter(_shared))]
            _shared[value] = packed
    return packed


def _read(value: bytes) -> Chunk | Control:
    if is_packed(value):
        packed = _unpack_shared(value)
        if isinstance(packed, Chunk):
            return packed
        raise PackedError("it holds what edges write, expected messages, images or a snapshot")
    control = decode_control(value)
    if isinstance(control, Withdraw | Write | Silence):
        what = str(control.__struct_config__.tag)
        raise ControlError(f"a `{what}` stands there, expected epoch, register or progress")
    return control

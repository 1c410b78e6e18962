"""What shapes and channels have in common: a canonical text is their identity on the wire and in what is stored."""

from __future__ import annotations

import msgspec


class Keyed(msgspec.Struct, frozen=True, order=True, array_like=True):
    """Something that equals whatever has the same `key`."""

    @property
    def key(self) -> str:
        """Canonical text: a JSON array of its members, of which the first is the tag of its kind, a number."""
        return msgspec.json.encode(self).decode()


class KeyedShape(Keyed, frozen=True, order=True, array_like=True):
    """A shape, which acknowledgements show too."""

    @property
    def acknowledged(self) -> str:
        """Canonical text of the shape as acknowledgements show it: without the tag."""
        return msgspec.json.encode(msgspec.structs.astuple(self)).decode()

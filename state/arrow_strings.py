"""Many byte strings or texts, some of them missing, as one Arrow array that looks like a sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar, overload

import pyarrow as pa

from state.change_batch import I64

T = TypeVar("T", bytes, str)


class ArrowStrings(Sequence["T | None"], Generic[T]):
    """A sequence of `bytes | None`, or of `str | None`, that makes Python objects only of what is looked at.

    Cost: 0.3 us to look at one, 30 ns each to list all, 10 ns each to take or to join.
    """

    __slots__ = ("array",)

    def __init__(self, array: pa.Array) -> None:
        """Take an array of large_binary or large_string that begins at the beginning of its buffers."""
        self.array = array

    @classmethod
    def of_bytes(cls, values: Sequence[bytes | None] | pa.Array) -> ArrowStrings[bytes]:
        """Return byte strings in this form; what has it already as it is. Cost: 30 ns each for a list."""
        if isinstance(values, ArrowStrings):
            return values
        array = values if isinstance(values, pa.Array) else pa.array(values, pa.large_binary())
        if array.type != pa.large_binary():
            array = array.cast(pa.large_binary())
        return ArrowStrings(pa.concat_arrays([array]) if array.offset else array)

    @classmethod
    def joined(cls, parts: Sequence[Sequence[bytes | None]]) -> ArrowStrings[bytes]:
        """Return parts of byte strings end to end."""
        return ArrowStrings(pa.concat_arrays([cls.of_bytes(part).array for part in parts]))

    def taken(self, places: I64) -> ArrowStrings[T]:
        """Return the strings at `places`."""
        return ArrowStrings(self.array.take(pa.array(places)))

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[T | None]:
        return iter(self.array.to_pylist())

    @overload
    def __getitem__(self, place: int) -> T | None: ...
    @overload
    def __getitem__(self, place: slice) -> ArrowStrings[T]: ...
    def __getitem__(self, place: int | slice) -> T | ArrowStrings[T] | None:
        if isinstance(place, slice):
            return ArrowStrings(pa.concat_arrays([self.array[place]]))
        found: T | None = self.array[int(place)].as_py()
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ArrowStrings({list(self)!r})"

"""What a slot has of text: its id, and behind it the literals of its statement, in one arena.

    data       person-0000001'NYSE' 10.5 12.5|person-0000002...
    id_sizes   14                             14                   the rest are literals (`table/statement_texts.py`)

Cost: 12 bytes a slot beside the texts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from overlay.arena.growable_column import widened
from overlay.arena.key_kernels import U8, U32, gather
from overlay.arena.key_table import KeyTable
from overlay.arena.text_arena import TextArena, cut, sizes_of
from overlay.table.statement_texts import WHOLE, Parts, StatementTexts, written
from state.change_batch import I64, Bool

I16 = npt.NDArray[np.int16]
U16 = npt.NDArray[np.uint16]


class SlotTexts:
    """Ids and statements by slot; ids are found through a table. It is a `KeyStore` of the ids."""

    def __init__(self) -> None:
        self._arena = TextArena()
        self._by_id = KeyTable(self)
        self._statements = StatementTexts()
        self.lengths: U16 = np.zeros(0, np.uint16)
        self._template: I16 = np.full(0, WHOLE, np.int16)

    @property
    def data(self) -> U8:
        """All bytes."""
        return self._arena.data

    @property
    def starts(self) -> U32:
        """Where each slot's id begins."""
        return self._arena.starts

    def reserve(self, slots: int) -> None:
        """Make room for slots below `slots`."""
        self._arena.reserve(slots)
        self.lengths = widened(self.lengths, slots)
        self._template = widened(self._template, slots, WHOLE)

    def put(
        self, slots: I64, ids: Sequence[bytes], templates: Sequence[Parts], places: I64, literals: Sequence[bytes]
    ) -> None:
        """Take in slots that have no text. Statement i is made of templates[places[i]] and literals[i], packed."""
        times = np.bincount(places, minlength=len(templates)).tolist()
        numbers = [self._statements.enter(*one) for one in zip(templates, times, strict=True)]
        if WHOLE in numbers:
            literals = [
                text if numbers[place] != WHOLE else written(templates[place], text).encode()
                for place, text in zip(places.tolist(), literals, strict=True)
            ]
        self._template[slots] = np.array(numbers, np.int16)[places]
        self._arena.put_all(slots, [key + text for key, text in zip(ids, literals, strict=True)])
        self.lengths[slots] = sizes_of(ids)
        self._by_id.add(slots)

    def free(self, slots: I64) -> None:
        """Forget the texts of slots."""
        self._by_id.remove(slots)
        self.clear(slots)

    def clear(self, slots: I64) -> None:
        """Forget the texts of slots, while ids cannot be found (`rebuild` follows)."""
        self._statements.leave(self._template[slots].tolist())
        self._template[slots] = WHOLE
        self._arena.drop(slots)
        self.lengths[slots] = 0

    def used(self, size: int) -> Bool:
        """Whether each of the first `size` slots has an id."""
        return self.lengths[:size] > 0

    def find_one(self, key: bytes) -> tuple[int, int]:
        """Return the slots of an id, -1 where there is none."""
        return self._by_id.find_one(key)

    def find(self, keys: Sequence[bytes]) -> I64:
        """Return the slots of ids as int64[m, 2], -1 where there is none."""
        return self._by_id.find(keys).astype(np.int64)

    def id(self, slot: int) -> bytes:
        """Return the id of a slot."""
        return self._arena.text(slot)[: int(self.lengths[slot])]

    def texts(self, entries: I64) -> list[bytes]:
        """Return the ids of slots. Cost: 0.1 us each."""
        return cut(*self.flat_ids(entries))

    def statement(self, slot: int) -> str:
        """Return the statement of a slot. Cost: 3 us."""
        return self._statements.text(int(self._template[slot]), self._arena.text(slot)[int(self.lengths[slot]) :])

    def flat_statements(self, slots: I64) -> tuple[bytes, I64]:
        """Return the statements of slots end to end in UTF-8, and the size of each. Cost: 0.3 us each."""
        sizes = self.lengths[slots].astype(np.int64)
        starts, rest = self.starts[slots] + sizes, self._arena.lengths[slots] - sizes
        return self._statements.texts(self._template[slots].astype(np.int64), self.data, starts, rest)

    def stored(self, slots: I64) -> tuple[tuple[bytes, I64], tuple[bytes, I64], list[Parts], I64]:
        """Return ids and literals end to end, with their sizes; templates, and of each slot the place of its own."""
        numbers, places = np.unique(self._template[slots], return_inverse=True)
        whole = len(numbers) > 0 and int(numbers[0]) == WHOLE
        templates = [self._statements.parts(number) for number in numbers.tolist()[whole:]]
        return self.flat_ids(slots), self._literals(slots), templates, places - whole

    def put_stored(
        self, slots: I64, ids: tuple[bytes, I64], literals: tuple[bytes, I64], templates: list[Parts], places: I64
    ) -> None:
        """Take in what `stored` gave, for slots that have no text; after the last ones call `rebuild`."""
        numbers, times = np.full(len(templates) + 1, WHOLE, np.int16), np.bincount(places + 1, minlength=1)
        for place in (times[1:] > 0).nonzero()[0].tolist():
            numbers[place] = self._statements.enter_parts(templates[place], int(times[place + 1]))
        self._template[slots] = numbers[places]
        both = [key + text for key, text in zip(cut(*ids), cut(*literals), strict=True)]
        self._arena.put_all(slots, both)
        self.lengths[slots] = ids[1]

    def rebuild(self, slots: I64) -> None:
        """Let the ids of `slots`, which are all that have one, be found."""
        self._by_id.rebuild(slots)

    def flat_ids(self, slots: I64) -> tuple[bytes, I64]:
        """Return the ids of slots end to end, and the size of each."""
        return _flat(self.data, self.starts[slots].astype(np.int64), self.lengths[slots].astype(np.int64))

    def _literals(self, slots: I64) -> tuple[bytes, I64]:
        sizes = self.lengths[slots].astype(np.int64)
        return _flat(self.data, self.starts[slots] + sizes, self._arena.lengths[slots] - sizes)

    def check(self, slots: I64) -> None:
        """Check that exactly `slots` have texts, and that all of them are found and counted."""
        self._arena.check()
        self._by_id.check(slots)
        self._statements.check(self._template[slots].tolist())
        assert (self.lengths > 0).nonzero()[0].tolist() == slots.tolist(), (self.lengths, slots)
        assert (self._arena.lengths >= self.lengths).all(), "an id is longer than its text"


def _flat(data: U8, starts: I64, sizes: I64) -> tuple[bytes, I64]:
    out = np.empty(int(sizes.sum()), np.uint8)
    gather(np.arange(len(sizes)), data, starts, sizes, out)
    return out.tobytes(), sizes

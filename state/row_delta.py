"""What a batch did to rows, net: which keys are gone, and which have an image that they did not have before.

    batch    1: x=5   2: x=7   1: x=6   3: x=1   3: delete   2: delete        (1 and 2 were there, 3 was not)
    delta    gone: 2           1: x=6

A row store and the deltas of the batches since are the store of now, to the byte (`RowStore.replay_delta`): rows that
are new stand in the order of their first appearance, and `texts` in the order of their numbers. The numbers of texts
would follow from nothing else, as a text that comes first may be of a row that stands last, or gone by the end.

Cost: O(changes), in time and bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from state.blob import Section
from state.byte_table import Strings
from state.change_batch import I32, I64, Bool, ChangeBatch
from state.stored_columns import Sections, narrow, read_images, read_strings, write_images, write_strings


@dataclass(frozen=True, slots=True)
class RowDelta:
    """k rows that came or changed, ascending by row number, and the keys of those that went.

    home: int32[k], the partition of each.  codes: int64[columns, k], in a text column places in `texts`.
    valid: bool[columns, k].  texts: of each text column those that the images name, by number.
    moved: `RowStore.moved_partitions` after the batch.
    """

    gone: Strings
    keys: Strings
    home: I32
    codes: I64
    valid: Bool
    texts: dict[int, Strings]
    moved: int

    def __len__(self) -> int:
        return len(self.gone) + len(self.keys)

    def changes(self) -> ChangeBatch:
        """Return the changes that do the same: deletes, then one upsert a row. Cost: 0.2 us a change."""
        deletes, changes = len(self.gone), len(self)
        codes, valid = np.zeros((len(self.codes), changes), np.int64), np.zeros((len(self.codes), changes), np.bool_)
        codes[:, deletes:], valid[:, deletes:] = self.codes, self.valid
        texts: dict[int, list[str | None]] = {}
        for column, strings in self.texts.items():
            held = strings.texts
            images = zip(self.codes[column].tolist(), self.valid[column].tolist(), strict=True)
            texts[column] = [*[None] * deletes, *(held[code] if there else None for code, there in images)]
        return ChangeBatch(
            [strings[i] for strings in (self.gone, self.keys) for i in range(len(strings))],
            np.arange(changes) >= deletes,
            codes,
            valid,
            dict(texts),
            np.concatenate([np.zeros(deletes, np.int32), self.home]),
            np.zeros(changes, np.int64),
        )

    def sections(self) -> Sections:
        """Return all of it as named sections."""
        out: Sections = {"moved": np.array([self.moved]), "home": narrow(self.home)}
        write_strings(out, "gone", self.gone)
        write_strings(out, "key", self.keys)
        for column, strings in self.texts.items():
            write_strings(out, f"text/{column}", strings)
        write_images(out, self.codes, self.valid)
        return out

    @classmethod
    def from_sections(cls, columns: int, texts: Collection[int], sections: Mapping[str, Section]) -> RowDelta:
        """Read what `sections` wrote; columns that were not there yet are NULL."""
        keys = read_strings(sections, "key")
        held = {c: read_strings(sections, f"text/{c}") for c in texts if f"text/{c}/bytes" in sections}
        return cls(
            read_strings(sections, "gone"),
            keys,
            np.array(sections["home"], np.int32),
            *read_images(sections, columns, len(keys)),
            {c: held.get(c, Strings.of([])) for c in texts},
            int(np.asarray(sections["moved"])[0]),
        )

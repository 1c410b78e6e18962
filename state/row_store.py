"""The rows of one relation's shard as flat columns, and the replay of a batch of changes over them.

Rows are numbered 0..n-1 in the order of their primary keys' first appearance. A column is one int64 array: order
codes, or for text the number in the column's dictionary. NULL is code 0 with its validity bit off.

Idea: an image of a row is a *version*, a column number in one matrix. The n stored rows are versions 0..n-1,
and change i of a batch writes version n + i. A replay then only says, for every change, which version was
there before and which one after; whoever needs the images reads them out of the matrix, vectorised.

    change          0: a=5     1: a=7     2: delete  3: a=7     (all of the key of row 0; n = 3)
    before         0          3          4          -1
    after          3          4          -1         6

A change to an identical image, and a delete of an absent key, have before = after. Members that were absent
and keep the stored value (`ChangeBatch.kept`) are filled in on the way, since they hang on what came before.

Versions keep their numbers until `commit`, and `Replay.lifetimes` says when each was there (`state/lifetimes.py`). Some
columns of the matrix are no version: those of deletes and of identical images. What runs over the matrix meets these,
and versions that are there no more, and must not take them for rows.

A text column that something orders by is *ranked* (`rank`): its dictionary is sorted by value (state/text_rank.py),
so its numbers are order codes. A batch that brings new texts to it renumbers the column, which costs O(n).

Invariants (`check`): 1 primary keys are distinct; every column has n entries. 2 NULL has code 0. 3 Text numbers
lie in their dictionary. 4 A ranked column's dictionary is sorted.
Cost: O(n + m) a batch, n rows and m changes, c columns: 20 ns * c a row and 0.1 us a change.
Deviation: texts are referred to by number, and a commit sweeps their dictionary of unused entries; that keeps the
numbers' order, so orderings by number stay sorted.
A store follows from an earlier one and the net changes of each batch since (state/row_delta.py), numbers of texts
included: that is why the sweep is a part of every commit, not of being written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numba
import numpy as np

from state import text_rank
from state.arrow_strings import ArrowStrings
from state.blob import Section
from state.byte_table import ByteTable, Strings
from state.change_batch import I32, I64, Bool, ChangeBatch
from state.lifetimes import Lifetimes
from state.row_delta import RowDelta
from state.stored_columns import Sections, narrow, read_images, read_strings, write_images, write_strings


@numba.njit(cache=True)
def _fill_kept(codes: I64, valid: Bool, kept: Bool, i: int, old: int, new: int) -> None:
    """Give the kept members of change i the values of version `old`; without one they are as the change says."""
    if old < 0:
        return
    for c in range(kept.shape[0]):
        if kept[c, i]:
            codes[c, new] = codes[c, old]
            valid[c, new] = valid[c, old]


@numba.njit(cache=True)
def _same_image(codes: I64, valid: Bool, one: int, other: int) -> bool:
    for c in range(codes.shape[0]):
        if codes[c, one] != codes[c, other] or valid[c, one] != valid[c, other]:
            return False
    return True


@numba.njit(cache=True)
def _replay(
    codes: I64,
    valid: Bool,
    kept: Bool,
    live: Bool,
    entry: I32,
    stored: int,
    source: I32,
    current: I64,
    home: I32,
    before: I64,
    after: I64,
) -> int:
    """Walk the changes in order; return how many found their row in another partition than before.

    A `source` of -1 says nothing of it.
    """
    moved = 0
    for i in range(len(entry)):
        e = entry[i]
        old = current[e]
        new = -1
        if old >= 0 and source[i] >= 0 and home[e] != source[i]:
            moved += 1
        if live[i]:
            new = stored + i
            _fill_kept(codes, valid, kept, i, old, new)
            home[e] = source[i]
            if old >= 0 and _same_image(codes, valid, old, new):
                new = old
        before[i] = old
        after[i] = new
        current[e] = new
    return moved


ENTRIES = (_replay,)
"""The kernels that are called from Python."""


@dataclass(slots=True)
class Replay:
    """What a batch of m changes did to n rows. Versions are columns of `codes` and `valid`; -1 = no row.

    before, after: int64[m], the version that each change found and left (equal: nothing changed).
    current: int64[entries], the version each primary key ended with; entries are the rows, then the new keys.
    rows: n.  home: int32[entries], Kafka partition of each.  moved: changes that came from another partition.
    cause: int32[m], the number of each change's cause.  entry: int32[m], the entry that each change is about.
    """

    rows: int
    codes: I64
    valid: Bool
    before: I64
    after: I64
    current: I64
    home: I32
    moved: int
    cause: I32
    entry: I32

    def lifetimes(self) -> Lifetimes:
        """Return when the versions that the changes touched were there. Cost: O(m log m), at each call."""
        return Lifetimes.of(self.rows, self.before, self.after, self.cause)


@dataclass(frozen=True, slots=True)
class Net:
    """What a commit changed: the keys that are gone, and the rows (int64, ascending) that are new or not as before."""

    gone: Strings
    rows: I64

    @classmethod
    def nothing(cls) -> Net:
        """Return what a commit of no changes changes."""
        return cls(Strings.of([]), np.zeros(0, np.int64))


class RowStore:
    """Rows by exact primary key. `columns` is how many there are, `texts` which of them hold text."""

    __slots__ = ("_codes", "_dictionaries", "_home", "_keys", "_unswept", "_valid", "moved_partitions", "ranked")

    def __init__(self, columns: int, texts: tuple[int, ...] = ()) -> None:
        self._keys = ByteTable()
        self._codes = np.zeros((columns, 0), np.int64)
        self._valid = np.zeros((columns, 0), np.bool_)
        self._home = np.zeros(0, np.int32)
        self._dictionaries = {column: ByteTable() for column in texts}
        self._unswept: set[int] = set()
        self.moved_partitions = 0
        """Changes, ever, of a row that came from another Kafka partition than the one before."""
        self.ranked: dict[int, bool] = {}
        """The ranked columns, and whether their texts are decimals; to add one, use `rank`."""

    def __len__(self) -> int:
        return len(self._keys)

    def key(self, row: int) -> bytes:
        """Return the primary key of row number `row`."""
        return self._keys.strings[row]

    def keys_of(self, entries: I32 | I64) -> Strings:
        """Return the primary keys of entries (`Replay`). Cost: 1 ns a byte."""
        return self._keys.strings.take(entries)

    def find(self, keys: Sequence[bytes] | Strings) -> I32:
        """Return the row number of each primary key, -1 where there is none. Cost: O(n + keys)."""
        return self._keys.look_up(keys if isinstance(keys, Strings) else Strings.of(keys))

    def image(self, row: int) -> list[int | str | None]:
        """Return the order codes and texts of a row, None for NULL. Cost: 0.5 us a column."""
        codes, valid = self._codes[:, row].tolist(), self._valid[:, row].tolist()
        values: list[int | str | None] = [code if there else None for code, there in zip(codes, valid, strict=True)]
        for column in self._dictionaries:
            if valid[column]:
                values[column] = self.text(column, codes[column])
        return values

    def text(self, column: int, number: int) -> str:
        """Return the text that a text column's dictionary has under `number`."""
        return self._dictionaries[column].strings[number].decode()

    def numbers_of(self, column: int, texts: list[str]) -> I32:
        """Return the dictionary number of each text, -1 for texts that no row ever held. Cost: O(dictionary)."""
        return self._dictionaries[column].look_up(Strings.of(texts))

    def texts_of(self, column: int, numbers: I64) -> list[str]:
        """Return the texts under these numbers. Cost: 60 ns each where all are ASCII, else 0.2 us."""
        return self._dictionaries[column].strings.take(numbers).texts

    def strings_of(self, column: int) -> Strings:
        """Return the texts of a text column, each under its number; there may be some that no row holds any more."""
        return self._dictionaries[column].strings

    def rank(self, columns: Mapping[int, bool]) -> set[int]:
        """Keep exactly these text columns ranked (True: its texts are decimals); return those whose numbers changed.

        What refers to numbers of these, or is sorted by them, must be made anew.
        Cost: O(n log n) for each column that is new, nothing for the others.
        """
        fresh = {column for column in columns if column not in self.ranked}
        self.ranked = dict(columns)
        return {column for column in sorted(fresh) if self._renumber(column, 0, (self._codes, self._valid))}

    def places_of(self, column: int, bounds: Sequence[bytes], past: Sequence[bool]) -> I64:
        """Return how many texts of a ranked column are below each bound, counting an equal one where `past`."""
        strings = self._dictionaries[column].strings
        return text_rank.places(strings, Strings.of(bounds), np.array(past, np.bool_), self.ranked[column])

    def still(self) -> Replay:
        """Return the replay of no changes: the rows as they are. Cost: O(n)."""
        none, nobody = np.zeros(0, np.int64), np.zeros(0, np.int32)
        rows = np.arange(len(self))
        return Replay(len(self), self._codes, self._valid, none, none, rows, self._home, 0, nobody, nobody)

    def replay(self, changes: ChangeBatch) -> Replay:
        """Work out what `changes` do, in their order; `commit` makes it so.

        Cost: O(n + m). Must be followed by `commit` of its result, since new keys and texts are numbered here.
        """
        rows, m = len(self), len(changes)
        entry = self._keys.intern(Strings.of(changes.keys))
        fresh = len(self._keys) - rows
        codes, valid = self._versions(changes)
        current = np.concatenate([np.arange(rows), np.full(fresh, -1)])
        home = np.concatenate([self._home, np.full(fresh, -1, np.int32)])
        before, after = np.empty(m, np.int64), np.empty(m, np.int64)
        kept = np.zeros((0, m), np.bool_) if changes.kept is None else np.array(changes.kept)
        live, source = np.array(changes.live, np.bool_), np.array(changes.partition, np.int32)
        if changes.implied is not None:
            source[changes.implied] = -1
        moved = _replay(codes, valid, kept, live, entry, rows, source, current, home, before, after)
        return Replay(rows, codes, valid, before, after, current, home, moved, changes.cause, entry)

    def pass_by(self, changes: ChangeBatch) -> Replay:
        """Return the replay of rows that come and are not kept, each with another key; the store, which is empty, is
        of no use afterwards but for their keys and texts.

        Cost: O(m), 10 ns a column, and 50 ns a text.
        """
        m = len(changes)
        self._keys = ByteTable(Strings.of(changes.keys))
        codes, valid = self._versions(changes)
        every, home = np.arange(m), np.array(changes.partition, np.int32)
        return Replay(
            0, codes, valid, np.full(m, -1), every, every.copy(), home, 0, changes.cause, every.astype(np.int32)
        )

    def replay_delta(self, delta: RowDelta) -> Replay:
        """Work out what `delta` does, as `replay` does: with its commit, the store is the one that `delta` is from.

        Cost: as `replay`.
        """
        for column, strings in delta.texts.items():
            if column not in self.ranked:
                self._dictionaries[column].intern(strings)
                self._unswept.add(column)
        replay = self.replay(delta.changes())
        replay.moved = delta.moved - self.moved_partitions
        return replay

    def commit(self, replay: Replay) -> Net:
        """Take over what `replay` left: rows keep their order, new ones follow. Sweep the dictionaries.

        What `replay` has must not be looked at any more: numbers of texts have changed.
        Cost: O(m) if no row came or went and no text, else O(n).
        """
        alive = replay.current >= 0
        self.moved_partitions += replay.moved
        gone = self._keys.strings.take(np.flatnonzero(~alive[: replay.rows]))
        differ = replay.current != np.arange(len(alive))
        differ[replay.rows :] = True
        differ[: replay.rows] |= replay.home[: replay.rows] != self._home
        rows = np.flatnonzero(differ[alive])
        if len(alive) == replay.rows and not len(gone):
            self._home = replay.home
            self._take_over(rows, replay)
        else:
            self._home = replay.home[alive]
            self._codes = np.take(replay.codes, replay.current[alive], axis=1)
            self._valid = np.take(replay.valid, replay.current[alive], axis=1)
            self._keys.keep(alive)
            self._sweep(self._dictionaries)
        return Net(gone, rows)

    def delta(self, net: Net) -> RowDelta:
        """Return what the last commit did; `net` is what it returned. Cost: O(changes)."""
        codes, valid, texts = self._codes[:, net.rows], self._valid[:, net.rows], {}
        for column, dictionary in self._dictionaries.items():
            there = valid[column]
            used, codes[column, there] = np.unique(codes[column, there], return_inverse=True)
            texts[column] = dictionary.strings.take(used)
        keys = self._keys.strings.take(net.rows)
        return RowDelta(net.gone, keys, self._home[net.rows], codes, valid, texts, self.moved_partitions)

    def sections(self) -> Sections:
        """Return the whole state as flat arrays, each as narrow as its values allow.

        Cost: O(n) a column.
        """
        out: Sections = {}
        write_strings(out, "key", self._keys.strings)
        out["home"] = narrow(self._home)
        out["moved"] = np.array([self.moved_partitions])
        for column, dictionary in self._dictionaries.items():
            write_strings(out, f"text/{column}", dictionary.strings)
        write_images(out, self._codes, self._valid)
        return out

    @classmethod
    def from_sections(cls, columns: int, texts: tuple[int, ...], sections: Mapping[str, Section]) -> RowStore:
        """Read what `sections` wrote; columns that were not there yet are NULL. Cost: O(n) a column."""
        store = cls(columns, texts)
        store._keys = ByteTable(read_strings(sections, "key"))
        store._home = np.array(sections["home"], np.int32)
        store.moved_partitions = int(np.asarray(sections["moved"])[0])
        store._codes, store._valid = read_images(sections, columns, len(store._keys))
        for column in texts:
            if f"text/{column}/bytes" in sections:
                store._dictionaries[column] = ByteTable(read_strings(sections, f"text/{column}"))
        return store

    def check(self) -> None:
        """Assert the invariants of the module's header. Cost: O(n)."""
        self._keys.check()
        shape = (len(self._codes), len(self))
        assert self._codes.shape == shape == self._valid.shape, f"1: {self._codes.shape}, keys give {shape}"
        assert len(self._home) == len(self), f"1: {len(self._home)} partitions of {len(self)} rows"
        assert not self._codes[~self._valid].any(), f"2: a NULL with a code in {self._codes}, {self._valid}"
        for column, dictionary in self._dictionaries.items():
            numbers = self._codes[column][self._valid[column]]
            inside = (numbers >= 0) & (numbers < len(dictionary))
            assert inside.all(), f"3: numbers {numbers} in column {column}, dictionary has {len(dictionary)}"
            if column in self.ranked:
                order = text_rank.order(dictionary.strings, 0, self.ranked[column])
                assert (order == np.arange(len(order))).all(), f"4: column {column} is not sorted: {order}"

    def _versions(self, changes: ChangeBatch) -> tuple[I64, Bool]:
        """Return codes and validity of the stored rows and, behind them, of the changes' images."""
        rows, columns = len(self._home), len(self._codes)
        codes = np.empty((columns, rows + len(changes)), np.int64)
        valid = np.empty(codes.shape, np.bool_)
        codes[:, :rows], valid[:, :rows] = self._codes, self._valid
        np.logical_and(changes.valid, changes.live, out=valid[:, rows:])
        np.multiply(changes.codes, valid[:, rows:], out=codes[:, rows:])
        for column, dictionary in self._dictionaries.items():
            codes[column, rows:] = 0
            there = np.flatnonzero(valid[column, rows:])
            stored = len(dictionary)
            codes[column, rows + there] = dictionary.intern(_held(changes.texts[column], there))
            if len(dictionary) > stored:
                self._unswept.add(column)
                if column in self.ranked:
                    self._renumber(column, stored, (codes, valid))
                    self._codes[column] = codes[column, :rows]
        return codes, valid

    def _renumber(self, column: int, first: int, versions: tuple[I64, Bool]) -> bool:
        """Sort a dictionary that is sorted up to `first`, and put the new numbers in; return whether any is new."""
        dictionary = self._dictionaries[column]
        order = text_rank.order(dictionary.strings, first, self.ranked[column])
        if (order == np.arange(len(order))).all():
            return False
        dictionary.strings = dictionary.strings.take(order)
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        codes, valid = versions[0][column], versions[1][column]
        codes[valid] = number[codes[valid]]
        return True

    def _take_over(self, rows: I64, replay: Replay) -> None:
        """Give `rows` their last versions, where no row came or went."""
        codes, valid = replay.codes[:, replay.current[rows]], replay.valid[:, replay.current[rows]]
        for column in self._dictionaries:
            other = (self._codes[column, rows] != codes[column]) | (self._valid[column, rows] != valid[column])
            if other.any():
                self._unswept.add(column)
        self._codes[:, rows], self._valid[:, rows] = codes, valid
        self._sweep(sorted(self._unswept))

    def _sweep(self, columns: Collection[int]) -> None:
        """Drop the texts that no row has, of these columns. Cost: O(n) a column."""
        for column in columns:
            dictionary, valid = self._dictionaries[column], self._valid[column]
            count = np.bincount(self._codes[column][valid], minlength=len(dictionary))
            if not count.all() or not dictionary.strings.dense:
                self._codes[column][valid] = dictionary.keep(count > 0)[self._codes[column][valid]]
        self._unswept.clear()


def _held(texts: Sequence[str | None], there: I64) -> Strings:
    """Return the texts at the places `there`, none of which is None."""
    if isinstance(texts, ArrowStrings):
        return Strings.of(texts if len(there) == len(texts) else texts.taken(there))
    return Strings.of([text for text in map(texts.__getitem__, there.tolist()) if text is not None])

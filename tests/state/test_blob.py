from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from state.blob import open_blob, read_blob, write_blob
from state.errors import StateError

MAGIC = b"TWTEST\x00\x00"
DTYPES = st.sampled_from(["<i8", "<i4", "|i1", "|u1", "<u2", "|b1", "<f8"])
ARRAYS = DTYPES.flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=1, max_dims=2, min_side=0)))
NAMES = st.text(min_size=1, max_size=5)


@settings(deadline=None)
@given(st.dictionaries(NAMES, st.one_of(st.binary(max_size=20), ARRAYS), max_size=5), st.text())
def test_sections_come_back(sections: dict[str, object], fingerprint: str) -> None:
    data = write_blob(MAGIC, 3, fingerprint, sections)  # type: ignore[arg-type]
    assert data == write_blob(MAGIC, 3, fingerprint, sections)  # type: ignore[arg-type]
    read = read_blob(data, MAGIC, 3, fingerprint)
    assert list(read) == list(sections)
    for name, section in sections.items():
        if isinstance(section, bytes):
            assert bytes(read[name]) == section
        else:
            assert isinstance(section, np.ndarray)
            assert np.asarray(read[name]).dtype == section.dtype
            np.testing.assert_array_equal(read[name], section)


def test_arrays_are_aligned_views_of_the_bytes() -> None:
    data = write_blob(MAGIC, 1, "f", {"a": b"xyz", "b": np.arange(4)})
    array = np.asarray(read_blob(data, MAGIC, 1, "f")["b"])
    assert array.flags.aligned
    assert not array.flags.writeable
    assert not array.flags.owndata


def test_a_mismatch_names_both_sides() -> None:
    data = write_blob(MAGIC, 1, "apples", {"a": np.arange(3)})
    with pytest.raises(StateError, match=r"TWTEST.*TWOTHER|TWOTHER.*TWTEST"):
        read_blob(data, b"TWOTHER\x00", 1, "apples")
    with pytest.raises(StateError, match="expected version 2, found 1"):
        read_blob(data, MAGIC, 2, "apples")
    with pytest.raises(StateError, match="expected pears, found apples"):
        read_blob(data, MAGIC, 1, "pears")
    assert open_blob(data, MAGIC, 1)[0] == "apples"


@given(st.data())
def test_every_damaged_byte_is_found(data: st.DataObject) -> None:
    blob = write_blob(MAGIC, 1, "apples", {"a": np.arange(3), "b": b"text"})
    at = data.draw(st.integers(0, len(blob) - 1))
    flipped = bytes([blob[at] ^ data.draw(st.integers(1, 255))])
    with pytest.raises(StateError):
        read_blob(blob[:at] + flipped + blob[at + 1 :], MAGIC, 1, "apples")


@given(st.integers(0, 200))
def test_every_cut_is_found(length: int) -> None:
    blob = write_blob(MAGIC, 1, "apples", {"a": np.arange(30)})
    with pytest.raises(StateError):
        read_blob(blob[:length], MAGIC, 1, "apples")

from __future__ import annotations

import re

import numpy as np
import pytest

from benchmarks.crowd import Crowd, Section
from connectors.topics import Topics


@pytest.mark.parametrize("section", [Section(2, 250, 1_000), Section(20, 100, 10_000), Section(200, 50, 25_000)])
def test_a_range_holds_one_row_at_most_and_a_row_is_in_about_k_ranges(section: Section) -> None:
    crowd = Crowd([section], section.rows, "stock")
    rows = np.array(crowd.rows(section.k)[0])
    asked = b"".join(record.value or b"" for record in crowd.subscriptions(Topics())).decode()
    bounds = np.array(re.findall(r"BETWEEN ([0-9.e-]+) AND ([0-9.e-]+)", asked), float)
    held = np.searchsorted(rows, bounds[:, 1], "right") - np.searchsorted(rows, bounds[:, 0])
    assert held.max() == 1
    assert held.sum() / section.rows == pytest.approx(section.k, rel=0.1)

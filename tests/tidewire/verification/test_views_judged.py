"""Deliveries of questions of views against a naive engine: right ones are clean, and each that is not is found."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import examples
from tests.tidewire.verification.simulated_engine import home
from tests.tidewire.verification.simulated_views import AskedOfView, AskedRowsOfView, SimulatedViews, simulate_views
from tests.tidewire.verification.test_joins_judged import another_cause, another_topic
from tests.tidewire.verification.test_rows_judged import (
    FAULTS,
    Fault,
    Told,
    deliveries,
    find_each,
    judged,
    renumbered,
    replaced,
)
from tidewire.verification.verify import verify


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 10**9))
def test_right_deliveries_are_clean(seed: int) -> None:
    report = verify(simulate_views(seed).journal())
    assert report.clean and report.unjudged == 0, report.faults
    assert report.right == report.deliveries

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.census import disk_by_kind, kind_of, live_of


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        (("broker", "log", "trade-3"), "trade"),
        (("broker", "log", "__consumer_offsets-0"), "__consumer_offsets"),
        (("broker", "log"), "other"),
        (("checkpoint", "state", "0"), "checkpoint"),
        ((), "other"),
    ],
)
def test_kinds(parts: tuple[str, ...], kind: str) -> None:
    assert kind_of(parts) == kind


def test_disk_is_what_is_taken(tmp_path: Path) -> None:
    for number in (0, 1):
        folder = tmp_path / "broker" / "log" / f"tw.acks-{number}"
        folder.mkdir(parents=True)
        (folder / "0.log").write_bytes(b"x" * 1_000_000)
    assert disk_by_kind(tmp_path)["tw.acks"] == pytest.approx(2, rel=0.05)


def test_a_busy_edge_leaves_open_how_many_are_live():
    told = {"virtual_edges": {"0": {"live": 3}, "1": {"live": 4}}}
    assert live_of([told]) == 7 and live_of([told, told]) == 14
    assert live_of([]) is None and live_of([told, None]) is None and live_of([told, {"error": "busy"}]) is None

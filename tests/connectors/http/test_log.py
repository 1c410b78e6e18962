"""What the server's libraries log of others' doing: one line of each, and few of one kind."""

from __future__ import annotations

import io
import logging

import h11
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import ClientDisconnect

from connectors.http.log import LINES, SECONDS, RepeatLimit, limit_logs


class Log:
    def __init__(self) -> None:
        self.now = 0.0
        self.text = io.StringIO()
        self._logger = logging.Logger("a server")
        self._logger.addHandler(logging.StreamHandler(self.text))
        self._logger.addFilter(RepeatLimit(lambda: self.now))

    def say(self, text: str, *values: object, error: Exception | None = None) -> None:
        try:
            if error is not None:
                raise error
            self._logger.error(text, *values)
        except Exception:
            self._logger.exception(text, *values)

    @property
    def lines(self) -> list[str]:
        return self.text.getvalue().splitlines()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 40), st.floats(0, 100)), max_size=20))
def test_few_of_one_kind_are_logged_and_all_are_counted(told: list[tuple[int, int, float]]) -> None:
    log = Log()
    for kind, times, pause in told:
        for number in range(times):
            log.say(f"kind {kind}: %s", number)
        log.now += pause
    log.now += SECONDS + 1
    for kind in range(3):
        log.say(f"kind {kind}: %s", "last")
    for kind in range(3):
        mine = [line for line in log.lines if line.startswith(f"kind {kind}")]
        more = sum(int(line.split("(")[1].split()[0]) for line in mine if "more like it" in line)
        assert len(mine) + more == sum(times for one, times, _ in told if one == kind) + 1
        assert len(mine) <= 1 + LINES * (1 + sum(pause for *_, pause in told) / SECONDS)


def test_others_doing_has_no_trace() -> None:
    log = Log()
    for error in (ClientDisconnect(), ConnectionResetError(104, "reset"), h11.RemoteProtocolError("no HTTP\nat all")):
        log.say("Exception in ASGI application\n", error=error)
    assert len(log.lines) == 3
    assert "ConnectionResetError" in log.lines[1]


def test_an_error_of_ours_keeps_its_trace() -> None:
    log = Log()
    for _ in range(LINES + 20):
        log.say("Exception in ASGI application\n", error=ZeroDivisionError("ours"))
    assert log.text.getvalue().count("Traceback") == LINES


def test_limits_are_set_once() -> None:
    limit_logs()
    limit_logs()
    for name in ("uvicorn.error", "asyncio"):
        assert sum(isinstance(one, RepeatLimit) for one in logging.getLogger(name).filters) == 1

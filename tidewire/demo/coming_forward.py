"""Whether a demo comes forward, and when it is over."""

from __future__ import annotations

import time

from state.errors import TidewireError
from tidewire.demo.kills import Kills
from tidewire.demo.watch import Watch

_STILL_SECONDS = 300.0


class NotCaughtUp(TidewireError):
    """The engine or an edge did not cover everything that was published."""

    code = "demo_behind"
    retry_helps = True


class ComingForward:
    """It does while publications come into batches, nothing is left to do, or something is killed; ask now and then."""

    def __init__(self, watch: Watch, kills: Kills) -> None:
        self._watch = watch
        self._kills = kills
        self._reached = (-1, -1)
        self._since = time.monotonic()

    def over(self) -> bool:
        """Whether everything that was published is covered and told, and all kills have fallen.

        Raises what went wrong with either, and NotCaughtUp where it has stood still for five minutes.
        """
        if self._watch.failure is not None:
            raise self._watch.failure
        killed, complete, seen = self._kills.over(), self._watch.complete(), self._watch.seen()
        reached, now = (self._watch.covered, seen.kills), time.monotonic()
        if complete or reached != self._reached:
            self._reached, self._since = reached, now
        if now - self._since > _STILL_SECONDS:
            raise NotCaughtUp(f"{seen.lag} publications are in no batch, and none has come into one for five minutes.")
        return killed and complete

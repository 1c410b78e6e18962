"""Names of a scenario's own on a stack that earlier scenarios have used: none of them is met again.

What nobody has used before keeps its name; what somebody has used gets the scenario's number behind it.
"""

from __future__ import annotations


class TakenNames:
    """All names of one kind that were ever used on a stack."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, wanted: str, number: int) -> str:
        """Return a name like `wanted` that was never returned before, with `-number` behind it where it must be."""
        name = wanted
        while name in self._taken:
            name += f"-{number}"
        self._taken.add(name)
        return name


class OwnNames:
    """The names of scenario `number`: the same for the same wanted name, and nobody else's."""

    def __init__(self, taken: TakenNames, number: int) -> None:
        self._taken = taken
        self._number = number
        self._own: dict[str, str] = {}

    def __call__(self, wanted: str) -> str:
        """Return what stands for `wanted` on the stack."""
        if wanted not in self._own:
            self._own[wanted] = self._taken.take(wanted, self._number)
        return self._own[wanted]

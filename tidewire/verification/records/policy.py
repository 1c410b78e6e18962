"""When a subscriber is told, read a second time: the options behind the SELECT, and what they keep back.

    NOTIFY EVERY CHANGE | NOTIFY LATEST | NOTIFY MIN CHANGE 0.5 | NOTIFY MIN CHANGE 5 % | TTL 90 [SECONDS]
    NOTIFY TRANSITIONS | NOTIFY ENTER | NOTIFY FINAL | SNAPSHOT NONE | DELIVER RECORDS | DELIVER PACKED | DELIVER PUSH

They are no SQL, so they are cut off the end of the text, comments first, before DuckDB reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from tidewire.verification.records.lexer import lexemes

_NOTIFY = re.compile(
    r"\bNOTIFY\s+(EVERY\s+CHANGE|LATEST|TRANSITIONS|ENTER|FINAL|MIN\s+CHANGE\s+(\d{1,120}(?:\.\d{1,120})?)\s*(%?))[\s;]*$",
    re.IGNORECASE | re.ASCII,
)
_TTL = re.compile(r"\bTTL\s+(\d{1,12})(?:\s*(SECOND|MINUTE|HOUR|DAY)S?)?[\s;]*$", re.IGNORECASE | re.ASCII)
_DELIVER = re.compile(r"\bDELIVER\s+(RECORDS|PACKED|PUSH)[\s;]*$", re.IGNORECASE | re.ASCII)
_SNAPSHOT = re.compile(r"\bSNAPSHOT\s+NONE[\s;]*$", re.IGNORECASE | re.ASCII)
_UNITS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3_600, "DAY": 86_400}


@dataclass(frozen=True, slots=True)
class Policy:
    """`every`, `latest`, `final`: none, or `least`: changes of at least `amount`, or `amount` percent.

    Of rows also `transitions`, those that come or go, and `enter`, those that come; `bare`: they begin empty-handed.
    `ttl` is in seconds; `packed` is the form of deliveries, and those that are `pushed` are none.
    """

    kind: str = "every"
    amount: Fraction = Fraction(0)
    percent: bool = False
    ttl: int | None = None
    packed: bool = False
    pushed: bool = False
    bare: bool = False

    @property
    def holds_back(self) -> bool:
        """Whether what was told last may be another answer than the one that there is."""
        return self.kind in ("least", "final")

    def reached(self, told: Fraction | None, new: Fraction | None) -> bool:
        """Whether MIN CHANGE tells `new` to whom `told` was told last; None is NULL."""
        if told is None or new is None:
            return told is not new
        apart = abs(new - told)
        return apart > 0 and apart >= (abs(told) * self.amount / 100 if self.percent else self.amount)


EVERY_CHANGE = Policy()


def cut_options(sql: str) -> tuple[str, Policy]:
    """Return the statement without its options, and what they say.

    >>> cut_options("SELECT MIN(a) FROM t TTL 2 MINUTES NOTIFY latest;")  # doctest: +ELLIPSIS
    ('SELECT MIN(a) FROM t ', Policy(kind='latest', amount=..., percent=False, ttl=120, packed=False, ...))
    """
    text = "".join(" " if found[0].startswith(("--", "/*")) else found[0] for found in lexemes(sql))
    policy = EVERY_CHANGE
    while True:
        notify, ttl, deliver, bare = (option.search(text) for option in (_NOTIFY, _TTL, _DELIVER, _SNAPSHOT))
        if notify is not None:
            text, policy = text[: notify.start()], _named(notify, policy)
        elif ttl is not None:
            seconds = int(ttl[1]) * _UNITS[(ttl[2] or "SECOND").upper()]
            text, policy = text[: ttl.start()], replace(policy, ttl=seconds)
        elif deliver is not None:
            text, policy = text[: deliver.start()], _in_form(policy, deliver[1].lower())
        elif bare is not None:
            text, policy = text[: bare.start()], replace(policy, bare=True)
        else:
            return text, policy


def with_record(policy: Policy, notify: str | None, ttl: int | None, deliver: str | None = None) -> Policy:
    """Return the policy with what members of the subscription's record say beside its SQL."""
    if notify is not None:
        found = _NOTIFY.search(f"NOTIFY {notify}")
        policy = policy if found is None else _named(found, policy)
    policy = policy if deliver is None else _in_form(policy, deliver)
    return replace(policy, ttl=policy.ttl if ttl is None else ttl)


def _in_form(policy: Policy, deliver: str) -> Policy:
    return replace(policy, packed=deliver == "packed", pushed=deliver == "push")


def _named(found: re.Match[str], policy: Policy) -> Policy:
    if found[2] is not None:
        return replace(policy, kind="least", amount=Fraction(found[2]), percent=bool(found[3]))
    word = found[1].split()[0].lower()
    return replace(policy, kind=word)


class Step(NamedTuple):
    """The answer changed at `seq`, from `before` to `after`; a told step stands for `changes` of them.

    For a list of aggregates and a best-k these are exact states; for a DISTINCT and for rows what went and what came
    (`answers`).
    """

    seq: int
    before: Any
    after: Any
    changes: int = 1


class Told(Protocol):
    """Answers, as far as a policy looks at them."""

    def differ(self, one: Any, other: Any) -> bool:
        """Whether a step from one to the other changes what is shown."""
        ...

    def joined(self, first: Step, second: Step) -> Step | None:
        """Return two steps, one behind the other, as one; None if they lead back to where they began."""
        ...

    def amount(self, state: Any) -> Fraction | None:
        """Return a state as a number, None for NULL."""
        ...


def told_steps(answers: Told, steps: Iterable[tuple[int, Step]], policy: Policy, told: Any) -> list[Step]:
    """Return what `policy` tells of the `steps`, which come with their batch; `told` is the state told before them.

    Nothing is told that is shown as it was told last, and what is not shown is no change.
    """
    if policy.kind in ("every", "transitions", "enter"):  # the answers of rows leave out themselves what is not told
        return [step for _, step in steps if answers.differ(step.before, step.after)]
    if policy.kind == "latest":
        return list(_latest(answers, steps))
    if policy.kind == "final":
        return []
    kept, made = 0, []
    for _, step in steps:
        kept += answers.differ(step.before, step.after)
        far = policy.reached(answers.amount(told), answers.amount(step.after))
        if far and answers.differ(told, step.after):
            made.append(Step(step.seq, told, step.after, kept))
            told, kept = step.after, 0
    return made


def _latest(answers: Told, steps: Iterable[tuple[int, Step]]) -> Iterator[Step]:
    current: int | None = None
    net: Step | None = None
    changes = seq = 0
    for batch, step in steps:
        if batch != current:
            if net is not None and answers.differ(net.before, net.after):
                yield net._replace(seq=seq, changes=changes)
            current, net, changes = batch, None, 0
        if answers.differ(step.before, step.after):
            changes, seq = changes + 1, step.seq
        net = step if net is None else answers.joined(net, step)
    if net is not None and answers.differ(net.before, net.after):
        yield net._replace(seq=seq, changes=changes)

"""Deliveries that say something else than the chain told: each must be found."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from tests.effort import deep_examples
from tidewire.verification.records.journal import Journal
from tidewire.verification.verify import verify

Told = dict[str, Any]


def check_that_damage_is_found(journal_of: Callable[[int], Journal], damage: Callable[[Told], Told | None]) -> None:
    """Change members of one delivery of each journal, by seed; `damage` says which, None where there is nothing to."""
    tried = 0
    for seed in range(200):
        choose, journal = random.Random(seed), journal_of(seed)
        log = choose.choice(list(journal.deliveries.records.values()))
        made = []
        for place, record in enumerate(log):
            if record.key not in (b"@progress", b"@packed"):
                told = json.loads(record.value or b"")
                other = None if "part" in told else damage(told)
                made += [] if other is None else [(place, record._replace(value=json.dumps(told | other).encode()))]
        if not made:
            continue
        place, damaged = choose.choice(made)
        right, log[place] = log[place], damaged
        assert not verify(journal).clean, (seed, damaged.value)
        log[place] = right
        tried += 1
        if tried == deep_examples(16):
            break
    assert tried

"""How often an engine looks whether its query has committed another batch.

A look is one look-up in the checkpoint: microseconds on a disk, a request to a store behind a URI. What a subscriber
waits for a commit is half an interval more on average, so this is a part of the latency: whoever changes it measures
that of `docs/performance.md` anew. The gap between two batches is looked for `_GAP_POLLS` times as often
(`streaming/engine/query_controller.py`): a longer interval makes stops miss it.
"""

from __future__ import annotations

from streaming.checkpoint.files import is_local_path

ON_DISK_SECONDS = 0.01
IN_A_STORE_SECONDS = 0.1


def commit_seconds(uri: str) -> float:
    """Return the seconds between two looks for a commit in the checkpoint at `uri`, few enough to be no burden."""
    return ON_DISK_SECONDS if is_local_path(uri) else IN_A_STORE_SECONDS

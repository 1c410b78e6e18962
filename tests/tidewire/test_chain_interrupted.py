"""The whole chain, each part moved on by itself and interrupted anywhere; judged by the verification, from outside.

No step waits for another here: edges lag behind the engine and each other, the engine dies with a batch half written,
epochs begin, edges come back from `edge-state` in the middle of a batch, summaries are published all the time.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from catalog.query.shape import shape_from_key
from connectors.json.writer import encode_key, encode_row
from overlay.subscriptions.summaries import Patience
from shard.group import alone
from state.boxes import hashes_of
from tests.effort import deep_examples
from tests.tidewire.test_pure_pipeline import DDL, NAMES, ids, requests, rows
from tidewire.pure_pipeline import PurePipeline
from tidewire.verification.records.journal import Journal, Record, TopicLog
from tidewire.verification.verify import verify

EDGES = 2
numbers = st.integers(0, EDGES - 1)


def journal(chain: PurePipeline, topic: str) -> Journal:
    """Return what stands in the logs; `topic` is the table's."""

    def log(name: str) -> TopicLog:
        records = [
            Record(p, offset, chain.stamps[name, p][offset], key, value)
            for p, pairs in chain.logs[name].items()
            for offset, (key, value) in enumerate(pairs)
        ]
        return TopicLog.of(name, records, len(chain.edges))

    names = chain.topics
    internal = [names.catalog, names.batches, names.subscriptions, names.acks, names.deliveries, names.dead_letters]
    return Journal(*map(log, internal), {topic: log(topic)})


class InterruptedChain(RuleBasedStateMachine):
    """Anything may happen between any two steps of anybody."""

    @initialize()
    def begin(self) -> None:
        self.chain = PurePipeline(virtual_edges=EDGES, patience=Patience(0, 0))
        self.chain.apply(DDL)
        self.relation = self.chain.catalog.relations["p"]

    @rule(batch=st.lists(rows | ids, min_size=1, max_size=4))
    def publish(self, batch: list[Any]) -> None:
        for item in batch:
            row = item if isinstance(item, dict) else None
            key = encode_key(self.relation, row or {"id": item})
            self.chain.append("points", key, row and encode_row(self.relation, row))

    @rule(name=st.sampled_from(NAMES), request=requests())
    def subscribe(self, name: str, request: Any) -> None:
        self.chain.append(self.chain.topics.subscriptions, name.encode(), request[-1])

    @rule(name=st.sampled_from(NAMES))
    def unsubscribe(self, name: str) -> None:
        self.chain.append(self.chain.topics.subscriptions, name.encode(), None)

    @rule(number=numbers, most=st.none() | st.integers(0, 3))
    def run_edge(self, number: int, most: int | None) -> None:
        self.chain.run_edge(number, most)

    @rule()
    def run_batch(self) -> None:
        self.chain.run_batch()

    @rule(share=st.sampled_from([0.3, 0.7, 1.0]))
    def break_off(self, share: float) -> None:
        self.chain.break_off(share)

    @rule(number=numbers, compact=st.booleans())
    def lose_edge(self, number: int, compact: bool) -> None:
        self.chain.lose_edge(number, compact)

    @rule(seconds=st.sampled_from([1, 5, 19]))
    def pass_time(self, seconds: int) -> None:
        self.chain.clock += seconds
        self.chain.tell_progress()

    @precondition(lambda self: self.chain.epoch < 2)
    @rule()
    def begin_epoch(self) -> None:
        self.chain.begin_epoch()

    @rule()
    def settle(self) -> None:
        self.chain.settle()
        self.everybody_is_covered()

    def everybody_is_covered(self) -> None:
        """Whoever is live is in the boxes of each channel that answers it: no message can pass it by."""
        data = self.chain.groups.get(self.relation.shard)
        listeners = alone(self.relation, self.relation.shard, data).listeners
        for edge in self.chain.edges:
            held = edge.dump()
            shapes = {state.number: shape_from_key(state.key) for state in held["shapes"]}
            for slot in held["slots"]:
                point = [np.array([end]) for end in (slot.lo, slot.lo, slot.hi, slot.hi)]
                for channel in shapes[slot.shape].channels:
                    boxes = listeners[channel][edge.number]
                    assert slot.empty or boxes.meets(hashes_of([slot.group]), np.zeros(1, np.int32), *point)[0]

    def teardown(self) -> None:
        if hasattr(self, "chain"):
            self.chain.settle()
            self.everybody_is_covered()
            report = verify(journal(self.chain, "points"))
            assert report.clean and report.unjudged == 0, report.faults


TestInterruptedChain = pytest.mark.deep(InterruptedChain.TestCase)
TestInterruptedChain.settings = settings(max_examples=deep_examples(25), stateful_step_count=25, deadline=None)

"""A story told to the whole chain in one process, in batches of any size, with restarts, and judged as a demo is."""

from __future__ import annotations

import datetime as dt
import json
import random

from connectors.json.writer import encode_key, encode_row
from tests.tidewire.verification.test_against_the_chain import EDGES, Judged
from tidewire.client.delivery_reader import DeliveryReader
from tidewire.client.records import Delivery
from tidewire.demo.story import Story
from tidewire.verification.compare.report import Report
from tidewire.verification.verify import verify


class Told(Judged):
    """`told` is what was delivered, in the order of each edge; what the story claims has heard it."""

    def __init__(self, story: Story, seed: int = 0, most: int = 20) -> None:
        super().__init__(virtual_edges=EDGES)
        choose = random.Random(seed)
        self.apply(story.ddl)
        for id, sql in story.asked.items():
            self.append(self.topics.subscriptions, id.encode(), json.dumps({"sql": sql}).encode())
        self.settle()
        for relation in self.catalog.relations.values():
            for partition in range(story.partitions or 1):
                self.logs[relation.topic][partition]  # so many there are, with records or without
        left = 0
        for event in story.events:
            relation = self.catalog.relations[event.table]
            row = None if event.row is None else encode_row(relation, event.row)
            self.append(relation.topic, encode_key(relation, event.key), row, event.partition or 0)
            left -= 1
            if left < 0:
                left = choose.randrange(most)
                self.settle()
                if choose.random() < 0.2:
                    self.restart()
        self.settle()
        for stream, upto in story.silences.items():
            self.silence(stream, (upto - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1))
            self.settle()
        reader = DeliveryReader()
        records = [r for edge in range(EDGES) for r in self.logs[self.topics.deliveries][edge]]
        read = [one for key, value in records for one in reader.read(key, value or b"")]
        self.told = [one for one in read if isinstance(one, Delivery)]
        for delivery in self.told:
            story.claim.told(delivery)

    def judged(self) -> Report:
        topics = [relation.topic for relation in self.catalog.relations.values()]
        journal = self.journal()
        journal.relations.clear()
        journal.relations.update({topic: self.log(topic, 1) for topic in topics})
        journal.silences = self.log(self.topics.silences, 1)
        journal.registrations = self.log(self.topics.registrations, EDGES)
        return verify(journal)

"""The way to Kafka: everything that tidewire does with a cluster, behind a few names.

confluent-kafka (librdkafka) carries the data; no other room sees a client library.

    KafkaProperties         where the cluster is, the user's client properties in each client's dialect
    Admin                   topics: create, count, ids, offsets; members of a group
    Reader                  read a range, everything up to now, or everything from now on
    GroupConsumer           read as a member of a consumer group
    Producer                write
    TransactionalProducer   write, and commit consumed positions, at once or not at all
    KafkaRecord             what is read (what is written: connectors.record.OutRecord)
"""

from __future__ import annotations

from connectors.kafka_admin import Admin
from connectors.kafka_failure import KafkaFailure
from connectors.kafka_group import GroupConsumer
from connectors.kafka_producer import Producer, TransactionalProducer
from connectors.kafka_properties import KafkaProperties
from connectors.kafka_reader import Reader
from connectors.kafka_record import KafkaRecord

__all__ = [
    "Admin",
    "GroupConsumer",
    "KafkaFailure",
    "KafkaProperties",
    "KafkaRecord",
    "Producer",
    "Reader",
    "TransactionalProducer",
]

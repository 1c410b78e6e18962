"""The way to Kafka: everything that tidewire does with a cluster.

confluent-kafka (librdkafka) carries the data; no other room sees a client library.

    properties.KafkaProperties        where the cluster is, the user's client properties in each client's dialect
    admin.Admin                       topics: create, count, ids, offsets; members of a group
    reader.Reader                     read a range, everything up to now, or everything from now on
    group.GroupConsumer               read as a member of a consumer group
    producer.Producer                 write
    producer.TransactionalProducer    write, and commit consumed positions, at once or not at all
    record.KafkaRecord                what is read (what is written: connectors.record.OutRecord)
"""

"""The independent oracle: recomputes every delivery with DuckDB from what stands in Kafka, and compares.

    sample       which subscriptions are judged, where there are too many
    journal      what was read: the records of the topics, and what of them is gone already
    declared     the catalog topic, parsed by DuckDB itself; declared_cells: the joins in it; declared_views: the views,
                 whose queries view_planner reads as plans (view_plan), a SELECT (view_select) at a time
    batches      what each batch of each epoch held, and how far there is something to judge
    decoding     records -> rows, by the documented rules (avro_rows, csv_rows, debezium, proto_rows: other formats)
    registry     a schema registry, asked by ourselves
    told_schemas what it told of the records' schemas, and of which tables it did not
    ordering     the order rule: in which sequence a shard took the records of a batch; cell_ordering: those of a join
    history      each version of each row with the interval in which it held, as a DuckDB table
    view_versions               the same of a view's rows, made of the versions of what it reads
    question     a subscription's SQL, run by DuckDB as written over all versions of the rows
    join_question               one over several tables
    policy       the options behind the SQL: which changes are told
    sweep        what changes when versions begin and end
    answers      the running answer of one subscription: where it changed, from what to what
    bag_answers, list_answers   the same of rows: those of a filter, and the first ones of a best-k
    joined_answers              and those of a join: versions of several tables that hold at the same time
    recomputation   from a life to its answers
    width        how many columns a `SELECT *` shows
    quota        where a DISTINCT becomes too large, or what is told of rows at once
    expiry       when a time to live is over
    lives        when each version of each subscription began and ended
    judgement    expected against delivered; ends, finals, gone_windows: how a life may end, and that it is final
    recomputed   what it is expected from
    view_records what the topic of a view must say; written: as a reader reads it; written_rows: whether it does
    anchors      where a life begins in each epoch; numbers: its `n`; findings: what is counted
    report       what was right, wrong, missed, extra

Nothing here imports the code that computes answers (catalog, state, operators, streaming, overlay).
"""

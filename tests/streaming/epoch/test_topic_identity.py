from __future__ import annotations

import pytest

from streaming.epoch.topic_identity import TopicDeletedError, TopicRecreatedError, check_present, compare_ids

TABLES = {"s": "stock"}


def test_new_topics_are_remembered_and_missing_ones_kept() -> None:
    assert compare_ids({"s": "1"}, {"u": "2"}, TABLES) == {"s": "1", "u": "2"}


def test_another_id_is_another_topic() -> None:
    with pytest.raises(TopicRecreatedError, match=r"`s` was deleted and created again: its id was 1, now it is 2") as e:
        compare_ids({"s": "1"}, {"s": "2"}, TABLES)
    assert "DROP TABLE stock" in str(e.value)
    assert "--take-over" in str(e.value)


def test_for_tidewires_own_topics_the_remedy_is_another_prefix() -> None:
    with pytest.raises(TopicDeletedError, match="another `prefix`"):
        check_present({"t.batches", "s"}, {"s"}, TABLES)


def test_all_present() -> None:
    check_present({"s"}, {"s", "u"}, TABLES)

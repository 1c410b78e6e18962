from connectors.digest_key import KEY_BYTES, digest_key


def test_each_topic_id_has_a_key_of_its_own_that_never_changes():
    assert digest_key("bTk1x6v7Q3CkZ0q8q6h8Zw").hex() == "74a7c67fbb5be1b60b9e2185ce6fa218"
    assert digest_key("") != digest_key("a") and len(digest_key("")) == KEY_BYTES

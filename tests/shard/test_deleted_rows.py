from shard.deleted_rows import LIMIT, Graves


def test_the_newest_are_kept():
    graves = Graves()
    for number in range(5):
        graves.bury(b"m%d" % number, [number, "é" * (LIMIT // 10), None])
    assert graves.find(b"m0") is None
    assert graves.find(b"m4") == [4, "é" * (LIMIT // 10), None]
    stored = graves.stored()
    assert [moment for moment, _ in stored] == [b"m1", b"m2", b"m3", b"m4"]
    assert Graves(stored).stored() == stored


def test_a_moment_has_one_row():
    graves = Graves([(b"m", ["a"]), (b"m", ["b"])])
    assert graves.stored() == [(b"m", ["b"])]


def test_a_row_above_the_limit_is_not_kept():
    graves = Graves([(b"m", ["x" * (LIMIT + 1)])])
    assert graves.stored() == []


def test_a_limit_of_its_own():
    graves = Graves(limit=100)
    for number in range(3):
        graves.bury(b"m%d" % number, ["x" * 50])
    assert [moment for moment, _ in Graves(graves.stored(), limit=50).stored()] == [b"m2"]
    assert [moment for moment, _ in graves.stored()] == [b"m1", b"m2"]

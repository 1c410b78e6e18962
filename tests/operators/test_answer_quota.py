"""How much may be told of rows at once."""

from operators.answer_quota import AnswerQuota


def test_rows_and_bytes_are_bounded_and_the_refusal_says_both_and_what_to_do():
    quota = AnswerQuota(rows=2, bytes=30)
    assert quota.why_not(2, 30) is None and quota.why_not(0, 0) is None
    for rows, size in ((3, 30), (2, 31)):
        refused = quota.why_not(rows, size)
        assert refused is not None and refused.code == "quota"
        assert f"{rows} rows of {size} bytes meet it, expected at most 2 of 30" in refused.message
        assert "SNAPSHOT NONE" in refused.hint and "`answer_rows` and `answer_bytes`" in refused.hint

"""Each kind of answer has who follows it; an answer that is not of its shape's kind is nobody's."""

from __future__ import annotations

from typing import get_args

import pytest

from overlay.answers.answer import Answer, SetAnswer
from overlay.maintain.maintainers import Maintainer
from tests.overlay.maintain.one_answer import OneAnswer


def test_each_kind_of_answer_has_its_own_maintainer() -> None:
    found = [OneAnswer("sum", ((1, 5),)).follow(), OneAnswer("distinct", SetAnswer()).follow()]
    assert {type(maintainer) for maintainer in found} == set(get_args(Maintainer))
    assert len(get_args(Answer)) == len(get_args(Maintainer)) + 1, "lists follow in columns"


def test_an_answer_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="slot 7 keeps SetAnswer, expected what AggregateLayout reads"):
        OneAnswer("sum", SetAnswer()).follow()

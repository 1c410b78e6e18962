"""Each kind of answer has who follows it; an answer that is not of its shape's kind is nobody's."""

from __future__ import annotations

from typing import get_args

import pytest

from catalog.query.best_shape import BestShape
from catalog.query.channel import Order
from overlay.answers.answer import Answer, ListAnswer, SetAnswer
from overlay.answers.answer_table import StoredAnswer
from overlay.answers.list_layout import ListLayout
from overlay.maintain.maintainers import Maintainer, maintainer_of
from overlay.maintain.notifier import Notifier
from tests.overlay.maintain.one_answer import BIGINT, OneAnswer

BEST = BestShape("t", ("v",), (), None, (Order("k", False, False),), 3, ())


def test_each_kind_of_answer_has_its_own_maintainer() -> None:
    found = [OneAnswer("sum", ((1, 5),)).follow(), OneAnswer("distinct", SetAnswer()).follow()]
    stored, notifier = StoredAnswer(answer=ListAnswer()), Notifier(lambda _key, _line: None, b"a", "{", 1)
    found.append(maintainer_of(7, stored, ListLayout(BEST, [BIGINT]), notifier, False, None))
    assert {type(maintainer) for maintainer in found} == set(get_args(Maintainer))
    assert len(get_args(Answer)) == len(get_args(Maintainer))


def test_an_answer_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="slot 7 keeps SetAnswer, expected what AggregateLayout reads"):
        OneAnswer("sum", SetAnswer()).follow()

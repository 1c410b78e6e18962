"""A channel as one relation's columns: checked, numbered, and with the orderings and ranks that it needs."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.query.channel import Channel, is_known
from catalog.schema.relation import Relation
from catalog.types.column_type import Kind
from operators.exact_units import is_summable
from state.errors import TidewireError

OrderingKey = tuple[tuple[int, ...], int | None]
"""Equality columns and range column of an ordering (state/ordering.py)."""


class ChannelError(TidewireError):
    """A channel is not one that this operator can serve, or it is asked for without being listened to."""

    code = "channel"


@dataclass(frozen=True, slots=True)
class ChannelBinding:
    """A channel whose columns are numbers of the relation's columns.

    values_by: for `distinct`, the ordering in which every value of the column is a group of its own; else None.
    ranked: the text columns that it orders by, and whether their texts are decimals.
    text, range_text: whether the column (the range attribute) has texts in the place of order codes.
    """

    channel: Channel
    column: int | None
    order: OrderingKey
    values_by: OrderingKey | None
    ranked: dict[int, bool]
    text: bool
    range_text: bool

    @classmethod
    def of(cls, channel: Channel, relation: Relation) -> ChannelBinding:
        """Bind `channel`. Raises ChannelError if it does not fit `relation`."""
        _check(channel, relation)
        column, range_ = (None if name is None else relation.index(name) for name in (channel.column, channel.range))
        equal = tuple(relation.index(name) for name in channel.equal)
        values_by = None
        if channel.kind == "distinct" and column is not None:
            values_by = (equal if column in equal else (*equal, column), range_)
        ordered = (channel.range, channel.column if channel.kind in ("min", "max") else None)
        texts = [name for name in ordered if name is not None and not relation.column(name).type.coded]
        ranked = {relation.index(name): relation.column(name).type.kind is Kind.DECIMAL for name in texts}
        text = channel.column is not None and not relation.column(channel.column).type.coded
        return cls(channel, column, (equal, range_), values_by, ranked, text, channel.range in texts)

    @property
    def orderings(self) -> tuple[OrderingKey, ...]:
        """The orderings that it needs."""
        if self.values_by is None:
            return (self.order,)
        return (self.values_by, self.order) if self.has_nulls else (self.values_by,)

    @property
    def has_nulls(self) -> bool:
        """Whether a row of a subscription can have NULL in the column: not where a condition is about it."""
        equal, range_ = self.order
        return self.column is not None and self.column not in equal and self.column != range_


def _check(channel: Channel, relation: Relation) -> None:
    names = [column.name for column in relation.columns]
    used = {channel.column, channel.range, *channel.equal} - {None}
    nameless = channel.column is None and channel.kind != "rows"
    if channel.relation != relation.name or not is_known(channel) or nameless or not used <= set(names):
        raise ChannelError(f"channel `{channel.key}` does not fit table `{relation.name}` with columns {names}")
    if channel.kind == "values" and channel.column is not None:
        type_ = relation.column(channel.column).type
        if not is_summable(type_):
            raise ChannelError(f"channel `{channel.key}`: column `{channel.column}` is {type_}; only numbers have sums")

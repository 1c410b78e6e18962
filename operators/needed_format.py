"""The format that a record of `registrations` needs: the oldest that has all it says.

An engine of before questions for rows knows neither their shapes nor their channels, and would take such a record for
a damaged one, at which the virtual edge registers all again: for ever. A record of a newer format is one that it ends
at, and says why. Where nothing of the kind is asked, that engine goes on beside newer edges.
"""

from __future__ import annotations

from collections.abc import Iterable

from catalog.query.channel import BestChannel, Channel, ImageChannel
from catalog.query.shape import AnyShape, Shape
from operators.record_error import FORMAT, ROWS_FORMAT


def format_of_shapes(shapes: Iterable[AnyShape]) -> int:
    """Return the format of a record that registers regions of `shapes`."""
    return FORMAT if all(isinstance(shape, Shape) for shape in shapes) else ROWS_FORMAT


def format_of_channels(channels: Iterable[Channel]) -> int:
    """Return the format of a summary or a withdrawal of `channels`."""
    return ROWS_FORMAT if any(isinstance(channel, ImageChannel | BestChannel) for channel in channels) else FORMAT

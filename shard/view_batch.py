"""One batch of the views of a group: what its members are told beside the tables, or the copies of a cell.

prepare, register     before any rows; then nothing is kept that nobody needs (views.py)
advance               changes of tables become those of stages
take_over             who can be asked tells them, all take them over
records               of each view that was asked, or is needed and met rows
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set

from catalog.schema.placed_stage import PlacedStage
from connectors.record import OutRecord
from operators.channel_binding import KeptOrder
from shard.group import Group
from shard.group_spec import GroupSpec
from shard.member_batch import Horizons, MemberBatch
from shard.moved import Moved
from shard.order import Ordered
from shard.views import Orderings, Views, no_others


class ViewBatch:
    """A batch of `stages`, which are members of `group`; `others` and `held` as `Views` has them."""

    def __init__(
        self, spec: GroupSpec, batch: int, stages: Sequence[PlacedStage], group: Group, others: Orderings = no_others,
        held: Collection[str] = (),
    ) -> None:  # fmt: skip
        self._views = Views(stages, group, others, held)
        self._spec = spec
        self._batch = batch
        self._group = group
        self._members: dict[str, MemberBatch] = {}
        self._told: set[str] = set()
        self._tables: set[str] = set()
        self.skipped: Mapping[str, int] = {}
        """By table the changes that stages would have computed which nobody needs, once for each of these."""

    @property
    def wanted(self) -> Mapping[str, Set[KeptOrder]]:
        """The orderings that the needed stages want of each table that stages read."""
        return self._views.wanted

    @property
    def changed(self) -> Set[str]:
        """The stages that got or lost their rows in the batch."""
        return self._views.changed

    def prepare(self, ordered: Ordered) -> None:
        """Begin the batch of all that is needed, and give it its rows. Cost: as `Views.prepare`."""
        if self._views.stages:
            self._views.prepare(ordered.named)
            self._group.weigh()
            self._members = {stage.member: self._begun(stage) for stage in self._views.served()}
            self._told = {shard for shard in self._members if shard.encode() in ordered.named}

    def _begun(self, stage: PlacedStage) -> MemberBatch:
        inner = self._views.inner(stage)
        return MemberBatch(self._spec, self._batch, self._group[stage.member], inner)

    def register(self, ordered: Ordered) -> None:
        """Take the registrations of views, and leave nothing that nobody needs."""
        for shard in sorted(self._told):
            self._members[shard].register(ordered.addressed(shard), self._views.folds.upto_before(shard))
        if self._views.stages:
            self._views.settle()
            self._told |= self._members.keys() & self._views.changed
        for member in self._members.values():
            member.write_rows()

    def advance(self, moved: dict[str, Moved]) -> None:
        """Let the changes of tables that have `moved` become those of views, which are put there, too."""
        self._tables = set(moved)
        self.skipped = {
            shard: len(moved[shard].changes) * stages
            for shard, stages in self._views.unneeded().items()
            if shard in self._tables
        }
        self._views.advance(moved)

    def take_over(self, moved: dict[str, Moved]) -> None:
        """Tell what views have `moved`, and take it over."""
        for shard in moved.keys() - self._tables:
            if shard in self._members:
                self._told.add(shard)
                self._members[shard].tell(moved[shard].alone())
            else:
                self._group[shard].table.commit(moved[shard].view)

    def records(self, rows: bool) -> Iterator[OutRecord]:
        """Yield the records to write; `rows` says whether the batch had any.

        A view of which a window has ended tells its virtual edges so.
        """
        for stage in self._views.stages:
            if stage.member not in self._members:
                continue
            horizons = self._horizons(stage)
            met = rows or (horizons is not None and horizons.crossed)
            if stage.member in self._told or (met and self._views.needs(stage)):
                if horizons is not None:
                    self._members[stage.member].close(horizons)
                yield from self._members[stage.member].records()

    def _horizons(self, stage: PlacedStage) -> Horizons | None:
        """Return how far a view's event time is complete, None where nothing of it becomes final."""
        folds, closing = self._views.folds, stage.relation.closing
        if closing is None or stage.member not in folds.stages.streams:
            return None
        return Horizons.of(closing, folds.upto_before(stage.member), folds.upto(stage.member))

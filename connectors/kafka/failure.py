"""What goes wrong between us and a Kafka cluster, as errors a person understands."""

from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException

from state.errors import TidewireError, UserError


class KafkaFailure(TidewireError):
    """A request to the cluster failed; `retry_helps` says whether the same may work later."""

    code = "kafka"


class BrokerUnavailable(KafkaFailure):
    """No broker answers at the address."""

    code = "broker_unavailable"
    retry_helps = True


class TopicUnknown(KafkaFailure):
    """A topic is not there (yet)."""

    code = "topic_unknown"
    retry_helps = True


class NotAuthorised(KafkaFailure, UserError):
    """The cluster does not let this user in, or not do this."""

    code = "not_authorised"


class StepAborted(KafkaFailure):
    """A transaction was given up: nothing of it is visible. `producer_lost`: go on with a new producer only."""

    code = "step_aborted"
    retry_helps = True
    producer_lost = False


class NotAllWritten(KafkaFailure):
    """Of records written in order the first `written` are surely there; of the next `unsure` nobody can say.

    What is said of a record is what the broker has acknowledged. Writing again from record `written` (counted from 0)
    on loses nothing; rows and subscriptions that are written twice change nothing.
    """

    code = "not_all_written"

    def __init__(self, cause: KafkaFailure, written: int, unsure: int) -> None:
        self.written = written
        self.unsure = unsure
        self.retry_helps = cause.retry_helps
        first = f"The first {written:,} record(s) are surely written" if written else "No record is surely written"
        super().__init__(f"{cause}\n{first}; of the next {unsure:,} nobody can say. Write these again.")


_UNAVAILABLE = {
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._TIMED_OUT,
    KafkaError._TIMED_OUT_QUEUE,
    KafkaError._MSG_TIMED_OUT,
    KafkaError._RESOLVE,
    KafkaError.BROKER_NOT_AVAILABLE,
    KafkaError.REQUEST_TIMED_OUT,
}
_UNKNOWN = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION}
_FORBIDDEN = {
    KafkaError._AUTHENTICATION,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    KafkaError._SSL,
}
_PASSING = {
    KafkaError._NOENT,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.OFFSET_NOT_AVAILABLE,
    KafkaError.KAFKA_STORAGE_ERROR,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.UNSTABLE_OFFSET_COMMIT,
}

_LOST = {
    KafkaError._FATAL,
    KafkaError._PURGE_QUEUE,
    KafkaError._PURGE_INFLIGHT,
    KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER,
    KafkaError.UNKNOWN_PRODUCER_ID,
    KafkaError.INVALID_PRODUCER_EPOCH,
}
"""The client that says so cannot go on, as happens where a broker was killed; another one can."""


def explain(problem: KafkaException | KafkaError, doing: str, bootstrap: str) -> KafkaFailure:
    """Return the error to raise for `problem`, which happened while `doing` ("reading `tw.acks`")."""
    error = problem.args[0] if isinstance(problem, KafkaException) else problem
    if not isinstance(error, KafkaError):
        return KafkaFailure(f"{doing} at `{bootstrap}` failed: {error}.")
    code, reason = error.code(), error.str()
    if code in _UNAVAILABLE:
        return BrokerUnavailable(
            f"{doing} failed: no Kafka broker answers at `{bootstrap}` ({reason}). "
            "Start it (`tidewire up` starts one), or say where it is by --bootstrap (setting `bootstrap`)."
        )
    if code in _UNKNOWN:
        return TopicUnknown(f"{doing} failed: the cluster at `{bootstrap}` does not have that topic ({reason}).")
    if code in _FORBIDDEN:
        return NotAuthorised(
            f"{doing} failed: the cluster at `{bootstrap}` refused us ({reason}). "
            "Check the user, the password, the CA and the user's rights in the `kafka` settings."
        )
    failure = KafkaFailure(f"{doing} at `{bootstrap}` failed: {reason} ({error.name()}).")
    failure.retry_helps = bool(error.retriable()) or code in _PASSING | _LOST
    return failure

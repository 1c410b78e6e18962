"""Checks beforehand of what `tidewire up` needs: each finding says what is, and what to do where it is not well.

The checks look at the machine, the environment, and at a Kafka cluster that is not the embedded one; none starts a
server. What makes Spark fail in strange ways (a Python for the workers other than the driver's, no home, a proxy that
Java does not see) is named here.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import psutil

from catalog.schema.view import View
from connectors.kafka.admin import Admin
from connectors.kafka.compacted_streams import compacted_streams, loss_and_remedy
from connectors.kafka.failure import TopicUnknown
from connectors.kafka.properties import KafkaProperties
from connectors.kafka.reader import Reader
from connectors.topics import Topics
from state.errors import TidewireError
from tidewire.client.catalog_log import read_catalog
from tidewire.option_name import option_of
from tidewire.settings import Settings, unknown_variables
from tidewire.stack.class_archive import archive_classes, class_archives
from tidewire.stack.data_directory import DataDirectory, not_a_directory
from tidewire.stack.disk import free_megabytes
from tidewire.stack.failure import StackError
from tidewire.stack.jars import find_jars, jar_directories, missing, read_jar_sets, require_jars, user_cache
from tidewire.stack.java import find_java
from tidewire.stack.port import require_free
from tidewire.stack.user import require_named_user

_PYTHON = (3, 11)
_COMFORTABLE_MB = 4_000
_LEAST_MEMORY_MB = 1_500
_COMFORTABLE_MEMORY_MB = 3_000
_KAFKA_SECONDS = 5.0


class Verdict(StrEnum):
    """How bad it is: a warning does not keep `up` from running, a failure does."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found; `remedy` is empty where all is well."""

    check: str
    verdict: Verdict
    found: str
    remedy: str = ""

    def record(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)


Check = Callable[[Settings], Iterator[Finding]]


def examine(settings: Settings, setup: bool = False, say: Callable[[str], None] = lambda text: None) -> list[Finding]:
    """Run every check; with `setup`, fetch the jars that are missing and leave out what matters at a start only.

    *Cost*: about 0.3 s; with `setup` the time to fetch, and a minute to archive classes, once.
    """
    checks: list[Check] = [_python, _worker_python, _java, _home, _environment, _memory]
    findings = [finding for check in checks for finding in check(settings)]
    jars: dict[str, list[Path]] = {}
    findings += _jars(settings, setup, say, jars)
    findings += _classes(jars, setup, say)
    if not setup:
        here: list[Check] = [_data_directory, _disk, _ports, _catalog_rights, _view_rights, _stream_topics]
        findings += [finding for check in here for finding in check(settings)]
    return findings


def _python(settings: Settings) -> Iterator[Finding]:
    version = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info < _PYTHON:
        yield Finding("python", Verdict.FAIL, f"{version} at {sys.executable}", "Use Python 3.11 or newer.")
        return
    yield Finding("python", Verdict.OK, f"{version} at {sys.executable}")


def _worker_python(settings: Settings) -> Iterator[Finding]:
    """Spark's workers must run this interpreter; we set it, so that another value in the shell is worth a word."""
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        value = os.environ.get(name)
        if value and Path(shutil.which(value) or value).resolve() != Path(sys.executable).resolve():
            yield Finding(
                "worker python",
                Verdict.WARN,
                f"{name} is `{value}`, not this interpreter",
                f"`tidewire up` overrides it; unset it, or set it to {sys.executable}, before you run an engine alone.",
            )
    chosen = settings.spark.get("spark.pyspark.python")
    if chosen and shutil.which(chosen) is None:
        yield Finding("worker python", Verdict.FAIL, f"`{chosen}` does not exist", "Correct `spark.pyspark.python`.")


def _java(settings: Settings) -> Iterator[Finding]:
    try:
        java = find_java()
    except StackError as error:
        yield Finding("java", Verdict.FAIL, *_split(error))
        return
    yield Finding("java", Verdict.OK, f"{java.version} at {java.home}")
    home = os.environ.get("JAVA_HOME", "")
    if any(c.isspace() for c in home + str(java.home)):
        yield Finding("java", Verdict.OK, "its path has a blank in it, which Spark and the broker take (tried)")
    if home and (found := shutil.which("java")) and Path(found).resolve().parent.parent != Path(home).resolve():
        yield Finding("java", Verdict.OK, f"JAVA_HOME is used; PATH has another Java, `{found}`")


def _home(settings: Settings) -> Iterator[Finding]:
    try:
        require_named_user()
    except StackError as error:
        yield Finding("user", Verdict.FAIL, *_split(error))
    cache = user_cache()
    if cache is None:
        yield Finding("home", Verdict.WARN, "there is no home directory", "Jars go to the data directory instead.")
    elif not _can_write(cache):
        yield Finding("home", Verdict.WARN, f"`{cache}` cannot be written", "Jars go to the data directory instead.")
    else:
        yield Finding("home", Verdict.OK, f"jars are kept below {cache}")


def _environment(settings: Settings) -> Iterator[Finding]:
    proxies = sorted(n for n in os.environ if n.lower() in ("http_proxy", "https_proxy", "all_proxy") and os.environ[n])
    if proxies:
        yield Finding(
            "proxy",
            Verdict.WARN if "all_proxy" in [name.lower() for name in proxies] else Verdict.OK,
            f"{', '.join(proxies)} set: used to fetch jars, not between the parts of tidewire",
            "all_proxy is not used; set https_proxy." if "all_proxy" in [name.lower() for name in proxies] else "",
        )
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"):
        if os.environ.get(name):
            yield Finding("environment", Verdict.WARN, f"{name} is set and changes Spark or Java", f"Unset {name}.")
    for name in unknown_variables():
        yield Finding("environment", Verdict.WARN, f"{name} sets nothing", "Correct its name; see conf/settings.toml.")


def _memory(settings: Settings) -> Iterator[Finding]:
    available = psutil.virtual_memory().available // 1_000_000
    found = f"{available} MB available"
    if available < _LEAST_MEMORY_MB:
        yield Finding("memory", Verdict.FAIL, found, f"Free some: at least {_LEAST_MEMORY_MB} MB are needed.")
    elif available < _COMFORTABLE_MEMORY_MB:
        yield Finding("memory", Verdict.WARN, found, f"{_COMFORTABLE_MEMORY_MB} MB are comfortable.")
    else:
        yield Finding("memory", Verdict.OK, found)


def _jars(
    settings: Settings, setup: bool, say: Callable[[str], None], there: dict[str, list[Path]]
) -> Iterator[Finding]:
    """Look for the jars of each set; those that are all there are added to `there`."""
    directories = jar_directories(settings.data_dir, settings.jars_dir)
    for jars in read_jar_sets().values():
        name = f"jars ({jars.name})"
        try:
            if setup:
                require_jars(jars, directories, progress=say, ivy_settings=settings.ivy_settings)
        except TidewireError as error:
            yield Finding(name, Verdict.FAIL, *_split(error))
            continue
        found = find_jars(jars, directories)
        if found is not None:
            there[jars.name] = found
            yield Finding(name, Verdict.OK, f"{len(found)} files, all as they should be, in {found[0].parent}")
            continue
        absent = missing(jars, directories[0])
        text = f"{len(absent)} of {len(jars.sha256)} missing or changed in {directories[0]}"
        yield Finding(name, Verdict.WARN, text, "`tidewire doctor --setup` fetches them, or the first `tidewire up`.")


def _classes(jars: Mapping[str, list[Path]], setup: bool, say: Callable[[str], None]) -> Iterator[Finding]:
    """Without jars or Java there is nothing to archive, which is said elsewhere."""
    if jars.keys() != read_jar_sets().keys():
        return
    try:
        java = find_java()
    except StackError:
        return
    try:
        if setup:
            archive_classes(java, jars, say)
    except (TidewireError, OSError) as error:
        text = f"not made: {error}"
        yield Finding("class archives", Verdict.WARN, text, "All works without them; a start takes a third longer.")
        return
    archives = class_archives(java, jars).values()
    if all(archive.is_there for archive in archives):
        folders = {str(archive.file.parent) for archive in archives}
        yield Finding("class archives", Verdict.OK, f"in {' and '.join(sorted(folders))}")
    else:
        remedy = "All works without them; `tidewire doctor --setup` makes them, and starts take a third less."
        yield Finding("class archives", Verdict.WARN, "not made for this Java and these jars", remedy)


def _data_directory(settings: Settings) -> Iterator[Finding]:
    directory = DataDirectory(settings.data_dir)
    path = directory.path
    running = directory.read_status()
    if running is not None:
        yield Finding(
            "data directory", Verdict.WARN, f"`{path}` is in use by process {running['pid']}", "It runs already."
        )
    elif (blocking := not_a_directory(path)) is not None:
        what = f"`{blocking}` is a file, not a directory"
        yield Finding("data directory", Verdict.FAIL, what, f"Choose another {option_of('data_dir')}.")
    elif not _can_write(path):
        what = f"`{path}` cannot be written"
        yield Finding("data directory", Verdict.FAIL, what, f"Choose another {option_of('data_dir')}.")
    elif directory.is_new:
        yield Finding("data directory", Verdict.OK, f"{path}, new")
    else:
        yield Finding("data directory", Verdict.OK, f"{path}, used before")
    if path.is_relative_to(Path(tempfile.gettempdir()).resolve()):
        yield Finding(
            "data directory",
            Verdict.WARN,
            f"`{path}` is below the system's temporary folder, which cleaners empty",
            f"Choose another {option_of('data_dir')} for what you want to keep.",
        )


def _disk(settings: Settings) -> Iterator[Finding]:
    free = free_megabytes(settings.data_dir)
    found = f"{free} MB free below {settings.data_dir}"
    if free < settings.disk_floor_mb:
        yield Finding("disk", Verdict.FAIL, found, f"Make room: `disk_floor_mb` is {settings.disk_floor_mb}.")
    elif free < max(_COMFORTABLE_MB, 2 * settings.disk_floor_mb):
        yield Finding("disk", Verdict.WARN, found, f"{_COMFORTABLE_MB} MB are comfortable for days of data.")
    else:
        yield Finding("disk", Verdict.OK, found)


def _ports(settings: Settings) -> Iterator[Finding]:
    wanted = [(settings.broker_port, "the broker", "broker_port", "127.0.0.1")] if settings.embedded else []
    for i in range(settings.edges if settings.http_port else 0):
        wanted.append((settings.http_port + i, "an edge's HTTP", "http_port", settings.http_host))
    for port, purpose, setting, host in wanted:
        try:
            require_free(port, purpose, setting, host)
        except StackError as error:
            yield Finding("ports", Verdict.FAIL, *_split(error))
        else:
            yield Finding("ports", Verdict.OK, f"{port} for {purpose} is free")


def _catalog_rights(settings: Settings) -> Iterator[Finding]:
    """Whether edges may write CREATE JOIN to the catalog: on a Kafka cluster of one's own that is to be granted."""
    if settings.embedded or not settings.joins_on_demand:
        return
    topic = Topics(settings.prefix).catalog
    try:
        allowed = Admin(KafkaProperties(settings.address, settings.kafka), _KAFKA_SECONDS).may_write(topic)
    except TopicUnknown:
        yield Finding("catalog", Verdict.OK, f"`{topic}` is not there yet")
    except TidewireError as error:
        yield Finding("catalog", Verdict.WARN, *_split(error))
    else:
        grant = f"Grant WRITE on `{topic}` to the edges, or set joins_on_demand = false."
        said = "may" if allowed else "may not"
        verdict = Verdict.OK if allowed else Verdict.WARN
        found = f"edges {said} write CREATE JOIN to `{topic}`"
        yield Finding("catalog", verdict, found, "" if allowed else grant)


def _view_rights(settings: Settings) -> Iterator[Finding]:
    """Whether the engine may write views to their topics: on a Kafka cluster of one's own that is to be granted."""
    if settings.embedded:
        return
    properties = KafkaProperties(settings.address, settings.kafka)
    try:
        catalog = read_catalog(Reader(properties, _KAFKA_SECONDS), Topics(settings.prefix))
        for view in catalog.views.values():
            if view.topic:
                yield _may_write(Admin(properties, _KAFKA_SECONDS), view)
    except TopicUnknown:
        return
    except TidewireError as error:
        yield Finding("views", Verdict.WARN, *_split(error))


def _may_write(admin: Admin, view: View) -> Finding:
    try:
        allowed = admin.may_write(view.topic)
    except TopicUnknown:
        found = f"`{view.topic}`, the topic of view `{view.name}`, is not there"
        remedy = "The engine creates it when it starts, if it may; or create it with cleanup.policy=compact."
        return Finding("views", Verdict.WARN, found, remedy)
    found = f"the engine {'may' if allowed else 'may not'} write view `{view.name}` to `{view.topic}`"
    grant = f"Grant READ and WRITE on `{view.topic}` to the engine."
    return Finding("views", Verdict.OK if allowed else Verdict.FAIL, found, "" if allowed else grant)


def _stream_topics(settings: Settings) -> Iterator[Finding]:
    """Whether topics of streams keep all rows: on a Kafka cluster of one's own they may have been made otherwise."""
    if settings.embedded:
        return
    properties = KafkaProperties(settings.address, settings.kafka)
    try:
        catalog = read_catalog(Reader(properties, _KAFKA_SECONDS), Topics(settings.prefix))
        relations = catalog.relations.values()
        for stream in compacted_streams(lambda all_: Admin(properties, _KAFKA_SECONDS).compacted(all_), relations):
            yield Finding("streams", Verdict.WARN, *loss_and_remedy(stream))
    except TopicUnknown:
        return
    except TidewireError as error:
        yield Finding("streams", Verdict.WARN, *_split(error))


def _can_write(path: Path) -> bool:
    """Return whether a file can be made in `path` or, where it does not exist yet, in its nearest parent."""
    for place in (path, *path.parents):
        try:
            with tempfile.TemporaryFile(dir=place):
                return True
        except FileNotFoundError:
            continue
        except OSError:
            return False
    return False


def _split(error: TidewireError) -> tuple[str, str]:
    """Cut a message into what is wrong and its last sentence, the action."""
    text, _, action = str(error).rpartition(". ")
    return (text, action) if text else (action, "")

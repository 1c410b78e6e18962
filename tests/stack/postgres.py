"""A PostgreSQL server of a test's own, in a folder that is thrown away. As root it is run as another user."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.stack.live_stack import eventually
from tidewire.stack.child import Child
from tidewire.stack.port import LOOPBACK, free_port, is_listening

_USER = "postgres"
_PROGRAMS = ("initdb", "postgres", "psql")
_OPTIONS = {
    "wal_level": "logical",
    "fsync": "off",
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "max_wal_senders": "8",
    "max_replication_slots": "8",
}


def find_postgres() -> Path | None:
    """Return the folder of a server's programs and its client: the newest of Debian's, or one on the path."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: folder.parent.name, reverse=True)
    on_path = [Path(found).parent for found in [shutil.which("initdb")] if found]
    whole = [folder for folder in debian + on_path if all((folder / one).exists() for one in _PROGRAMS)]
    return whole[0] if whole else None


def require_postgres() -> Path:
    """Return the folder of the programs, or skip the test and say why."""
    programs = find_postgres()
    if programs is None:
        pytest.skip("PostgreSQL is not installed here (Debian: apt-get install postgresql)")
    if os.geteuid() == 0:
        try:
            pwd.getpwnam(_USER)
        except KeyError:
            pytest.skip(f"PostgreSQL does not run as root, and there is no user `{_USER}` to run it as")
    return programs


class Postgres:
    """A server with logical decoding; `sql` runs statements as its superuser. About 3 s to start."""

    def __init__(self) -> None:
        self._programs = require_postgres()
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="tidewire-postgres-"))
        self.child: Child | None = None
        data = self.folder / "data"
        if os.geteuid() == 0:
            shutil.chown(self.folder, _USER)
        made = [str(self._programs / "initdb"), "-D", str(data), "-U", _USER, "--auth=trust", "-E", "UTF8"]
        subprocess.run([*_as_user(), *made, "--no-sync"], check=True, capture_output=True, cwd=self.folder)

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        options = [f"-c{name}={value}" for name, value in (_OPTIONS | {"port": str(self.port)}).items()]
        command = [*_as_user(), str(self._programs / "postgres"), "-D", str(self.folder / "data"), *options]
        log = self.folder / "postgres.log"
        self.child = Child("postgres", command, log, self.folder, os.environ | {"LC_ALL": "C.UTF-8"})
        eventually(lambda: is_listening(self.port) and self._answers(), "PostgreSQL to start", 60)

    def sql(self, *statements: str) -> list[list[str]]:
        """Run statements, each in a transaction of its own; return the rows of the last one as text."""
        rows: list[list[str]] = []
        for statement in statements:
            done = self._run(statement)
            assert done.returncode == 0, f"{statement}: {done.stderr}"
            rows = [line.split("\x1f") for line in done.stdout.splitlines()]
        return rows

    def stop(self) -> None:
        """Kill it and throw everything away."""
        if self.child is not None:
            self.child.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self) -> bool:
        return self._run("SELECT 1").returncode == 0

    def _run(self, statement: str) -> subprocess.CompletedProcess[str]:
        client = [str(self._programs / "psql"), "-X", "-q", "-A", "-t", "-F", "\x1f", "-v", "ON_ERROR_STOP=1"]
        where = ["-h", LOOPBACK, "-p", str(self.port), "-U", _USER, "-d", "postgres"]
        return subprocess.run([*client, *where], input=statement, capture_output=True, text=True, check=False)


def _as_user() -> list[str]:
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups", "--pdeathsig=KILL", "--"]

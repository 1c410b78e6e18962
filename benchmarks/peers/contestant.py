"""The peers, and the Python environments they run in.

DuckDB and NumPy are dependencies of tidewire and run in its environment. The others get one each, made with pip under
`~/.cache/tidewire/peers` (or TIDEWIRE_PEERS_DIR), of the version that stands here; what is written in
Rust is built by cargo (`filters/cargo.py`). Nothing else is fetched.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

FLINK, PATHWAY = "apache-flink==2.3.0", "pathway==0.33.0"


class NotInstalled(Exception):
    """An environment could not be made; the text is pip's own line."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """`module` is its worker; `says`: which answers it gives; `whole`: it is checked at the end, not after each batch.

    `crate`: what it is in Rust, built by cargo; `package`: what pip installs for it. `holds`: it does not tell each
    change, and what every question holds is compared, where others are compared by what they tell.
    """

    title: str
    module: str
    says: str
    package: str | None = None
    whole: bool = False
    crate: str | None = None
    holds: bool = False


PEERS = (
    Contestant("tidewire, one process, no Kafka or Spark", "tidewire_pure", "every change"),
    Contestant("NumPy, all subscriptions for each change", "numpy_each", "every change"),
    Contestant("NumPy, brute force", "numpy_scan", "answers a batch"),
    Contestant("NumPy, sparse table of minima", "numpy_table", "answers a batch"),
    Contestant("DuckDB, one statement", "duckdb_set", "answers a batch"),
    Contestant("DuckDB, a statement a subscription", "duckdb_each", "answers a batch"),
    Contestant("Flink SQL, join", "flink_sql", "changes, folded", FLINK, whole=True),
    Contestant("Flink SQL, join by buckets", "flink_buckets", "changes, folded", FLINK, whole=True),
    Contestant("Pathway, join", "pathway_join", "changes a batch", PATHWAY),
    Contestant("Pathway, join by buckets", "pathway_buckets", "changes a batch", PATHWAY),
)

FILTER_PEERS = (
    Contestant("tidewire, one process, no Kafka or Spark", "filters.tidewire_chain", "every change"),
    Contestant("tidewire, matching alone", "filters.tidewire_index", "every change"),
    Contestant("NumPy, all filters for each change", "filters.numpy_each", "every change"),
    Contestant("DuckDB, one statement a batch", "filters.duckdb_batch", "every change"),
    Contestant("mokaccino", "filters.mokaccino", "every change", crate="mokaccino 0.9.1"),
    Contestant("a-tree", "filters.a_tree", "every change", crate="a-tree 0.6.1"),
)

JOIN_PEERS = (
    Contestant("tidewire, one process, no Kafka or Spark", "joins.tidewire_chain", "every change"),
    Contestant("NumPy, all joins for each change", "joins.numpy_each", "every change"),
    Contestant("DuckDB, one statement a publication", "joins.duckdb_each", "every change"),
    Contestant("Pathway, join", "joins.pathway_join", "changes a batch", PATHWAY, holds=True),
    Contestant("Pathway, join by buckets", "joins.pathway_buckets", "changes a batch", PATHWAY, holds=True),
    Contestant("Flink SQL, join", "joins.flink_join", "changes, folded", FLINK, whole=True, holds=True),
    Contestant("Flink SQL, join by buckets", "joins.flink_buckets", "changes, folded", FLINK, whole=True, holds=True),
)

VIEW_PEERS = (
    Contestant("tidewire, one process, no Kafka or Spark", "views.tidewire_chain", "every change"),
    Contestant("DuckDB, the chain once a batch", "views.duckdb_each", "answers a batch"),
    Contestant("Pathway", "views.pathway_chain", "changes a batch", PATHWAY),
    Contestant("Flink SQL", "views.flink_chain", "changes, folded", FLINK, whole=True),
)


def python_of(package: str | None) -> Path:
    """Return the Python that has `package`, made now if it is not there. Raises NotInstalled."""
    if package is None:
        return Path(sys.executable)
    folder = cache() / package.replace("==", "-")
    python, stamp = folder / "bin" / "python", folder / ".installed"
    if not stamp.exists():
        venv.create(folder, clear=True, with_pip=True)
        _install(python, package)
        stamp.touch()
    return python


def cache() -> Path:
    """Return the folder of what is installed for peers."""
    chosen = os.environ.get("TIDEWIRE_PEERS_DIR")
    return Path(chosen) if chosen else Path.home() / ".cache" / "tidewire" / "peers"


def _install(python: Path, package: str) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in said if "error" in line.lower()]
        raise NotInstalled((errors or said or ["pip said nothing"])[-1].strip())

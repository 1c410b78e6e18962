from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from tidewire.commands.edge import without_pandas
without_pandas()
import overlay.process.edge_process
import pyarrow
assert pyarrow.array([b"a", None]).to_pylist() == [b"a", None]
assert not [name for name in sys.modules if name.startswith("pandas.")]
"""


def test_an_edge_does_not_load_pandas() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

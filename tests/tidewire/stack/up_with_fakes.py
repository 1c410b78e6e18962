"""`tidewire up` with an engine and edges that only pretend, so that a test of the supervision takes seconds.

Without a command it is `up`; it calls itself with `engine` and `edge`, as `tidewire` is called. The engine starts a
process in a process group of its own, as Spark's JVM starts Python workers; with FAKE_ENGINE=refuse it ends at once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer


def engine() -> None:
    if os.environ.get("FAKE_ENGINE") == "refuse":
        print("tidewire: setting `x`: no", file=sys.stderr)
        sys.exit(2)
    from connectors.kafka.producer import Producer
    from connectors.kafka.properties import KafkaProperties
    from connectors.record import OutRecord

    subprocess.Popen(["sleep", "1000"], process_group=0)
    producer = Producer(KafkaProperties(os.environ["TIDEWIRE_BOOTSTRAP"]))
    producer.send(OutRecord(os.environ["TIDEWIRE_PREFIX"] + "batches", 0, None, b"{}"))
    producer.flush()
    time.sleep(1000)


class Health(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()


def edge() -> None:
    HTTPServer(("127.0.0.1", int(sys.argv[-1])), Health).serve_forever()


def up() -> None:
    from tidewire.cli import report
    from tidewire.commands.up import _interrupt
    from tidewire.settings import load_settings
    from tidewire.stack.embedded import EmbeddedStack

    signal.signal(signal.SIGTERM, _interrupt)
    say = lambda text: print(text, file=sys.stderr, flush=True)  # noqa: E731
    try:
        stack = EmbeddedStack(load_settings(), say, (sys.executable, __file__))
        stack.run(lambda status: print(json.dumps(status), flush=True))
    except Exception as error:
        sys.exit(report(error))


if __name__ == "__main__":
    {"engine": engine, "edge": edge}.get(sys.argv[1] if len(sys.argv) > 1 else "up", up)()

"""An authority of our own and what it signs, made with openssl: PEM files in a folder, valid for a day."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


class Authority:
    """Signs certificates. `ca` is the file of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        if shutil.which("openssl") is None:
            pytest.skip("openssl is not installed, which makes the certificates: apt-get install openssl")
        self._folder = folder
        self.ca, self._key = folder / f"{name}.pem", folder / f"{name}.key"
        self._openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={name}",
            "-keyout", str(self._key), "-out", str(self.ca),
        )  # fmt: skip

    def sign(self, name: str, alternative: str) -> tuple[Path, Path]:
        """Return a certificate and its key (PKCS 8); `alternative` as `IP:127.0.0.1`."""
        certificate, key, request = (self._folder / f"{name}.{end}" for end in ("pem", "key", "csr"))
        self._openssl(
            "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", str(key), "-out", str(request)
        )
        extensions = self._folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={alternative}\n")
        self._openssl(
            "x509", "-req", "-days", "1", "-in", str(request), "-CA", str(self.ca), "-CAkey", str(self._key),
            "-CAcreateserial", "-extfile", str(extensions), "-out", str(certificate),
        )  # fmt: skip
        return certificate, key

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)

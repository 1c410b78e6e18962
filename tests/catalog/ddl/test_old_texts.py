"""Catalog texts from before there were views mean what they meant: `old_texts.jsonl`, which is never written anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from catalog.ddl.statements import fold_ddl, to_ddl
from catalog.sql.errors import CatalogError
from tests.catalog.sample import CATALOG

LINES = (Path(__file__).parent.parent / "old_texts.jsonl").read_text("utf-8").splitlines()
OLD: list[dict[str, Any]] = [json.loads(line) for line in LINES]


@pytest.mark.parametrize("old", [one for one in OLD if "code" in one], ids=str)
def test_what_was_refused_is_refused(old: dict[str, Any]) -> None:
    with pytest.raises(CatalogError) as fault:
        fold_ddl(CATALOG, old["text"], 1)
    about_stream = old["text"].startswith("CREATE STREAM")  # which is read now, and refused since it has a primary key
    assert fault.value.code == ("unsupported" if about_stream else old["code"])


@pytest.mark.parametrize("old", [one for one in OLD if "code" not in one], ids=str)
def test_what_was_declared_is_declared(old: dict[str, Any]) -> None:
    catalog = fold_ddl(CATALOG, old["text"], 1)
    every = {**catalog.relations, **catalog.aside}
    declared = {name: [to_ddl(one), one.born] for name, one in every.items() if CATALOG.relations.get(name) != one}
    assert declared == old["declared"]
    assert sorted(set(CATALOG.relations) - set(catalog.relations)) == old["gone"]
    assert (sorted(catalog.cells), dict(catalog.unserved), dict(catalog.views)) == (old["cells"], old["refused"], {})

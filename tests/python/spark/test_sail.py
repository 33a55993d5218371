"""Sail, whose server speaks Spark Connect: ``with_columns`` and ``wr.sql`` give what they give in memory."""

import json
import subprocess
import sys
from importlib.util import find_spec

import pyarrow as pa
import pytest

from support.paths import child_environment
from support.sail_session import QUERIES, rows

# It is installed where ``make matrix-spark`` runs on Spark 4.1: Sail 0.7 knows no later clients.
pytestmark = pytest.mark.skipif(find_spec("pysail") is None, reason="Sail is not installed")


@pytest.fixture(scope="module")
def answers():
    command = [sys.executable, "-m", "support.sail_session"]
    done = subprocess.run(command, capture_output=True, text=True, env=child_environment(), timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", QUERIES)
def test_rows_are_those_in_memory(answers, name):
    in_memory = QUERIES[name](pa.Table.from_pylist(rows())).to_pylist()
    found = sorted(answers[name], key=lambda row: row["t"])
    assert found == sorted(in_memory, key=lambda row: row["t"])
    assert len(found) > 100

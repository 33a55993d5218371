"""Settings: wr.config and the WINDROW_* variables."""

import pytest

import windrow as wr
from windrow.settings import current

pytestmark = pytest.mark.engine


def test_set_and_taken_back():
    with wr.config(threads=3, ansi=False, timezone="Europe/Berlin", strategy="naive"):
        expected = {"threads": 3, "ansi": False, "timezone": "Europe/Berlin", "strategy": "naive", "list_views": False}
        assert current().native() == expected
        with wr.config(strategy=None):
            assert current().strategy is None
        assert current().strategy == "naive"
    expected = {"threads": 0, "ansi": True, "timezone": "UTC", "strategy": None, "list_views": False}
    assert current().native() == expected


def test_taken_back_after_an_error():
    with pytest.raises(RuntimeError), wr.config(threads=1):
        raise RuntimeError
    assert current().threads is None


@pytest.mark.parametrize(("given", "size"), [("4GB", 4 * 2**30), ("512 MiB", 2**29), ("1.5k", 1536), (1000, 1000)])
def test_memory_limit(given, size):
    with wr.config(memory_limit=given):
        assert current().memory_limit == size


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ({"thread": 1}, "did you mean 'threads'"),
        ({"threads": -1}, "threads=-1"),
        ({"threads": True}, "threads=True"),
        ({"memory_limit": "lots"}, "'4GB'"),
        ({"spill_dir": "/no/such/directory"}, "exists"),
        ({"ansi": "maybe"}, "ansi='maybe' is neither true nor false"),
        ({"progress": 2}, "progress=2 is neither true nor false"),
        ({"timezone": "Europe/Berln"}, "did you mean 'Europe/Berlin'"),
        ({"strategy": "fast"}, "'segment_tree'"),
    ],
)
def test_refused(setting, says):
    with pytest.raises(wr.SpecError, match=says):
        wr.config(**setting)


def test_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("WINDROW_THREADS", "2")
    monkeypatch.setenv("WINDROW_ANSI", "off")
    monkeypatch.setenv("WINDROW_PROGRESS", "1")
    monkeypatch.setenv("WINDROW_SPILL_DIR", str(tmp_path))
    monkeypatch.setenv("WINDROW_SOMETHING_OF_A_TEST_SUITE", "1")
    assert (current().threads, current().ansi, current().spill_dir) == (2, False, str(tmp_path))
    assert current().progress is True
    with wr.config(threads=5):
        assert current().threads == 5
    monkeypatch.setenv("WINDROW_STRATEGY", "quick")
    with pytest.raises(wr.SpecError, match="environment variable WINDROW_STRATEGY"):
        current()


def test_shows_itself():
    with wr.config(threads=2) as settings:
        assert repr(settings) == "windrow.config(threads=2)"  # what nobody has set is not shown

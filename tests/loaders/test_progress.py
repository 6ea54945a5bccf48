"""Progress off a terminal: a line a minute, with the time left."""

from nlihub.loaders import progress
from nlihub.loaders.progress import show_bytes, watch


def test_a_line_a_minute_says_how_long_it_takes_yet(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with watch("writing", 100, "parts") as shown:
        for _ in range(4):
            now[0] += 20
            shown.update(1)
    with watch("reading", 400_000_000_000, "B", n_done=399_000_000_000) as shown:
        now[0] += 100  # what was done before is no speed
        shown.update(500_000_000)
    assert capsys.readouterr().err.splitlines() == [
        "nlihub: writing: 3 of 100 parts, 0.1 a second, 32 min left",
        "nlihub: reading: 400 GB of 400 GB, 5.0 MB a second, 2 min left",
    ]


def test_bytes_are_shown_in_the_unit_that_suits_them():
    sizes = [0, 999, 1_000, 9_960, 999_600, 2_345_678, 400e9, 9_999e12]
    shown = ["0 B", "999 B", "1.0 kB", "10 kB", "1.0 MB", "2.3 MB", "400 GB", "9999 TB"]
    assert list(map(show_bytes, sizes)) == shown

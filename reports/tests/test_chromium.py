"""The report in a real browser: headless Chromium finds no console error, asks the network for nothing, and text stays text.

Chromium is Debian's package ``chromium``; ``.ci/run`` installs it and asks for these tests with ``WAITPROOF_CHROMIUM=required``.
"""

import json
import os
import re
import shutil
import subprocess

import pytest

from waitproof.harness.results import InvariantInfo, ResultWriter, RunInfo, SubjectInfo
from waitproof.reports import build_report
from waitproof.reports.tests.queue_histories import queue_history

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
REQUIRED = os.environ.get("WAITPROOF_CHROMIUM") == "required"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None and not REQUIRED, reason="chromium is not installed: the report was not opened in a browser"
    ),
]

MARKUP = "<img src=x onerror=document.title='broken'></script><script>document.title='broken'</script>"


@pytest.fixture(scope="module")
def page(make_sample, tmp_path_factory):
    """A report whose texts are hostile."""
    folder = tmp_path_factory.mktemp("chromium")
    return build_report([make_sample(folder / "results", text=MARKUP)], folder / "report.html")


def browse(url, folder, *, width=1400):
    """Open a page; (its document after scripts have run, what the console said)."""
    arguments = [
        "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
        "--disable-sync", "--disable-extensions", "--allow-file-access-from-files", "--enable-logging=stderr", "--virtual-time-budget=5000",
        f"--user-data-dir={folder / 'profile'}", f"--window-size={width},1200", "--dump-dom", url,
    ]  # fmt: skip
    done = subprocess.run([CHROMIUM, *arguments], capture_output=True, text=True, timeout=120, check=True)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, console


def framed(page, folder, width):
    """Open a page in a frame of this width, which a window can't be; the frame says how wide it became and how much it asked for."""
    frame = folder / "frame.html"
    frame.write_text(
        f"<body><iframe id=f src={json.dumps(page.as_uri())} style='width:{width}px;height:900px;border:0'></iframe><script>"
        "f.onload=()=>{const d=document.body.dataset,w=f.contentWindow;d.wide=w.document.documentElement.scrollWidth;"
        "d.asked=w.performance.getEntriesByType('resource').length}</script></body>"
    )
    return browse(frame.as_uri(), folder)


def test_chromium_is_there_when_it_is_asked_for():
    """A run that promised to open a browser must not pass without one."""
    assert CHROMIUM is not None


def test_no_console_error_and_no_request(page, tmp_path):
    """One file is all it needs."""
    document, console = framed(page, tmp_path, 1400)
    assert console == []
    assert re.findall(r'data-asked="(\d+)"', document) == ["0"]


def test_markup_in_names_stays_text(page, tmp_path):
    """No element came out of a subject's name, and no script of its ran."""
    document, _ = browse(page.as_uri(), tmp_path)
    assert "<title>broken" not in document
    assert "<img" not in document
    assert "&lt;img src=x" in document


def test_every_anchor_leads_somewhere(page, tmp_path):
    """Each link within the page has its target."""
    document, _ = browse(page.as_uri(), tmp_path)
    ids = set(re.findall(r'\bid="([^"]+)"', document))
    links = set(re.findall(r'href="#([^"]+)"', document))
    assert links
    assert links <= ids


@pytest.mark.parametrize("width", [400, 1400])
def test_a_queue_fits_too(make_failure, tmp_path, width):
    """Its timeline scrolls in its own box, and an id that is markup stays text in it."""
    writer = ResultWriter(tmp_path / "results")
    history = queue_history(MARKUP)
    writer.failure(make_failure("queue", "dispatch-plans", "dispatch.ledger", history=history, text=MARKUP))
    subject, info = (
        SubjectInfo(name="queue", kind="queue"),
        InvariantInfo(id="dispatch.ledger", level="MUST", expectation="x", source="SPEC"),
    )
    writer.run(RunInfo(waitproof="0", python="3", seed=1, profile="quick", subjects=(subject,), invariants=(info,)))
    page = build_report([tmp_path / "results"], tmp_path / "report.html")
    assert "timeline queue" in page.read_text(encoding="utf-8")
    document, console = framed(page, tmp_path, width)
    assert console == []
    [wide] = re.findall(r'data-wide="(\d+)"', document)
    assert int(wide) <= width
    assert "<title>broken" not in document


@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_is_wider_than_the_window(page, tmp_path, width):
    """At a phone's width the page itself does not scroll sideways; wide tables scroll in a box of their own."""
    document, _ = framed(page, tmp_path, width)
    [wide] = re.findall(r'data-wide="(\d+)"', document)
    assert int(wide) <= width

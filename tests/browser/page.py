#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""page.py BUILD [CHECK]...: uses the page for a browser as a person would, in headless Chromium: each view, zoom,
search, windows of time, difference, filters, the address, back, dark mode and a narrow screen, with names
that a page must not obey; as a file and as opweb serves it. Numbers must be those of opreport. With names of checks, does only
these. A sanitized build serves and makes the pages, but what only the page's own scripts do is not checked with it.
Prints TAP."""
import base64
import concurrent.futures
import csv
import gzip
import json
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request
from xml.etree import ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden"))
from page import read_page, totals  # pylint: disable=wrong-import-position

try:
    from selenium import webdriver
    from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, WebDriverException
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    print("1..0 # SKIP no python3-selenium")
    sys.exit(0)

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
BUILD = os.path.abspath(sys.argv[1])

# Names that a page must not obey.
HOSTILE = ["<script>alert(1)</script>", "\"'><img src=x onerror=alert(2)>", "\u202egnp.exe", "</script><b>",
           "__proto__", "constructor"]
NAMES = HOSTILE + ["n" * 100000]

# Names with classes.
QUALIFIED = {"main": "ns::A::run(int)", "marked_first": "void ns::A::step<int>(int)", "marked_second": "std::sort<X>(X*)"}

SESSION = """
cpu 4
slice 1795442400 1795442410
slice 1795442410 1795442420 3
slice 1795442430 1795442440
file ./elf/exe-pie ./elf/exe-pie TIMER.0.0.all.all.all
    during 1 main 100
    during 2 marked_first 400
file ./elf/exe-pie ./elf/lib.so TIMER.0.0.all.all.all
    during 2 marked_second 300
    during 3 marked_second 200
chain ./elf/exe-pie TIMER.0.0.all.all.all complete 100 ./elf/exe-pie main ./elf/exe-pie _start+9
chains 1
chain ./elf/exe-pie TIMER.0.0.all.all.all complete 400 ./elf/exe-pie marked_first ./elf/exe-pie main+5 ./elf/exe-pie _start+9
chain ./elf/exe-pie TIMER.0.0.all.all.all complete 300 ./elf/lib.so marked_second ./elf/exe-pie marked_first+3 ./elf/exe-pie main+5 ./elf/exe-pie _start+9
chains 2
chain ./elf/exe-pie TIMER.0.0.all.all.all depth 200 ./elf/lib.so marked_second ./elf/lib.so marked_first+4 ./elf/exe-pie main+5
chains 3
"""

# Program, image and a function of it have one name.
TWIN = """
cpu 4
slice 1795442400 1795442410
file ./marked_first ./marked_first TIMER.0.0.all.all.all
    during 1 main 100
    during 1 marked_first 200
"""

# Microseconds off the CPU: of two waits, say the squares.
OFF_CPU = """
cpu 4
stat offcpu_squares 900000
slice 1795442400 1795442410
slice 1795442410 1795442420
file ./elf/exe-pie ./elf/exe-pie OFFCPU.1.0.all.all.all
    during 1 main 2500
    during 2 marked_first 1234567
chain ./elf/exe-pie OFFCPU.1.0.all.all.all complete 2500 ./elf/exe-pie main ./elf/exe-pie _start+9
chains 1
chain ./elf/exe-pie OFFCPU.1.0.all.all.all complete 1234567 ./elf/exe-pie marked_first ./elf/exe-pie main+5
chains 2
"""

# Two sessions: a function is called from elsewhere, and a library has moved.
BEFORE_AFTER = """
session before
cpu 4
slice 1795442400 1795442410
file ./elf/exe-pie ./elf/exe-pie TIMER.0.0.all.all.all
    during 1 main 100
    during 1 marked_first 400
file ./elf/exe-pie ./old/lib.so TIMER.0.0.all.all.all
    during 1 marked_second 500
chain ./elf/exe-pie TIMER.0.0.all.all.all complete 100 ./elf/exe-pie main ./elf/exe-pie _start+9
chain ./elf/exe-pie TIMER.0.0.all.all.all complete 400 ./elf/exe-pie marked_first ./elf/exe-pie main+5 ./elf/exe-pie _start+9
chain ./elf/exe-pie TIMER.0.0.all.all.all complete 500 ./old/lib.so marked_second ./elf/exe-pie marked_first+3 ./elf/exe-pie main+5 ./elf/exe-pie _start+9
chains 1
session after
cpu 4
slice 1795442500 1795442510
file ./elf/exe-pie ./elf/exe-pie TIMER.0.0.all.all.all
    during 1 main 130
    during 1 marked_first 285
file ./elf/exe-pie ./elf/lib.so TIMER.0.0.all.all.all
    during 1 marked_second 485
    during 1 marked_first 100
chain ./elf/exe-pie TIMER.0.0.all.all.all complete 130 ./elf/exe-pie main ./elf/exe-pie _start+9
chain ./elf/exe-pie TIMER.0.0.all.all.all complete 285 ./elf/exe-pie marked_first ./elf/exe-pie main+5 ./elf/exe-pie _start+9
chain ./elf/exe-pie TIMER.0.0.all.all.all complete 485 ./elf/lib.so marked_second ./elf/exe-pie marked_first+3 ./elf/exe-pie main+5 ./elf/exe-pie _start+9
chain ./elf/exe-pie TIMER.0.0.all.all.all complete 100 ./elf/lib.so marked_first ./elf/lib.so marked_second+3 ./elf/exe-pie main+5 ./elf/exe-pie _start+9
chains 1
"""

# More sessions than a page lists.
MANY = "".join(f"session s{i:03}\ncpu 4\nfile ./elf/exe-pie ./elf/exe-pie TIMER.0.0.all.all.all\n    main 1\n" for i in range(203))

# Samples of two events; and some whose chains were shed.
TWO_EVENTS = SESSION.replace("slice 1795442410 1795442420 3", "slice 1795442410 1795442420") + """
file ./elf/exe-pie ./elf/exe-pie OFFCPU.1.0.all.all.all
    during 1 main 2500
"""
THREE_EVENTS = TWO_EVENTS + """
file ./elf/exe-pie ./elf/exe-pie INST_RETIRED.100000.0.all.all.all
    during 1 main 300
    during 2 _start 100
    during 1 _start 500
    during 2 marked_first 100
"""
NO_CLOCK = "cpu 4\n" + "".join(f"file ./elf/exe-pie ./elf/exe-pie {event}.all.all.all\n    main {samples}\n"
                               for event, samples in (("CONTEXT_SWITCHES.1.0", 1), ("INST_RETIRED.100000.0", 30), ("OFFCPU.1.0", 2500)))
SHED = SESSION.replace("during 2 marked_second 300", "during 2 marked_second 1300")

# Slices shorter than a second.
SHORT = """
cpu 4
slice 1795442400.100 1795442400.400
slice 1795442410.100 1795442410.400
slice 1795442420.100 1795442420.400
file ./elf/exe-pie ./elf/exe-pie TIMER.0.0.all.all.all
    during 1 main 100
    during 2 marked_first 400
    during 3 main 50
"""


def golden_session(name):
    """The description of the session of a test of opreport."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), f"../golden/opreport/{name}/session"), encoding="utf-8") as f:
        return f.read()


# Bursts of some seconds, so that shares are known less well than the number of samples says.
BURSTS = golden_session("errors-bursts")
BURSTS_TWICE = f"session first\n{BURSTS}session second\n{BURSTS}"
TASKS = golden_session("html-tasks")
# Many threads of one sample, and then a hot one.
THREADS = "cpu 4\n" + "".join(f"file ./elf/exe-pie ./elf/exe-pie TIMER.0.0.70.{71 + i}.all\n    main {100 if i == 24 else 1}\n" for i in range(25))
ID = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
CONTAINER_CGROUP = f"/system.slice/docker-{ID + ID}.scope"
CONTAINERS = f"""
cpu 4
cgroup {CONTAINER_CGROUP}
file ./elf/exe-pie ./elf/exe-pie TIMER.0.0.all.all.all
    main 9
cgroup /system.slice/docker-{ID[1:] + ID}0.scope
file ./elf/exe-pie ./elf/exe-pie TIMER.0.0.all.all.all
    main 4
cgroup /plain
file ./elf/exe-pie ./elf/exe-pie TIMER.0.0.all.all.all
    main 2
copy containers ./names
"""
# A program that is replaced by another build, losses and a gap; and the files of a path in two containers.
BUILDS = """
cpu 4
slice 1795442400 1795442410
slice 1795442410 1795442420 7
slice 1795442430 1795442440
manifest /opt/tool 1122334455667788 100 200
manifest /opt/tool#99887766 99887766554433 100 300
manifest /opt/served 5522334455667788 100 200 7
manifest /opt/served#55887766 55887766554433 100 200 8
file /opt/served /opt/served TIMER.0.0.all.all.all
    during 1 1 1
file /opt/served#55887766 /opt/served#55887766 TIMER.0.0.all.all.all
    during 2 1 1
file /opt/tool /opt/tool TIMER.0.0.all.all.all
    during 1 1 60
    during 2 1 20
file /opt/tool#99887766 /opt/tool#99887766 TIMER.0.0.all.all.all
    during 3 1 40
"""
INLINED_CHAINS = golden_session("inlines-chains")

# Code without symbols, and made at run time.
MARKED = golden_session("chains-no-symbols") + """
file /opt/node anon:anon:77:0x0:0x8fff TIMER.0.0.77.all.all
    1 1
chain /opt/node TIMER.0.0.77.all.all complete 1 anon:anon:77:0x0:0x8fff 1 ./elf/lib.so marked_first+4
"""

# An image has functions, and code without a symbol.
UNNAMED = """
cpu 4
file ./elf/exe-pie ./elf/exe-pie TIMER.0.0.all.all.all
    main 100
    1 50
chain ./elf/exe-pie TIMER.0.0.all.all.all complete 100 ./elf/exe-pie main ./elf/exe-pie _start+9
chain ./elf/exe-pie TIMER.0.0.all.all.all complete 50 ./elf/exe-pie 1 ./elf/exe-pie main+5
"""

# Slices that are a little longer than a step.
LONG = "cpu 4\n" + "".join(f"slice {1795442400 + 10.6 * i:.3f} {1795442410.6 + 10.6 * i:.3f}\n" for i in range(20)) + \
    "file ./elf/exe-pie ./elf/exe-pie TIMER.0.0.all.all.all\n" + "".join(f"    during {i + 1} main 100\n" for i in range(20))

# Pairs of slices, the two of which are in different blocks of 20 seconds in this zone, not in UTC.
LOCAL_ZONE = "XXX-0:00:10"
LOCAL = "cpu 4\n" + "".join(f"slice {1795442400 + 40 * i + s} {1795442410 + 40 * i + s}\n" for i in range(32) for s in (0, 10)) + \
    "file ./elf/exe-pie ./elf/exe-pie TIMER.0.0.all.all.all\n" + \
    "".join(f"    during {i + 1} main {900 if i % 4 < 2 else 100} marked_first {100 + i % 2 * 300}\n" for i in range(64))

# mix() is inlined into hot(), and the source is not there.
INLINED = """
cpu 4
file ./elf/demo.so ./elf/demo.so TIMER.0.0.all.all.all
    hot+7 20 hot+0xb 30 hot+0x14 40 hot+0x1b 5 cold 5
"""

# A program that was rebuilt: the first build in the first slice, the second one in the next, both in the last.
def rebuilt():
    build_id = "99887766" + 32 * "0"
    other = "/opt/tool#" + build_id[:8]
    chain = "chain {0} TIMER.0.0.all.all.all complete {1} {0} 0x10 {0} 0x20\nchain {0} TIMER.0.0.all.all.all complete {2} ./elf/lib.so marked_first {0} 0x20\n"
    return f"""
cpu 4
slice 1795442400 1795442410
slice 1795442410 1795442420
manifest /opt/tool {40 * "1"} 100 200
manifest {other} {build_id} 100 300
file /opt/tool /opt/tool TIMER.0.0.all.all.all
    during 1 16 60
file /opt/tool ./elf/lib.so TIMER.0.0.all.all.all
    during 1 marked_first 40
file {other} {other} TIMER.0.0.all.all.all
    during 2 16 30
file {other} ./elf/lib.so TIMER.0.0.all.all.all
    during 2 marked_first 70
{chain.format("/opt/tool", 60, 40)}chains 1
{chain.format(other, 30, 70)}chains 2
"""


# It is gone; the texts of its lines were kept, and the source has changed.
GONE = """
cpu 4
mtime 1577836800
kept ./elf/demo.so built
symbols ./elf/demo.so
file /opt/prog /opt/demo.so TIMER.0.0.all.all.all
    hot+0x7 1795 hot+0x1b 332
"""


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def write_page(path, copy, head, numbers):
    """Copies a page with another head and the bytes of its columns."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    packed = json.dumps(head).encode()
    packed += b" " * (-len(packed) % 4)
    data = struct.pack("<I", len(packed)) + packed + numbers
    with open(copy, "w", encoding="utf-8") as f:
        f.write(re.sub(r'(?<=id="data">)[^<]*', base64.b64encode(gzip.compress(data)).decode(), text))


def make_pruned(path, pruned):
    """Copies a page, with the last node of its tree as if that had been too small to show."""
    head, columns = read_page(path)
    own, everywhere = totals(columns)
    functions, numbers, listed = list(columns["func"]), b"", []
    head["hidden"] = {"below": 300, "nodes": 1, "samples": columns.pop("self")[-1]}
    del columns["at"]
    functions[-1] = len(head["functions"]["name"]) - 1
    count = range(1, len(head["functions"]["address"]))
    columns.update(func=functions, func_self=[own.get(f, 0) for f in count], func_total=[everywhere.get(f, 0) for f in count])
    for name, values in columns.items():
        listed.append([name, 4, len(numbers), len(values)])
        numbers += struct.pack(f"<{len(values)}I", *values)
    head["columns"] = listed
    write_page(path, pruned, head, numbers)


def make_renamed(path, renamed, name_of, image=None):
    """Copies a page, with other names for its functions, from their numbers and names, and for all images."""
    head, _ = read_page(path)
    with open(path, encoding="utf-8") as f:
        data = gzip.decompress(base64.b64decode(re.search(r'id="data">([^<]*)<', f.read())[1]))
    length, = struct.unpack_from("<I", data)
    names = head["functions"]["names"]
    for i in range(1, len(head["functions"]["name"]) - 1):
        names[2 * i] = name_of(i, names[2 * i])
    for known in head["images"][1:]:
        known["path"] = image or known["path"]
    write_page(path, renamed, head, data[4 + length:])


def make_crowded(path, crowded, first, count, **parts):
    """Copies a page, as if some functions from number first on were sums of rare ones, for which there was no room; with other
    images or kinds, by the numbers of functions."""
    head, _ = read_page(path)
    with open(path, encoding="utf-8") as f:
        data = gzip.decompress(base64.b64decode(re.search(r'id="data">([^<]*)<', f.read())[1]))
    length, = struct.unpack_from("<I", data)
    head["functions"].update(address=None, name=None, link=None)
    for part, values in parts.items():
        for f, value in values.items():
            head["functions"][part][f] = value
    head["others"] = {"first": first, "count": count, "functions": 7, "below": 4}
    write_page(path, crowded, head, data[4 + length:])


class Browser:
    """One page in a browser."""

    def __init__(self, width, height):
        options = Options()
        options.binary_location = CHROMIUM
        # A page that was left must not ask on, of a server that has ended.
        for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-features=BackForwardCache"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.height = height
        self.resize(width)

    def resize(self, width):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": self.height, "deviceScaleFactor": 1, "mobile": False})

    def open(self, url, fragment=""):
        self.driver.get("about:blank")
        self.driver.get(f"{url}#{fragment}")
        self.until(lambda: self.js("return document.body.dataset.ready"))

    def until(self, what):
        """Waits, at most half a minute, until it is true."""
        for _ in range(300):
            if what():
                return True
            time.sleep(0.1)
        return False

    def js(self, text):
        return self.driver.execute_script(text)

    def text(self, name):
        return self.js(f"return document.getElementById('{name}').textContent").replace("\u202f", "")

    def click(self, name):
        self.press(f"#{name}")

    def press(self, selector):
        """Clicks as a person does; again if the page drew the element anew since it was found."""
        def clicked():
            try:
                self.driver.find_element(By.CSS_SELECTOR, selector).click()
            except (NoSuchElementException, StaleElementReferenceException):
                return False
            return True
        if not self.until(clicked):
            raise NoSuchElementException(selector)

    def type(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def drag(self, begin, end):
        """Drags over the timeline, from one part of its width to another."""
        line = self.driver.find_element(By.ID, "timeline")
        width = line.size["width"]
        by = (end - begin) * width / 2
        ActionChains(self.driver).move_to_element_with_offset(line, int((begin - 0.5) * width), 0) \
            .click_and_hold().move_by_offset(int(by), 0).move_by_offset(int(by), 0).release().perform()

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser") if not has_ended(entry["message"])]


def table(b, name):
    """The cells of a table's rows, as they are shown."""
    return b.js(f"return [...document.querySelectorAll('#{name} .tr:not([hidden])')].sort((a, b) => a.dataset.row - "
                "b.dataset.row).map(r => [...r.querySelectorAll('.td')].map(c => c.textContent.replace(/\\u202f/g, '')))")


def children(*words):
    found = json.loads(run(f"{BUILD}/tools/opreport", "--children", "--json", *words))
    return {(f["symbol"], os.path.basename(f["image"])): (f["self"], f["children"]) for f in found["functions"]}


def functions_are_those_of_opreport(b, url):
    b.open(url, "v=functions")
    shown = {(row[4], row[5]): int(row[3]) for row in table(b, "functions")}
    return shown == {key: own for key, (own, _) in children("--session-dir=one").items()}


def a_window_has_the_numbers_of_its_command(b, url):
    b.open(url, "v=functions&a=2026-11-23T14:00:11Z..2026-11-23T14:00:19Z")
    command = b.text("command").split()
    shown = {(row[4], row[5]): int(row[3]) for row in table(b, "functions")}
    return command[:2] == ["opreport", "--children"] and \
        shown == {key: own for key, (own, _) in children(*command[2:]).items()} and sum(shown.values()) == 700


def filters_are_in_the_command(b, url):
    b.open(url, "v=functions&f=focus:exe-pie:marked_first%0Adrop:lib.so:marked_first%0Ahide:exe-pie:main")
    command = shlex.split(b.text("command"))
    shown = {(row[4], row[5]): int(row[3]) for row in table(b, "functions")}
    if sum(word.startswith("--") for word in command) < 4 or \
            shown != {key: own for key, (own, _) in children(*command[2:]).items()} or sum(shown.values()) != 700:
        return False
    b.open(url, "v=functions&f=focus:application exe-pie:exe-pie%0Adrop:exe-pie:marked_first")
    command = shlex.split(b.text("command"))
    shown = {(row[4], row[5]): int(row[3]) for row in table(b, "functions")}
    if not any(word.startswith("image:/") for word in command) or sum(shown.values()) != 300 or \
            shown != {key: own for key, (own, _) in children(*command[2:]).items()}:
        return False
    b.open(url, "v=functions&f=focus:exe-pie:marked_first%0Afocus:exe-pie:main")
    return not b.text("command") and b.text("same").startswith("no command")


def search_says_the_share(b, url):
    b.open(url, "v=flame&q=marked_first")
    return b.text("found").startswith("90.0 %") and "2 functions" in b.text("found") and b.js("return document.getElementById('strip').width") > 1000


def a_bad_pattern_is_said(b, url):
    b.open(url, "v=flame&q=/(/")
    return "not a pattern" in b.text("found")


def keys_walk_and_zoom_and_back_returns(b, url):
    b.open(url, "v=flame")
    b.js("document.querySelector('#graph canvas').focus()")
    b.type(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    detail, before = b.text("detail"), b.js("return location.hash")
    b.type(Keys.ENTER)
    zoomed = b.js("return location.hash")
    b.driver.back()
    return "main" in detail and "80.0 %" in detail and "z=" in zoomed and \
        b.until(lambda: b.js("return location.hash") == before)


def dragging_chooses_windows_and_compares(b, url):
    b.open(url, "v=flame")
    b.drag(0.1, 0.2)
    first = b.until(lambda: "time:2026-11-23T14:00:00Z..2026-11-23T14:00:10Z" in b.text("command"))
    b.click("compare")
    b.drag(0.35, 0.45)
    return first and b.until(lambda: "A 100 samples, B 700 samples" in b.text("diff-note"))


def two_actions_lead_to_the_hot_line(b, url):
    """Which line of which program made the machine slow in a given time: a drag chooses the time, and Source has the line."""
    b.open(url)
    b.drag(0.35, 0.45)
    b.click("t-source")
    shown = b.until(lambda: b.js("return document.querySelectorAll('#source .sl').length"))
    line = b.js("return document.querySelector('#source .tied').textContent")
    return shown and "MARK(0x11223344)" in line and re.search("marked_first in /.*/exe-pie.* 400 samples.*line 21: 1 of 1", b.text("source"))


def source_leads_to_callers(b, url):
    """Code that is hot only because of who calls it, such as a C library's, says by whom."""
    b.open(url, "v=source&fn=lib.so:marked_second")
    said = b.text("source-note")
    b.press("#source-note button")
    return "Called by marked_first · exe-pie 60.0 % marked_first · lib.so 40.0 %" in said and \
        b.until(lambda: re.search("marked_first in /.*/exe-pie.* 400 samples", b.text("source")))


def slices_longer_than_steps_leave_no_holes(b, url):
    """A step in which no slice has its middle is no time without samples."""
    b.open(url, "v=overview")
    bars = [(float(m[0]), float(m[1])) for m in re.findall(r"M([\d.]+) 20V[\d.]+H([\d.]+)V", b.js("return document.querySelector('.users svg path').getAttribute('d')"))]
    steps = json.loads(b.js("return document.querySelector('.users svg').getAttribute('viewBox')").split()[2])
    return steps > len(bars) > 10 and all(0.1 < after[0] - before[1] < 0.2 for before, after in zip(bars, bars[1:]))


def a_function_is_named_once_between_callers_and_callees(b, url):
    """The graphs above and below it begin with its callers and callees."""
    b.open(url, "v=flame&dir=sandwich&fn=exe-pie:marked_first")
    b.js("window.drawn = []; const write = CanvasRenderingContext2D.prototype.fillText; CanvasRenderingContext2D.prototype.fillText = "
         "function(text, ...rest) { drawn.push(text); write.call(this, text, ...rest); }; document.getElementById('theme').click();")
    b.until(lambda: b.js("return drawn.includes('marked_second')"))
    drawn, middle = b.js("return drawn"), b.text("middle")
    return {"main", "_start", "marked_second"} <= set(drawn) and "marked_first" not in drawn and middle.count("marked_first") == 1


def a_difference_has_the_numbers_of_both_windows(b, url):
    """In the line below, too; without a second window, nothing is said of it."""
    b.open(url, "v=diff")
    empty = [b.js(f"return document.getElementById('{name}').offsetParent === null") for name in ("tools", "detail")]
    said = b.text("command") + b.text("same")
    b.open(url, "v=diff&a=2026-11-23T14:00:00Z..2026-11-23T14:00:10Z&b=2026-11-23T14:00:10Z..2026-11-23T14:00:20Z")
    whole = b.text("detail")
    b.js("document.querySelector('#diff-table .tr').click()")
    if "▲ more in B" not in b.text("key"):
        return False
    return empty == [True, True] and not said and "A 100 samples · B 700 samples" in whole and \
        re.search(r"total A [\d.]+ % .*, self [\d.]+ % · B [\d.]+ % .*, self [\d.]+ %", b.text("detail").replace("A 0 (", "A 0 % ("))


def differences_of(command):
    """The functions of a comparison by opreport: (name, image) to the shares before and after, and the verdict."""
    found = list(csv.DictReader(run(f"{BUILD}/tools/opreport", "--csv", *shlex.split(command)[1:]).splitlines()))
    share = lambda text: "0" if not float(text) else f"{float(text):.1f}" if float(text) >= 10 else f"{float(text):.2f}"
    words = {("more", "true"): "▲ new", ("less", "true"): "▼ gone"}
    return {(row["symbol"], os.path.basename(row["image"])): (share(row["before_percent"]), share(row["percent"]),
            words.get((row["verdict"], str(row["diff_percent"] in ("new", "gone")).lower())) or
            {"more": "▲ more", "less": "▼ less", "perhaps": "perhaps"}.get(row["verdict"], row["verdict"])) for row in found}


def shown_differences(b):
    return {(row[5], row[6]): (row[2], row[3], "perhaps" if "perhaps" in row[4] else row[4]) for row in table(b, "diff-table")}


def two_sessions_can_be_compared(b):
    """Those of the command line; and another session, chosen in the page, which the address keeps."""
    server, url = serve("--session-dir=before-after", "{", "session:before", "}", "{", "session:after", "}")
    try:
        b.open(url)
        b.until(lambda: b.js("return document.body.dataset.second"))
        given, command, chips = shown_differences(b), b.text("command"), b.text("chips")
        b.js("window.drawn = []; const write = CanvasRenderingContext2D.prototype.fillText; CanvasRenderingContext2D.prototype.fillText = "
             "function(text, ...rest) { drawn.push(text); write.call(this, text, ...rest); }; document.getElementById('theme').click();")
        b.until(lambda: b.js("return drawn.includes('all')"))
        drawn = b.js("return drawn")
    finally:
        server.terminate()
        server.wait()
    server, url = serve("--session-dir=before-after", "session:before")
    try:
        b.open(url, "v=diff")
        offered = b.js("return [...document.querySelectorAll('[data-session]')].map(e => e.textContent)")
        b.js("document.querySelector('[data-session]').click()")
        b.until(lambda: b.js("return document.body.dataset.second"))
        chosen, address = shown_differences(b), b.js("return location.hash")
        b.driver.back()
        back = b.until(lambda: not b.js("return document.body.dataset.second") and "Nothing to compare" in b.text("diff-none"))
        b.open(url, address[1:])
        b.until(lambda: b.js("return document.body.dataset.second"))
        again = shown_differences(b)
        b.open(url, "v=functions&c=after")
        b.until(lambda: b.js("return document.body.dataset.second"))
        own = {(row[4], row[5]): int(row[3]) for row in table(b, "functions")}
        refused = get(url + "session/..%2f/data")[0], get(url + "session/a,b/data")[0], get(url + "second/data")[0]
    finally:
        server.terminate()
        server.wait()
    expected = differences_of(command)
    return len(expected) == 4 and expected == given == chosen == again and offered == ["after"] and back and "c=after" in address and \
        "session:after" in chips and "▼ marked_first" in drawn and any(text.startswith("▲") for text in drawn) and sum(own.values()) == 1000 and \
        own == {key: k for key, (k, _) in children("--session-dir=before-after", "session:before").items()} and \
        all(status >= 400 for status in refused)


def filters_are_chips(b, url):
    b.open(url, "v=flame&fn=lib.so:marked_second")
    b.click("dir-sandwich")
    b.type("f")
    kept = b.until(lambda: "500 samples" in b.text("amount")) and "focus marked_second" in b.text("chips")
    b.type("u")
    return kept and b.until(lambda: "1000 samples" in b.text("amount"))


def merged_recursion_is_a_chip(b, url):
    """In each view, because it has effect in all."""
    b.open(url, "v=functions&opt=merge")
    said = b.text("chips")
    b.press("#chips .chip:last-child button")
    return "recursion merged" in said and "recursion" not in b.text("chips") and "opt=" not in b.js("return location.hash")


def each_view_opens_by_key(b, url):
    b.open(url, "v=flame")
    for key, view in enumerate(("overview", "flame", "functions", "source", "diff", "quality"), 1):
        b.type(str(key))
        if not b.until(lambda: b.js("return document.body.dataset.ready") == view):
            return False
    return "reached the requested depth" in b.text("v-quality") and "200" in b.text("v-quality")


def quality_of_a_window_is_its_own(b, url):
    """Samples and losses are those of the window, as in the bar, which does not know why they were lost."""
    b.open(url, "v=quality&a=2026-11-23T14:00:10Z..2026-11-23T14:00:20Z")
    text = b.text("v-quality")
    b.open(url, "v=quality")
    return "samples, in this window700" in text and "lost, in this window3" in text and "not why" in text and \
        "samples1000" in b.text("v-quality") and "not why" not in b.text("v-quality")


def dark_is_dark(b, url):
    b.open(url, "v=flame&theme=dark")
    return b.js("return getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 28)"


def time_off_the_cpu_is_in_milliseconds(b, url):
    b.open(url, "v=functions")
    shown = {row[4]: row[3] for row in table(b, "functions")}
    b.open(url, "v=quality")
    return shown == {"main": "2.500 ms", "marked_first": "1234.567 ms", "_start": "0.000 ms"} and \
        b.text("amount") == "1237.067 ms" and "1237.067 ms" in b.text("v-quality") and "1237067" not in b.text("v-quality")


def the_root_is_at_the_top_or_at_the_bottom(b, url):
    """The address has it, and keys follow: from the root, the way in is down or up."""
    for view, way_in in (("v=flame", Keys.ARROW_DOWN), ("v=flame&opt=flame", Keys.ARROW_UP)):
        b.open(url, view)
        b.js("document.querySelector('#graph canvas').focus()")
        b.type(way_in)
        if not b.text("detail").startswith("exe-pie") or b.js("return document.querySelector('#growth [aria-pressed=true]').textContent") != \
                ("Flame" if "opt" in view else "Icicle"):
            return False
    b.type("i")
    return "opt=" not in b.js("return location.hash")


def an_unknown_address_is_said(b, url):
    b.open(url, "v=flame&nonsense=1")
    nonsense = "nonsense" in b.text("message")
    b.open(url, "v=flame&fn=exe-pie:gone")
    return nonsense and "has no exe-pie:gone" in b.text("message")


def applications_are_shown_first_if_there_are_several(b, work):
    shown = {}
    for name in ("one", "builds"):
        b.open(f"{work}/{name}.html")
        shown[name] = b.js("return document.body.dataset.ready")
    return shown == {"one": "flame", "builds": "overview"}


CHECKS = [functions_are_those_of_opreport, a_window_has_the_numbers_of_its_command, filters_are_in_the_command,
          search_says_the_share, a_bad_pattern_is_said, keys_walk_and_zoom_and_back_returns, dragging_chooses_windows_and_compares,
          two_actions_lead_to_the_hot_line, source_leads_to_callers, the_root_is_at_the_top_or_at_the_bottom, a_function_is_named_once_between_callers_and_callees,
          a_difference_has_the_numbers_of_both_windows, filters_are_chips, each_view_opens_by_key, quality_of_a_window_is_its_own, dark_is_dark, an_unknown_address_is_said]


def screens_do_not_scroll_sideways(b, url):
    """Whatever is said in the bar, also of a window."""
    for width in (1280, 900, 710, 400):
        b.resize(width)
        for view in ("overview", "flame", "functions", "source", "diff", "quality"):
            b.open(url, f"v={view}&a=2026-11-23T14:00:10Z..2026-11-23T14:00:20Z")
            if b.js("return document.documentElement.scrollWidth") > width:
                return False
    return True


def nothing_in_the_bar_is_cut(b, url):
    """What says which samples are shown is whole, or ends in dots."""
    b.open(url, "v=quality")
    return b.js("const bar = document.getElementById('chips'), end = bar.getBoundingClientRect().right;"
                "return bar.scrollWidth <= bar.clientWidth && [...bar.children].every(c => c.getBoundingClientRect().right <= end)") and \
        b.js("const range = document.createRange(); return [...document.querySelectorAll('#v-quality .words td:first-child')].every(c => {"
             "range.selectNodeContents(c); return range.getClientRects().length === 1; })")


def hostile_names_are_text(b, url):
    for view in ("overview", "flame", "functions", "quality"):
        b.open(url, f"v={view}")
        if b.js("return document.querySelectorAll('script').length") != 5 or b.js("return document.images.length"):
            return False
        if b.js("return /[\u202a-\u202e]/.test(document.body.textContent)"):
            return False
    b.open(url, "v=functions&q=script")
    return any(row[4].startswith("<script>alert(1)</script>") for row in table(b, "functions"))


def a_program_is_not_its_function(b, url):
    b.open(url, "v=overview")
    b.js("document.querySelector('#v-overview button').click()")
    return b.until(lambda: "focus marked_first" in b.text("chips")) and "300 samples" in b.text("amount")


def a_short_slice_can_be_chosen(b, url):
    b.open(url, "v=functions&a=2026-11-23T14:00:10Z..2026-11-23T14:00:11Z")
    b.js("document.getElementById('timeline').querySelector('.handle').dispatchEvent("
         "new KeyboardEvent('keydown', { key: 'ArrowLeft', shiftKey: true, bubbles: true }))")
    b.js("document.getElementById('timeline').querySelector('.handle').dispatchEvent("
         "new KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true, bubbles: true }))")
    b.until(lambda: "400 samples" in b.text("amount"))
    command = shlex.split(b.text("command"))
    shown = {(row[4], row[5]): int(row[3]) for row in table(b, "functions")}
    rows = json.loads(run(f"{BUILD}/tools/opreport", "--json", *command[1:]))
    return shown == {("marked_first", "exe-pie"): 400} and [r["samples"] for r in rows["rows"]] == [[400]]


def intervals_are_those_of_opreport(b, session, window="", zone="UTC"):
    shown = dict(b.js("return [...document.querySelectorAll('#functions .tr:not([hidden])')].map(r => "
                      "[r.querySelectorAll('.td')[4].textContent, r.querySelectorAll('.td')[1].title])"))
    rows = json.loads(run("env", f"TZ={zone}", f"{BUILD}/tools/opreport", "--json", "--errors", "-l", f"--session-dir={session}",
                          *([f"time:{window}"] if window else [])))["rows"]
    for row in rows:
        low, high = (float(x.removeprefix("<")) for x in re.search(r"\((\S+) to (\S+)\)", shown[row["symbol"]]).groups())
        if abs(low - row["percent_from"][0]) > 0.06 or abs(high - row["percent_to"][0]) > 0.06:
            return False
    return rows


def sessions_are_no_blocks(b, url):
    """How much counts vary between sessions is not measured, and the page says so."""
    b.open(url, "v=functions")
    return "between the sessions" in b.text("functions-note")


def blocks_begin_in_local_time(b, url):
    """Blocks of time begin at multiples of their length in the time zone of opreport."""
    b.open(url, "v=functions")
    return intervals_are_those_of_opreport(b, "local", zone=LOCAL_ZONE) and not intervals_are_those_of_opreport(b, "local", zone="UTC")


def noise_is_that_of_opreport(b, url):
    """Intervals, which blocks of time widen, and verdicts about two windows are those of opreport."""
    for window in ("", "2026-11-23T14:00:00Z..2026-11-23T14:01:40Z", "2026-11-23T14:00:00Z..2026-11-23T14:01:10Z"):
        b.open(url, f"v=functions&a={window}")
        rows = intervals_are_those_of_opreport(b, "bursts", window)
        if not rows:
            return False
    halves = ("2026-11-23T14:00:00Z..2026-11-23T14:01:40Z", "2026-11-23T14:01:40Z..2026-11-23T14:03:20Z")
    b.open(url, f"v=diff&a={halves[0]}&b={halves[1]}")
    return len(rows) == 3 and [row[4] for row in table(b, "diff-table")] == ["chance"] * 3


def waits_are_as_certain_as_in_opreport(b, url):
    """A wait is one event, however many microseconds it has."""
    b.open(url, "v=functions")
    return bool(intervals_are_those_of_opreport(b, "off"))


def groups_add_functions_up(b, url):
    """Own samples of images are those of opreport; a chain through an image several times counts once."""
    b.open(url, "v=functions&by=image")
    rows = {row[4]: (int(row[3]), row[2]) for row in table(b, "functions")}
    b.open(url, "v=overview&g=image")
    shares = b.js("return [...document.querySelectorAll('#v-overview .users .line > *')].map(e => e.textContent)")
    summary = json.loads(run(f"{BUILD}/tools/opreport", "--json", "--session-dir=one", "--merge=all"))["rows"]
    own = {os.path.basename(row["image"]): row["samples"][0] for row in summary}
    return rows == {"exe-pie": (own["exe-pie"], "100"), "lib.so": (own["lib.so"], "50.0")} and \
        "exe-pie" in shares and shares[shares.index("lib.so") + 1] == "50.0" and "lib.so 50.0 %" in b.text("legend")


def groups_have_what_the_tree_has_not(b, url):
    """Shares of images are those of their functions if the tree was too large; those of a window are said to miss it."""
    b.open(url, "v=overview&g=image")
    shares = b.js("return [...document.querySelectorAll('#v-overview .users .line > *')].map(e => e.textContent)")
    b.open(url, "v=functions&by=image")
    own = {row[4]: int(row[3]) for row in table(b, "functions")}
    b.open(url, "v=overview&g=image&a=2026-11-23T14:00:10Z..2026-11-23T14:00:20Z")
    return shares[shares.index("lib.so") + 1] == "50.0" and own == {"exe-pie": 500, "lib.so": 500} and \
        "fewer than 300 samples" in b.text("v-overview") and not b.text("command")


def overview_rows(b):
    """The rows of Overview: { name: samples }, by the times, which are samples here."""
    rows = b.js("return [...document.querySelectorAll('#v-overview .users .line')].slice(1).map(r => [...r.children].map(c => c.textContent))")
    return {row[0]: int(re.sub(r"\D", "", row[3])) for row in rows}


def tasks_add_up(b, url):
    """Samples by cgroup, process, thread and CPU are those of opreport's columns, also in a window; a press chooses one."""
    for by, named in (("cgroup", {"/a": 50, "/b/c": 50}), ("process", {"70 exe-pie": 50, "71 exe-pie": 50}),
                      ("thread", {"70 exe-pie": 50, "71 exe-pie": 50}), ("cpu", {"CPU 0": 50, "CPU 1": 50})):
        b.open(url, f"v=overview&g={by}")
        classes = json.loads(run(f"{BUILD}/tools/opreport", "--json", *shlex.split(b.text("command"))[1:]))["classes"]
        if overview_rows(b) != named or [c["samples"] for c in classes] != list(named.values()):
            return False
        b.open(url, f"v=overview&g={by}&a=2026-11-23T14:00:00Z..2026-11-23T14:00:20Z")
        if list(overview_rows(b).values()) != [50, 30]:
            return False
    return True


def bars_are_within_their_column(b, url):
    """Also that of the hottest row, if many others come first and have the same share."""
    b.open(url, "v=functions&by=thread")
    widths = b.js("return [...document.querySelectorAll('#functions .bar')].map(e => parseFloat(e.style.getPropertyValue('--v')))")
    return len(widths) == 25 and 50 < max(widths) <= 100 and sorted(widths)[-2] < 5


def functions_are_grouped_by_tasks(b, url):
    """Rows of Functions by application, cgroup, process, thread and CPU are those of Overview, and of its command; names of
    containers take the place of their paths."""
    for by in ("application", "cgroup", "process", "thread", "cpu"):
        b.open(url, f"v=overview&g={by}")
        wanted, command = overview_rows(b), b.text("command")
        b.open(url, f"v=functions&by={by}")
        if {row[4]: int(row[3]) for row in table(b, "functions")} != wanted or b.text("command") != command or not command:
            return False
    return True


def containers_have_their_names(b, url):
    b.open(url, "v=overview&g=cgroup")
    rows = overview_rows(b)
    b.js("document.querySelector('#v-overview .users button').click()")
    b.until(lambda: "9 samples" in b.text("amount"))
    return rows == {"docker:web-1": 9, "docker:a1b2c3d4e5f6": 4, "/plain": 2} and "docker:web-1" in b.text("chips") and \
        CONTAINER_CGROUP in b.text("command")


def a_press_chooses_tasks(b, url):
    b.open(url, "v=overview&g=cgroup")
    b.js("[...document.querySelectorAll('#v-overview .users button')].find(e => e.textContent === '/b/c').click()")
    b.until(lambda: "50 samples" in b.text("amount"))
    chosen = "cgroup /b/c" in b.text("chips") and "50 samples" in b.text("amount")
    b.type("3")
    b.until(lambda: b.js("return document.body.dataset.ready") == "functions")
    shown = {(row[4], row[5]): int(row[3]) for row in table(b, "functions")}
    command = shlex.split(b.text("command"))
    same = "cgroup:/b/c" in command and shown == {key: own for key, (own, _) in children(*command[2:]).items()}
    b.type("u")
    return chosen and same and b.until(lambda: "100 samples" in b.text("amount"))


def a_command_has_each_tag_once(b, url):
    """Of a page of two CPUs, the samples of one are those of a command that names only that one."""
    b.open(url, "v=functions&who=cpu:1&a=2026-11-23T14:00:11Z..2026-11-23T14:00:19Z")
    command = shlex.split(b.text("command"))
    shown = {(row[4], row[5]): int(row[3]) for row in table(b, "functions")}
    return [word for word in command if word.startswith("cpu:")] == ["cpu:1"] and sum(word.startswith("time:") for word in command) == 1 and \
        sum(shown.values()) == 30 and shown == {key: own for key, (own, _) in children(*command[2:]).items()}


def a_command_has_no_columns_of_tasks(b, url):
    b.open(url, "v=functions")
    command = shlex.split(b.text("command"))
    shown = {(row[4], row[5]): int(row[3]) for row in table(b, "functions")}
    rows = json.loads(run(f"{BUILD}/tools/opreport", "--json", *command[1:]))["rows"]
    return sorted([r["symbol"], *r["samples"]] for r in rows) == sorted([name, samples] for (name, _), samples in shown.items())


def what_was_not_recorded_says_how(b, url):
    b.open(url, "v=overview&g=cpu")
    how = b.text("v-overview")
    b.open(url, "v=overview&g=event")
    return "operf --separate-cpu" in how and "event:NAME" in b.text("v-overview") and not b.text("command")


def what_happened_is_noted(b, url):
    """A new build, losses and a gap are in Overview, in the order of time; each is a way to it."""
    b.open(url, "v=overview")
    noted = b.js("return [...document.querySelectorAll('#v-overview .happened button')].map(e => e.textContent)")
    b.js("document.querySelectorAll('#v-overview .happened button')[2].click()")
    compared = b.until(lambda: "A 82 samples, B 40 samples" in b.text("diff-note"))
    b.driver.back()
    b.until(lambda: b.js("return document.querySelector('#v-overview .happened button')"))
    b.js("document.querySelectorAll('#v-overview .happened button')[0].click()")
    return noted == ["14:00:10 7 samples lost", "14:00:20 nothing recorded for 10.0 s", "14:00:30 new build of tool, build-id 99887766…"] and compared and \
        b.until(lambda: "21 samples" in b.text("amount")) and "samples lost" in b.text("legend")


def what_has_no_chain_is_said(b, url):
    """1000 of 2000 samples have no chain, all of them in the second slice: its share is larger, that of the first is 0."""
    said = {}
    for window in ("", "&a=2026-11-23T14:00:00Z..2026-11-23T14:00:10Z", "&a=2026-11-23T14:00:10Z..2026-11-23T14:00:20Z"):
        b.open(url, f"v=flame{window}")
        said[window[-19:]] = re.findall(r"(\S+) % without chains", b.text("quality"))
    return list(said.values()) == [["50.0"], [], ["58.8"]] and "chains shed" in b.text("legend")


def another_event_can_be_chosen(b):
    """A page shows one of several events, the clock's first; its sources and commands are of that one, too."""
    server, url = serve("--session-dir=two-events")
    try:
        b.open(url, "v=overview&g=event")
        first = b.text("amount")
        b.press("#v-overview .users button")
        chosen = b.until(lambda: b.text("amount") == "2.500 ms")
        b.open(url, "v=source&fn=exe-pie:main&e=OFFCPU")
        counts = instruction_counts(b)
        command = shlex.split(b.text("command"))
        b.open(url, "v=functions&e=TIMER")
        both = b.js("return [...document.querySelectorAll('#event option')].map(o => o.value)")
        return first.startswith("1000 samples") and chosen and "event:OFFCPU" in command and list(counts.values()) == [2500] and \
            "2.500" in run(f"{BUILD}/tools/opannotate", *command[1:]) and b.text("amount").startswith("1000 samples") and both == ["OFFCPU", "TIMER"]
    finally:
        b.driver.get("about:blank")  # which asks for no other event any more
        server.terminate()
        server.wait()


def each_event_has_a_column(b, work):
    """The shares of each event are those of opreport, also of functions that only another event has samples in, and of a window;
    not with filters. The clock's event is the one that is shown first. Also in a file."""
    server, served = serve("--session-dir=three-events")
    try:
        return all(has_columns_of_events(b, url) for url in (served, f"{work}/three-events.html"))
    finally:
        b.driver.get("about:blank")  # which asks for no other event any more
        server.terminate()
        server.wait()


def percents(event, *words):
    """The shares of functions: { (symbol, image): percent }."""
    found = csv.DictReader(run(f"{BUILD}/tools/opreport", "-l", "--csv", "--session-dir=three-events", f"event:{event}", *words).splitlines())
    return {(row["symbol"], os.path.basename(row["image"])): float(row["percent"]) for row in found}


def has_columns_of_events(b, url):
    b.open(url, "v=functions")
    usual = b.js("return document.getElementById('event').value")
    for window, word in (("", []), ("&a=2026-11-23T14:00:00Z..2026-11-23T14:00:10Z", ["time:2026-11-23T14:00:00Z..2026-11-23T14:00:10Z"])):
        b.open(url, "v=functions&e=TIMER" + window)
        b.until(lambda: "INST_RETIRED %" in b.text("functions"))
        titles = b.js("return [...document.querySelectorAll('#functions .th')].map(e => e.textContent.replace(' ▾', ''))")
        rows = {(row[-2], row[-1]): dict(zip(titles, row)) for row in table(b, "functions")}
        b.open(url, "v=overview&g=image&e=TIMER" + window)
        b.until(lambda: "INST_RETIRED %" in b.text("v-overview"))
        heads, *lines = b.js("return [...document.querySelectorAll('#v-overview .users .line')].map(r => [...r.children].map(c => c.textContent))")
        images = {line[0]: dict(zip(heads, line)) for line in lines}
        for event in ("OFFCPU", "INST_RETIRED"):
            expected = {key: f"{percent:.3g}" for key, percent in percents(event, *word).items()}
            shown = {key: f"{float(row[event + ' %']):.3g}" for key, row in rows.items() if row[event + " %"] != "0"}
            of_images = {}
            for (_, image), percent in percents(event, *word).items():
                of_images[image] = of_images.get(image, 0) + percent
            if not expected or shown != expected or {image: float(row[event + " %"]) for image, row in images.items() if row[event + " %"] != "0"} != of_images:
                return False
    b.open(url, "v=functions&e=TIMER&f=focus:exe-pie:main")
    return usual == "TIMER" and "_start" in "".join(name for name, _ in rows) and "INST_RETIRED" not in b.text("functions")


def events_are_shown_over_time(b, url):
    """Each with all of its samples; a press shows another one, of which a file has functions without callers."""
    b.open(url, "v=overview&g=event")
    b.until(lambda: b.text("v-overview").count("1000 samples") == 2)
    shown = dict(b.js("return [...document.querySelectorAll('#v-overview .users .line')].slice(1).map(r => [...r.children].slice(0, 2)"
                      ".map(c => c.textContent.replace(/\\u202f/g, '')))"))
    b.press("#v-overview .users button")
    b.until(lambda: b.js("return document.getElementById('event').value") == "INST_RETIRED" and b.js("return document.body.dataset.ready"))
    b.js("location.hash = 'v=functions&e=INST_RETIRED'")
    b.until(lambda: table(b, "functions"))
    own = {row[-2]: row[3] for row in table(b, "functions") if row[3] != "0"}
    return shown == {"INST_RETIRED": "1000 samples", "OFFCPU": "2.500 ms", "TIMER": "1000 samples"} and own == {"main": "300", "_start": "600", "marked_first": "100"} or print(shown, own)


def the_event_with_most_samples_is_shown_first(b):
    """Of those that do not mean time: not the first by name."""
    server, url = serve("--session-dir=no-clock")
    try:
        b.open(url, "v=functions")
        return b.js("return [...document.querySelectorAll('#event option')].map(o => [o.value, o.selected])") == \
            [["CONTEXT_SWITCHES", False], ["INST_RETIRED", True], ["OFFCPU", False]] and b.text("amount").startswith("30 samples")
    finally:
        server.terminate()
        server.wait()


def source_of_both_sides(b, of_a, of_b):
    """Shows a function of A and then of B: its samples, and those that the command says."""
    found = []
    for side, window in (("A", of_a), ("B", of_b)):
        b.js(f"document.getElementById('side-{side}').click()")
        b.until(lambda w=window: f"those of {w}" in b.text("source-note") and b.js("return document.body.dataset.source"))
        counts = instruction_counts(b)
        found.append(bool(counts) and counts == shares_of_opannotate(shlex.split(b.text("command"))[1:]))
    return found == [True, True]


def a_difference_has_the_source_of_both(b, windows):
    """Of windows, and of sessions, whose images may be in another place, with a command that prints the same."""
    server, url = serve("--session-dir=before-after", "session:before")
    try:
        b.open(url, "v=source&c=after&fn=lib.so:marked_second")
        b.until(lambda: b.js("return document.body.dataset.second"))
        sessions = source_of_both_sides(b, "A, ", "B, session after")
    finally:
        server.terminate()
        server.wait()
    b.open(windows, "v=source&fn=lib.so:marked_second&a=2026-11-23T14:00:10Z..2026-11-23T14:00:20Z&b=2026-11-23T14:00:30Z..2026-11-23T14:00:40Z")
    return sessions and source_of_both_sides(b, "A, 14:00:10 to", "B, 14:00:30 to")


def a_folded_timeline_leaves_the_page_as_high_as_the_screen(b, url):
    b.open(url, "v=source")
    b.type("m")
    height = b.js("return [document.documentElement.scrollHeight, innerHeight, document.querySelector('main').clientHeight]")
    return height[0] == height[1] and height[2] > height[1] / 2


def exported(b, name):
    """The bytes of an export."""
    b.js("window.files = []; URL.createObjectURL = blob => { blob.arrayBuffer().then(a => window.files.push([...new Uint8Array(a)])); "
         "return 'blob:none'; }; HTMLAnchorElement.prototype.click = () => {};")
    b.click("export")
    b.press(f"#exports button[data-file='{name}']")
    b.until(lambda: b.js("return window.files.length"))
    command = b.js(f"return document.querySelector('#exports button[data-file=\\'{name}\\']').closest('dt').nextSibling.querySelector('code')?.textContent")
    data = bytes(b.js("return window.files[0]"))
    b.js("document.getElementById('exports').close()")
    return data, command


def fields(data):
    """The fields of a protocol buffer: [(number, value)]."""
    found, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            at += 1
            shift += 7
            if data[at - 1] < 128:
                return value
    while at < len(data):
        key = varint()
        value = varint()
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        found.append((key >> 3, value))
    return found


def pprof_samples(data):
    """{ stack of names, the outermost first: samples }"""
    top = fields(gzip.decompress(data))
    texts = [value.decode() for number, value in top if number == 6]
    names = {dict(fields(value))[1]: texts[dict(fields(value))[2]] for number, value in top if number == 5}
    stacks = {}
    for number, value in top:
        if number == 2:
            sample = dict(fields(value))
            stack = ";".join(names[f] for f in reversed(sample[1]))
            stacks[stack] = fields(b"\x08" + sample[2])[0][1]
    return stacks


def exports_are_those_of_opreport(b, url):
    for more in ("", "&a=2026-11-23T14:00:11Z..2026-11-23T14:00:19Z&f=drop:lib.so:marked_second"):
        b.open(url, f"v=flame{more}")
        folded, command = exported(b, "folded.txt")
        wanted = run(f"{BUILD}/tools/opreport", *shlex.split(command)[1:])
        stacks = pprof_samples(exported(b, "profile.pb.gz")[0])
        if sorted(folded.decode().splitlines()) != sorted(wanted.splitlines()) or \
                stacks != {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in wanted.splitlines()}:
            return False
        shown, command = exported(b, "functions.json")
        found = json.loads(run(f"{BUILD}/tools/opreport", *shlex.split(command)[1:]))["functions"]
        if {(f["symbol"], f["self"], f["children"]) for f in json.loads(shown)["functions"]} != \
                {(f["symbol"], f["self"], f["children"]) for f in found}:
            return False
        svg = ElementTree.fromstring(exported(b, "flame-graph.svg")[0])
        if len(svg.findall(".//{http://www.w3.org/2000/svg}title")) < 4 or exported(b, "flame-graph.png")[0][:4] != b"\x89PNG" or \
                not exported(b, "functions.csv")[0].startswith(b"self,total,function,image\n"):
            return False
    return True


def hostile_names_are_text_in_svg(b, url):
    b.open(url, "v=flame")
    svg = ElementTree.fromstring(exported(b, "flame-graph.svg")[0])
    return any((e.text or "").startswith("<script>") for e in svg.iter()) and not svg.findall(".//{*}script")


def all_functions_are_exported(b, url):
    """Also those that a search does not find; no command gives stacks without recursion."""
    b.open(url, "v=functions&q=marked_second")
    found = len(table(b, "functions"))
    shown, command = exported(b, "functions.json")
    wanted = json.loads(run(f"{BUILD}/tools/opreport", *shlex.split(command)[1:]))["functions"]
    csv = exported(b, "functions.csv")[0].decode()
    b.open(url, "v=functions&opt=merge")
    _, folded = exported(b, "folded.txt")
    return found == 1 and sorted(f["symbol"] for f in json.loads(shown)["functions"]) == sorted(f["symbol"] for f in wanted) and \
        len(csv.splitlines()) == len(wanted) + 1 and folded is None


def folded_stacks_have_images_and_marks(b, place):
    """Code without a symbol is its image; that made at run time and that inlined have marks."""
    lines = []
    for name in ("marked", "inlined-chains"):
        b.open(f"{place}/{name}.html", "v=flame")
        folded, command = exported(b, "folded.txt")
        lines += folded.decode().splitlines()
        if sorted(folded.decode().splitlines()) != sorted(run(f"{BUILD}/tools/opreport", *shlex.split(command)[1:]).splitlines()):
            return False
    return all(any(part in line for line in lines) for part in ("_[j]", "_[i]", "[lib-stripped.so]"))


def frames_in_svg(b):
    """{ (depth, name): samples } of the flame graph."""
    found = {}
    for group in ElementTree.fromstring(exported(b, "flame-graph.svg")[0]).iter("{http://www.w3.org/2000/svg}g"):
        name, samples = group[0].text.rsplit(", ", 1)
        place = (int(group[1].get("y")) // 19, name)
        found[place] = found.get(place, 0) + int(samples.replace("\u202f", "").split()[0])
    return found


def frames_may_be_images(b, url):
    """A sample counts once, whatever calls itself; the choice is in the address, has a key, and is a chip that removes it."""
    b.open(url, "v=flame&m=image&q=lib.so")
    found, frames, chips, said = b.text("found"), frames_in_svg(b), b.text("chips"), b.text("same")
    b.open(url, "v=flame&m=image&fn=exe-pie:marked_first&dir=sandwich")
    middle = b.text("middle")
    b.type("g")
    classes, kept = b.js("return [location.hash, document.getElementById('merge-by').value]"), b.text("middle")
    b.press("#chips .chip:last-child button")
    return found.startswith("50.0 %") and "1 image" in found and "frames: images" in chips and said.startswith("no command") and \
        frames == {(0, "all"): 1000, (1, "exe-pie"): 1000, (2, "exe-pie"): 800, (3, "lib.so"): 300, (2, "[depth]"): 200, (3, "exe-pie"): 200, (4, "lib.so"): 200} and "exe-pie: 100 %" in middle and "m=class" in classes[0] and classes[1] == "class" and kept == middle and \
        "m=" not in b.js("return location.hash") and "marked_first: 70.0 %" in b.text("middle")


def frames_may_be_classes(b, url):
    """Those of one image; functions without a class are the image."""
    b.open(url, "v=flame&m=class")
    return frames_in_svg(b) == {(0, "all"): 1000, (1, "exe-pie"): 1000, (2, "exe-pie"): 800, (3, "ns::A"): 1000, (4, "std"): 300, (2, "[depth]"): 200,
                                (4, "ns::A"): 200, (5, "std"): 200}


def frames_may_be_source_files(b, url):
    """Those of one image, with the own samples of opreport --debug-info; functions whose file is not known are the image. Filters
    are about them, too, and are kept when the page is read again."""
    b.open(url, "v=flame&m=file&q=main.c")
    b.until(lambda: b.js("return document.getElementById('reading').hidden"))
    found, chips = b.text("found"), b.text("chips")
    frames = {(depth, os.path.basename(name)): n for (depth, name), n in frames_in_svg(b).items()}
    b.open(url, "v=flame&m=file&dir=up&opt=graph")
    b.until(lambda: b.js("return document.getElementById('reading').hidden"))
    own, expected = {}, {}
    for (depth, name), n in frames_in_svg(b).items():
        if depth == 1:
            own[name] = own.get(name, 0) + n
    for row in csv.DictReader(run(f"{BUILD}/tools/opreport", "-l", "-g", "--csv", "--session-dir=one").splitlines()):
        name = os.path.basename(row["file"] or row["image"])
        expected[name] = expected.get(name, 0) + int(row["samples"])
    b.js("document.querySelector('#graph canvas').focus()")
    b.type(Keys.ARROW_DOWN, "f")
    focused = b.until(lambda: "focus marked.c" in b.text("chips"))
    b.open(url, b.js("return location.hash")[1:].replace("m=file", "m=function"))
    b.until(lambda: b.js("return document.getElementById('reading').hidden"))
    return focused and found.startswith("100 %") and "1 source file" in found and "frames: source files" in chips and own == expected and \
        "focus marked.c" in b.text("chips") and "500 samples" in b.text("amount") and frames == {
            (0, "all"): 1000, (1, "exe-pie"): 1000, (2, "exe-pie"): 800, (3, "main.c"): 1000, (4, "marked.c"): 900, (5, "marked.c"): 300, (2, "[depth]"): 200}


def quality_is_that_of_functions(b, url):
    """Whatever frames are: also of images, in which code without symbols is next to other code."""
    said = []
    for frames in ("function", "image"):
        b.open(url, f"v=flame&m={frames}")
        said.append(re.findall(r"([\d.]+) % no symbols", b.text("quality")))
    return said == [["33.3"], ["33.3"]]


def frames_may_be_below_tasks(b, url):
    """The first row is of threads or the like, with the samples of Overview; stacks below cgroups are those of opreport, which shortens their names. What was not
    recorded says how."""
    found = []
    for part, name in (("thread", "70 exe-pie"), ("process", "71 exe-pie"), ("cpu", "CPU 1"), ("cgroup", "/b/c")):
        b.open(url, f"v=overview&g={part}")
        rows = overview_rows(b)
        b.open(url, f"v=flame&r={part}")
        frames = frames_in_svg(b)
        found.append({name: n for (depth, name), n in frames.items() if depth == 1} == rows and name in rows and frames[(2, "exe-pie")] == 100)
    folded, command = exported(b, "folded.txt")
    wanted = run(f"{BUILD}/tools/opreport", "--folded=cgroup", "--session-dir=tasks").splitlines()
    same = command is None and sorted(re.sub("^.*/", "", line) for line in folded.decode().splitlines()) == sorted(wanted)
    chips = b.text("chips")
    b.js("document.querySelector('#graph canvas').focus()")
    b.type(Keys.ARROW_DOWN)
    b.press("#detail .actions button")
    only = b.until(lambda: "50 samples" in b.text("amount")) and "cgroup /" in b.text("chips")
    b.open(url, "v=flame&r=thread&dir=up&opt=graph&q=main")
    up = frames_in_svg(b)
    b.open(url, "v=flame&r=thread&dir=sandwich&fn=exe-pie:main")
    middle = b.text("middle")
    return found == [True] * 4 and same and only and "below cgroups" in chips and any("70 exe-pie" == name for _, name in up) and "main: " in middle


def first_rows_that_are_not_recorded_say_how(b, url):
    b.open(url, "v=flame&r=thread")
    return "operf --separate-thread" in b.text("no-roots") and (1, "exe-pie") in frames_in_svg(b)


def files_of_both_profiles_are_known(b, place):
    """In a file, and from a server."""
    b.open(f"{place}/difference.html", "v=diff&m=file")
    b.until(lambda: "source files differ" in b.text("diff-note"))
    found = [sorted(os.path.basename(row[5]) for row in table(b, "diff-table"))]
    server, url = serve("--session-dir=before-after", "{", "session:before", "}", "{", "session:after", "}")
    try:
        b.open(url, "v=diff&m=file")
        b.until(lambda: "source files differ" in b.text("diff-note"))
        found.append(sorted(os.path.basename(row[5]) for row in table(b, "diff-table")))
    finally:
        server.terminate()
        server.wait()
    return found == 2 * [["main.c", "marked.c", "marked.c"]]


def filters_are_about_frames(b, url):
    """A filter stays what it is when frames are others; a filter of a function has effect before frames are joined."""
    found = {}
    for fragment in ("m=image&f=focus:image lib.so", "m=image&f=drop:image lib.so", "m=image&f=hide:image exe-pie", "m=image&f=hide:exe-pie:main",
                     "f=focus:image lib.so", "m=image&opt=merge&a=2026-11-23T14:00:11Z..2026-11-23T14:00:19Z", "m=image&dir=up&opt=graph"):
        b.open(url, f"v=flame&{fragment}")
        found[fragment] = {place: n for place, n in frames_in_svg(b).items() if place[0] > 1}
    b.open(url, "v=source&fn=image lib.so")
    return list(found.values()) == [
        {(2, "exe-pie"): 300, (3, "lib.so"): 300, (2, "[depth]"): 200, (3, "exe-pie"): 200, (4, "lib.so"): 200},
        {(2, "exe-pie"): 500},
        {(2, "lib.so"): 300, (2, "[depth]"): 200, (3, "lib.so"): 200},
        {(2, "exe-pie"): 800, (3, "lib.so"): 500, (2, "[depth]"): 200},
        {(2, "_start"): 300, (3, "main"): 500, (4, "marked_first"): 500, (5, "marked_second"): 500, (2, "[depth]"): 200},
        {(2, "exe-pie"): 700, (3, "lib.so"): 300},
        {(2, "exe-pie"): 1000, (3, "exe-pie"): 300, (3, "[depth]"): 200, (4, "exe-pie"): 200}] and "marked_second[" in b.text("command")


def a_difference_may_be_of_images(b, place):
    """Of windows, and of two profiles, whose images need not be in the same place; the table has one name for each."""
    found = []
    for name, more in (("one", "&a=2026-11-23T14:00:00Z..2026-11-23T14:00:10Z&b=2026-11-23T14:00:10Z..2026-11-23T14:00:20Z"), ("difference", "")):
        b.open(f"{place}/{name}.html", f"v=diff&m=image{more}")
        b.until(lambda: "images differ" in b.text("diff-note"))
        found.append([row[:1] + row[2:] for row in table(b, "diff-table")])
    return found == [[["▼ −42.9", "100", "57.1", "▼ less", "exe-pie"], ["▲ +42.9", "0", "42.9", "▲ new", "lib.so"]],
                     [["▼ −8.50", "50.0", "41.5", "▼ less", "exe-pie"], ["▲ +8.50", "50.0", "58.5", "▲ more", "lib.so"]]]


def images_that_are_not_listed_are_not_new(b, url):
    """What is added up for other images may be theirs; it is itself no image."""
    b.open(url, "v=diff&m=image")
    b.until(lambda: "images differ" in b.text("diff-note"))
    found = [row[:1] + row[2:] for row in table(b, "diff-table")]
    return found == [["▼ −8.50", "50.0", "41.5", "▼ less", "exe-pie"], ["▲ +8.50", "<50.1", "58.5", "▲ more", "lib.so"]] or print(f"# {found}")


def outline(b):
    """The rows of the tree that is shown as a table: [level, whether it is unfolded, total, name]."""
    return b.js("return [...document.querySelectorAll('#outline .tr:not([hidden])')].sort((a, b) => a.dataset.row - b.dataset.row).map(r => "
                "[r.ariaLevel, r.ariaExpanded, r.querySelectorAll('.td')[0].textContent, r.querySelector('.td span').textContent].join(' '))")


def a_tree_may_be_a_table(b, url):
    """Which keys unfold, in the order of any column, and which says what matches."""
    b.open(url, "v=flame")
    b.type("T")
    whole = outline(b)
    b.js("document.querySelector('#outline .tbody').focus()")
    b.type(Keys.ARROW_DOWN, Keys.ARROW_LEFT)
    folded, detail = outline(b), b.text("detail")
    b.type(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    shut = outline(b)
    b.open(url, "v=flame&dir=up&q=marked_first")
    up = outline(b)
    b.press("#outline .tr[data-row='1'] .fold")
    callers, matches = outline(b), b.js("return [...document.querySelectorAll('#outline .match')].map(e => e.textContent)")
    b.js("[...document.querySelectorAll('#outline .th')].find(h => h.textContent === 'Name').click()")
    by_name = outline(b)
    b.click("grow-down")
    hidden = b.js("return document.getElementById('outline').hidden && !document.getElementById('graph').hidden && !location.hash.includes('table')")
    levels = ["1 true 100 exe-pie", "2 true 80.0 _start", "3 true 80.0 main", "4 true 70.0 marked_first", "5  30.0 marked_second", "2 true 20.0 [depth]",
              "3 true 20.0 main", "4 true 20.0 marked_first", "5  20.0 marked_second"]
    return whole == levels and folded == levels[:1] + ["2 false 80.0 _start"] + levels[5:] and shut == ["1 false 100 exe-pie"] and \
        "_start" in detail and "total 80.0 %" in detail and up == ["1 false 50.0 marked_second", "1 false 40.0 marked_first", "1 false 10.0 main"] and \
        callers == up[:1] + ["1 true 40.0 marked_first", "2 false 40.0 main"] + up[2:] and matches == ["marked_first"] and \
        by_name == up[2:] + callers[1:3] + up[:1] and hidden


def graphs_are_whole_in_svg(b, url):
    """Frames of Difference have both shares; an empty graph has no frames."""
    b.open(url, "v=diff&a=2026-11-23T14:00:00Z..2026-11-23T14:00:10Z&b=2026-11-23T14:00:10Z..2026-11-23T14:00:20Z")
    titles = [e.text for e in ElementTree.fromstring(exported(b, "flame-graph.svg")[0]).iter("{http://www.w3.org/2000/svg}title")]
    b.open(url, "v=flame&f=drop:exe-pie:main")
    empty = exported(b, "flame-graph.svg")[0]
    return "all, A 100 %, B 100 %" in titles and any("marked_second, A 0 %, B 42.9 %" in title for title in titles) and \
        b"NaN" not in empty and b"<title>" not in empty


def make_gone():
    """Makes a session of a build that is gone, and its page."""
    for root, name in (("built", "demo.c"), ("now", "demo-next.c")):
        os.makedirs(f"{root}/build/demo")
        shutil.copy("elf/demo.h", f"{root}/build/demo")
        shutil.copy(f"elf/{name}", f"{root}/build/demo/demo.c")
    os.utime("built/build/demo/demo.c", (1, 1))
    subprocess.run([f"{BUILD}/tests/golden/mksession", "gone"], input=GONE, text=True, check=True)
    build_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", "elf/demo.so")).group(1)
    with open("gone/samples/current/images", "w", encoding="utf-8") as f:
        f.write(f"/opt/demo.so\t/opt/demo.so\t{build_id}\t-\t-\t0:0:0:0\n")
    run(f"{BUILD}/tools/opreport", "--session-dir=gone", "--root=now", "--html=gone.html")


def make_rebuilt():
    """Makes a session of two builds, whose paths in the manifest have no mark, and the page that compares them."""
    subprocess.run([f"{BUILD}/tests/golden/mksession", "rebuilt"], input=rebuilt(), text=True, check=True)
    with open("rebuilt/samples/current/images", "r+", encoding="utf-8") as f:
        text = re.sub(r"\t/opt/tool#\w+", "\t/opt/tool", f.read())
        f.seek(0)
        f.truncate()
        f.write(text)
    windows = [w for s in ("00", "10") for w in ("{", f"time:2026-11-23T14:00:{s}Z/PT10S", "}")]
    run(f"{BUILD}/tools/opreport", "--session-dir=rebuilt", "--html=rebuilt.html", *windows)
    run(f"{BUILD}/tools/opreport", "--session-dir=rebuilt", "--html=windows.html")


def make_newer():
    """Makes the root of a program one of whose sources was changed after it was built."""
    library, sources = f"newer/{os.path.abspath('elf/demo.so')}", "newer/build/demo"
    os.makedirs(os.path.dirname(library))
    os.makedirs(sources)
    shutil.copy2("elf/demo.so", library)
    for name, after in (("demo.c", 3600), ("demo.h", -3600)):
        shutil.copy(f"elf/{name}", sources)
        os.utime(f"{sources}/{name}", 2 * (os.stat(library).st_mtime + after,))
    run(f"{BUILD}/tools/opreport", "--session-dir=inlined", "--root=newer", "--html=newer.html")


def make_pages():
    """Makes the sessions and their pages."""
    make_gone()
    shutil.copy("elf/exe-pie", "marked_first")
    os.mkdir("old")
    shutil.copy("elf/lib.so", "old/lib.so")
    with open("names", "w", encoding="utf-8") as f:
        f.write(f"{ID + ID}\tweb-1\n")
    for name, text in (("one", SESSION), ("twin", TWIN), ("short", SHORT), ("inlined", INLINED), ("long", LONG), ("unnamed", UNNAMED), ("bursts", BURSTS), ("marked", MARKED), ("local", LOCAL), ("off", OFF_CPU), ("tasks", TASKS), ("builds", BUILDS), ("shed", SHED), ("containers", CONTAINERS), ("threads", THREADS),
                       ("tasks-flat", re.sub(r"(?m)^chain.*\n", "", TASKS))):
        subprocess.run([f"{BUILD}/tests/golden/mksession", name], input=text, text=True, check=True)
        run("env", f"TZ={LOCAL_ZONE if name == 'local' else 'UTC'}", f"{BUILD}/tools/opreport", f"--session-dir={name}", f"--html={name}.html")
    for name, text in (("inlined-chains", INLINED_CHAINS), ("sessions", BURSTS_TWICE), ("two-events", TWO_EVENTS), ("three-events", THREE_EVENTS), ("no-clock", NO_CLOCK), ("before-after", BEFORE_AFTER), ("many", MANY)):
        subprocess.run([f"{BUILD}/tests/golden/mksession", name], input=text, text=True, check=True)
    make_newer()
    make_rebuilt()
    run(f"{BUILD}/tools/opreport", "--session-dir=three-events", "--html=three-events.html")
    run(f"{BUILD}/tools/opreport", "--inlines", "--session-dir=inlined-chains", "--html=inlined-chains.html")
    run(f"{BUILD}/tools/opreport", "--session-dir=sessions", "--html=sessions.html", "session:first,second")
    run(f"{BUILD}/tools/opreport", "--session-dir=before-after", "--html=difference.html", "{", "session:before", "}", "{", "session:after", "}")
    run(f"{BUILD}/tools/opreport", "--html=one-flat.html", "{", "--session-dir=one", "}", "{", "--session-dir=twin", "}")
    run(f"{BUILD}/tools/opreport", "--session-dir=tasks", "--html=cpus.html", "cpu:0,1", "time:2026-11-23T14:00:00Z..2026-11-23T14:00:40Z")
    make_renamed("one.html", "hostile.html", lambda i, _: NAMES[(i - 1) % len(NAMES)], "/" + HOSTILE[0])
    make_renamed("one.html", "classes.html", lambda _, name: QUALIFIED.get(name, name))
    make_pruned("one.html", "pruned.html")
    make_crowded("one.html", "crowded.html", 1, 5)
    make_crowded("difference.html", "crowded-difference.html", 0, 0)
    make_crowded("one.html", "unlisted.html", 1, 2, image={1: 0, 2: 0})
    make_crowded("difference.html", "unlisted-difference.html", 4, 1, image={4: 0})
    make_crowded("one.html", "too-rare.html", 0, 0, kind={5: 10})


servers = []  # all servers, with their addresses


def serve(*words):
    server = subprocess.Popen([f"{BUILD}/tools/opweb", "--no-browser", "--for=10m", *words], stdout=subprocess.PIPE, text=True)
    servers.append((server, server.stdout.readline().strip()))
    return servers[-1]


def has_ended(complaint):
    """Whether it is about what a page asked of a server that has ended: a page that is left may ask on for a moment."""
    return "Failed to load resource" in complaint and any(complaint.startswith(url) and server.poll() is not None for server, url in servers)


# Holds the answer with all functions until release() is called.
HOLD_DATA = """const ask = window.fetch, held = new Promise(done => { window.release = done; });
window.fetch = path => (path === 'data' ? held.then(() => ask(path)) : ask(path));"""


def applications_come_first(b, url):
    """Who used the machine is shown before functions are known, with the numbers that are shown then; what needs functions
    is shown as soon as they are."""
    held = b.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": HOLD_DATA})["identifier"]
    try:
        shown = []
        for view in ("overview", "flame"):
            b.driver.get("about:blank")
            b.driver.get(f"{url}#v={view}")
            b.until(lambda: b.js("return 'shown' in document.body.dataset"))
            shown.append((b.text("v-overview"), b.text("legend"), b.text("amount"), b.js("return document.getElementById('reading').hidden")))
            early = b.text("reading"), b.js("return document.body.dataset.ready")
            b.js("release()")
            b.until(lambda: b.js("return document.body.dataset.ready"))
            shown.append((b.text("v-overview"), b.text("legend"), b.text("amount"), b.js("return document.getElementById('reading').hidden")))
        return shown[0] == shown[1] and "exe-pie100" in shown[0][0] and early[1] is None and \
            early[0] == "reading the call chains of 1000 samples…" and not shown[2][3] and shown[3][3] and b.text("graph") is not None
    finally:
        b.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": held})


def a_killed_server_does_not_block_its_socket():
    words = [f"{BUILD}/tools/opweb", "--no-browser", "--for=10m", "--session-dir=one", "--listen=./socket"]
    for end in (subprocess.Popen.kill, subprocess.Popen.terminate):
        # The process that makes a killed server's answers ends soon, and has its socket until then.
        for _ in range(50):
            with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
                line = server.stdout.readline()
                end(server)
            if line:
                break
            time.sleep(0.2)
        if not re.match(r"http://localhost/s/[\w-]{22}/ at the socket \./socket$", line):
            return False
    return not os.path.exists("socket")


def shares_of_opannotate(command):
    """The counts of opannotate's instructions: { address: samples, or samples and total if it prints both }."""
    rows = re.findall(r"^ *(\d+) +[\d.e-]+ (?: +(\d+) +[\d.e-]+ )?: +([0-9a-f]+):\t", run(f"{BUILD}/tools/opannotate", *command), re.M)
    return {address: (int(count), int(total)) if total else int(count) for count, total, address in rows}


def source_has_the_numbers_of_its_command(b, url):
    for window in ("", "&a=2026-11-23T14:00:10Z..2026-11-23T14:00:20Z"):
        b.open(url, f"v=source&fn=exe-pie:marked_first{window}")
        counts = instruction_counts(b)
        if not counts or counts != shares_of_opannotate(shlex.split(b.text("command"))[1:]):
            return False
    return True


def instruction_counts(b):
    """The samples of the instructions that are shown: { address: samples, or samples and total }."""
    b.until(lambda: b.js("return document.querySelectorAll('#source .pane.code .sl').length"))
    shown = b.js("return [...document.querySelectorAll('#source .pane.code .sl:not(.titles)')].map(r => "
                 "[r.querySelector('.number').textContent, ...[...r.querySelectorAll('.share')].map(c => c.title)])")
    counts = {address: tuple(int(re.sub(r"\D", "", title) or 0) for title in titles) for address, *titles in shown if any(titles)}
    return {address: both if len(both) > 1 else both[0] for address, both in counts.items()}


def line_counts(b):
    """The same of source lines: { line: (samples, total) }."""
    shown = b.js("return [...document.querySelectorAll('#source .pane:not(.code) .sl:not(.titles):not(.gap)')].map(r => "
                 "[r.querySelector('.number').textContent, ...[...r.querySelectorAll('.share')].map(c => c.title)])")
    return {int(line): tuple(int(re.sub(r"\D", "", title) or 0) for title in titles) for line, *titles in shown if any(titles)}


def lines_have_what_they_call(b, url):
    """Each line has the samples that opannotate --children prints, of all time and of a window, also in a function that only
    calls; such a function is hot where it calls."""
    session = "--session-dir=one"
    for fn, pattern in (("exe-pie:main", "main"), ("exe-pie:marked_first", "marked_first")):
        for window, words in (("", []), ("&a=2026-11-23T14:00:10Z..2026-11-23T14:00:20Z", ["time:2026-11-23T14:00:10Z..2026-11-23T14:00:20Z"])):
            b.open(url, f"v=source&fn={fn}{window}")
            counts = instruction_counts(b)
            printed = json.loads(run(f"{BUILD}/tools/opannotate", "--json", "--children", "--merge=all", "-i", f"{pattern}[{os.path.abspath('elf/exe-pie')}]", session, *words))
            code = printed["functions"][0]
            own = {}
            for row in code["instructions"]:
                own[row[4]] = own.get(row[4], 0) + row[2]
            expected = {line: (own.get(line, 0), total) for file in code["files"] for line, total in file["totals"]}
            if not expected or line_counts(b) != expected or counts != shares_of_opannotate(shlex.split(b.text("command"))[1:]):
                return False
    b.open(url, "v=source&fn=exe-pie:main&a=2026-11-23T14:00:10Z..2026-11-23T14:00:20Z")
    b.until(lambda: b.js("return document.querySelectorAll('#source .pane.code .sl').length"))
    return "0 samples, 0 %; with what it calls 700 samples, 100 %" in b.text("source") and "line 8: 1 of 1, 100 % of the function and what it calls" in b.text("source")


def a_file_has_the_source_of_hot_functions(b, url):
    """The numbers are those of opannotate, also if a window is chosen, which the page says; also of functions that only call."""
    for window in ("", "&a=2026-11-23T14:00:10Z..2026-11-23T14:00:20Z"):
        b.open(url, f"v=source&fn=exe-pie:marked_first{window}")
        counts = instruction_counts(b)
        if not counts or counts != shares_of_opannotate(shlex.split(b.text("command"))[1:]) or bool(window) != ("no source of a window" in b.text("source-note")):
            return False
    b.open(url, "v=source&fn=exe-pie:_start")
    counts = instruction_counts(b)
    return len(counts) == 1 and counts == shares_of_opannotate(shlex.split(b.text("command"))[1:])


def sessions_that_are_not_listed_are_counted(b):
    server, url = serve("--session-dir=many", "session:s001")
    try:
        b.open(url, "v=diff")
        listed = b.js("return [...document.querySelectorAll('[data-session]')].map(e => e.textContent)")
        return listed == ["s000"] + [f"s{i:03}" for i in range(2, 201)] and "2 more sessions are not listed" in b.text("diff-none")
    finally:
        server.terminate()
        server.wait()


def a_file_compares_two_profiles(b, where):
    """It opens with the difference, which is that of opreport; one without call chains is compared by functions alone."""
    b.open(f"{where}/difference.html")
    b.until(lambda: b.js("return document.body.dataset.second"))
    shown, command, chips, view = shown_differences(b), b.text("command"), b.text("chips"), b.js("return document.body.dataset.ready")
    b.open(f"{where}/difference.html", "v=functions")
    own = {(row[4], row[5]): int(row[3]) for row in table(b, "functions")}
    b.open(f"{where}/difference.html", "v=source&fn=exe-pie:marked_first")
    b.until(lambda: "those of A, session:before" in b.text("source-note"))
    counts, printed = instruction_counts(b), shares_of_opannotate(shlex.split(b.text("command"))[1:])
    if not counts or counts != printed or "{ --session-dir=before-after session:before } {" not in b.text("source-note"):
        return False
    b.open(f"{where}/one-flat.html")
    b.until(lambda: b.js("return document.body.dataset.second"))
    flat, flat_command, deepest = shown_differences(b), b.text("command"), b.js("return document.getElementById('drawn').textContent")
    return view == "diff" and "session:before" in chips and "session:after" in chips and len(shown) == 4 and shown == differences_of(command) and \
        own == {key: k for key, (k, _) in children("--session-dir=before-after", "session:before").items()} and \
        len(flat) > 3 and flat == differences_of(flat_command) and deepest.startswith("8 frames")


def builds_of_a_path_are_compared(b, where):
    """Also if one session has both: functions of the second build are not new."""
    b.open(f"{where}/rebuilt.html")
    b.until(lambda: b.js("return document.body.dataset.second"))
    shown, command = shown_differences(b), b.text("command")
    return len(shown) == 2 and sorted(shown.values()) == sorted(differences_of(command).values()) and shown[("marked_first", "lib.so")][:2] == ("40.0", "70.0") or print(f"# {shown}")


def builds_of_two_windows_are_compared(b, where):
    """In a page of one profile: its functions are those of each window again when one is shown."""
    windows = "a=2026-11-23T14:00:00Z..2026-11-23T14:00:10Z&b=2026-11-23T14:00:10Z..2026-11-23T14:00:20Z"
    b.open(f"{where}/windows.html", "v=diff&" + windows)
    shown, command = shown_differences(b), b.text("command")
    b.js("window.drawn = []; const write = CanvasRenderingContext2D.prototype.fillText; CanvasRenderingContext2D.prototype.fillText = "
         "function(text, ...rest) { drawn.push(text); write.call(this, text, ...rest); }; document.getElementById('theme').click();")
    b.until(lambda: b.js("return drawn.includes('all')"))
    drawn = [text for text in b.js("return drawn") if "tool" in text or "marked" in text]
    b.open(f"{where}/windows.html", "v=functions&" + windows)
    own = {(row[4], row[5]): int(row[3]) for row in table(b, "functions")}
    return (sorted(shown.values()) == sorted(differences_of(command).values()) and len(shown) == 2 and shown[("marked_first", "lib.so")][:2] == ("40.0", "70.0") and len(drawn) == len(set(drawn)) and
            sorted(own.values()) == [40, 60] and all("#" not in image for _, image in own)) or print(f"# {shown} {differences_of(command)} {drawn} {own}")


def rare_functions_are_added_up(b, where):
    """The page says so; they have no graph of callers; and what only the other profile has may be among them, so it is not new."""
    b.open(f"{where}/crowded.html", "v=functions")
    note, rows = b.text("functions-note"), table(b, "functions")
    b.js("document.querySelector('#functions .tr').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    actions = b.js("return document.querySelectorAll('#detail button').length")
    b.open(f"{where}/crowded-difference.html")
    b.until(lambda: b.js("return document.body.dataset.second"))
    shown = shown_differences(b)
    b.open(f"{where}/crowded.html", "v=quality")
    return "; 7 more, each in less than 4 samples, are added up" in note and len(rows) == 5 and actions == 0 and \
        shown[("marked_first", "lib.so")] == ("<0.40", "10.0", "▲ more") and "without a name: 7 functions, each in less than 4 samples100 %" in b.text("v-quality")


def rare_functions_of_other_images_are_a_group(b, url):
    """Those whose image is not listed; so the images have all samples."""
    b.open(url, "v=functions&by=image")
    own = {row[4]: int(row[3]) for row in table(b, "functions")}
    b.open(url, "v=overview&g=image")
    shares = b.js("return [...document.querySelectorAll('#v-overview .users .line')].slice(1).map(r => r.children[0].textContent)")
    return own == {"(other images)": 100, "exe-pie": 400, "lib.so": 500} and shares == ["lib.so", "exe-pie", "(other images)"] or print(f"# {own} {shares}")


def a_group_is_of_the_kind_of_its_functions(b, url):
    """Not of that of places that were too rare to be kept, if it has others."""
    b.open(url, "v=flame")
    functions = b.text("key")
    b.open(url, "v=flame&m=image")
    return "too rare to be kept" in functions and "library" in b.text("key") and "too rare" not in b.text("key") or print(f"# {functions} {b.text('key')}")


def a_build_that_is_gone_has_its_lines(b, url):
    """In the source as it is now, without code; what is not found there is said."""
    b.open(url, "v=source&fn=demo.so:hot")
    shown = b.until(lambda: b.js("return document.querySelectorAll('#source .sl').length"))
    tied, panes = b.js("return [document.querySelector('#source .tied').textContent, document.querySelectorAll('#source .pane').length]")
    return shown and "s += mix(i)" in tied and panes == 1 and "No code" in b.text("source") and \
        "84.4 % of the samples have no source line" in b.text("source")


def newer_sources_are_named(b, what, url):
    """Next to the source: samples may be on the wrong lines. Not of sources that are as old as the program."""
    b.open(url, "v=source&fn=demo.so:hot")
    if not b.until(lambda: b.js("return document.querySelectorAll('#source .pane.code .sl').length")):
        return False
    said = b.js("return [...document.querySelectorAll('#source .warn, #source .sl.gap')].map(e => e.textContent.trim())")
    wrong = "newer than what was built from it{}; samples may be on the wrong lines"
    return [s for s in said if not s.startswith("…")] == [f"Source {wrong.format(': demo.c')}.", f"/build/demo/demo.c: {wrong.format('')}",
                                                          "/build/demo/demo.h"] or print(f"# {what}: {said}")


def newer_sources_are_named_by_the_server(b):
    server, url = serve("--session-dir=inlined", "--root=newer")
    try:
        return newer_sources_are_named(b, "server", url)
    finally:
        server.terminate()
        server.wait()


def inlined_code_is_shown_where_it_is(b):
    """Of an inlined function, the source is that of the function it is in; lines without text count, too."""
    server, url = serve("--session-dir=inlined", "--inlines")
    try:
        b.open(url, "v=source&fn=demo.so:mix")
        if not b.until(lambda: b.js("return document.querySelectorAll('#source .pane.code .sl').length")):
            return False
        lines = b.js("return [...document.querySelectorAll('#source .pane:not(.code) .sl:not(.gap)')].map(r => r.querySelector("
                     "'.share').title.replace(/\\D/g, ''))")
        return "first function that mix is inlined in" in b.text("source") and "not found" in b.text("source") and \
            "'hot[" in b.text("command") and sum(int(n or 0) for n in lines) == 95
    finally:
        server.terminate()
        server.wait()


def get(url, **headers):
    """The status, ETag and body of an answer."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as answer:
            return answer.status, answer.headers["ETag"], answer.read()
    except urllib.error.HTTPError as e:
        return e.code, e.headers["ETag"], e.read()


def answers_have_tags(url):
    """A browser that has an answer is told so; another answer has another tag."""
    tags = set()
    for path in ("", "data", "source/" + source_question()):
        gzip_too = {"Accept-Encoding": "gzip"}
        status, tag, body = get(url + path, **gzip_too)
        again = get(url + path, **gzip_too, **{"If-None-Match": tag})
        other = get(url + path, **gzip_too, **{"If-None-Match": '"0000000000000000"'})
        if status != 200 or again != (304, tag, b"") or other[0] != 200 or other[2] != body:
            return False
        tags.add(tag)
    return len(tags) == 3


def exports_have_addresses(url):
    """Each is what opreport prints, of all time and of a window; what is no export says why."""
    window = "2026-11-23T14:00:10Z..2026-11-23T14:00:20Z"
    for name, words in (("folded", ["--folded"]), ("chains.json", ["--chains", "--json"]), ("functions.json", ["-l", "--json"]),
                        ("functions.csv", ["-l", "--csv"]), ("pprof", ["--pprof=/dev/stdout"])):
        for part, time_word in (("", []), ("/" + window, ["time:" + window])):
            printed = subprocess.run([f"{BUILD}/tools/opreport", *words, "--session-dir=one", *time_word], capture_output=True, check=True).stdout
            status, _, body = get(f"{url}export/{name}{part}")
            if status != 200 or not body or body != printed:
                return False
    bad = [get(url + "export/" + rest) for rest in ("nothing", "folded/", "folded/x", f"folded/{window}/more", "folded/" + 9000 * "1")]
    return [b[0] for b in bad] == [500, 500, 500, 500, 404] and b"is not one of" in bad[0][2]


def source_question():
    """The path of a function's source on the server."""
    head, _ = read_page("one.html")
    f = head["functions"]["name"].index("marked_first")
    image = head["images"][head["functions"]["image"][f]]["path"]
    return f"{int(head['functions']['address'][f], 16):x}/all/{urllib.parse.quote(image, safe='')}"


def symbols_are_kept():
    """Also by the process in the sandbox that makes the data."""
    os.environ["OPROFILE_SYMBOL_CACHE"] = os.path.abspath("cache")
    server, url = serve("--session-dir=one", "--sandbox")
    del os.environ["OPROFILE_SYMBOL_CACHE"]
    try:
        return get(url + "data")[0] == 200 and any(name.endswith(".sym") for name in os.listdir("cache"))
    finally:
        server.terminate()
        server.wait()


def requests_do_not_wait_for_others():
    """Data that nobody makes, because the process that does is stopped, hold up only who wants them. Then all get them,
    also several at once, and who asks for another answer."""
    server, url = serve("--session-dir=one")
    try:
        first = get(url + "data")
        os.kill(server.pid, signal.SIGSTOP)
        time.sleep(2.5)  # until the data are too old
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            waiting = [pool.submit(get, url + path) for path in 5 * ["data"] + 5 * ["source/" + source_question()]]
            page = [get(url, **{"Accept-Encoding": "gzip"})[0] for _ in range(3)]
            is_held = not any(w.done() for w in waiting)
            os.kill(server.pid, signal.SIGCONT)
            answers = [w.result() for w in waiting]
        return page == [200] * 3 and is_held and all(a == first for a in answers[:5]) and \
            all(a[0] == 200 and a == answers[5] for a in answers[5:]) and b"instructions" in answers[5][2]
    finally:
        os.kill(server.pid, signal.SIGCONT)
        server.terminate()
        server.wait()


def is_sanitized():
    with open(f"{BUILD}/tools/opreport", "rb") as f:
        return b"__asan_init" in f.read()


def the_server_is_confined(server):
    children = run("pgrep", "-P", str(server.pid)).split()
    for child in children:
        with open(f"/proc/{child}/status", encoding="utf-8") as f:
            status = f.read()
        if "CapEff:\t" + "0" * 16 not in status or ("Seccomp:\t2" not in status and not is_sanitized()):
            return False
    return len(children) == 1


def check_files(attempt, wide, narrow, work):
    """What the page does, whatever made it."""
    attempt(events_are_shown_over_time, wide, f"file://{work}/three-events.html")
    attempt(rare_functions_are_added_up, wide, f"file://{work}")
    attempt(rare_functions_of_other_images_are_a_group, wide, f"file://{work}/unlisted.html")
    attempt(a_group_is_of_the_kind_of_its_functions, wide, f"file://{work}/too-rare.html")
    attempt(screens_do_not_scroll_sideways, narrow, f"file://{work}/one.html")
    attempt(screens_do_not_scroll_sideways, narrow, f"file://{work}/difference.html", what="difference: ")
    attempt(nothing_in_the_bar_is_cut, narrow, f"file://{work}/one.html", what="narrow: ")
    attempt(nothing_in_the_bar_is_cut, narrow, f"file://{work}/difference.html", what="narrow, two profiles: ")
    attempt(nothing_in_the_bar_is_cut, wide, f"file://{work}/one.html")
    attempt(hostile_names_are_text, wide, f"file://{work}/hostile.html")
    attempt(a_program_is_not_its_function, wide, f"file://{work}/twin.html")
    attempt(time_off_the_cpu_is_in_milliseconds, wide, f"file://{work}/off.html")
    attempt(a_short_slice_can_be_chosen, wide, f"file://{work}/short.html")
    attempt(slices_longer_than_steps_leave_no_holes, wide, f"file://{work}/long.html")
    attempt(noise_is_that_of_opreport, wide, f"file://{work}/bursts.html")
    attempt(waits_are_as_certain_as_in_opreport, wide, f"file://{work}/off.html")
    attempt(blocks_begin_in_local_time, wide, f"file://{work}/local.html")
    attempt(sessions_are_no_blocks, wide, f"file://{work}/sessions.html")
    attempt(groups_add_functions_up, wide, f"file://{work}/one.html")
    attempt(groups_have_what_the_tree_has_not, wide, f"file://{work}/pruned.html")
    attempt(a_folded_timeline_leaves_the_page_as_high_as_the_screen, wide, f"file://{work}/bursts.html")
    for name in ("tasks", "tasks-flat"):
        attempt(tasks_add_up, wide, f"file://{work}/{name}.html", what=f"{name}: ")
        attempt(functions_are_grouped_by_tasks, wide, f"file://{work}/{name}.html", what=f"{name}: ")
    attempt(bars_are_within_their_column, wide, f"file://{work}/threads.html")
    attempt(containers_have_their_names, wide, f"file://{work}/containers.html")
    attempt(a_press_chooses_tasks, wide, f"file://{work}/tasks.html")
    attempt(a_command_has_each_tag_once, wide, f"file://{work}/cpus.html")
    attempt(a_command_has_no_columns_of_tasks, wide, f"file://{work}/tasks-flat.html")
    attempt(applications_are_shown_first_if_there_are_several, wide, f"file://{work}")
    attempt(what_happened_is_noted, wide, f"file://{work}/builds.html")
    attempt(what_has_no_chain_is_said, wide, f"file://{work}/shed.html")
    attempt(what_was_not_recorded_says_how, wide, f"file://{work}/one.html")
    attempt(exports_are_those_of_opreport, wide, f"file://{work}/one.html")
    attempt(hostile_names_are_text_in_svg, wide, f"file://{work}/hostile.html")
    attempt(all_functions_are_exported, wide, f"file://{work}/one.html")
    attempt(folded_stacks_have_images_and_marks, wide, f"file://{work}")
    attempt(frames_may_be_images, wide, f"file://{work}/one.html")
    attempt(merged_recursion_is_a_chip, wide, f"file://{work}/one.html")
    attempt(a_tree_may_be_a_table, wide, f"file://{work}/one.html")
    attempt(frames_may_be_classes, wide, f"file://{work}/classes.html")
    attempt(frames_may_be_source_files, wide, f"file://{work}/one.html", what="file: ")
    attempt(quality_is_that_of_functions, wide, f"file://{work}/unnamed.html")
    attempt(frames_may_be_below_tasks, wide, f"file://{work}/tasks.html")
    attempt(first_rows_that_are_not_recorded_say_how, wide, f"file://{work}/one.html")
    attempt(files_of_both_profiles_are_known, wide, f"file://{work}")
    attempt(filters_are_about_frames, wide, f"file://{work}/one.html")
    attempt(a_difference_may_be_of_images, wide, f"file://{work}")
    attempt(images_that_are_not_listed_are_not_new, wide, f"file://{work}/unlisted-difference.html")
    attempt(graphs_are_whole_in_svg, wide, f"file://{work}/one.html")
    attempt(a_build_that_is_gone_has_its_lines, wide, f"file://{work}/gone.html")
    attempt(builds_of_a_path_are_compared, wide, f"file://{work}")
    attempt(builds_of_two_windows_are_compared, wide, f"file://{work}")


def main():
    if not os.path.exists(CHROMIUM) or not os.path.exists(DRIVER):
        print("1..0 # SKIP no chromium, or no chromium-driver")
        return 0
    failed = number = 0

    def report(name, ok):
        nonlocal failed, number
        number += 1
        failed += not ok
        print(f"{'ok' if ok else 'not ok'} {number} - {name}", flush=True)

    def attempt(check, *arguments, what=""):
        if sys.argv[2:] and check.__name__ not in sys.argv[2:]:
            return
        try:
            ok = check(*arguments)
        except WebDriverException:
            traceback.print_exc()
            ok = False
        report(what + check.__name__, ok)

    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        os.symlink(f"{BUILD}/tests/fixtures/elf-golden", "elf")
        make_pages()
        server, address = (None, None)
        if os.path.exists(f"{BUILD}/tools/opweb"):
            server, address = serve("--session-dir=one")
        wide, narrow = Browser(1280, 860), Browser(400, 860)
        try:
            places = [] if is_sanitized() else [("file", f"file://{work}/one.html")]
            for what, url in places + [("server", address)]:
                for check in CHECKS if url else []:
                    attempt(check, wide, url, what=f"{what}: ")
            if server:
                attempt(source_has_the_numbers_of_its_command, wide, address)
                attempt(lines_have_what_they_call, wide, address)
                attempt(frames_may_be_source_files, wide, address, what="server: ")
                attempt(inlined_code_is_shown_where_it_is, wide)
                attempt(newer_sources_are_named_by_the_server, wide)
                attempt(applications_come_first, wide, address)
                attempt(another_event_can_be_chosen, wide)
                attempt(each_event_has_a_column, wide, f"file://{work}")
                attempt(the_event_with_most_samples_is_shown_first, wide)
                attempt(a_difference_has_the_source_of_both, wide, url)
                attempt(two_sessions_can_be_compared, wide)
                attempt(sessions_that_are_not_listed_are_counted, wide)
                attempt(the_server_is_confined, server)
                attempt(answers_have_tags, address)
                attempt(exports_have_addresses, address)
                attempt(symbols_are_kept)
                attempt(requests_do_not_wait_for_others)
                attempt(a_killed_server_does_not_block_its_socket)
            attempt(newer_sources_are_named, wide, "file", f"file://{work}/newer.html")
            attempt(a_file_has_the_source_of_hot_functions, wide, f"file://{work}/one.html")
            attempt(a_file_compares_two_profiles, wide, f"file://{work}")
            if not is_sanitized():
                check_files(attempt, wide, narrow, work)
            complaints = wide.complaints() + narrow.complaints()
            report("nothing_is_on_the_console", not complaints)
            for line in complaints:
                print(f"# {line}")
        finally:
            wide.driver.quit()
            narrow.driver.quit()
            if server:
                server.terminate()
                server.wait()
            os.chdir("/")
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

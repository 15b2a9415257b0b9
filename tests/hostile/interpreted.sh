#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A process of another user that lies about its Python functions: lists of frames that lead back to
# themselves or nowhere, code objects with tables and numbers that make no sense, names and files
# with control characters, line feeds and separators, or of a megabyte. The daemon answers and
# samples on; reports end and print nothing that controls a terminal.
OP_DRIVER=bpf
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
python=${OP_PYTHON:-/usr/bin/python3}
# The attack writes where this version has the list of frames.
"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null ||
	skip_all "needs Python 3.11"
command -v setpriv >/dev/null || skip_all "needs setpriv"
chmod 755 "$dir"

cat >"$dir/lies.py" <<'END'
import ctypes, sys, time

PREVIOUS = 48  # of _PyInterpreterFrame
EVIL = "ev\x1b[31mil\x07\n;x y\x9b\u202e\x00z"


def word(address):
    return ctypes.c_uint64.from_address(address)


def frame_of(frame):
    return word(id(frame) + 24).value


def spin(seconds=0.3):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def lie(offset, value):
    """Works while a word of the caller's frame has that value."""
    at = word(frame_of(sys._getframe(1)) + offset)
    kept, at.value = at.value, value
    try:
        spin()
    finally:
        at.value = kept


def frames():
    mine = frame_of(sys._getframe())
    for value in (mine, 0, 8, mine + 4, 0xffffffffffffff00, 0x7fffffffffffff00, id(frames)):
        lie(PREVIOUS, value)
    # Two that lead to each other.
    def inner():
        lie(PREVIOUS, frame_of(sys._getframe()))
    inner()


def codes():
    code = spin.__code__
    for change in ({"co_name": EVIL, "co_qualname": EVIL, "co_filename": "/tmp/" + EVIL},
                   {"co_name": "n" * 1000000, "co_qualname": "n" * 1000000},
                   {"co_name": "", "co_qualname": "", "co_filename": ""},
                   {"co_filename": "../" * 1000 + "etc/passwd"},
                   {"co_filename": "/" * 5000, "co_firstlineno": 2**31 - 1},
                   {"co_linetable": b"\xff" * 100000}, {"co_linetable": b""},
                   {"co_linetable": (b"\xf8" + b"\xff" * 13) * 9},
                   {"co_name": "\ud800", "co_qualname": "\ud800"}):
        spin.__code__ = code.replace(**change)
        spin()
    spin.__code__ = code


def deep(n):
    if n:
        deep(n - 1)
    else:
        spin(1)


sys.setrecursionlimit(20000)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    frames()
    codes()
    deep(5000)
print("done")
END

ok "the daemon starts" opcontrol --start --driver=bpf --session-dir="$session" --event=TIMER:997 \
	--callgraph=64
setpriv --reuid=65534 --regid=65534 --clear-groups "$python" "$dir/lies.py" 8 >"$dir/lies" 2>&1 &
liar=$!
answered=0
while kill -0 "$liar" 2>/dev/null && timeout 5 opcontrol --status >"$dir/output" 2>&1; do
	answered=$((answered + 1))
	sleep 0.2
done
wait "$liar"
is "the process has told all its lies" "$(tail -n 1 "$dir/lies")" "done"
ok "the daemon answers all along" test "$answered" -gt 10
ok "its samples can be recorded" opcontrol --dump
ok "it ends" timeout 60 opcontrol --shutdown

# clean NAME COMMAND...: the report is made, and has no control characters.
clean()
{
	name=$1
	shift
	timeout 60 "$@" >"$dir/report" 2>"$dir/output"
	result $? "$name: there is a report"
	ok "  with samples of the process" grep -qa python "$dir/report"
	is "  without control characters" \
		"$(LC_ALL=C tr -d '\n\t\040-\176\200-\377' <"$dir/report" | wc -c)" 0
	# C1 in UTF-8, and marks that change the direction of text
	fails "  nor what others take for such" 1 \
		env LC_ALL=C grep -qaE "$(printf '\302[\200-\237]|\342\200\256')" "$dir/report"
}
clean "functions" opreport --session-dir="$session" -l
clean "callers" opreport --session-dir="$session" --callgraph --threshold=0.1
clean "chains" opreport --session-dir="$session" --folded
clean "JSON" opreport --session-dir="$session" --json -l
clean "XML" opreport --session-dir="$session" --xml
ok "the session is whole" opcheck "$session"
is "every sample is accounted for" "$(accounted)" "$(counter sample_received)"
done_testing

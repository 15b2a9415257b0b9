#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes of another user that lie about their Python and PHP functions: lists of frames that lead
# back to themselves or nowhere, functions with tables, numbers and types that make no sense, names and
# files with control characters, line feeds and separators, or of a megabyte. The daemon answers and
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

# Where PHP 8.2 has its frames, functions and strings. Instructions of callers are left alone, because
# PHP itself reads them.
cat >"$dir/lies.php" <<'END'
<?php
const CURRENT = 488;	// in executor_globals
const IN_FRAME = ["function" => 24, "flags" => 40, "previous" => 48];
const IN_FUNCTION = ["name" => 8, "class" => 16, "file" => 152, "lines" => 160];
const BYTES = 16, TEXT = 24;	// of a string
const EVIL = "ev\x1b[31mil\x07\n;x y\x9b\xe2\x80\xae\x00z";

$c = FFI::cdef("extern char executor_globals[4096];");
define("FRAMES", FFI::cast("uint64_t", FFI::addr($c->executor_globals))->cdata + CURRENT);

function pointer(string $type, int $address): array
{
	$at = FFI::new("uint64_t");
	$at->cdata = $address;
	return [FFI::cast($type, $at), $at];
}

function get(int $address): int
{
	return pointer("int64_t *", $address)[0][0];
}

function put(int $address, int $value): void
{
	pointer("int64_t *", $address)[0][0] = $value;
}

function spin(float $seconds): void
{
	$end = hrtime(true) + $seconds * 1e9;
	while (hrtime(true) < $end)
		for ($i = 0; $i < 1000; $i++);
}

/* Works while a word has that value. */
function lie(int $address, int $value): void
{
	$kept = get($address);
	put($address, $value);
	spin(0.05);
	put($address, $kept);
}

function values(int $mine): array
{
	return [$mine, 0, 8, $mine + 4, -256, 0x7fffffffffffff00, -1, 1 << 17, 0x100000000];
}

function frames(): void
{
	$mine = get(FRAMES);
	foreach (IN_FRAME as $word)
		foreach (values($mine) as $value)
			lie($mine + $word, $value);
}

function functions_that_make_no_sense_to_anybody(): void
{
	$mine = get(get(FRAMES) + IN_FRAME["function"]);
	$name = get($mine + IN_FUNCTION["name"]);
	foreach (IN_FUNCTION as $word)
		foreach (values($mine) as $value)
			lie($mine + $word, $value);
	foreach ([0, 1, 1 << 20, 1 << 62, -1] as $bytes)
		lie($name + BYTES, $bytes);
	[$text] = pointer("char *", $name + TEXT);
	FFI::memcpy($text, EVIL, strlen(EVIL));
	spin(0.3);
}

function deep(int $n): void
{
	$n ? deep($n - 1) : spin(0.5);
}

$end = hrtime(true) + $argv[1] * 1e9;
do {
	frames();
	functions_that_make_no_sense_to_anybody();
	deep(5000);
} while (hrtime(true) < $end);
echo "done\n";
END
has_php=
php -n -d extension=ffi -r 'exit(PHP_ZTS || PHP_VERSION_ID < 80200 || PHP_VERSION_ID >= 80300);' \
	>/dev/null 2>&1 && has_php=1

liar() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

ok "the daemon starts" opcontrol --start --driver=bpf --session-dir="$session" --event=TIMER:997 \
	--callgraph=64
liar "$python" "$dir/lies.py" 8 >"$dir/lies" 2>&1 &
liars=$!
if [ "$has_php" ]; then
	liar php -n -d extension=ffi "$dir/lies.php" 8 >"$dir/lies_php" 2>&1 &
	liars="$liars $!"
fi
# Whether one of them still runs.
lying()
{
	for pid in $liars; do
		kill -0 "$pid" 2>/dev/null && return
	done
	return 1
}
answered=0
while lying && timeout 5 opcontrol --status >"$dir/output" 2>&1; do
	answered=$((answered + 1))
	sleep 0.2
done
# shellcheck disable=SC2086 # pids
wait $liars
is "the Python process has told all its lies" "$(tail -n 1 "$dir/lies")" "done"
if [ "$has_php" ]; then
	is "the PHP process, too" "$(tail -n 1 "$dir/lies_php")" "done"
else
	skip "PHP" "needs PHP 8.2 without threads, with FFI"
fi
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
	[ ! "$has_php" ] || ok "  of both" grep -qa php "$dir/report"
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

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Python where it is not a script of its own: in a C program, in several interpreters of one thread, in
# greenlets, in workers that are restarted all the time, and in a version that is not known.
OP_DRIVER=bpf
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
python=/usr/bin/python3
"$python" -c 'import sys; sys.exit(not (3, 8) <= sys.version_info[:2] <= (3, 15))' 2>/dev/null ||
	skip_all "no Python from 3.8 to 3.15"
rate=1999

# stacks TITLE NAME FUNCTION:PATTERN...: each function has its share of the samples, and 98 % of them have a
# stack that matches.
stacks()
{
	title=$1 run=$2
	shift 2
	opreport --session-dir="$dir/$run" --folded --merge=runtime 2>/dev/null | sed 's/_\[[a-z]\]//g' >"$dir/folded"
	for known; do
		awk -v known="$known" -v function_of="${known%%:*}" -v pattern="${known#*:}" '
		NR == FNR { spent[$1] = $2; all += $2; next }
		{ n = $NF; sub(/ [0-9]+$/, "") }
		index($0, ";" function_of ";") { found += n; if ($0 ~ pattern) good += n }
		/;spin(;|$)/ { spinning += n }
		END {
			due = spinning * spent[function_of] / all
			printf "%s: %d samples, %.0f expected, %d with the right stack\n", function_of, found, due, good
			exit !(found > 100 && good >= 0.98 * found && (found - due) ^ 2 <= 25 * due + 0.0009 * spinning ^ 2)
		}' "$dir/$run.shares" "$dir/folded" >"$dir/output"
		held=$?
		sed 's/^/# /' "$dir/output"
		[ $held = 0 ] || cat "$dir/folded" >>"$dir/output"
		result $held "$title: ${known%%:*}"
	done
}

# shellcheck disable=SC2046 # words
if cc -O1 -o "$dir/host" "$OP_SOURCE_ROOT/tests/live/truth_embedded.c" \
	$("$python-config" --embed --includes --ldflags 2>/dev/null) >"$dir/output" 2>&1; then
	ok "a C program with two interpreters" profile embedded --callgraph=200 "$dir/host" 3
	stacks "  each has its functions" embedded 'in_main:;main;in_main;spin' 'in_other:;main;in_other;in_other.<locals>.<lambda>;spin'
else
	skip "a C program with two interpreters" "python3-dev is not installed"
fi

if "$python" -c 'import greenlet' 2>/dev/null; then
	ok "greenlets" profile greenlet --callgraph=200 "$python" "$OP_SOURCE_ROOT/tests/live/truth_greenlet.py" 2
	stacks "  each has its functions" greenlet 'work_one:;work_one;timed' 'work_two:;work_two;deeper;timed'
else
	skip "greenlets" "python3-greenlet is not installed"
fi

# A server forks workers, which end after some requests; it is restarted itself now and then. A worker
# makes code of its own, as template engines do.
cat >"$dir/server.py" <<'END'
import os, sys, time
def request(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total
def template(pid):
    made = {}
    exec(compile("def render_%d():\n    for i in range(20000): pass\n" % (pid % 5000), "<template>", "exec"), made)
    for f in list(made.values()):
        callable(f) and f()
def worker():
    for i in range(3):
        request(30000)
    template(os.getpid())
    os._exit(0)
for i in range(int(sys.argv[1])):
    if os.fork() == 0:
        worker()
    os.wait()
END
places_of()
{
	find "$dir/restarted/samples/current/source" -type f -name '*.jo' -exec cat {} + | wc -c
}
# shellcheck disable=SC2016 # expanded by the inner shell
ok "2000 workers of 20 servers" profile restarted --callgraph=100 \
	sh -c 'i=0; while [ $i -lt 20 ]; do "$0" "$1" 100; i=$((i + 1)); done' "$python" "$dir/server.py"
opreport --session-dir="$dir/restarted" -l --merge=all 2>/dev/null >"$dir/output"
made=$(grep -c ' render_[0-9]*$' "$dir/output")
is "  a function of all of them is one" "$(grep -c ' request$' "$dir/output")" 1
ok "  what they make is limited" test "$made" -ge 20 -a "$made" -le 1024
ok "  as is the room of names" test "$(places_of)" -ge 4096 -a "$(places_of)" -le 2000000
echo "# $(places_of) bytes of places; $(stat_of restarted script_capped) functions without one"

# A version that nobody knows yet.
version=$("$python" -c "import sys; print(sys.hexversion)")
cat >"$dir/rename.py" <<'END'
import struct, sys
text = open(sys.argv[1], "rb").read()
known, unknown = (struct.pack("<Q", n) for n in (int(sys.argv[2]), 0x036300f0))
open(sys.argv[3], "wb").write(text.replace(known, unknown))
sys.exit(known not in text)
END
if "$python" "$dir/rename.py" "$(readlink -f "$python")" "$version" "$dir/python3.99"; then
	chmod +x "$dir/python3.99"
	ok "an unknown version" profile unknown --callgraph=100 "$dir/python3.99" "$OP_SOURCE_ROOT/tests/live/truth_python.py" 1
	has "  is named" "Python interpreters* .*unknown version" "$dir/unknown.report"
	opreport --session-dir="$dir/unknown" --children >"$dir/output" 2>/dev/null
	has "  and its C functions are there" "_PyEval_EvalFrameDefault"
	is "  in chains that are complete" "$(sed -n 's/^Call chains: \([0-9]*\).*complete.*/\1/p' "$dir/output" | awk '{ print ($1 >= 95) }')" 1
else
	skip "an unknown version" "the interpreter has its version in a library"
fi
done_testing

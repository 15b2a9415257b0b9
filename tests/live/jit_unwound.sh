#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Chains through JIT code without frame pointers, which says in its jitdump how to unwind it.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
cd "$dir" || exit 1
truth_unwound 0.01
[ $? != 77 ] || skip_all "there is no such code for this machine"

# whole LEAF PATTERN: in folded chains those that end in a frame LEAF, and of them those that PATTERN matches
whole()
{
	awk -v leaf="$1" -v pattern="$2" '
		$0 ~ ";" leaf "[^;]* [0-9]+$" { all += $NF; if ($0 ~ pattern) n += $NF }
		END { print n + 0, all + 0 }' folded
}

# nearly_all TITLE LEAF PATTERN
nearly_all()
{
	counts=$(whole "$2" "$3")
	echo "# $counts samples have whole chains, and all"
	grep "$2" folded >output
	ok "$1" test "${counts#* }" -gt 1000 -a $((${counts% *} * 100)) -ge $((${counts#* } * 99))
}

ok "a process whose JIT code has unwinding information" profile unwound -g truth_unwound 2
rm -f jit-*.dump
opreport --session-dir="$dir/unwound" --folded >folded 2>&1
callers="main;(run_set;)?outer second[^;]*;middle second[^;]*;leaf second"
nearly_all "samples in the code have their callers" "leaf second" "$callers"
nearly_all "samples in what it calls have them, too" "known" "$callers[^;]*;known"
if command -v python3 >/dev/null && command -v objdump >/dev/null; then
	ok "callers are callers" python3 "$OP_SOURCE_ROOT/tests/truth/check.py" --calls-only \
		"$OP_BUILD_ROOT/tools" "$dir/unwound"
	sed -n 's/^# \(step [^:]*: [0-9]*\)$/# \1/p' output
	has "those in the code, too, by its bytes" "^# step generated: [0-9]\{4,\}"
else
	skip "callers are callers" "needs python3 and objdump"
fi
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Chains through code that no unwind information describes.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
operf --session-dir="$dir/try" --driver="$driver" --callgraph --callgraph-mode=table true \
	>"$dir/output" 2>&1 || skip_all "$(tail -n 1 "$dir/output")"
rate=997

# through TITLE KIND LEAF CHAIN [fp]: of the samples in the function LEAF at most one in fifty has another
# chain than from the entry through main and CHAIN. What runs in the kernel on top is left out, and so are
# chains before the tables are loaded, which takes long on a busy machine.
through()
{
	ok "$1" profile "$2" --callgraph "--callgraph-mode=${5:-table}" "truth_bare${5:+_frames}" 1 "$2"
	opreport --session-dir="$dir/$2" --folded >"$dir/$2.folded" 2>"$dir/$2.err"
	awk -v leaf="$3" -v pattern=";main;(truth_rounds;)?(truth_round;)?$4\$" '
		/;[[]not_loaded[]];/ { next }
		{ n = $NF; sub(/ [0-9]+$/, ""); sub(/;[^;]*_[[]k[]].*$/, "") }
		$0 ~ ";" leaf "$" { all += n; if ($0 ~ pattern) good += n; else print n, $0 }
		END { printf "%d of %d\n", good, all; exit all < 50 || good < 0.98 * all }' \
		"$dir/$2.folded" >"$dir/output"
	result $? "  has whole chains"
}

through "a library without unwind table" library bare_leaf "bare_outer;bare_middle;bare_leaf"
if [ "$(uname -m)" = x86_64 ]; then
	through "code made as CPython makes it" trampoline called_leaf \
		"by_trampoline;[^;]*JIT[^;]*;called_leaf"
	through "a signal's handler that returns to code of its own" signal handler_leaf \
		"by_signal;[^;]*;[^;]*;handler;handler_leaf"
	through "assembler without a frame" leaf by_hand "calls_by_hand;by_hand"
	ok "assembler that has pushed a register" profile pushing --callgraph --callgraph-mode=table \
		truth_bare 1 pushing
	opreport --session-dir="$dir/pushing" --folded >"$dir/pushing.folded" 2>"$dir/pushing.err"
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); sub(/;[^;]*_[[]k[]].*$/, "") }
		/;pushes_by_hand$/ { all += n; if (!/;(calls_pushing|[[][a-z_]+[]]);[^;]*$/) { bad += n; print n, $0 } }
		END { printf "%d of %d skip a caller\n", bad, all; exit all < 50 || bad > 0 }' \
		"$dir/pushing.folded" >"$dir/output"
	result $? "  does not skip its caller"
	if [ "$driver" = bpf ]; then
		through "a signal's handler, by frame pointers" signal handler_leaf \
			"(by_signal;)?[^;]*kill[^;]*;restorer;handler;handler_leaf" fp
	fi
fi

# through_32 LEAF CHAIN: as above, in the session of the 32-bit program. Left out are the chains before
# the table of the vdso is loaded.
through_32()
{
	awk -v leaf="$1" -v pattern="^truth_32;_start;program;$2\$" '
		/;[[]not_loaded[]];[[]+vdso32/ { next }
		{ n = $NF; sub(/ [0-9]+$/, ""); sub(/;[^;]*_[[]k[]].*$/, "") }
		$0 ~ ";" leaf "$" { all += n; if ($0 ~ pattern) good += n; else print n, $0 }
		END { printf "%d of %d\n", good, all; exit all < 50 || good < 0.97 * all }' \
		"$dir/bits.folded" >"$dir/output"
	result $? "  has whole chains to $1"
}

if [ ! -x "$live/truth_32" ] || ! "$live/truth_32"; then
	skip "a 32-bit program" "it cannot be built or run here"
else
	ok "a 32-bit program" profile bits --callgraph --callgraph-mode=table "$live/truth_32"
	opreport --session-dir="$dir/bits" --folded >"$dir/bits.folded" 2>"$dir/bits.err"
	through_32 inner "work;outer;middle;inner"
	# Both handlers return to the vdso, of which not every kernel gives a copy.
	old=__kernel_sigreturn new=__kernel_rt_sigreturn
	[ -e "$dir/bits/samples/current/vdso32" ] || old="[[]vdso32[]]" new="[[]vdso32[]]"
	through_32 "old_handler;spin" "raised;call;$old;old_handler;spin"
	through_32 "new_handler;spin" "raised;call;$new;new_handler;spin"
	[ "$old" = "[[]vdso32[]]" ] || through_32 __kernel_vsyscall "asks;__kernel_vsyscall"
fi
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Chains through code that is hard to unwind, compiled without frame pointers: the known chains are
# reported completely, up to the entry of the process.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
operf --session-dir="$dir/try" --driver="$driver" --callgraph --callgraph-mode=table true \
	>"$dir/output" 2>&1 || skip_all "$(tail -n 1 "$dir/output")"
rate=1999

# A function inside of libc, where no debug package names it.
bare='[[]libc[.]so[.]6([+]0x[0-9a-f]+)?[]]'

# chain TITLE MARK PATTERN: of the samples taken at the end of a chain through the function MARK at most
# five in a thousand, and one, are not of a chain that is the pattern. What runs in the kernel on top is
# left out.
chain()
{
	awk -v mark="$2" -v pattern="^truth_unwind;$3\$" '
		{ n = $NF; sub(/ [0-9]+$/, ""); sub(/;[^;]*_[[]k[]].*$/, "") }
		!/;(leaf|plug_a|tiny|small)$/ { next }
		index($0 ";", ";" mark ";") { all += n; if ($0 ~ pattern) good += n; else print n, $0 }
		END { printf "%d of %d\n", good, all; exit all < 50 || good < 0.995 * all - 1 }' \
		"$dir/chains.folded" >"$dir/output"
	result $? "$1"
}

# through TITLE MARK PATTERN: the same, with the pattern below the entry.
through()
{
	chain "$1" "$2" "_start;__libc_start_main[^;]*;(__libc_start_call_main|$bare);main;work;$3"
}

# take SECONDS: takes chains of all kinds of code for so long.
take()
{
	rm -rf "$dir/chains"
	ok "chains are taken" profile chains --callgraph=256 --callgraph-mode=table \
		truth_unwind all "$1" "$live/libtruth_plug_a.so"
	opreport --session-dir="$dir/chains" --folded >"$dir/chains.folded" 2>"$dir/chains.err"
}

# The samples of the kind of code that has the fewest, of those whose chains the driver perf does not cut.
fewest()
{
	sed -n 's/.*;work;\(run_[a-z]*\|calls[a-z_]*\|recursion\);.* \([0-9]*\)$/\1 \2/p' "$dir/chains.folded" |
		awk 'BEGIN {
				split("recursion run_signal run_trap run_noreturn run_alloca run_realigned run_large " \
					"run_assembler run_tail run_plugin run_edges", kinds, " ")
				for (i in kinds)
					n[kinds[i]] = 0
			}
			$1 in n { n[$1] += $2 }
			END {
				least = n["recursion"]
				for (i in n)
					if (n[i] < least)
						least = n[i]
				print least
			}'
}

take "${OP_SECONDS:-3}"
# A slow machine loses many.
[ "$(fewest)" -ge 100 ] || take 12

deep=$(awk 'BEGIN { for (i = 0; i < 200; i++) printf "recursion;" }')
through "recursion, 200 deep" recursion "${deep}leaf"
through "a signal's handler" run_signal "run_signal;raise_with;.*;handler;leaf"
# The trampoline that the handler returns to has a name only where libc has symbols, or the vdso.
through "a signal in a function's first instruction" run_trap \
	"run_trap;traps_first;(__restore_rt|__kernel_rt_sigreturn|$bare|[[][[]vdso[]]([+]0x[0-9a-f]+)?[]]);on_trap;leaf"
through "a function that does not return, called at the caller's end" calls_at_its_end \
	"run_noreturn;calls_at_its_end;never_returns;leaf"
through "alloca" with_alloca "run_alloca;with_alloca;leaf"
through "a realigned frame" realigned "run_realigned;realigned;leaf"
through "a frame of five pages" large_frame "run_large;large_frame;leaf"
through "assembler" by_hand "run_assembler;by_hand;spin_in_assembler;leaf"
through "a call that became a jump" last "run_tail;last;leaf"
through "a library loaded just now" run_plugin "run_plugin;plug_a"
through "prologues and epilogues" run_edges "run_edges;small(;tiny)?"
opreport --session-dir="$dir/chains" --chains --quality --top=1 >"$dir/quality" 2>&1
if grep -q '^driver: bpf' "$dir/chains/samples/current/setup"; then
	through "a frame of ten pages" huge_frame "run_huge;huge_frame;leaf"
	through "a handler on a stack of its own" run_altstack "run_altstack;raise_with;.*;handler;leaf"
else
	# A copy holds eight pages of one stack, and nothing of the other that a signal was delivered over.
	# The return address of the frame is above it or, on arm64, below.
	chain "a frame of ten pages, where the chain is cut" huge_frame \
		"[[](copy_short|unreadable)[]];(run_huge;)?huge_frame;leaf"
	cp "$dir/quality" "$dir/output"
	awk '$3 == "copy_short" && $4 == "truth_unwind" { n = $1 } END { exit n < 50 }' "$dir/quality"
	result $? "  which is what is said of it"
fi
sed 's/^/# /' "$dir/quality"
done_testing

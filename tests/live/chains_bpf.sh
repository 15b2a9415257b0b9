#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Call chains by unwind tables in the kernel: the known chain is found.
OP_DRIVER=bpf
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
rate=3989

# ended NAME REASON: chains that ended so.
ended()
{
	stat_of "$1" "chain_$2"
}

# most TITLE NAME REASON PERCENT: at least that part of the chains ended so.
most()
{
	all=$(stat_of "$2" samples)
	n=$(ended "$2" "$3")
	echo "# $n of $all: $3"
	{ grep . "$dir/$2/samples/current/stats/"chain_* && cat "$dir/$2.log"; } >"$dir/output"
	[ "$all" -gt 1000 ] && [ $((n * 100)) -ge $((all * $4)) ]
	result $? "$1"
}

ok "a program 200 calls deep" profile deep --callgraph=300 truth_deep user 2
most "has complete chains" deep complete 90
ok "  whose frames are counted" test "$(stat_of deep unwound_frames)" -ge 100000
opreport --session-dir="$dir/deep" --callgraph >"$dir/arcs" 2>/dev/null
# Blocks of callers, the symbol, and those it calls. Each sample of the leaf has all 200 calls of
# deep_down by itself, those of deep_down have as many at most.
awk '/^---/ { own = 0; next }
/^[0-9]/ {
	own = 1
	if ($NF == "deep_leaf") leaf = called
	if ($NF == "deep_down") down = $1
	called = 0; next
}
!own && $NF == "deep_down" { called = $1; if ($1 > most) most = $1 }
END { printf "%d calls of the leaf, %d samples above it, %d calls by itself\n", leaf, down, most
	exit !(leaf > 1000 && most >= 198 * leaf && most <= 202 * (leaf + down)) }' "$dir/arcs" >"$dir/output"
known=$?
sed 's/^/# /' "$dir/output"
result $known "each has 200 calls of a function by itself"

ok "the same, no deeper than 50" profile cut --callgraph=50 truth_deep user 1.5
most "has chains cut there" cut depth 90

ok "frame pointers, which the program has not" profile pointers --callgraph=300 \
	--callgraph-mode=fp truth_deep user 1
most "lead nowhere" pointers fp_end 90

ok "work in the kernel" profile kernel --callgraph=100 truth_deep kernel 1.5
most "has chains through it to the program's start" kernel complete 90
opreport --session-dir="$dir/kernel" --callgraph >"$dir/arcs" 2>/dev/null
has "by the function that calls" "deep_kernel" "$dir/arcs"

# Every kind of code that is hard to unwind (truth_unwind.c). What the program does is known; a stack
# that ends in one of these functions must come from there, all the way from the process's start.
if [ -x "$live/truth_unwind" ]; then
	ok "a program hard to unwind" profile hard --callgraph=512 truth_unwind all 3
	most "has complete chains" hard complete 97
	opreport --session-dir="$dir/hard" --folded >"$dir/folded" 2>/dev/null
	start="truth_unwind;_start;.*main;work"
	for path in 'run_large;large_frame;leaf' 'run_alloca;with_alloca;leaf' 'run_realigned;realigned;leaf' \
		'run_noreturn;calls_at_its_end;never_returns;leaf' 'run_tail;last;leaf' \
		'run_assembler;by_hand;spin_in_assembler;leaf' 'run_signal;raise_with;.*;handler;leaf' \
		'run_altstack;raise_with;.*;handler;leaf' 'run_edges;small;tiny'; do
		n=$(awk -v pattern="^$start;$path\$" '{ n = $NF; sub(/ [0-9]+$/, "") }
			$0 ~ pattern { all += n } END { print all + 0 }' "$dir/folded")
		{ echo "$n samples of $path in:" && cut -c -200 "$dir/folded"; } >"$dir/output"
		[ "$n" -ge 50 ]
		result $? "finds $path"
	done
fi

ok "a program linked as static" profile static --callgraph=100 truth_chains_static 1.5 25 75
most "has complete chains" static complete 90
done_testing

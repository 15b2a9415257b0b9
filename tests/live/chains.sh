#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs with known call chains: reports show exactly these. By frame pointers, and by unwind
# tables in a program without them.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
rate=997

# stacks NAME: the folded chains of a session.
stacks()
{
	opreport --session-dir="$dir/$1" --folded >"$dir/$1.folded" 2>>"$dir/$1.err"
}

# A function inside of libc, where no debug package names it.
bare='[[]libc[.]so[.]6[]]'

# under TITLE NAME LEAF PATTERN: of the samples with LEAF in their stack at most one in ten is not
# of a stack that the pattern matches from its root to its end; kernel frames may be on top. The
# driver bpf has no tables in the first moment of a program.
under()
{
	awk -v leaf="$3" -v pattern="$4(;[^;]*_[[]k[]])*\$" '
		{ n = $NF; sub(/ [0-9]+$/, "") }
		index($0 ";", ";" leaf ";") { all += n; if ($0 ~ pattern) good += n; else print n, $0 }
		END { printf "%d of %d\n", good, all; exit all < 50 || good < 0.9 * all }' \
		"$dir/$2.folded" >"$dir/output"
	result $? "$1"
}

# repeat N TEXT: the text N times.
repeat()
{
	awk -v n="$1" -v text="$2" 'BEGIN { while (n--) printf "%s", text }'
}

# known NAME DEPTH: all parts of the program truth_stacks.
known()
{
	under "  a function that called itself $2 times" "$1" leaf_deep \
		";main$(repeat $(($2 + 1)) ";deep");leaf_deep"
	under "  the kernel under a system call" "$1" reader ";main;read_much;reader"
	under "  two threads" "$1" leaf_thread \
		"^truth_stacks[_a-z]*(;[[]fp_end[]])?(;clone3?|;$bare)?;(start_thread|$bare);thread;leaf_thread"
	under "  a child that executes nothing" "$1" leaf_child ";main;child;leaf_child"
	under "  its parent meanwhile" "$1" leaf_parent ";main;child;leaf_parent"
	awk '/;reader;.*_[[]k[]]/ { n += $NF } END { print n; exit n < 50 }' \
		"$dir/$1.folded" >"$dir/output"
	result $? "  with the kernel's part on top"
	opreport --session-dir="$dir/$1" --children -n 2>/dev/null |
		awk '$NF == "main" { main = $1 } $NF == "deep" { deep = $1 } $NF == "leaf_deep" { leaf = $1 }
			END { print deep, leaf, main; exit !(deep >= 0.9 * leaf && leaf > 50 && main >= deep) }' \
			>"$dir/output"
	result $? "  recursion counts once"
}

# taken NAME DRIVER MODE PROGRAM DEPTH: how chains are found, which is reported.
taken()
{
	tables="unwind tables"
	[ "$3" != fp ] || tables="frame pointers"
	ok "by driver $2, $3, of $4" profile "$1" --verbose=record --driver="$2" \
		--callgraph=$(($5 + 20)) --callgraph-mode="$3" "$4" 100 "$5"
	has "  by $tables" "call chains by $tables" "$dir/$1.log"
	stacks "$1"
}

for by in perf bpf; do
	if ! operf --session-dir="$dir/try" --driver=$by --callgraph true >"$dir/output" 2>&1; then
		skip "by driver $by" "$(tail -n 1 "$dir/output")"
		continue
	fi
	taken $by-fp $by fp truth_stacks 100
	known $by-fp 100
	for mode in table auto; do
		taken $by-$mode $by $mode truth_stacks_bare 200
		known $by-$mode 200
	done
	taken $by-astray $by fp truth_stacks_bare 100
	awk '/;leaf_deep[; ]/ { all += $NF; if (/;main;deep;deep;/) whole += $NF }
		END { printf "%d of %d\n", whole, all; exit all < 50 || whole > 0.1 * all }' \
		"$dir/$by-astray.folded" >"$dir/output"
	result $? "  where there are none, they lead nowhere"
done

opreport --session-dir="$dir/perf-fp" -c -t 1 >"$dir/output" 2>&1
awk '/^-----/ { block = 0 } $NF == "leaf_deep" && !/^ / { block = 1 } /^  .*deep$/ { above = $1 }
	$NF == "leaf_deep" && !/^ / { own = $1; caller = above } END { exit !(own > 50 && caller >= 0.98 * own) }' \
	"$dir/output"
result $? "the block of a function has its callers"
opreport --session-dir="$dir/perf-fp" --chains --top=20 >"$dir/output" 2>&1
has "chains are listed" "^    deep \[truth_stacks\] 101 times"
has "and their quality is reported" "^Call chains: [0-9.]* % complete"

ok "not so deep" profile cut --driver=perf --callgraph=20 --callgraph-mode=fp truth_stacks 50 100
opreport --session-dir="$dir/cut" --chains --quality >"$dir/output" 2>&1
has "is said" "^    [[]depth]"
has "and counted by image" "^[0-9]* *[0-9.]* *depth *truth_stacks"
is "no more frames than asked for" "$(opreport --session-dir="$dir/cut" --folded |
	awk '{ gsub(/;[[]depth[]]/, ""); n = gsub(/;/, ";"); if (n > most) most = n } END { print most }')" 20

done_testing

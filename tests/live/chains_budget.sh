#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# With 1 MiB for unwind tables a compiler's table does not fit: its chains end, and every output
# gives the reason with the limit. Chains of tables that fit are unchanged. OP_DRIVER selects the
# driver.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
rate=997
compiler=$(gcc -print-prog-name=cc1 2>/dev/null)
[ -x "${compiler:-}" ] || skip_all "no compiler of gcc's"
operf --session-dir="$dir/try" --driver="$driver" --callgraph --callgraph-mode=table true \
	>"$dir/output" 2>&1 || skip_all "$(tail -n 1 "$dir/output")"
awk 'BEGIN { for (i = 0; i < 300; i++)
	printf "int f%d(int *a, int n) { int s = 0; while (n--) s += a[n] %% (n + %d); return s; }\n", i, i + 2 }' \
	>"$dir/work.c"

# compiled NAME OPTION...: a profile of the compiler, next to a program with a small table.
compiled()
{
	profile "$@" --verbose=record --callgraph=64 --callgraph-mode=table \
		sh -c "'$compiler' -quiet -O2 '$dir/work.c' -o /dev/null && truth_stacks_bare 100 20"
}

ok "with room for all tables" compiled ample
has "  the limit is reported" "unwind tables of at most 64 MiB" "$dir/ample.log"
is "  no chain ends because of the limit" "$(stat_of ample chain_no_budget)" 0
is "  no table is left out" "$(stat_of ample unwind_refused)" 0
is "  of which a report says nothing" "$(grep -c unwind-memory "$dir/ample.report")" 0

ok "with a MiB for them" compiled tight --unwind-memory=1M
has "  which is reported" "unwind tables of at most 1 MiB" "$dir/tight.log"
ok "  a table is left out" test "$(stat_of tight unwind_refused)" -ge 1
has "  each report says so, and what helps" \
	"^Note: [0-9]* unwind tables did not fit into memory.*--unwind-memory" "$dir/tight.report"
opreport --session-dir="$dir/tight" --chains --quality >"$dir/quality" 2>&1
has "  what it cost is in the line of quality" "^Call chains: .*[0-9.]* % no_budget" "$dir/quality"
has "  with its meaning" "^no_budget: unwind table left out to save memory" "$dir/quality"
awk -v ended="$(stat_of tight chain_no_budget)" '
	$3 == "no_budget" { sum += $1; if ($4 == "cc1") compiler = $1 }
	$3 ~ /^[a-z_]+$/ && $4 == "cc1" { all += $1 }
	END { print compiler, all, sum, ended
		exit !(compiler > 100 && compiler >= 0.8 * all && sum == ended) }' "$dir/quality" >"$dir/output"
result $? "  by image: the compiler's own chains, and as many as stats/ has"
opreport --session-dir="$dir/tight" --folded >"$dir/tight.folded" 2>/dev/null
awk '/;leaf_deep[; ]/ { all += $NF; if (/;main;deep;.*;deep;leaf_deep[; ]/) whole += $NF }
	END { printf "%d of %d\n", whole, all; exit !(all > 50 && whole >= 0.9 * all) }' \
	"$dir/tight.folded" >"$dir/output"
result $? "  what has room is whole"
done_testing

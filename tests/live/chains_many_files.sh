#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# More files are executed than the BPF program can have unwind tables for: those of older files make
# way, and chains through new files stay complete.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
driver=bpf
need_sampling
operf --session-dir="$dir/try" --driver=bpf --callgraph true >"$dir/output" 2>&1 ||
	skip_all "$(tail -n 1 "$dir/output")"
rate=7919
# A MiB for tables is room for 192 files with one. Half of them make way, every eight seconds at most.
i=0
while [ $((i += 1)) -le 220 ]; do
	cp "$live/libtruth_fresh_lib.so" "$dir/fresh$i.so"
done

ok "220 libraries are used" profile many --callgraph=64 --unwind-memory=1M \
	truth_fresh 0.08 "$dir"/fresh*.so
ok "tables of some were evicted" test "$(stat_of many unwind_evicted)" -ge 90
is "none was refused" "$(stat_of many unwind_refused)" 0
opreport --session-dir="$dir/many" --folded >"$dir/folded" 2>"$dir/output"
awk -v whole="^truth_fresh;_start;.*;main;spend;fresh_later$" '
	{ n = $NF; sub(/ [0-9]+$/, ""); sub(/;[^;]*_[[]k[]].*$/, "") }
	/;fresh_later$/ || /;fresh_later;/ || /^truth_fresh;fresh_later/ { all += n; if ($0 ~ whole) good += n }
	END { printf "%d of %d chains\n", good, all; exit !(all > 10000 && good >= 0.99 * all) }' \
	"$dir/folded" >"$dir/output"
result $? "99 % of their chains are complete"
sed 's/^/# /' "$dir/output"
done_testing

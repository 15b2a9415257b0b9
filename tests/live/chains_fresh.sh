#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Libraries that no process has ever used are loaded during sampling: after a second of the
# program's CPU time, the chains through them are complete. OP_DRIVER selects the driver.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
operf --session-dir="$dir/try" --driver="$driver" --callgraph --callgraph-mode=table true \
	>"$dir/output" 2>&1 || skip_all "$(tail -n 1 "$dir/output")"
rate=1999
for i in 1 2; do
	cp "$live/libtruth_fresh_lib.so" "$dir/fresh$i.so"
done

ok "libraries are loaded" profile fresh --callgraph=64 --callgraph-mode=table \
	truth_fresh 1 "$dir/fresh1.so" "$dir/fresh2.so"
opreport --session-dir="$dir/fresh" --folded >"$dir/folded" 2>"$dir/output"
is "each is an image of its own" "$(grep -v '^Session' "$dir/fresh.images" | grep -c 'fresh[12][.]so$')" 2

# chains LEAF: how many there are, and how many do not come from the entry of the process. What runs in
# the kernel on top is left out.
chains()
{
	awk -v leaf="$1" -v whole="^truth_fresh;_start;.*;main;spend;$1\$" '
		{ n = $NF; sub(/ [0-9]+$/, ""); sub(/;[^;]*_[[]k[]].*$/, "") }
		index($0 ";", ";" leaf ";") { all += n; if ($0 !~ whole) broken += n }
		END { print all + 0, broken + 0 }' "$dir/folded"
}

echo "# of the first second, all and broken: $(chains fresh_early)"
# shellcheck disable=SC2046 # two words
set -- $(chains fresh_later)
echo "# from then on: $1 and $2"
{ echo "$2 of $1 chains are broken" && grep ';fresh_later [0-9]*$' "$dir/folded"; } >"$dir/output"
[ "$1" -gt 1000 ] && [ $(($2 * 1000)) -le $(($1 * 5)) ]
result $? "chains are whole from a second on"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program maps and unmaps memory all the time: no sample and no chain is lost by that. OP_DRIVER
# selects the driver.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling

ok "a storm of mappings" profile storm truth_mmaps 1
holds "has shares of 25 and 75" storm 5000
adds_up "and no sample too few or too many" storm
lost=$(($(stat_of storm sample_lost_no_mapping) + $(stat_of storm sample_lost_no_tree)))
echo "# $lost of $(stat_of storm samples) samples in no mapping"
echo "$lost lost" >"$dir/output"
[ $((lost * 1000)) -le "$(stat_of storm samples)" ]
result $? "99.9 % of the samples have a mapping"

# There are no tables in the first moment, and the storm takes the room in which samples would wait for them.
rate=1999
ok "call chains in such a storm" profile chains --callgraph=64 truth_mmaps 3
opreport --session-dir="$dir/chains" --folded >"$dir/folded" 2>/dev/null
awk -v lost="$(lost_of chains)" '/;chain_[ab][; ]/ { all += $NF; if (/^truth_mmaps;_start;.*;main;(truth_[a-z]*;)*chain_[ab][; ]/) whole += $NF }
	END { printf "%d of %d chains are whole, %d lost\n", whole, all, lost; exit !(all + lost > 1000 && all > 100 && whole >= 0.97 * all) }' \
	"$dir/folded" >"$dir/output"
status=$?
sed 's/^/# /' "$dir/output"
[ $status = 0 ] || { opreport --session-dir="$dir/chains" --chains --quality && cat "$dir/chains.log" && grep ";chain_" "$dir/folded"; } >>"$dir/output" 2>&1
result $status "are whole"
done_testing

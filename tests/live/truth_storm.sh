#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A thousand and more short processes: each sample belongs to an image and a symbol.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling

ok "1,200 short children" profile storm truth_storm 1200
holds "have shares of 40 and 60" storm
adds_up "and no sample too few or too many" storm

# Of what was received, that which came to be a symbol of an image.
received=$(($(stat_of storm sample_received) - $(stat_of storm sample_filtered)))
grep -v ' (.*)$' "$dir/storm.report" | awk '$3 !~ /^.JIT/' >"$dir/named"
named=$(sum_of "$dir/named")
echo "# $named of $received samples have an image and a symbol"
if [ "$(stat_of storm sideband_lost)" -gt 0 ]; then
	skip "99.9 % of the samples are attributed" "records of mappings were lost: the machine is too busy"
else
	echo "$named of $received have an image and a symbol" >"$dir/output"
	[ $((received + $(lost_of storm))) -ge 10000 ] && [ $((named * 1000)) -ge $((received * 999)) ]
	result $? "99.9 % of the samples are attributed"
fi

done_testing

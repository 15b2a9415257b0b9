#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Work in step with the clock is counted right: a program that works as often as it is sampled, or
# twice as often, has the share of its work that it has by its own CPU time.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
rate=1000

# share_is_right NAME: within 12 percentage points, on a machine that may be busy with other things.
share_is_right()
{
	awk 'NR == FNR { told = $1; next }
		$NF == "working" { found = $2 }
		END { print "# " found " % of " told " %"; exit !(found > told - 12 && found < told + 12) }' \
		"$dir/$1.shares" "$dir/$1.report" >"$dir/output"
	held=$?
	cat "$dir/output"
	cat "$dir/$1.report" >>"$dir/output"
	result $held "and the share of its work is right"
}

for hz in 1000 2000; do
	for try in 1 2 3; do
		ok "a program that works $hz times a second ($try)" profile "s$hz.$try" truth_step $hz 2
		share_is_right "s$hz.$try"
	done
done
ok "the header says that rates wander" grep -q 'wanders by' "$dir/s1000.1.report"
done_testing

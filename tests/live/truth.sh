# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the tests that profile programs with a known profile (truth.h).
#
#	. "$OP_SOURCE_ROOT/tests/live/truth.sh"
#	profile chains truth_chains 2 1 99
#	holds "1:99" chains
#	adds_up "its totals" chains

. "$OP_SOURCE_ROOT/tests/live/lib.sh"
live=$OP_BUILD_ROOT/tests/live
PATH=$live:$PATH
# High, so that tests are short: 10,000 samples take one and a half seconds of CPU time.
rate=7919

need_sampling()
{
	op-check-perfevents >/dev/null 2>&1 || skip_all "$(op-check-perfevents | head -n 1)"
	operf --session-dir="$dir/try" --driver="$driver" true >"$dir/try.log" 2>&1 ||
		skip_all "$(grep '^operf:.*driver' "$dir/try.log" || tail -n 1 "$dir/try.log")"
}

# Which driver: OP_DRIVER, or the one that operf chooses.
driver=${OP_DRIVER:-auto}

# profile NAME [OPTION|COMMAND]...: profiles into the session $dir/NAME; the command's output is in
# NAME.shares, operf's in NAME.log, the report in NAME.report.
profile()
{
	session=$1
	shift
	operf --session-dir="$dir/$session" --driver="$driver" --rate="$rate" "$@" >"$dir/$session.shares" 2>"$dir/$session.log"
	status=$?
	report "$session"
	return $status
}

# report NAME: makes NAME.report and NAME.images of a session.
report()
{
	opreport --session-dir="$dir/$1" -l >"$dir/$1.report" 2>"$dir/$1.err"
	opreport --session-dir="$dir/$1" >"$dir/$1.images" 2>>"$dir/$1.err"
}

# lost_of NAME: samples of the session that are counted as lost, on a busy machine.
lost_of()
{
	lost=0
	for counter in overflow skipped no_mapping no_mm no_tree no_path; do
		lost=$((lost + $(stat_of "$1" "sample_lost_$counter")))
	done
	echo "$lost"
}

# holds TITLE NAME [LEAST]: the shares are those that the program told.
holds()
{
	awk -v least="${3:-10000}" -v lost="$(lost_of "$2")" -f "$OP_SOURCE_ROOT/tests/live/truth_check.awk" \
		"$dir/$2.shares" "$dir/$2.report" >"$dir/output"
	held=$?
	sed 's/^/# /' "$dir/output"
	[ $held = 0 ] || cat "$dir/$2.log" "$dir/$2.err" "$dir/$2.report" >>"$dir/output"
	result $held "$1"
}

# stat_of NAME COUNTER: a counter of the session, 0 where it is not there.
stat_of()
{
	cat "$dir/$1/samples/current/stats/$2" 2>/dev/null || echo 0
}

# sum_of FILE: the samples of all rows of a report.
sum_of()
{
	awk '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9.e+-]+$/ { n += $1 } END { print n + 0 }' "$1"
}

# adds_up TITLE NAME: what the driver received is in the report, but for the losses told.
adds_up()
{
	expected=$(stat_of "$2" sample_received)
	for counter in sample_filtered sample_lost_no_mapping sample_lost_no_mm sample_lost_no_tree sample_lost_no_path lost_no_context \
		lost_kernel lost_samplefile lost_no_mapping lost_no_app_for_kernel_sample \
		lost_no_app_for_user_sample lost_counter filtered; do
		expected=$((expected - $(stat_of "$2" "$counter")))
	done
	is "$1" "$(sum_of "$dir/$2.report")" "$expected"
}

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernel code that comes and goes has names in a profile: BPF programs that were loaded during
# sampling and unloaded before anybody could look. OP_DRIVER selects the driver.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_root
need_sampling
cd "$dir" || exit 1
why=$(busy_bpf 0 try 2>&1) || skip_all "$why"

# count SESSION PATTERN: samples of the program in BPF programs whose names match.
count()
{
	awk -v pattern="$2" '$3 == "bpf" && $NF ~ pattern { n += $1 } END { print n + 0 }' "$dir/$1.report"
}

# Where nobody had time to read them the kernel's lists must do, and programs are gone from those.
too_busy="the machine is too busy: records of the kernel were lost"
has_lost()
{
	[ "$(stat_of "$1" sideband_lost)" -gt 0 ] ||
		grep -q -e "warning:" -e "samples lost:" "$dir/$1.log"
}

# each_has SESSION NAME...: each has samples in plenty, for all ran for the same time, and of the
# others next to none.
each_has()
{
	session=$1
	shift
	all=$(count "$session" .)
	named=0
	ok "  enough samples" test "$all" -gt 1000
	if has_lost "$session"; then
		skip "  their names" "$too_busy"
		return
	fi
	for name in "$@"; do
		n=$(count "$session" "^bpf_prog_[0-9a-f]+_$name\$")
		named=$((named + n))
		cp "$dir/$session.report" output
		ok "  $name has its own" test $((n * $# * 10)) -gt "$all"
	done
	ok "  others have none" test $((named * 10)) -ge $((all * 9))
	nowhere=$(awk '$3 == "unknown" { n += $1 } END { print n + 0 }' "$dir/$session.report")
	cp "$dir/$session.report" output
	[ $((nowhere * 10)) -le "$all" ]
	result $? "  nothing in the kernel is unknown"
}

ok "programs that are there at the same time" profile together busy_bpf 0.2 alpha beta gamma
each_has together alpha beta gamma

# Each takes the place that the one before has left.
one_after_the_other='for name in alpha beta gamma delta; do busy_bpf 0.15 $name; done'
ok "programs one after the other" profile after sh -c "$one_after_the_other"
each_has after alpha beta gamma delta

# called PATTERN: samples in what the programs called whose names match.
called()
{
	awk -v pattern="bpf_prog_[0-9a-f]+_($1)_.k.;" '$0 ~ pattern { n += $NF } END { print n + 0 }' folded
}

ok "call chains" profile chains -g sh -c "$one_after_the_other"
opreport --session-dir="$dir/chains" --folded >output 2>&1
cp output folded
has "  go through what runs the program" "bpf_test_run.*;[^;]*bpf_prog_[0-9a-f]*_alpha_.k. [0-9]"
all=$(called "alpha|beta|gamma|delta")
for name in alpha beta gamma delta; do
	if has_lost chains; then
		skip "  $name has what it called" "$too_busy"
	else
		ok "  $name has what it called" test $(($(called $name) * 10)) -gt "$all"
	fi
done
done_testing

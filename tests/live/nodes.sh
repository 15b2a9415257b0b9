# SPDX-License-Identifier: GPL-2.0-or-later
# A session controlled only by the nodes of oprofilefs, through the control socket.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"

ask()
{
	"$OP_BUILD_ROOT/tests/live/control_ask" "$session" "$1"
}

received_some()
{
	[ "$(ask "read stats/sample_received")" -gt "$1" ]
}

# The numbers in the log's last statistics whose lines match a pattern, added up.
logged()
{
	awk -v pattern="^Nr[.] ($1): " '/^-- OProfile Statistics --/ { sum = 0 }
		$0 ~ pattern { sum += $NF } END { print sum + 0 }' "$session/samples/oprofiled.log"
}

# Every sample that was received is recorded or has a line that says why not, and the CPUs' sections
# have all of them.
check_log()
{
	wait_for sh -c "tail -n 1 '$session/samples/oprofiled.log' | grep -q ' ended$'"
	is "the log has all samples" "$(logged "samples received")" "$((2 * received))"
	is "  and where they are" "$(logged "non-backtrace samples|lost .*samples.*|samples lost: (the|path).*|user .* lost .*|samples lost due to (no|a) .*|samples left out.*|samples of other.*")" \
		"$received"
	while read -r line; do
		has "  in the words of OProfile 0.9: $line" "^Nr[.] $line: [0-9]*$" \
			"$session/samples/oprofiled.log"
	done <<-END
		sample dumps
		non-backtrace samples
		kernel samples
		lost samples (no kernel/user)
		lost kernel samples
		incomplete code structs
		samples lost due to sample file open failure
		samples lost due to no permanent mapping
		user context kernel samples lost due to no app info available
		samples lost due to buffer overflow
		samples lost due to no mapping
		backtraces skipped due to no file mapping
		samples lost due to no mm
		samples lost cpu buffer overflow
		samples received
		backtrace aborted
		samples lost invalid pc
	END
	has "  with a section for each CPU" "^---- Statistics for cpu : 0$" \
		"$session/samples/oprofiled.log"
	is "  which lost none" "$(logged "samples lost cpu buffer overflow")" \
		"$(logged "samples lost: CPU buffer overflow")"
	is "  nor did a reader" "$(logged "samples lost due to buffer overflow")" 0
}

opcontrol --session-dir="$session" --event=TIMER:300 --start-daemon >"$dir/output" 2>&1 ||
	skip_all "no daemon here: $(cat "$dir/output")"
is "the events as they were set" "$(ask "read 0/event") $(ask "read 0/count") $(ask "read 0/enabled")" \
	"0 300 1"
is "the type of a CPU that only the clock samples" "$(ask "read cpu_type")" timer
is "it does not sample" "$(ask "read enable")" 0
ok "another event" ask "write 0/event TASK_CLOCK"
ok "  how often" ask "write 0/count 2000000"
ok "  and another one" ask "write 1/event PAGE_FAULTS"
ok "  how often" ask "write 1/count 500"
ok "  enabled" ask "write 1/enabled 1"
ok "it starts" ask "write enable 1"
keep_busy
ok "samples come" wait_for received_some 500
fails "no setting while it samples" 1 ask "write 0/count 5000000"
has "  says so" "^EBUSY: "
ok "dump" ask "write dump 1"
ok "stop" ask "write enable 0"
is "it does not sample" "$(ask "read enable")" 0
received=$(ask "read stats/sample_received")
sum=0
for cpu in $(ask "list stats" | sed -n 's/^\(cpu[0-9]*\) .*/\1/p'); do
	sum=$((sum + $(ask "read stats/$cpu/sample_received")))
done
is "the CPUs' samples add up" "$sum" "$received"
is "  and are in the session" "$(accounted)" "$received"
ok "report" opreport --session-dir="$session"
has "  is of what was asked for" "TASK_CLOCK"
cookie=$(ask "list cookies" | sed -n '1s/ .*//p')
ok "a cookie stands for a file" test -n "$(ask "read cookies/$cookie")"
ok "an event that cannot be" ask "write 0/count 1"
fails "  does not start" 1 ask "write enable 1"
has "  says why" "^EINVAL: enable: 0: Count 1 for event TASK_CLOCK is below the minimum"
ok "  leaves what was" opcontrol --status
has "    as it was" "TASK_CLOCK:2000000:0:1:1"
ok "back" ask "write 0/count 4000000"
ok "it starts again" ask "write enable 1"
ok "samples come" wait_for received_some $((received + 200))
ok "stop" ask "write enable 0"
received=$(ask "read stats/sample_received")
is "totals go on" "$(accounted)" "$received"

# Settings of which the program in the kernel is made, which a confined daemon may load no more.
takes_chains()
{
	ask "write backtrace_depth 8"
	ok "it takes call chains" ask "write enable 1"
	ok "  which come" wait_for received_some $(($1 + 200))
	opcontrol --status >"$dir/status"
	ask "write enable 0"
	is "  those without a mapping by their old name, too" \
		"$(ask "read stats/bt_lost_no_mapping")" "$(ask "read stats/chain_no_mapping")"
	ok "  are there" test "$(($(ask "read stats/chain_complete") + $(ask "read stats/chain_depth")))" -gt 0
}
opcontrol --status >"$dir/status"
if grep -q "^Driver: *bpf" "$dir/status"; then
	takes_chains "$received"
	has "  by the driver that needs no program" \
		"^Driver: *perf: .*not bpf: the confined daemon (seccomp) cannot load another BPF program" "$dir/status"
	received=$(ask "read stats/sample_received")
	is "totals go on" "$(accounted)" "$received"
	ok "shutdown" opcontrol --shutdown
	check_log
	ok "a daemon that is to have the program" opcontrol --driver=bpf --start-daemon
	ask "write backtrace_depth 8"
	fails "  does not start" 1 ask "write enable 1"
	has "    and says why" "^EPERM: enable: .*--no-seccomp"
fi
ok "shutdown" opcontrol --shutdown
ok "a daemon that needs no program" opcontrol --driver=perf --start-daemon
takes_chains 0
ok "shutdown" opcontrol --shutdown
done_testing

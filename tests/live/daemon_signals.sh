# SPDX-License-Identifier: GPL-2.0-or-later
# Signals, as a service manager or an administrator sends them to a daemon.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"

log=$session/samples/oprofiled.log
log_has() { grep -q -e "$1" "$log"; }
# Its socket may be there shortly before it listens.
answers() { [ -n "$(status_number samples_received)" ]; }
start_foreground()
{
	oprofiled --foreground --session-dir="$session" --events=TIMER:500 "$@" 2>"$dir/stderr" &
	daemon=$!
	wait_for answers
}

ok "setup" opcontrol --setup --session-dir="$session"
keep_busy
ok "it starts in the foreground, sampling" start_foreground --start
ok "its table of files does not grow" \
	test "$(sed -n 's/^FDSize:[^0-9]*//p' "/proc/$daemon/status")" -ge 1024
ok "samples come" wait_for received_more_than 100
kill -TERM "$daemon"
wait "$daemon"
is "SIGTERM ends it cleanly" $? 0
ok "  all samples are recorded" test "$(counter samples)" -gt 100
is "  every one that was received, or a name for what was lost" "$(accounted)" \
	"$(counter sample_received)"
has "  the log has the statistics" "^-- OProfile Statistics --$" "$log"
has "  and the count" "^Nr. non-backtrace samples: $(counter samples)$" "$log"
has "  stderr has the log's lines" "^oprofiled: started: \(bpf\|perf\): " "$dir/stderr"

ok "it starts again, not sampling" start_foreground
is "  it waits" "$(status_number samples_received)" 0
kill -USR1 "$daemon"
ok "SIGUSR1 starts" wait_for received_more_than 50
kill -USR2 "$daemon"
ok "SIGUSR2 stops" wait_for sh -c "opcontrol --status | grep -q 'running, not sampling'"
count=$(grep -c "OProfile Statistics" "$log")
kill -ALRM "$daemon"
ok "SIGALRM writes statistics" wait_for \
	sh -c "[ \$(grep -c 'OProfile Statistics' '$log') = $((count + 1)) ]"
kill -USR1 "$daemon"
wait_for received_more_than 100
mv "$log" "$log.1"
kill -HUP "$daemon"
ok "SIGHUP reopens the log" wait_for log_has "log and sample files reopened"
before=$(status_number samples_received)
ok "  and it samples on" wait_for received_more_than $((before + 50))
kill -INT "$daemon"
wait "$daemon"
is "SIGINT ends it cleanly" $? 0
ok "  the socket is removed" test ! -e "$session/control"

# A counter that cannot be written.
obstacle=$session/samples/current/stats/total_samples
rm "$obstacle"
mkdir "$obstacle"
ok "it starts again, sampling" start_foreground --start
wait_for received_more_than 50
fails "if counters cannot be saved, --stop says so" 1 opcontrol --stop
has "  and which" "stats/total_samples: Is a directory"
kill -TERM "$daemon"
wait "$daemon"
is "  and the daemon's exit status, too" $? 3
ok "it starts again, sampling" start_foreground --start
wait_for received_more_than 50
fails "--shutdown says so, too" 1 opcontrol --shutdown
has "  and which" "stats/total_samples: Is a directory"
wait "$daemon"
is "  and the daemon's exit status" $? 3
ok "what could not be saved at the stop" start_foreground --start
wait_for received_more_than 50
opcontrol --stop >/dev/null 2>&1
rmdir "$obstacle"
kill -TERM "$daemon"
wait "$daemon"
is "  is saved at the end" $? 0
ok "  all of it" test "$(counter total_samples)" -gt 50
done_testing

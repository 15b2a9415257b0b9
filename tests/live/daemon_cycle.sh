# SPDX-License-Identifier: GPL-2.0-or-later
# A user's whole day: set up, start, dump, look, save, reset, stop, shut down.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"

ok "status without anything" opcontrol --status
has "  says that nothing runs" "^Daemon: *not running; start it with opcontrol --start"
ok "setup" opcontrol --setup --session-dir="$session" --separate=library --event=TIMER:500
has "  is kept" "^CHOSEN_EVENTS_0=TIMER:500$" "$OPROFILE_DAEMONRC"
has "  with the session" "^SESSION_DIR=$session$" "$OPROFILE_DAEMONRC"
ok "stopping what does not run" opcontrol --stop
has "  says so" "daemon is not running"
ok "the daemon starts" opcontrol --start-daemon
ok "  once" opcontrol --start-daemon
ok "status" opcontrol --status
has "  says it does not sample yet" "^Daemon: *running, not sampling, pid "
ok "it samples" opcontrol --start
has "  and says by what" "^Profiler running: \(bpf\|perf\): "
ok "the same settings again" opcontrol --start --event=TIMER:500
is "  need no warning" "$(grep -c warning "$dir/output")" 0
ok "other settings" opcontrol --setup --event=TIMER:400
has "  wait for the next daemon" "warning: the running daemon keeps its old settings"
opcontrol --setup --event=TIMER:500 2>/dev/null
ok "an option of the original that means nothing" opcontrol --s390hwsampbufsize=7
has "  is noted" "warning: --s390hwsampbufsize no longer has any effect"
keep_busy
ok "samples come" wait_for received_more_than 200
ok "dump" opcontrol --dump
before=$(counter samples)
ok "  makes them visible" test "$before" -gt 200
is "  all that were received, or a name for what was lost" "$(accounted)" \
	"$(counter sample_received)"
ok "status" opcontrol --status
has "  shows the state" "^Daemon: *sampling, pid "
has "  shows the event" "^Events: *TIMER:500:0:1:1$"
has "  shows the separation" "^Separate: *library$"
has "  shows what is stored" "^Session: *$session ([1-9][0-9]* samples in current, "
has "  shows losses" "^Samples: *[0-9]* taken, .*[0-9]* lost; "
has "  and what it costs" "^Own cost: .* MiB of memory"
ok "status as JSON" sh -c "opcontrol --status --json | python3 -m json.tool"
ok "save" opcontrol --save=monday
ok "  keeps what was there" test "$(counter samples monday)" -ge "$before"
fails "saving under a name that is taken" 1 opcontrol --save=monday
has "  says so" "monday"
fails "saving under an impossible name" 1 opcontrol --save=../escape
ok "it goes on" wait_for received_more_than $((before + 200))
ok "stop" opcontrol --stop
before=$(counter samples)
ok "  all is recorded" test "$before" -gt 0
ok "report" opreport --session-dir="$session" --symbols
is "  has every sample" "$(awk '$1 ~ /^[0-9]+$/ { sum += $1 } END { print sum }' "$dir/output")" \
	"$before"
ok "reset while it is stopped" opcontrol --reset
is "  empties the session" "$(counter samples)" 0
is "  but not the saved one" "$(ls "$session/samples/monday/stats/samples")" \
	"$session/samples/monday/stats/samples"
removed_all() { ! ls -d "$session"/samples/.removed.* >/dev/null 2>&1; }
ok "  and all files are removed" wait_for removed_all
mkdir -p "$session/samples/.removed.3/{root}/left" # by a daemon that was killed meanwhile
ok "start, dump and stop in one call" opcontrol --start --dump --stop
ok "  removes what another daemon left" wait_for removed_all
opcontrol --start >/dev/null
before=$(status_number samples_received)
wait_for received_more_than "$before"
pid=$(daemon_pid)
ok "shutdown" opcontrol --shutdown
ok "  ends it" wait_for test ! -e "/proc/$pid"
ok "  removes the socket" test ! -e "$session/control"
ok "shutdown where none runs" opcontrol --shutdown
has "  says so" "daemon is not running"
ok "save without a daemon" opcontrol --save=tuesday
ok "reset without a daemon" opcontrol --reset
ok "status without a daemon" opcontrol --status
has "  lists the sessions" "sessions: .*monday"
has "  and those just saved" "sessions: .*tuesday"
fails "saving where there is nothing" 1 opcontrol --save=wednesday
has "  says so" "no samples to save"
fails "an unknown option" 2 opcontrol --strat
has "  names the nearest" "did you mean '--start'"
fails "an unknown event" 1 opcontrol --setup --event=TIMR
has "  names the nearest" "did you mean TIMER"
has "  and changes nothing" "^CHOSEN_EVENTS_0=TIMER:500$" "$OPROFILE_DAEMONRC"
fails "an unknown separation" 2 opcontrol --setup --separate=lbi
fails "an unknown driver" 1 opcontrol --setup --driver=perv
has "  names those there are" "driver: .*auto.*, perf"
fails "a size that is no number" 2 opcontrol --setup --buffer-size=many
has "  names the option" "opcontrol: --buffer-size: "
fails "nothing to do" 2 opcontrol
done_testing

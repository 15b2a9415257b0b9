# SPDX-License-Identifier: GPL-2.0-or-later
# One writer per session: a second daemon is refused. A killed one does not block the next, and
# loses nothing that was dumped.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"

keep_busy
ok "the first starts" opcontrol --session-dir="$session" --event=TIMER:500 --start
ok "samples come" wait_for received_more_than 100
pid=$(daemon_pid)
fails "a second is refused" 1 oprofiled --session-dir="$session"
has "  naming the first" "pid $pid"
fails "  in the foreground, too" 1 oprofiled --foreground --session-dir="$session"
ok "  the first goes on" opcontrol --dump
kept=$(counter samples)

kill -9 "$pid"
ok "killed, it is gone" wait_for test ! -d "/proc/$pid"
ok "it left its socket" test -S "$session/control"
fails "nobody answers" 1 opcontrol --dump
ok "save without a daemon" opcontrol --save=killed
ok "  has what was dumped" test "$(counter samples killed)" -ge "$kept"
ok "another starts" opcontrol --start
ok "  and samples" wait_for received_more_than 100
pid=$(daemon_pid)
kill -9 "$pid"
wait_for test ! -d "/proc/$pid"
kept=$(counter samples)
ok "a third starts over what the second left" opcontrol --start
ok "  and samples" wait_for received_more_than 100
ok "  into the same session" opcontrol --shutdown
ok "  adding to it" test "$(counter samples)" -ge $((kept + 100))
done_testing

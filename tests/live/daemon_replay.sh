# SPDX-License-Identifier: GPL-2.0-or-later
# What the daemon teed to a file gives the same sample files when it is replayed.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"

keep_busy
ok "setup" opcontrol --setup --session-dir="$session"
ok "it starts with a tee" oprofiled --start --session-dir="$session" --events=TIMER:997 \
	--separate=library,thread --tee="$dir/stream"
ok "samples come" wait_for received_more_than 500
ok "it ends" opcontrol --shutdown
ok "the stream replays" oprofiled --replay="$dir/stream" --session-dir="$dir/again" \
	--separate=library,thread
has "  and prints statistics" "^Nr. non-backtrace samples: $(counter samples)$"
# The symbols of programs in the kernel, which the daemon has and the replay has not, may differ. The
# daemon enters the kernel in the manifest before it samples, the replay when its first sample comes.
ok "  the sample files are the same" diff -r --exclude=setup --exclude=kallsyms --exclude=images \
	"$session/samples/current" "$dir/again/samples/current"
sort "$session/samples/current/images" >"$dir/images"
sort "$dir/again/samples/current/images" >"$dir/images.again"
ok "  the images too" cmp "$dir/images" "$dir/images.again"
fails "a file that is no stream" 1 oprofiled --replay="$OPROFILE_DAEMONRC" --session-dir="$dir/other"
has "  is named" "$OPROFILE_DAEMONRC: not a recorded event stream"
done_testing

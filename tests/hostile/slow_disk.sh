#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A disk that takes two seconds for each write and each flush, with an ordinary file system on it: samples
# are drained meanwhile, and none is lost.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
delay_ms=${OP_DELAY_MS:-2000}
mnt=$dir/mnt under=$dir/under session=$dir/mnt/session
slow_disk=$OP_BUILD_ROOT/tests/hostile/slow_disk
for command in mkfs.ext4 losetup mount; do
	command -v "$command" >/dev/null || skip_all "needs $command"
done
[ -x "$slow_disk" ] && [ -c /dev/fuse ] || skip_all "needs FUSE"
mkdir "$mnt" "$under"
truncate -s 64M "$dir/image"
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$dir/image" || skip_all "cannot make a file system"
background "$slow_disk" "$dir/image" "$under"
cleanup()
{
	echo 0 >"$under/delay"
	stop_all
	umount "$mnt" 2>/dev/null || umount -l "$mnt" 2>/dev/null
	[ -z "$loop" ] || losetup -d "$loop"
	umount -l "$under" 2>/dev/null
	end_background
}
loop=
wait_for test -e "$under/disk"
loop=$(losetup -f --show "$under/disk" 2>/dev/null) && mount "$loop" "$mnt" 2>/dev/null ||
	skip_all "cannot mount a file system of its own"

keep_new_programs
ok "the daemon starts" opcontrol --start --callgraph=32 --event=TIMER:500 --session-dir="$session" --verbose=debug
ok "samples come" wait_for received_more_than 500
echo "$delay_ms" >"$under/delay"
ok "they can be recorded when the disk is slow" opcontrol --dump
for _ in $(seq 20); do
	sync -f "$mnt" &
	sleep 0.5
done
longest=$(status_number busy_longest_ms)
echo "# $delay_ms ms for each write: at most $longest ms between two drains"
grep -h 'no drain for' "$session/samples/oprofiled.log" | sort -k6nr | head -n 3 | sed 's/^/# /'
echo 0 >"$under/delay"
test "${longest%.*}" -lt $((delay_ms / 4))
result $? "it drains while the disk is slow"
ok "samples can be recorded" opcontrol --dump
is "the kernel lost none" "$(counter sample_lost_overflow)" 0
is "every one has a file" "$(counter lost_samplefile)" 0
ok "it ends" timeout 60 opcontrol --shutdown
ok "no file is damaged" opcheck "$session"
done_testing

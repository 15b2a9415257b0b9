#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Files whose mere opening waits or acts: leases, FIFOs, devices, and files that are nearly all holes.
# The daemon and root's reports go on at once, and open none of the devices.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
command -v setpriv >/dev/null || skip_all "needs setpriv"
command -v python3 >/dev/null || skip_all "needs python3"
command -v objcopy >/dev/null || skip_all "needs objcopy"
hostile=$OP_BUILD_ROOT/tests/hostile
chmod 755 "$dir"
holder=
cleanup()
{
	[ -z "$holder" ] || kill "$holder" 2>/dev/null
	stop_all
}

# answers SECONDS: opcontrol --status is answered in time all along.
answers()
{
	end=$(($(date +%s) + $1))
	while [ "$(date +%s)" -lt "$end" ]; do
		timeout 5 opcontrol --status >"$dir/output" 2>&1 || return 1
	done
}

# --- leases: each would be waited for for 45 s

mkdir "$dir/leased"
cp "$hostile/lease_holder" "$dir/lease_holder"
chown 65534 "$dir/leased"
ok "the daemon starts" opcontrol --start --session-dir="$session" --event=TIMER:500
setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/lease_holder" "$dir/leased" 4 60 >"$dir/holds" 2>&1 &
holder=$!
until grep -q held "$dir/holds"; do
	kill -0 "$holder" 2>/dev/null || break
	sleep 0.05
done
if grep -q held "$dir/holds"; then
	ok "it answers while a process runs in files with leases" answers 10
	before=$(date +%s)
	ok "it stores their samples" opcontrol --dump
	ok "  without a wait" test $(($(date +%s) - before)) -lt 10
	ok "a report names them, without a wait" sh -c \
		"timeout 20 opreport --session-dir='$session' 2>/dev/null | grep -q leased-"
else
	skip "leases" "this file system has none: $(tail -n 1 "$dir/holds")"
fi
kill "$holder" 2>/dev/null
holder=
ok "it ends" timeout 30 opcontrol --shutdown

# --- FIFOs and devices in a session, and in the place of binaries

mkdir "$dir/mine"
# Its debug information says that the rest of it is in this file (dwz).
printf '/dev/full\000aaaaaaaaaaaaaaaaaaaa' >"$dir/link"
objcopy --add-section .gnu_debugaltlink="$dir/link" "$dir/lease_holder"
operf --session-dir="$dir/evil" --event=TIMER:997 "$dir/lease_holder" "$dir/mine" 1 2 >"$dir/output" 2>&1
current=$dir/evil/samples/current
ok "there is a session" test -s "$current/images"
spinner=$dir/mine/leased-0 # the copy that it ran in
export OPROFILE_SYMBOL_CACHE=no

# in_time NAME COMMAND...: it ends within 20 s, whatever it says.
in_time()
{
	name=$1
	shift
	timeout 20 "$@" >"$dir/output" 2>&1
	status=$?
	test $status != 124 && test $status -lt 128
	result $? "$name"
}

for file in setup images; do
	mv "$current/$file" "$dir/$file.kept"
	mkfifo "$current/$file"
	in_time "opreport goes on where $file is a FIFO" opreport --session-dir="$dir/evil" -l
	in_time "  opannotate too" opannotate --session-dir="$dir/evil" --assembly
	in_time "  opcheck too" opcheck "$dir/evil"
	in_time "  oparchive too" oparchive --session-dir="$dir/evil" -o "$dir/archive.$file"
	rm "$current/$file"
	mv "$dir/$file.kept" "$current/$file"
done

# device_is_closed NAME OPTION...: a report with them opens no device.
device_is_closed()
{
	name=$1
	shift
	opened=$(timeout 20 python3 "$OP_SOURCE_ROOT/tests/golden/opened.py" /dev/full -- \
		opreport --session-dir="$dir/evil" "$@" 2>"$dir/output" | tee "$dir/report" | grep '^/dev/full')
	is "$name" "$opened" ""
	ok "  and the report is there" grep -q leased-0 "$dir/report"
}
device_is_closed "a device that debug information names is not opened" -l -g
rm "$spinner"
ln -s /dev/full "$spinner"
device_is_closed "nor one in the place of a binary" -l
rm "$spinner"
mkfifo "$spinner"
in_time "opreport goes on where a binary is a FIFO" opreport --session-dir="$dir/evil" -l

# --- a sample file of 2^31 slots that takes one block

file=$(find "$current" -path '*leased-0/TIMER*' | head -n 1)
python3 - "$file" <<'END'
import os, struct, sys
with open(sys.argv[1], "r+b") as f:
    f.truncate(104)
    f.seek(72)
    f.write(struct.pack("=II", 1 << 31, 1 << 31))
    f.truncate(104 + 20 * (1 << 31))
END
in_time "opreport goes on where a sample file is a hole" opreport --session-dir="$dir/evil"
in_time "  opcheck too" opcheck "$dir/evil"
has "  and names it" "(holes)"
done_testing

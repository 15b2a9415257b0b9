#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Ten thousand planted jitdumps: half mapped by one process with JIT code, half by fifty. The daemon drains
# in time and keeps to its memory, and the code of others has its name.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
command -v setpriv >/dev/null || skip_all "needs setpriv"
python=${OP_PYTHON:-/usr/bin/python3}
[ -x "$python" ] || skip_all "needs python3"
[ "$(uname -m)" = x86_64 ] || skip_all "the code is for x86-64"

chmod 755 "$dir"
mkdir "$dir/dumps"
chown 65534 "$dir/dumps"
output=$dir/address
cleanup()
{
	end_background
	stop_all
}

# Maps COUNT new dumps, then runs code in anonymous memory at a low rate.
cat >"$dir/plant.py" <<'PYTHON'
import ctypes, mmap, os, struct, sys, time
directory, count = sys.argv[1], int(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b"\x48\x89\xf8\x48\xff\xc8\x75\xfb\xc3")
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
header = struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, os.getpid(), 0, 0)
for i in range(count):
    name = "%s/jit-%d%05d.dump" % (directory, os.getpid(), i)
    fd = os.open(name, os.O_RDWR | os.O_CREAT)
    # A piece of code that is said to be longer than its record.
    os.write(fd, header + struct.pack("<IIQIIQQQQ2s", 0, 58, 1, os.getpid(), 0, address, address,
                                      1 << 40, i, b"f"))
    libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE, fd, 0)
    os.close(fd)
function = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64)(address)
print("%x" % address, flush=True)
while True:
    function(10000000)
    time.sleep(0.05 if count else 0)
PYTHON

# plant UID COUNT: such a process; its pid in $pid, the address of its code in $dir/address.
plant()
{
	: >"$dir/address"
	as_uid "$1" "$python" "$dir/plant.py" "$dir/dumps" "$2"
}

longest()
{
	echo "# $1: at most $(status_number busy_longest_ms) ms between two drains, $(daemon_memory) KiB resident"
}

ok "the daemon starts" opcontrol --start --session-dir="$session" --event=TIMER:500 --max-memory=128M
plant 65534 5000
ok "one process has 5000 of them" wait_for grep -q "^[0-9a-f]*$" "$dir/address"
sleep 6
longest "one process"
for _ in $(seq 50); do plant 65534 100; done
sleep 8
longest "and fifty"
plant 65533 0
ok "another user has code" wait_for grep -q "^[0-9a-f]*$" "$dir/address"
echo "$(cat "$dir/address") 1000 named_by_another" >"$dir/names"
give_map 65533 "$dir/names"
sleep 3
ok "samples can be recorded" opcontrol --dump
ok "it has its name" sh -c "opreport --session-dir='$session' -l 2>/dev/null | grep -q named_by_another"
is "there are 10000 dumps" "$(ls "$dir/dumps" | wc -l)" 10000
ok "the daemon keeps to its memory" test "$(daemon_memory)" -le 262144
longest=$(status_number busy_longest_ms)
ok "it drains" test "${longest%.*}" -lt 1000
is "sampling never paused" "$(counter shed_pauses)" 0
echo "# $(counter jit_dropped) pieces were dropped, reading was put off $(counter jit_put_off) times"
ok "what was invalid is counted" test "$(counter jit_dropped)" -ge 1
ok "it ends" opcontrol --shutdown
done_testing

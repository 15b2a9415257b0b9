#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Everything on a machine has symbols: compilers, interpreters, JIT code, the kernel, a program in a
# chroot, processes that end quickly. At least 99.5 % of all samples have a symbol, and the end of
# the report explains the others. OP_DRIVER selects the driver; with OP_MIXED=system the whole
# machine is profiled, with whatever else runs on it.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
cd "$dir" || exit 1
seconds=${OP_MIXED_SECONDS:-3}
jvmti=$OP_BUILD_ROOT/lib/agent/libjvmti_oprofile.so
export JITDUMPDIR="$dir"

cat >spin.js <<'END'
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const end = Date.now() + 1000 * Number(process.argv[2]);
let s = 0;
while (Date.now() < end) { s += fib(20); s += JSON.stringify({ s, a: [1, 2, 3] }).length; }
END
cat >Spin.java <<'END'
import java.util.HashMap;
public class Spin {
	static int sink;
	static int hot(int n) { int s = 0; for (int i = 0; i < n; i++) s = s * 31 + i; return s; }
	public static void main(String[] args) {
		long end = System.currentTimeMillis() + 1000 * Integer.parseInt(args[0]);
		HashMap<Integer, String> map = new HashMap<>();
		while (System.currentTimeMillis() < end) {
			sink += hot(10000);
			map.put(sink & 1023, Integer.toString(sink));
		}
	}
}
END
cat >spin.py <<'END'
import sys, time, json, re
end = time.time() + float(sys.argv[1])
while time.time() < end:
	json.loads(json.dumps({str(i): [i, i * 1.5] for i in range(200)}))
	re.sub("[a-f]+", "x", "abcdefghij" * 50)
END
awk 'BEGIN { for (i = 0; i < 200; i++) printf "int f%d(int x) { return x * %d + f%d(x - 1) %% 7; }\n", i + 1, i, i }' |
	sed '1i int f0(int x) { return x; }' >work.c
mkdir jail
cp "$live/truth_chains_static" jail/jailed

# Loads, each for some seconds; what is not installed is left out.
cat >loads <<'END'
deadline=$(($(date +%s) + $1))
until_deadline() { while [ "$(date +%s)" -lt "$deadline" ]; do "$@"; done >/dev/null 2>&1; }
until_deadline cc -O2 -w -c work.c -o work.o &
python3 spin.py "$1" &
! command -v node >/dev/null || node --perf-basic-prof spin.js "$1" &
[ ! -e Spin.class ] || java -XX:-UsePerfData -XX:+PreserveFramePointer "-agentpath:$jvmti" Spin "$1" &
! command -v xz >/dev/null || until_deadline sh -c 'head -c 500000 /usr/bin/python3* | xz -c' &
# The kernel: files, pipes, memory.
until_deadline sh -c 'dd if=/dev/zero bs=64k count=200 | cat; find /usr/share/zoneinfo | wc -l' &
[ "$(id -u)" != 0 ] || chroot jail /jailed "$1" 25 75 &
# Processes that live for a few milliseconds.
until_deadline sh -c 'for i in 1 2 3 4 5 6 7 8; do /bin/true; ls / | wc -l; done' &
wait
rm -f jit-*.dump
END
if [ -e "$jvmti" ] && command -v javac >/dev/null; then
	javac -J-XX:-UsePerfData Spin.java
else
	skip "java" "no JDK"
fi
command -v node >/dev/null || skip "node" "it is not installed"
export jvmti

if [ "${OP_MIXED:-}" = system ]; then
	operf --session-dir="$dir/s" --driver="$driver" --rate=997 --system-wide 2>log &
	profiler=$!
	wait_for grep -q started log
	sh ./loads "$seconds"
	kill -INT "$profiler"
	wait "$profiler"
	result $? "a profile of the machine"
else
	ok "a profile of many kinds of programs" operf --session-dir="$dir/s" --driver="$driver" \
		--rate=997 sh ./loads "$seconds"
fi
opreport --session-dir="$dir/s" -l >report 2>warnings
opreport --session-dir="$dir/s" -l --csv >table 2>/dev/null
# Rows without a symbol have no quoted names before the count; code of stripped files is named by
# its address: [FILE+0xADDRESS].
all=$(sum_of report)
none=$(awk -F, 'NR > 1 && $1 != "symbol" { n += $9 } END { print n + 0 }' table)
ranges=$(awk -F, '$1 == "symbol" && $4 ~ /^\[.*\+0x[0-9a-f]*\]$/ { n += $9 } END { print n + 0 }' table)
percent=$(awk -v all="$all" -v none="$none" 'BEGIN { printf "%.3f", all ? 100 * (all - none) / all : 0 }')
echo "# $none of $all samples have no symbol ($percent % have one, or, $ranges, a range), by $driver"
sed -n '/^Without a symbol/,$s/^/# /p' report
awk -F, 'NR > 1 && $1 != "symbol"' table | sort -t, -k9 -rn | head -n 10 | sed 's/^/# /'
{ echo "$percent % of $all:" && cat warnings && head -n 60 report; } >output
awk -v p="$percent" -v n="$all" 'BEGIN { exit !(p >= 99.5 && n >= 1000) }'
result $? "99.5 % of the samples have a symbol"
done_testing

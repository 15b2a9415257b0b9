#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Java virtual machines that run without the agent and without a flag are asked for the names of their
# code while they run: one of another user in a PID namespace of its own by operf, others by the daemon.
# The shares are those that the program measures itself. One that cannot be asked goes on unharmed.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
command -v javac >/dev/null || skip_all "no JDK"
version=$(javac -J-XX:-UsePerfData -version 2>&1 | sed 's/^javac \([0-9]*\).*/\1/')
[ "$version" -ge 17 ] || skip_all "JDK $version has no Compiler.perfmap, which came with 17"
cd "$dir" || exit 1
chmod 755 "$dir"
cat >Spin.java <<'END'
public class Spin {
	static volatile boolean over;
	static int sink;
	static int hot(int n) { int s = 0; for (int i = 0; i < n; i++) s = s * 31 + i; return s; }
	static int warm(int n) { int s = 1; for (int i = 0; i < n; i++) s = s * 17 ^ i; return s; }
	public static void main(String[] args) throws Exception {
		Thread t = new Thread(() -> { try { System.in.read(); } catch (Exception e) { } over = true; });
		long inHot = 0, inWarm = 0;
		t.start();
		while (!over) {
			long a = System.nanoTime();
			sink += hot(300000);
			long b = System.nanoTime();
			sink += warm(100000);
			inHot += b - a;
			inWarm += System.nanoTime() - b;
		}
		System.out.println(100 * inHot / (inHot + inWarm));
	}
}
END
ok "java compiles" javac -J-XX:-UsePerfData Spin.java
mkfifo hold

# begin OPTION...: starts Spin, which ends when the FIFO is closed; $java is its PID, $worker that of
# the program that starts it. It is still compiling its code when this returns.
begin()
{
	"$@" <hold >share 2>trouble &
	worker=$!
	exec 9>hold
	java=
	for _ in $(seq 100); do
		java=$(grep -l '^Name:.java$' $(printf '/proc/%s/status ' $(descendants "$worker")) \
			2>/dev/null | head -1 | tr -cd 0-9)
		[ -z "$java" ] || break
		sleep 0.1
	done
	wait_for has_used "$java" 40
}

# A process and its descendants.
descendants()
{
	echo "$1"
	for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
		descendants "$child"
	done
}

end()
{
	exec 9>&-
	wait "$worker"
	worker=
}

# named TITLE REPORT: the functions are named, with the shares that they measured. The functions have all
# samples in its code but those of its first moments.
named()
{
	awk -v share="$(cat share)" '$1 !~ /^[0-9]+$/ || $3 != "[JIT" { next }
	{ all += $1 }
	/no symbol/ { unknown += $1 }
	/Spin.hot\(int\)/ { hot += $1 }
	/Spin.warm\(int\)/ { warm += $1 }
	END {
		printf "%d samples in its code: hot %d, warm %d, unknown %d; measured: %d %% hot\n",
			all, hot, warm, unknown, share
		off = all ? 100 * hot / (hot + warm + 1) - share : 100
		exit all < 500 || hot + warm < 0.9 * all || unknown > 0.01 * all || off * off > 100
	}' "$2" >output
	held=$?
	sed 's/^/# /' output
	[ $held = 0 ] || head -30 "$2" >>output
	result $held "$1"
}

# With call chains, names are found in its memory, and it is not asked.
asked="--attach-java --callgraph=0"
# Else the loop in main may become all of it.
apart="-XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Spin::*"
spin="java -XX:-UsePerfData $apart -cp $dir Spin"
if unshare --pid --fork setpriv --reuid=nobody --regid=nogroup --clear-groups true 2>/dev/null; then
	begin unshare --pid --fork setpriv --reuid=nobody --regid=nogroup --clear-groups $spin
	ok "operf asks one of another user, in a PID namespace" sampled_while "$java" 150 \
		--session-dir="$dir/other" $asked --rate=997
	inner=$(awk '/^NSpid:/ { print $NF }' "/proc/$java/status")
	ok "  nothing of that is left" test ! -e "/tmp/.attach_pid$inner"
	is "  the map is written by its user" "$(stat -c %U "/tmp/perf-$inner.map")" nobody
	rm -f "/tmp/perf-$inner.map"
	end
	opreport --session-dir="$dir/other" -l >other.report 2>&1
	named "  and it is named" other.report
else
	skip "another user, in a PID namespace" "no unshare or setpriv"
fi

begin $spin
ok "without the option" sampled_while "$java" 50 --session-dir="$dir/without" --rate=997
ok "  it is not asked" test ! -e "/tmp/perf-$java.map" -a ! -e "/tmp/.java_pid$java"
printf 'ATTACH_JAVA=1\n' >>"$OPROFILE_DAEMONRC"
ok "the daemon asks" opcontrol --start --event=TIMER:997 --callgraph=0 --session-dir="$session"
uses "$java" 150
ok "  and ends" opcontrol --shutdown --session-dir="$session"
end
opreport --session-dir="$session" -l "image:*/java" >daemon.report 2>&1
named "  and it is named" daemon.report
ok "  the counter has it" test "$(counter java_maps)" -ge 1

for option in -Xrs -XX:+DisableAttachMechanism; do
	begin java "$option" ${spin#java}
	ok "with $option" sampled_while "$java" 150 --session-dir="$dir/refused" $asked --rate=997
	ok "  it still runs" kill -0 "$java"
	end
	ok "  and prints no stacks" test ! -s trouble -a "$(wc -l <share)" = 1
	ok "  the counter says so" test "$(cat refused/samples/current/stats/java_refused)" -ge 1
done
done_testing

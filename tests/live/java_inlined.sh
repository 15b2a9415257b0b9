#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Calls that HotSpot's compilers inlined are told apart if the agent is loaded: by name, in chains, and by
# line. Shares are those that the program measures itself.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
jvmti=$OP_BUILD_ROOT/lib/agent/libjvmti_oprofile.so
[ -e "$jvmti" ] || skip_all "the agent for Java is not built"
command -v javac >/dev/null || skip_all "no JDK"
rate=1999
cd "$dir" || exit 1
cat >Inlined.java <<'END'
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

public class Inlined {
	static int sink;
	static long inHot, inWarm;
	static final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
	static int hot(int n) {
		int s = 0;
		for (int i = 0; i < n; i++)
			s = s * 31 + (i ^ s >> 3);
		return s;
	}
	static int warm(int n) {
		int s = 1;
		for (int i = 0; i < n; i++)
			s = s * 17 ^ i + (s >> 5);
		return s;
	}
	static int middle(int n) {
		return hot(n) + 1;
	}
	static int top(int n) {
		return middle(3 * n) + warm(n);
	}
	static void measured(int n) {
		long a = clock.getCurrentThreadCpuTime();
		sink += middle(3 * n);
		long b = clock.getCurrentThreadCpuTime();
		sink += warm(n);
		inHot += b - a;
		inWarm += clock.getCurrentThreadCpuTime() - b;
	}
	public static void main(String[] args) {
		int rounds = Integer.parseInt(args[0]);
		for (int i = 0; i < rounds; i++) {
			sink += top(10000);
			measured(10000);
		}
		System.out.println(100 * inHot / (inHot + inWarm));
	}
}
END
ok "it compiles" javac -J-XX:-UsePerfData -g Inlined.java

# shares TITLE LEAST: the functions have the shares that they measured, LEAST % of it or more where they are inlined.
shares()
{
	awk -v share="$(cat inlined.shares)" -v least="$2" '$1 !~ /^[0-9]+$/ || $3 != "[JIT" { next }
	{ all += $1 }
	/ Inlined.hot\(int\)/ { hot += $1 }
	/ Inlined.warm\(int\)/ { warm += $1 }
	/ Inlined.*inlined/ { inlined += $1 }
	END {
		printf "%d samples in its code: hot %d, warm %d, inlined %d; measured: %d %% hot\n",
			all, hot, warm, inlined, share
		off = all ? 100 * hot / (hot + warm + 1) - share : 100
		exit all < 500 || hot + warm < 0.95 * all || 100 * inlined < least * all || off * off > 25
	}' inlined.names >output
	held=$?
	sed 's/^/# /' output
	[ $held = 0 ] || head -30 inlined.names >>output
	result $held "$1"
}

# stacks TITLE: what runs is where it is called. The first interpreted callers may have no name yet.
stacks()
{
	awk '/ Inlined.(hot|warm)\(int\)(_\[[a-z]\])?( |;asm)/ {
		gsub(/_\[[a-z]\]/, "")
		if (/;Interpreter;int Inlined/) {
			early += $NF
			next
		}
		all += $NF
		if (/(top|measured)\(int\);int Inlined.(warm\(int\)|middle\(int\);int Inlined.hot\(int\))[; ]/)
			right += $NF
		else
			print
	}
	END { printf "%d of %d samples have the callers that they have; %d more have early ones\n", right, all, early
		exit all < 500 || right < 0.99 * all || early > 0.1 * all }' inlined.folded >output
	held=$?
	tail -n 3 output | sed 's/^/# /'
	result $held "$1"
}

# C1 and then C2, at the usual time; C2 early, so that most samples are in its code; C1 alone.
for compiler in "" "-XX:Tier4InvocationThreshold=100 -XX:Tier4MinInvocationThreshold=50 -XX:Tier4CompileThreshold=100" \
	-XX:TieredStopAtLevel=1; do
	least=50
	[ "$compiler" ] || least=5
	profile inlined -g env JITDUMPDIR="$dir" java -XX:-UsePerfData -XX:+PreserveFramePointer $compiler \
		-agentpath:"$jvmti" Inlined 20000
	result $? "it is profiled $compiler"
	opreport --session-dir="$dir/inlined" --inlines -l >inlined.names 2>/dev/null
	opreport --session-dir="$dir/inlined" --inlines --folded >inlined.folded 2>/dev/null
	shares "  its functions have the shares that they measured" $least
	stacks "  and their callers"
	opreport --session-dir="$dir/inlined" --inlines --folded --merge=runtime >output 2>/dev/null
	has "  without the frames of HotSpot" '^java;clone3;start_thread;void Inlined.main' output
	opreport --session-dir="$dir/inlined" --inlines --children 2>/dev/null |
		grep 'Inlined.middle(int) (inlined)' >rows
	cp rows output
	is "  an inlined function is one row of the program" "$(grep -c '[[]JIT java\]' rows)" "$(wc -l <rows)"
	opannotate --session-dir="$dir/inlined" --source --search-dirs="$dir" >listing 2>/dev/null
	has "  the call shows what was inlined there" 'return hot(n) + 1;.*int Inlined.hot(int) inlined:' listing
	sed -n 's|^[^:]*:\(.*/\* .* total:\).*|\1|p' listing | sort | uniq -d >output
	is "  a method that was compiled several times has one total" "$(wc -l <output)" 0
	rm -rf inlined jit-*.dump
done

# late: the agent is loaded when most samples were taken.
late()
{
	JITDUMPDIR="$dir" java -XX:-UsePerfData -XX:+PreserveFramePointer Inlined 100000000 &
	worker=$!
	wait_for has_used $worker 200
	operf --pid $worker -g --session-dir="$dir/late" --driver="$driver" --rate="$rate" >operf.log 2>&1 &
	operf=$!
	wait_for grep -q 'Profiler started' operf.log && uses $worker 300 &&
		jcmd $worker JVMTI.agent_load "$jvmti" && uses $worker 100
	loaded=$?
	kill -INT $operf
	wait $operf || { cat operf.log && loaded=1; }
	kill $worker
	wait $worker
	return $loaded
}

# once TITLE OPTION: each of its methods is one row.
once()
{
	opreport --session-dir="$dir/late" "$2" 2>/dev/null | sed -n 's/.*[[]JIT java\] *\(.* Inlined\..*\)/\1/p' >rows
	cp rows output
	is "$1" "$(grep -c ' Inlined.top(int)' rows) $(sort rows | uniq -d)" "1 "
}

if command -v jcmd >/dev/null; then
	ok "the agent is loaded later" late
	once "  each method is one row" -l
	once "  and one among the callers" --children
	opreport --session-dir="$dir/late" --inlines -l 2>/dev/null |
		awk '$3 == "[JIT" && / Inlined\./ { all += $1; if (/inlined/) inlined += $1 }
		END { printf "%d of %d samples are in inlined calls\n", inlined, all
			exit all < 500 || inlined < 0.5 * all }' >output
	held=$?
	sed 's/^/# /' output
	result $held "  what was sampled earlier has inlined calls, too"
fi
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# JIT code has names, even if it replaced other code, and keeps them when the process and its files
# are gone.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
cd "$dir" || exit 1

# percent NAME SYMBOL: of the samples in anonymous memory those in a symbol that starts so.
percent()
{
	awk -v symbol="$2" '$1 ~ /^[0-9]+$/ && $3 == "[JIT" {
		all += $1
		if (index($0, symbol)) n += $1
	} END { printf "%.0f", all ? 100 * n / all : 0 }' "$dir/$1.report"
}

# between TITLE LOW HIGH NUMBER
between()
{
	echo "# $4 %"
	test "$4" -ge "$2" && test "$4" -le "$3"
	result $? "$1"
}

for kind in map dump; do
	ok "a process that writes a $kind" profile $kind truth_jitted $kind 3
	rm -f jit-*.dump
	report $kind
	first=$(percent $kind "jit first")
	second=$(percent $kind "jit second")
	cp "$dir/$kind.report" output
	ok "$kind: nearly all has a name" test $((first + second)) -ge 99
	# Two fifths, less the looks that it takes until a map is found and read, of a quarter of a
	# second each.
	between "$kind: the first code has its time" 15 55 "$first"
	adds_up "$kind: all samples are there" $kind
	opannotate --session-dir="$dir/$kind" --assembly >listing 2>&1
	if [ $kind = dump ]; then
		ok "$kind: the code is there too" grep -q "imul" listing
		printf 'one\nmade line\nthree\n' >made.txt
		opannotate --session-dir="$dir/$kind" --source >listing 2>&1
		cp listing output
		ok "$kind: the lines too" grep -q "[0-9] :made line" listing
	fi
done

# Chains do not wait until it is known which code was there: what is new is taken for the old for as
# long as the process, or who looks for what it writes, takes.
ok "chains through code that takes the place of other code" profile chains -g truth_jitted dump 2
rm -f jit-*.dump
opreport --session-dir="$dir/chains" --folded >folded 2>&1
counts=$(awk '/;jit first_\[j] /{ a += $NF } /;jit second_\[j] /{ b += $NF } END { print a + 0, b + 0 }' folded)
echo "# $counts samples of chains end in the first and the second code"
ok "both are in chains" test "${counts#* }" -gt 1000 -a "${counts% *}" -gt 1000

if command -v node >/dev/null; then
	cat >chain.js <<'END'
function leaf(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
function middle(n) { return leaf(n) + 1; }
function outer(n) { return middle(n) + 1; }
const end = Date.now() + 1000;
while (Date.now() < end) outer(1e6);
END
	ok "node with chains" profile nodechains -g node --perf-basic-prof --no-turbo-inlining \
		--interpreted-frames-native-stack chain.js
	opreport --session-dir="$dir/nodechains" --folded >folded 2>&1
	ok "they go through its functions" grep -q "outer [^;]*;[^;]*middle [^;]*;[^;]*leaf " folded
	cat >spin.js <<'END'
function hotSpin(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
const start = Date.now();
while (Date.now() - start < 1500) hotSpin(1e6);
END
	for option in --perf-basic-prof --perf-prof; do
		ok "node $option" profile node node $option spin.js
		share=$(percent node hotSpin)
		cp "$dir/node.report" output
		ok "node $option: its function is named" test "$share" -ge 90
	done
else
	skip "node" "node is not installed"
fi

ok "the agent's example" env JITDUMPDIR="$dir" operf --session-dir="$dir/agent" --rate="$rate" \
	"$OP_BUILD_ROOT/lib/agent/opagent_example" 1
report agent
cp "$dir/agent.report" output
ok "the agent's example: its function is named" test "$(percent agent made_at_run_time)" -ge 99
ok "the agent's example with chains" env JITDUMPDIR="$dir" operf \
	--session-dir="$dir/agentchains" --rate="$rate" -g "$OP_BUILD_ROOT/lib/agent/opagent_example" 1
opreport --session-dir="$dir/agentchains" --folded >folded 2>&1
counts=$(awk '/;made_at_run_time/ { all += $NF } /;main;made_at_run_time/ { whole += $NF }
	END { print whole + 0, all + 0 }' folded)
echo "# $counts samples of the function have its caller, and all"
cp folded output
ok "the agent's example: its caller is in them" test "${counts#* }" -gt 1000 -a \
	$((${counts% *} * 10)) -gt $((${counts#* } * 9))

jvmti=$OP_BUILD_ROOT/lib/agent/libjvmti_oprofile.so
if [ -e "$jvmti" ] && command -v javac >/dev/null; then
	cat >Spin.java <<'END'
public class Spin {
	static int sink;
	static int hot(int n) { int s = 0; for (int i = 0; i < n; i++) s = s * 31 + i; return s; }
	public static void main(String[] args) {
		long end = System.currentTimeMillis() + 1500;
		while (System.currentTimeMillis() < end) sink += hot(1000000);
	}
}
END
	ok "java compiles" javac -J-XX:-UsePerfData -g Spin.java
	ok "java with the agent" env JITDUMPDIR="$dir" operf --session-dir="$dir/java" --rate="$rate" \
		java -XX:-UsePerfData -agentpath:"$jvmti" Spin
	rm -f jit-*.dump
	report java
	share=$(percent java "int Spin.hot(int)")
	main=$(percent java "void Spin.main(java.lang.String[])")
	cp "$dir/java.report" output
	# Inlined into main, once that is compiled on the stack.
	ok "java: the method is named" test $((share + main)) -ge 80
	opannotate --session-dir="$dir/java" --source >listing 2>&1
	cp listing output
	ok "java: its line has the samples" grep -q "[0-9] :.static int hot" listing
	cat >Chain.java <<'END'
public class Chain {
	static int sink;
	static int leaf(int n) { int s = 0; for (int i = 0; i < n; i++) s = s * 31 + i; return s; }
	static int middle(int n) { return leaf(n) + 1; }
	static int outer(int n) { return middle(n) + 1; }
	public static void main(String[] args) {
		for (int i = 0; i < Integer.parseInt(args[0]); i++) sink += outer(1000000);
	}
}
END
	# Compiled before they run, and not into one another.
	ok "java with chains compiles" javac -J-XX:-UsePerfData -g Chain.java
	ok "java with the agent and chains" env JITDUMPDIR="$dir" operf \
		--session-dir="$dir/javachains" --rate="$rate" -g java -XX:-UsePerfData -Xcomp -Xbatch \
		-XX:CompileOnly=Chain.outer,Chain.middle,Chain.leaf -XX:+PreserveFramePointer \
		-XX:-Inline -agentpath:"$jvmti" Chain 700
	rm -f jit-*.dump
	opreport --session-dir="$dir/javachains" --folded >folded 2>&1
	counts=$(awk '/int Chain.leaf/ { all += $NF }
		/;int Chain.outer[^;]*;int Chain.middle[^;]*;int Chain.leaf/ { whole += $NF }
		END { print whole + 0, all + 0 }' folded)
	echo "# $counts samples of the method have whole chains, and all"
	tail -n 20 folded >output
	ok "java: call chains go through its methods" test "${counts#* }" -gt 100 -a \
		$((${counts% *} * 10)) -gt $((${counts#* } * 8))
	# But for the first quarter of a second of some three.
	for compiler in "" -XX:TieredStopAtLevel=1; do
		[ "$(uname -m)" = x86_64 ] && [ "$driver" != perf ] || continue
		ok "java without frame pointers $compiler" env JITDUMPDIR="$dir" operf \
			--session-dir="$dir/javabare$compiler" --rate="$rate" -g java -XX:-UsePerfData \
			-Xcomp -Xbatch -XX:CompileOnly=Chain.outer,Chain.middle,Chain.leaf \
			-XX:-Inline $compiler -agentpath:"$jvmti" Chain 2800
		rm -f jit-*.dump
		opreport --session-dir="$dir/javabare$compiler" --folded >folded 2>&1
		counts=$(awk '/int Chain.leaf/ { all += $NF }
			/;int Chain.outer[^;]*;int Chain.middle[^;]*;int Chain.leaf/ && !/^java;\[/ { whole += $NF }
			END { print whole + 0, all + 0 }' folded)
		echo "# $counts samples of the method have whole chains, and all"
		tail -n 20 folded >output
		ok "its call chains are whole" test "${counts#* }" -gt 100 -a \
			$((${counts% *} * 100)) -gt $((${counts#* } * 85))
	done
	opreport --session-dir="$dir/javachains" --chains >list 2>&1
	cp list output
	ok "java: they are in the list of chains, too" grep -q "int Chain.middle(int)" list
else
	skip "java with the agent" "no JDK"
fi

ok "a FIFO in the place of a map blocks nobody" profile fifo \
	sh -c 'mkfifo /tmp/perf-$$.map && echo $$ >fifo.pid && exec truth_jit 0.3'
rm -f "/tmp/perf-$(cat fifo.pid).map"

done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Call chains go through code that HotSpot compiled without frame pointers, or interprets: whole, and with
# the callers that the program has. The code has names, the same as in a map, though nobody asks for one. For
# each JDK that is installed.
OP_DRIVER=bpf
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
[ "$(uname -m)" = x86_64 ] || skip_all "only for x86-64"
command -v javac >/dev/null || skip_all "no JDK"
rate=1999
jvmti=$OP_BUILD_ROOT/lib/agent/libjvmti_oprofile.so
javac -J-XX:-UsePerfData -d "$dir" "$OP_SOURCE_ROOT/tests/live/TruthJava.java" \
	"$OP_SOURCE_ROOT/tests/live/TruthWords.java" || skip_all "javac fails"

options="--callgraph=200"

# walked TITLE NEED_PAIRS COMMAND...: the command makes the session "java".
walked()
{
	title=$1
	pairs=$2
	shift 2
	ok "$title" "$@"
	opreport --session-dir="$dir/java" --folded >"$dir/folded" 2>/dev/null
	awk -v need_pairs="$pairs" -v stacks="$stacks" -f "$OP_SOURCE_ROOT/tests/live/java_check.awk" "$dir/folded" >"$dir/output"
	held=$?
	head -20 "$dir/output" | sed 's/^/# /'
	grep -l TruthJava /tmp/perf-*.map 2>/dev/null | xargs -r rm -f
	result $held "  its chains are complete and right"
}

# named TITLE: nearly all code that was compiled has names, though the program has ended. What was sampled
# before the virtual machine was known may have none.
named()
{
	awk '/ [[]JIT / { all += $1; if (/no symbol/) unknown += $1 }
	END { printf "%d of %d samples in its code without a name\n", unknown, all
		exit !(all >= 200 && unknown <= 0.02 * all + 5) }' "$dir/java.report" >"$dir/output"
	is_named=$?
	sed 's/^/# /' "$dir/output"
	result $is_named "$1"
}

# run OPTION...: profiles a run.
run()
{
	profile java $options "$java" -XX:-UsePerfData "$@" -cp "$dir" TruthJava 1.4
}

# sorts TITLE OPTION...: the strings are compared by code that has pushed words onto its frame.
sorts()
{
	title=$1
	shift
	ok "$title" profile java $options "$java" -XX:-UsePerfData "$@" -cp "$dir" TruthWords 3
	opreport --session-dir="$dir/java" --folded >"$dir/folded" 2>/dev/null
	awk '/TimSort/ { all += $NF; if (/TruthWords.main/) whole += $NF }
	END { printf "%d of %d chains of the sort begin in main\n", whole, all
		exit !(all >= 300 && whole >= 0.98 * all) }' "$dir/folded" >"$dir/output"
	is_whole=$?
	sed 's/^/# /' "$dir/output"
	result $is_whole "  its chains are whole"
}

# Its threads are in generated code, not in libjvm.so, when they are seen first. On a busy machine the compiler's
# threads may still take most of its time.
attach()
{
	"$java" -XX:-UsePerfData -cp "$dir" TruthJava 600 &
	worker=$!
	wait_for has_used $worker 100
	sampled_while $worker 500 --session-dir="$dir/java" --driver="$driver" --rate="$rate" $options
	attached=$?
	"$(dirname "$java")/jcmd" $worker Compiler.perfmap >/dev/null 2>&1
	mv "/tmp/perf-$worker.map" "$dir/map" 2>/dev/null || : >"$dir/map"
	kill $worker
	wait $worker
	return $attached
}

# as_mapped TITLE: the code that was found has the place, the length and the name that it has in the virtual
# machine's own map, but for addresses of classes. Some may have been replaced before that was written.
as_mapped()
{
	if [ ! -s "$dir/map" ]; then
		skip "$1" "the virtual machine wrote no map"
		return
	fi
	readelf -sW "$dir/java/samples/current/jit/$worker.jo" >"$dir/symbols" 2>/dev/null
	awk 'FNR == NR { at = $1; bytes = $2; sub(/^[^ ]* [^ ]* /, ""); sub(/\/0x[0-9a-f]+\./, "."); names[at] = bytes " " $0; next }
	$4 == "FUNC" { at = "0x" $2; bytes = sprintf("%#018x", $3); sub(/^.* DEFAULT +[^ ]+ /, "")
		all++
		if (at in names && names[at] == bytes " " $0) same++
		else print "found " at " " bytes " " $0 ", in the map " names[at] }
	END { printf "%d of %d as in the map\n", same, all; exit !(all >= 10 && same >= 0.9 * all) }' \
		"$dir/map" "$dir/symbols" >"$dir/output"
	is_same=$?
	tail -n 5 "$dir/output" | sed 's/^/# /'
	result $is_same "$1"
}

stacks=
for java in $(for each in /usr/lib/jvm/*/bin/java; do readlink -f "$each"; done | sort -u); do
	version=$("$java" -XX:-UsePerfData -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
	if [ "${version:-0}" -lt 17 ] || [ "$version" -lt "$(javac -J-XX:-UsePerfData -version 2>&1 | tr -cd '0-9.' | cut -d. -f1)" ]; then
		skip "JDK $version" "it does not write a map, or does not run this program"
		continue
	fi
	walked "JDK $version" 0 run
	named "  and its code is named"
	# Else there are few calls left.
	walked "JDK $version, nothing inlined" 1 run -XX:CompileCommand=quiet "-XX:CompileCommand=dontinline,TruthJava*::*"
	# Nothing is compiled. Lines are those of the source, and methods have their kind.
	"$java" -XX:-UsePerfData -cp "$dir" TruthJava 0.5 tell | sort -u >"$dir/stacks"
	stacks=$dir/stacks
	walked "JDK $version, only interpreted" 1 run -Xint
	stacks=
	# What the virtual machine has not read itself may not be in memory yet.
	nameless=$(($(stat_of java script_bad_code) + $(stat_of java script_unreadable)))
	ok "  all frames had names, but for $nameless" test "$nameless" -le $(($(stat_of java sample_received) / 200))
	opreport --session-dir="$dir/java" -l --json >"$dir/rows" 2>/dev/null
	ok "  the kind of its methods is java" grep -q '"symbol":"int TruthJava.inThread(int)".*"kind":"java"' "$dir/rows"
	opannotate --session-dir="$dir/java" --source --search-dirs="$OP_SOURCE_ROOT/tests/live" TruthJava.java \
		>"$dir/annotated" 2>/dev/null
	awk '/^ *[0-9]+ .*:/ { all += $1; if (/for \(int i = 0|s = s \*/) loops += $1 }
	END { printf "%d of %d samples\n", loops, all; exit !(all > 200 && loops >= 0.85 * all) }' "$dir/annotated" >"$dir/output"
	result $? "  its own time is in the lines of its loops"
	sorts "JDK $version, strings are sorted"
	[ ! -e "$jvmti" ] || sorts "JDK $version, strings are sorted, with the agent" -agentpath:"$jvmti"
	walked "JDK $version, already running" 0 attach
	as_mapped "  its code is called as in its map"
done
done_testing

# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the tests that run the tools on this machine: TAP, a temporary directory, waiting.
#
#	. "$OP_SOURCE_ROOT/tests/live/lib.sh"
#	need_root
#	ok "the daemon starts" opcontrol --start
#	is "its name" "$(cat name)" "expected"
#	done_testing
#
# $dir is empty at the start and removed at the end. Tests may redefine cleanup(), and last_words(), which
# adds checks at the end of a test.

set -u
export LC_ALL=C
PATH=$OP_BUILD_ROOT/tools:$OP_BUILD_ROOT/daemon:$PATH
dir=$(mktemp -d "${TMPDIR:-/tmp}/oplive.XXXXXX")
tests=0
failures=0

cleanup() { :; }
last_words() { :; }

# Compilers write the names of their code to /tmp/perf-PID.map, and agents to /tmp/jit-PID.dump, and leave
# them there.
remove_maps()
{
	find /tmp -maxdepth 1 '(' -name 'perf-*.map' -o -name 'jit-*.dump' ')' -newer "$dir.began" 2>/dev/null |
		while read -r map; do
			pid=${map##*-}
			[ -d "/proc/${pid%.*}" ] || rm -f "$map"
		done
}
: >"$dir.began"
trap 'cleanup; remove_maps; rm -rf "$dir" "$dir.began"' EXIT
trap 'exit 130' INT TERM

skip_all()
{
	echo "1..0 # SKIP $*"
	exit 0
}

# skip NAME WHY...: a test that cannot run here.
skip()
{
	tests=$((tests + 1))
	name=$1
	shift
	echo "ok $tests - $name # SKIP $*"
}

need_root()
{
	[ "$(id -u)" = 0 ] || skip_all "needs root"
}

# result STATUS NAME: a line of TAP; the file $dir/output is shown where it failed.
result()
{
	tests=$((tests + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tests - $2"
		return
	fi
	failures=$((failures + 1))
	echo "not ok $tests - $2"
	[ ! -s "$dir/output" ] || sed 's/^/# /' "$dir/output"
}

# ok NAME COMMAND...: the command succeeds. Its output is in $dir/output afterwards.
ok()
{
	name=$1
	shift
	"$@" >"$dir/output" 2>&1
	result $? "$name"
}

# fails NAME STATUS COMMAND...: the command exits with that status.
fails()
{
	name=$1 expected=$2
	shift 2
	"$@" >"$dir/output" 2>&1
	status=$?
	[ "$status" = "$expected" ] || echo "exit status $status, not $expected" >>"$dir/output"
	[ "$status" = "$expected" ]
	result $? "$name"
}

# is NAME VALUE EXPECTED: two strings are equal.
is()
{
	echo "is '$2', not '$3'" >"$dir/output"
	[ "$2" = "$3" ]
	result $? "$1"
}

# has NAME PATTERN [FILE]: a line of the file (of the last output) matches the regular expression.
has()
{
	file=${3:-$dir/output}
	if grep -q -e "$2" "$file"; then
		result 0 "$1"
	else
		{ echo "nothing matches '$2' in:" && cat "$file"; } >"$dir/output.new"
		mv "$dir/output.new" "$dir/output"
		result 1 "$1"
	fi
}

# wait_for COMMAND...: until it succeeds, at most a minute: machines that run tests are busy.
wait_for()
{
	tries=600
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.1
	done
}

# has_used PID N: whether the process has used N hundredths of a second of CPU time.
has_used()
{
	[ "$(awk '{ print $14 + $15 }' "/proc/$1/stat")" -ge "$2" ]
}

# uses PID N: waits until the process has used N hundredths of a second more.
uses()
{
	before=$(awk '{ print $14 + $15 }' "/proc/$1/stat")
	wait_for has_used "$1" $((before + $2))
}

# sampled_while PID N OPERF_OPTION...: profiles the process until it has used N hundredths of a second more,
# however long that takes on a busy machine. What operf says is in $dir/operf.log.
sampled_while()
{
	pid=$1
	amount=$2
	shift 2
	operf --pid "$pid" "$@" >"$dir/operf.log" 2>&1 &
	operf=$!
	wait_for grep -q 'Profiler started' "$dir/operf.log" && uses "$pid" "$amount"
	kill -INT "$operf"
	wait "$operf" || { cat "$dir/operf.log" && return 1; }
}

done_testing()
{
	last_words
	echo "1..$tests"
	[ "$failures" = 0 ]
	exit $?
}

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports download missing files from a debuginfod server, several at a time, and show progress only
# on a terminal. The session is artificial: nothing is sampled here.
. "$OP_SOURCE_ROOT/tests/live/lib.sh"
command -v debuginfod >/dev/null || skip_all "debuginfod is not installed"
command -v python3 >/dev/null || skip_all "python3 is not installed"
cd "$dir" || exit 1
export OPROFILE_SYMBOL_CACHE=no HOME="$dir" DEBUGINFOD_CACHE_PATH="$dir/cache" TERM=xterm
# As long as the gate is patient; the library's clock runs while it waits.
export DEBUGINFOD_TIMEOUT=300
unset DEBUGINFOD_URLS OPROFILE_DEBUGINFOD http_proxy HTTP_PROXY
terminal="python3 $OP_SOURCE_ROOT/tests/golden/terminal.py 80"
heavy="truth_chains truth_deep truth_images truth_stacks truth_threads truth_unwind"
server=

cleanup()
{
	[ -z "$server" ] || kill "$server" 2>/dev/null
}

# build_id FILE
build_id()
{
	readelf -n "$1" | awk '/Build ID/ { print $3 }'
}

# gate [SERVER]: starts the gate, for four requests at once, which is how many the reports have open;
# its port is in $port, what it saw in ./seen. It ends with descriptor 9.
gate()
{
	rm -f end seen
	mkfifo end
	python3 "$OP_SOURCE_ROOT/tests/live/debuginfod_gate.py" 4 "$@" <end >seen 2>gate.log &
	exec 9>end
	wait_for test -s seen
	port=$(head -n 1 seen)
}

# The programs are stripped after their places were looked up; one has a sample in a thousand.
mkdir serve bin
{
	echo "cpu 4"
	for name in $heavy truth_memfd; do
		cp "$OP_BUILD_ROOT/tests/live/$name" serve/
		cp serve/$name bin/
		count=1000
		[ $name != truth_memfd ] || count=6
		printf 'manifest ./bin/%s build 0 0\nfile ./bin/%s ./bin/%s TIMER.0.0.all.all.all\n\tmain %s\n' \
			$name $name $name $count
	done
} >session
ok "a session is made" "$OP_BUILD_ROOT/tests/golden/mksession" s <session
strip bin/*
opreport --session-dir=s -l >before 2>&1
is "without a server nothing has a name" "$(grep -c ' main$' before)" 0

upstream=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
debuginfod -F -d :memory: -p "$upstream" -t 1 serve >server.log 2>&1 &
server=$!
has_all()
{
	for file in serve/*; do
		rm -rf "$DEBUGINFOD_CACHE_PATH"
		DEBUGINFOD_URLS=http://127.0.0.1:$upstream debuginfod-find debuginfo \
			"$(build_id "$file")" || return 1
	done
}
wait_for has_all
result $? "a debuginfod server has all of them"
rm -rf cache

gate "http://127.0.0.1:$upstream"
export DEBUGINFOD_URLS=http://127.0.0.1:$port
opreport --session-dir=s -l --debuginfod >report 2>warnings
cat report warnings seen gate.log >output
test "$(grep -c ' main$' report)" = 6
result $? "all that weighs something has its name"
has "four files were asked for at once" '^open$' seen
is "each once" "$(grep -c '/debuginfo$' seen)" 6
ok "what weighs little was not" sh -c "! grep '$(build_id serve/truth_memfd)' seen"
ok "no progress where there is no terminal" sh -c '! grep "fetching" report warnings'

rm -rf cache
$terminal sh -c 'opreport --session-dir=s -l --debuginfod 2>&1 >second' >progress
cp progress output
ok "progress on a terminal" grep -q 'fetching debug information: 6 of 6 files, [0-9.]* MB' progress
ok "which is taken away at the end" sh -c 'tr "\r" "\n" <progress | tail -n 1 | grep -x "[\\]e\[K"'
ok "the report is the same" cmp report second
exec 9>&-

# A server that takes requests and never answers: who asked it gives up, nobody asks it again.
rm -rf cache
gate
DEBUGINFOD_URLS=http://127.0.0.1:$port DEBUGINFOD_TIMEOUT=1 DEBUGINFOD_RETRY_LIMIT=0 \
	opreport --session-dir=s -l --debuginfod >report 2>warnings
cat report warnings seen >output
is "a server that never answers is reported once" "$(grep -c 'no answer from' warnings)" 1
test "$(grep '/debuginfo$' seen | sort -u | wc -l)" -le 4
result $? "and asked by nobody who had not asked it already"
cmp -s before report
result $? "the report is the one without it"
exec 9>&-
done_testing

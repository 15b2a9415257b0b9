#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names and lines of stripped programs from every possible source: a build-id directory,
# .gnu_debuglink, .gnu_debugdata, a debuginfod server. One program in all these forms, profiled
# once.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
cd "$dir" || exit 1
export OPROFILE_SYMBOL_CACHE=no HOME="$dir" DEBUGINFOD_CACHE_PATH="$dir/cache"
unset DEBUGINFOD_URLS
server=

cleanup()
{
	[ -z "$server" ] || kill "$server" 2>/dev/null
}

mkdir -p bin files
strip -o bin/plain "$live/truth_chains"
objcopy --only-keep-debug "$live/truth_chains" files/chains.debug

ok "a stripped program" profile plain bin/plain 0.3 25 75
lacks()
{
	{ ! opreport --session-dir="$dir/plain" -l "$@"; } >output 2>&1
	! grep -q " chain_b$" output
	result $? "$title"
}

# names TITLE OPTION...: the report of the program has its function's name.
names()
{
	title=$1
	shift
	opreport --session-dir="$dir/plain" -l "$@" >output 2>&1
	grep -q " chain_b$" output
	result $? "$title"
}

title="has no names"
lacks

id=$(readelf -n bin/plain | awk '/Build ID/ { print $3 }')
place=root/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)
mkdir -p "$place"
cp files/chains.debug "$place/$(echo "$id" | cut -c3-).debug"
names "has them from a build-id directory" -p "$dir/root"
rm -rf root

cp bin/plain without
(cd files && objcopy --add-gnu-debuglink=chains.debug ../bin/plain)
title="a debug file that is not where .gnu_debuglink looks"
lacks
mkdir bin/.debug
cp files/chains.debug bin/.debug/
names "has them by .gnu_debuglink"
printf 'x' >>bin/.debug/chains.debug
names "the build-id decides, not the CRC"
objcopy --remove-section=.note.gnu.build-id bin/.debug/chains.debug 2>/dev/null
title="a debug file with neither is refused"
lacks
has "and named" "/bin/.debug/chains.debug: not the debug file of .*/bin/plain"
rm -r bin/.debug
mv without bin/plain

# As Fedora does it: the symbols alone, compressed, in a section of the program.
nm -f posix --defined-only "$live/truth_chains" | awk '$2 ~ /[Tt]/ { print $1 }' >keep
objcopy -S --remove-section .comment --keep-symbols=keep "$live/truth_chains" mini
xz -k -f mini
cp bin/plain before
objcopy --add-section .gnu_debugdata=mini.xz bin/plain
names "has them from .gnu_debugdata"
printf 'damaged' >bad
cp before bin/plain
objcopy --add-section .gnu_debugdata=bad bin/plain
title="damaged .gnu_debugdata does no harm"
lacks
cp before bin/plain

title="an option without servers has no names"
lacks --debuginfod
has "and says what is missing" "DEBUGINFOD_URLS names no server"
export DEBUGINFOD_URLS=http://127.0.0.1:1
title="a dead server has no names"
lacks --debuginfod=0
has "is reported" "no answer from http://127.0.0.1:1"
is "once" "$(grep -c 'no answer' output)" 1
fails "a percentage that is none" 2 opreport --session-dir="$dir/plain" --debuginfod=x

if command -v debuginfod >/dev/null; then
	port=$((20000 + $$ % 10000))
	mkdir serve
	cp files/chains.debug "$live/truth_chains" serve/
	debuginfod -F -d :memory: -p $port -t 1 serve >server.log 2>&1 &
	server=$!
	export DEBUGINFOD_URLS=http://127.0.0.1:$port
	for _ in $(seq 100); do
		debuginfod-find debuginfo "$id" >/dev/null 2>&1 && break
		rm -rf cache
		sleep 0.1
	done
	rm -rf cache
	names "has them from a debuginfod server" --debuginfod
	title="nothing is asked for what weighs little"
	rm -rf cache
	lacks --debuginfod=100
	title="and nothing without the option"
	lacks
	export OPROFILE_DEBUGINFOD=1
	names "but with the variable"
	unset OPROFILE_DEBUGINFOD

	rm bin/plain
	names "the binary comes from there too when it is gone" --debuginfod
	opannotate --session-dir="$dir/plain" --source --debuginfod >listing 2>&1
	cp listing output
	ok "and the lines" grep -q "truth_chains.c" listing
	kill "$server"
	wait "$server" 2>/dev/null
	server=
	names "what was fetched is kept" --debuginfod
else
	skip "a debuginfod server" "debuginfod is not installed"
fi

done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs in Go: stripped or not, they have the same functions, whole chains and lines.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
command -v go >/dev/null || skip_all "golang-go is not installed"
[ "$(uname -m)" = x86_64 ] || skip_all "crossing from one stack of Go to another is for x86-64"
need_sampling
export GOCACHE="$dir/cache" GO111MODULE=off GOFLAGS= CGO_ENABLED=0
cd "$dir" || exit 1

# whole TITLE NAME PERCENT: so many of the chains are complete, once the tables are loaded. How long that
# takes depends on what else the machine does.
whole()
{
	grep -s . "$2/samples/current/stats/"chain_* >output
	all=$(awk '{ n += $1 } END { print n + 0 }' "$2/samples/current/stats/"chain_*)
	all=$((all - $(stat_of "$2" chain_not_loaded)))
	complete=$(stat_of "$2" chain_complete)
	echo "# $complete of $all chains are complete"
	[ "$all" -gt 300 ] && [ $((100 * complete)) -ge $(($3 * all)) ]
	result $? "$1"
}

# folded NAME PATTERN: samples of chains that match, once the tables are loaded.
folded()
{
	awk -v pattern="$2" '!/;[[]not_loaded[]];/ && $0 ~ pattern { n += $NF } END { print n + 0 }' "$1.folded"
}

for kind in full stripped; do
	flags=
	[ $kind = full ] || flags="-s -w"
	go build -ldflags "$flags" -o $kind "$OP_SOURCE_ROOT/tests/live/truth_go.go" >output 2>&1 ||
		skip_all "go cannot build: $(head -n 1 output)"
	ok "$kind: a program" profile $kind.d --callgraph=64 ./$kind 2 $kind
	holds "$kind: each function has its share" $kind.d 1000
	whole "$kind: its chains are whole" $kind.d 99
	opreport --session-dir=$kind.d --folded >$kind.folded 2>output
	all=$(folded $kind 'main[.]small ')
	through=$(folded $kind 'runtime[.]goexit;main[.]main[.]func1;main[.]work;main[.]recurse;(main[.]recurse;)*main[.]small ')
	ok "$kind: they go through the recursion" test "$all" -gt 50 -a "$through" -ge $((all * 98 / 100))
	all=$(folded $kind 'main[.]recovered ')
	through=$(folded $kind 'main[.]panics;runtime[.]gopanic;.*main[.]panics[.]func1;main[.]recovered ')
	ok "$kind: and through a panic" test "$all" -gt 50 -a "$through" -ge $((all * 98 / 100))
	opannotate --session-dir=$kind.d --source >output 2>&1
	for line in small large inlined recovered; do
		has "$kind: the source has the samples of \"$line\"" "^ *[0-9][0-9][0-9].* // $line"
	done
	awk '$2 > 5 && $3 == name { print $NF }' name=$kind $kind.d.report | grep '^main' |
		sort >$kind.functions
done
is "both have the same functions" "$(cat stripped.functions)" "$(cat full.functions)"

if CGO_ENABLED=1 go build -o cgo "$OP_SOURCE_ROOT/tests/live/truth_cgo.go" >output 2>&1; then
	ok "a program with C" profile cgo.d --callgraph=64 ./cgo 1
	opreport --session-dir=cgo.d --folded >cgo.folded 2>output
	# In the copy of a stack, the driver perf has no other stack.
	[ "$driver" = perf ] && from= || from='runtime[.]goexit;runtime[.]main;main[.]main;main[.]callsC;.*'
	for end in 'runtime[.]asmcgocall;_cgo_[^;]*;c_work ' 'main[.]goWork '; do
		all=$(folded cgo "$end")
		through=$(folded cgo "$from$end")
		ok "its chains go through both languages to ${end##*;}" \
			test "$all" -gt 10 -a "$through" -ge $((all * 98 / 100))
	done
	opreport --session-dir=cgo.d --children --json >cgo.json 2>output
	for function in 'main.goWork go' 'c_work native'; do
		has "${function% *} is of the kind ${function#* }" \
			"\"symbol\":\"${function% *}\".*\"kind\":\"${function#* }\"" cgo.json
	done
else
	skip "a program with C" "cgo cannot build"
fi
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names outlive programs: those of programs that had no file, and of a program that was rebuilt.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
OPROFILE_SYMBOL_CACHE=no
export OPROFILE_SYMBOL_CACHE
rate=997

# share NAME: of the samples of a session in files, those that have a name, in parts per thousand.
share()
{
	awk '$NF == "gone_work" { named += $1 } /\(.*\)$/ && $1 + 0 { nameless += $1 }
		END { n = named + nameless; print (n > 500 ? int(1000 * named / n) : 0) }' \
		"$dir/$1.report"
}

# Longer than the daemon may take to look, on a busy machine, too.
for way in file memfd; do
	ok "10 programs without a file ($way)" profile $way truth_gone 10 800 $way
	head -4 "$dir/$way.report" | sed 's/^/# /'
	grep -v '^#' "$dir/$way.report" >"$dir/output"
	ok "  have their names" test "$(share $way)" -ge 999
	ok "  as the header says" grep -q 'files gone, changed or' "$dir/$way.report"
done
ok "opcheck finds nothing" opcheck "$dir/file"

# They end soon after their first sample, and others want the CPUs, too. The driver perf reads what was
# executed when it drains.
if [ "$driver" != perf ]; then
	busy=
	for i in 1 2 3 4; do
		timeout 60 sh -c 'while :; do :; done' &
		busy="$busy $!"
	done
	ok "100 programs of 20 ms" profile short truth_gone 100 20 file
	kill $busy
	named=$(share short)
	echo "# named: $named of 1000 samples"
	ok "  have their names" test "$named" -ge 850
fi

# On another machine: only the archive.
ok "the archive is written" oparchive --session-dir="$dir/file" -o "$dir/archive"
rm -rf "$dir/file/symbols"
opreport "archive:$dir/archive" -l >"$dir/archived.report" 2>"$dir/output"
ok "  and has the names" test "$(share archived)" -ge 999

# Damage is as if there were nothing, and has a name.
for file in "$dir"/memfd/symbols/*; do
	echo damage >"$file"
done
report memfd
is "damaged functions are not shown" "$(share memfd)" 0
opcheck "$dir/memfd" >"$dir/checked" 2>&1
ok "  but named by opcheck" grep -q 'symbols/.*damaged functions' "$dir/checked"

# A file in its place that cannot be read.
cp "$live/truth_chains" "$dir/word"
ok "a program that became a text" profile text "$dir/word" 1 1 99
echo text >"$dir/word.new"
mv "$dir/word.new" "$dir/word"
report text
ok "  has its names" grep -q ' word  *chain_b' "$dir/text.report"
is "  without a warning that it has none" "$(cat "$dir/text.err")" ""

cp "$live/truth_chains" "$dir/program"
ok "one build" profile build "$dir/program" 1 1 99
cp "$live/truth_chains_static_pie" "$dir/program.new"
mv "$dir/program.new" "$dir/program"
ok "another build at the same path" profile build "$dir/program" 1 1 99
opreport --session-dir="$dir/build" -l '{' session:previous '}' '{' '}' >"$dir/output" 2>&1
grep ' program  *[a-z]' "$dir/output" | sed 's/^/# /' | head -4
matched=$(awk '$0 ~ / program / && !/\+\+\+|---/ && $1 > 100' "$dir/output" | wc -l)
ok "functions of both builds are matched by name" test "$matched" -ge 1
done_testing

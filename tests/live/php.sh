#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# PHP functions are in call chains, in the order in which PHP itself shows them; their own time is
# theirs, with lines.
OP_DRIVER=bpf
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
program=$OP_SOURCE_ROOT/tests/live/truth_php.php
php=$(command -v php) || skip_all "no PHP"
"$php" -n -r 'exit(PHP_ZTS || PHP_VERSION_ID < 80000 || PHP_VERSION_ID >= 80400 ? 1 : 0);' ||
	skip_all "no PHP from 8.0 to 8.3 without threads"
rate=1999

"$php" "$program" 0 stacks | sort -u >"$dir/stacks"
ok "a PHP program" profile php --callgraph=200 "$php" "$program" 3
opreport --session-dir="$dir/php" --folded --merge=runtime 2>/dev/null | sed 's/_\[[a-z]\]//g' >"$dir/php.folded"
ok "  its chains have the shares and stacks that it knows" python3 "$OP_SOURCE_ROOT/tests/live/script_check.py" \
	"$dir/php.shares" "$dir/stacks" "$dir/php.folded"
sed 's/^/# /' "$dir/output"
ok "  all frames could be read" test \
	$(($(stat_of php script_bad_frame) + $(stat_of php script_bad_code))) -le 20
echo "# without PHP: $(stat_of php script_no_thread); late: $(stat_of php script_unreadable)," \
	"$(stat_of php script_ring_full)"

opreport --session-dir="$dir/php" -l --json >"$dir/rows" 2>/dev/null
ok "  the kind of its functions is php" grep -q '"symbol":"spin".*"kind":"php"\|"kind":"php".*"symbol":"spin"' "$dir/rows"

opannotate --session-dir="$dir/php" --source truth_php.php >"$dir/annotated" 2>/dev/null
awk '/^ *[0-9]+ .*:/ { all += $1; if (/for \(\$i = 0; \$i < \$n|total \+= \$i & 7/) loop += $1 }
END { printf "%d of %d samples\n", loop, all; exit !(all > 200 && loop >= 0.9 * all) }' "$dir/annotated" >"$dir/output"
result $? "its own time is in the lines of its loop"

# Scripts without a file, that are gone before anybody can ask for their names.
# shellcheck disable=SC2016 # expanded by PHP and the inner shell
ok "short scripts" profile short --callgraph=200 \
	sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do "$0" -r "function burn() { for (\$i = 0; \$i < 3000000; \$i++); } burn();"; done' "$php"
opreport --session-dir="$dir/short" -l -f -n >"$dir/report" 2>/dev/null
ok "  have names" grep -q '<Command line code>.* burn$' "$dir/report"

# A server of pages, whose workers were forked before they are sampled: without and with its cache of
# compiled scripts, whose functions are in memory that the workers share.
. "$OP_SOURCE_ROOT/tests/live/fpm_lib.sh"
cleanup() { stop_fpm; }
for option in opcache.enable=0 opcache.enable=1; do
	find_fpm || {
		skip "a server, $option" "no php-fpm"
		continue
	}
	start_fpm $option
	ask_fpm 100 one two >"$dir/answer"
	is "a server answers, $option" "$(cat "$dir/answer")" 1400000
	workers=$(tr ' ' , <"/proc/$fpm/task/$fpm/children")
	operf --session-dir="$dir/fpm-$option" --driver=bpf --rate=$rate --callgraph=100 --pid "${workers%,}" >"$dir/output" 2>&1 &
	profiler=$!
	wait_for grep -q "Profiler started" "$dir/output"
	ask_fpm 100 one two >"$dir/answer"
	kill -INT "$profiler"
	wait "$profiler"
	stop_fpm
	opreport --session-dir="$dir/fpm-$option" --folded --merge=runtime 2>/dev/null >"$dir/folded"
	ok "  the functions of each page are in its chains" awk '
		{ all += $NF }
		/;{main};page_one;spin_one[; ]/ { one += $NF }
		/;{main};page_two;spin_two[; ]/ { two += $NF }
		END { exit !(one >= 100 && two >= 100 && one + two >= 0.8 * all) }' "$dir/folded"
done
done_testing

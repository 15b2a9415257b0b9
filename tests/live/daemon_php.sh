#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A server of PHP pages under the daemon: the functions of each page are in its chains, and have names
# in a report right after a dump.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
. "$OP_SOURCE_ROOT/tests/live/fpm_lib.sh"
php -n -r 'exit(PHP_ZTS || PHP_VERSION_ID < 80000 || PHP_VERSION_ID >= 80400 ? 1 : 0);' 2>/dev/null ||
	skip_all "no PHP from 8.0 to 8.3 without threads"
find_fpm || skip_all "no php-fpm"
cleanup()
{
	stop_fpm
	stop_all
}

# named TITLE PAGE...: most of what the server computes is in the functions of these pages, by name.
named()
{
	title=$1
	shift
	opreport --session-dir="$session" --folded --merge=runtime image:'*php-fpm*' >"$dir/folded" 2>/dev/null
	awk -v pages="$*" 'BEGIN { count = split(pages, page, " ") }
	{ all += $NF; for (i in page) if ($0 ~ ";{main};page_" page[i] ";spin_" page[i] "[; ]") found[page[i]] += $NF }
	END {
		for (i in page) { sum += found[page[i]]; bad += found[page[i]] < 20 }
		printf "%d of %d samples\n", sum, all
		exit bad || sum < 0.7 * all
	}' "$dir/folded" >"$dir/output"
	held=$?
	sed 's/^/# /' "$dir/output"
	[ $held = 0 ] || cat "$dir/folded" >>"$dir/output"
	result $held "$title"
}

# Whether the unwind table of the server has been loaded, which takes a while where all CPUs are busy.
has_table()
{
	ask_fpm 5 one two >"$dir/answer"
	opcontrol --dump >/dev/null
	opreport --session-dir="$session" --folded --merge=runtime image:'*php-fpm*' 2>/dev/null |
		grep -q ";{main};page_two;spin_two "
}

start_fpm opcache.enable=1
ask_fpm 5 one two >"$dir/answer"
is "the server answers" "$(cat "$dir/answer")" 1400000
opcontrol --setup --session-dir="$session" --event=TIMER:1999 >"$dir/output"
ok "the daemon starts" opcontrol --start
uses_bpf || skip_all "the driver bpf cannot be used"
ok "a page is sampled" wait_for has_table
ok "reset" opcontrol --reset
ask_fpm 50 one two >"$dir/answer"
ok "dump" opcontrol --dump
named "  the functions of each page are in its chains" one two
again=1
while [ $again -le 3 ]; do
	opcontrol --reset >/dev/null
	ask_fpm 20 one >"$dir/answer"
	opcontrol --dump >/dev/null
	named "  and have names in a report after reset $again" one
	again=$((again + 1))
done
opannotate --session-dir="$session" --source one.php >"$dir/output" 2>&1
has "  and lines" "^ *[0-9]* .* :function spin_one()"
ok "shutdown" opcontrol --shutdown
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# operf for an ordinary user: own processes, and clear messages about everything else.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_root
need_sampling

as_user()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all "$@"
}

level=$(cat /proc/sys/kernel/perf_event_paranoid)
[ "$level" = 2 ] || skip_all "perf_event_paranoid is $level, not 2"
# By a shell: setpriv itself still has root's rights when it looks for a program.
as_user sh -c "'$live/truth_chains' 0.01" >/dev/null 2>&1 || skip_all "the build directory is not for others"
chmod 755 "$dir"
mkdir "$dir/user"
chown 65534:65534 "$dir/user"

for kind in '' _static; do
	as_user operf --session-dir="$dir/user/s$kind" --rate="$rate" "truth_chains$kind" 2 10 90 \
		>"$dir/s$kind.shares" 2>"$dir/output"
	result $? "an ordinary user profiles truth_chains$kind"
	cp "$dir/output" "$dir/s$kind.log"
	ln -s "user/s$kind" "$dir/s$kind"
	report "s$kind"
	holds "which has its shares" "s$kind"
	adds_up "and no sample too few or too many" "s$kind"
done

as_user operf --session-dir="$dir/user/t" --rate="$rate" truth_threads 2000 \
	>"$dir/t.shares" 2>"$dir/t.log"
ln -s user/t "$dir/t"
report t
holds "threads have their shares" t

as_user operf --session-dir="$dir/user/c" --rate="$rate" truth_storm 400 \
	>"$dir/c.shares" 2>"$dir/c.log"
ln -s user/c "$dir/c"
report c
holds "children have their shares" c 5000

install -m 711 "$live/truth_chains" "$dir/closed_program"
as_user operf --session-dir="$dir/user/u" "$dir/closed_program" 0.5 >"$dir/output" 2>&1
has "why a program that may not be read has no samples" "only root can sample a program"

fails "the whole machine is not for everyone" 1 as_user operf --session-dir="$dir/user/x" --system-wide
has "and the remedy is given" "perf_event_paranoid\|CAP_PERFMON"
fails "nor another's process" 1 as_user operf --session-dir="$dir/user/y" --pid=$$
fails "a session that may not be written" 1 as_user operf --session-dir="$dir/z" true
has "is reported with its path" "$dir/z"
ok "an event in the kernel only" sh -c "! $(command -v setpriv) --reuid=65534 --regid=65534 \
	--clear-groups --bounding-set=-all --inh-caps=-all \
	operf --session-dir=$dir/user/k --events=PAGE_FAULTS:1:0:1:0 true"
has "is refused with the remedy" "this user may not sample the kernel"

mkdir -m 700 "$dir/closed"
PATH=$dir/closed:$PATH fails "a command in no directory that can be seen" 127 \
	as_user operf --session-dir="$dir/user/n" no-such-command
has "is not found" "no-such-command: command not found"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The driver bpf: when it is chosen, which rights it needs, what it leaves in the kernel, what is
# lost.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
PATH=$OP_BUILD_ROOT/tests/live:$PATH
cd "$dir" || exit 1

operf --driver=bpf true >"$dir/output" 2>&1 || skip_all "$(grep -m 1 '^operf: driver bpf' "$dir/output" ||
	tail -n 1 "$dir/output")"

ok "operf chooses it" operf --verbose=record true
has "  and says so" "operf: bpf: "
ok "unless another is given" operf --verbose=record --driver=perf true
has "  and says so, too" "operf: perf: "
fails "a driver that there is not" 1 operf --driver=pref true
has "  names those there are" "no driver 'pref'; available: auto, bpf, perf"

# Call chains, which only this driver takes unasked.
chains=oprofile_data/samples/current/chains
ok "a profile" operf --rate=997 truth_chains 0.5
ok "  has call chains" sh -c 'opreport --children | grep -q "truth_chains  *main$"'
ok "  and a flat report of them" sh -c 'opreport -l | grep -q "truth_chains  *chain_b"'
ok "a profile with --callgraph=0" operf --rate=997 --callgraph=0 truth_chains 0.5
fails "  has none" 2 ls $chains
ok "a profile by the driver perf" operf --driver=perf --rate=997 truth_chains 0.5
fails "  has none" 2 ls $chains
ok "but with --callgraph" operf --driver=perf --rate=997 --callgraph truth_chains 0.5
ok "  it has them" ls $chains

if unshare -m mount -t tmpfs tmpfs /sys/kernel/btf 2>/dev/null; then
	ok "without the kernel's types" unshare -m sh -c \
		"mount -t tmpfs tmpfs /sys/kernel/btf && operf --verbose=record true"
	has "  perf steps in and says why" "operf: perf: .*; not bpf: this kernel has no BTF"
fi

# A kernel that is locked down refuses to load; here it is a right that is missing.
if command -v setpriv >/dev/null && [ -d /sys/kernel/security ] &&
	unshare -m mount -t tmpfs tmpfs /sys/kernel/security 2>/dev/null; then
	ok "under lockdown" unshare -m sh -c "mount -t tmpfs tmpfs /sys/kernel/security &&
		echo 'none integrity [confidentiality]' >/sys/kernel/security/lockdown &&
		exec setpriv --inh-caps=-bpf,-sys_admin --bounding-set=-bpf,-sys_admin \
			operf --verbose=record true"
	has "  perf steps in and says why" "operf: perf: .*; not bpf: lockdown=confidentiality forbids BPF"
fi

# Rights: as somebody who has just these. What he may not read of others' files he need not.
as_nobody() # CAPABILITIES COMMAND...
{
	caps=$1
	shift
	setpriv --reuid=nobody --clear-groups --inh-caps="$caps" --ambient-caps="$caps" \
		--bounding-set="$caps" "$@"
}
if ! command -v setpriv >/dev/null || ! as_nobody -all sh -c "truth_chains 0.01" >/dev/null 2>&1; then
	skip "with CAP_BPF and CAP_PERFMON alone" "no setpriv, or the build directory is not for others"
else
	chmod 711 "$dir"
	mkdir "$dir/own" && chown nobody "$dir/own"
	ok "with CAP_BPF and CAP_PERFMON alone" as_nobody -all,+bpf,+perfmon sh -c \
		"operf --verbose=record --session-dir=$dir/own/both truth_chains 0.5 25 75"
	has "  it is chosen" "operf: bpf: .*descendants"
	has "  and samples" "operf: [0-9][0-9]* samples, 0 lost"
	ok "without CAP_BPF" as_nobody -all,+perfmon sh -c \
		"operf --verbose=record --session-dir=$dir/own/less truth_chains 0.3 25 75"
	has "  perf steps in and says why" "operf: perf: .*; not bpf: BPF needs CAP_BPF and CAP_PERFMON"
	fails "but not where bpf was asked for" 1 as_nobody -all,+perfmon \
		operf --driver=bpf --session-dir="$dir/own/less" true
	has "  which says why" "^operf: driver bpf: BPF needs CAP_BPF and CAP_PERFMON"
fi

# Daemons, with all their programs: two at once are independent, and of one that is killed nothing stays
# in the kernel.
# Others may load programs meanwhile: a daemon's own are recognised by its descriptors.
programs_of() { cat /proc/"$1"/fdinfo/* 2>/dev/null | sed -n 's/^prog_id:[[:blank:]]*//p' | sort -u; }
sampler_of()
{
	for id in $(programs_of "$1"); do
		! bpftool prog show id "$id" | grep -q 'perf_event  name take_sample' || echo "$id"
	done
}
start_daemon()
{
	oprofiled --session-dir="$1" --driver=bpf --events=TIMER:500 --ext-feature=offcpu \
		--callgraph=16 --start
}
status_of() { opcontrol --session-dir="$1" --status --json | sed -n "s/^  \"$2\": \([0-9.]*\),\$/\1/p"; }
many_of() { [ "$(status_of "$1" samples_received)" -gt 200 ]; }
keep_busy
ok "a daemon" start_daemon "$dir/one"
ok "and another" start_daemon "$dir/two"
ok "  the first samples" wait_for many_of "$dir/one"
ok "  and so does the second" wait_for many_of "$dir/two"
if command -v bpftool >/dev/null; then
	one=$(sampler_of "$(status_of "$dir/one" pid)")
	two=$(sampler_of "$(status_of "$dir/two" pid)")
	ok "  each with a program of its own" test "$one" -ne "$two"
fi
programs=$(for one in one two; do programs_of "$(status_of "$dir/$one" pid)"; done)
ok "  and another that watches the scheduler" test "$(echo "$programs" | wc -w)" -ge 4
for one in one two; do
	kill -9 "$(status_of "$dir/$one" pid)"
done
gone()
{
	for id in $programs; do
		! bpftool prog show id "$id" >/dev/null 2>&1 || return
	done
}
if command -v bpftool >/dev/null; then
	ok "killed, they leave nothing in the kernel" wait_for gone
fi
ok "another can start where one was killed" start_daemon "$dir/one"
ok "  and end" opcontrol --session-dir="$dir/one" --shutdown

# A map that is too small for what comes: every sample is there or has a name.
opcontrol --setup --session-dir="$session" >/dev/null
ok "a daemon with next to no memory" oprofiled --session-dir="$session" --driver=bpf \
	--events=TIMER:4000 --cpu-buffer-size=112 --start
# Other samples are lost, too: the kernel skips the program where another BPF program is running.
many_lost()
{
	full=$(opcontrol --status | sed -n 's/^ *\([0-9]*\) samples\{0,1\} lost: the CPU buffers were full.*/\1/p')
	[ "${full:-0}" -gt 100 ]
}
ok "  loses samples" wait_for many_lost
ok "  that it counts" sh -c "opcontrol --status | grep 'the CPU buffers were full'"
ok "  ends" opcontrol --shutdown
ok "  having counted them" test "$(counter sample_lost_overflow)" -gt 100
is "  and the others are all there" "$(accounted)" "$(counter sample_received)"
done_testing

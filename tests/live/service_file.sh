# SPDX-License-Identifier: GPL-2.0-or-later
# The service manager accepts the service file, and finds little left to restrict.
. "$OP_SOURCE_ROOT/tests/live/lib.sh"
command -v systemd-analyze >/dev/null || skip_all "needs systemd-analyze"
systemd-analyze security --help 2>/dev/null | grep -q -e --offline || skip_all "needs systemd 250"

# As installed, with a program that is there.
sed 's,^ExecStart=[^ ]*,ExecStart=/bin/true,; /^Documentation=/d' \
	"$OP_BUILD_ROOT/daemon/oprofile.service" >"$dir/oprofile.service"
ok "it is a service file" systemd-analyze verify "$dir/oprofile.service"
is "  without a word of complaint" "$(cat "$dir/output")" ""
ok "exposure is 1.8 at most" systemd-analyze security --offline=true --threshold=18 \
	"$dir/oprofile.service"
is "it has limits, and does not start again for ever" "$(grep -cE \
	'^(MemoryMax|CPUQuota|TasksMax|StartLimitBurst|StartLimitIntervalSec)=' "$dir/oprofile.service")" 5
# What systemd's set of calls for services does not have everywhere.
for call in seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self; do
	has "the daemon may confine its helpers: $call" "^SystemCallFilter=.*\b$call\b" "$dir/oprofile.service"
done
has "it may read the kernel's symbols, which another setting hides" "^StandardInput=file:/proc/kallsyms$" \
	"$dir/oprofile.service"
mkdir "$dir/oprofile.service.d"
cp "$OP_SOURCE_ROOT/debian/perf-event-paranoid.conf" "$dir/oprofile.service.d"
ok "Debian's kernels ask for more" systemd-analyze verify "$dir/oprofile.service"
is "  without a word of complaint" "$(cat "$dir/output")" ""
ok "its user can be made" sh -c \
	"mkdir -p '$dir/root/etc' && systemd-sysusers --root='$dir/root' - <'$OP_SOURCE_ROOT/daemon/oprofile.sysusers'"
has "  with a group" "^oprofile:" "$dir/root/etc/group"
done_testing

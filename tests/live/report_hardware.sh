# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/report-hardware prints a block for HARDWARE.md on any machine, with and without root.
. "$OP_SOURCE_ROOT/tests/live/lib.sh"

report="$OP_SOURCE_ROOT/scripts/report-hardware"
ok "a report" "$report" --bin="$OP_BUILD_ROOT/tools" --by=nobody
cp "$dir/output" "$dir/block"
has "  of this CPU" "^### .*, $(uname -m), Linux $(uname -r)$"
has "  by whom" "^| when, by | 20[0-9-]*, nobody |$"
has "  says what the counters did" "^| the cycle counter opens | \(ok\|not here\) | "
has "  has call chains in any case" "^| call chains | ok | [1-9][0-9]* samples by .* complete (of [0-9]*) |$"
is "  and no machine's name" "$(grep -c -w -F -e "$(hostname)." -e "/$(hostname)" "$dir/block")" 0
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	has "  tests the daemon" "^| the daemon | ok | .* taken, " "$dir/block"
	chmod 755 "$dir"
	as_user()
	{
		TMPDIR=/tmp setpriv --reuid=12345 --regid=12345 --clear-groups sh "$report" \
			--bin="$OP_BUILD_ROOT/tools"
	}
	ok "without root" as_user
	has "  says what it could not do" "^| the daemon | not here | needs root |$"
fi
fails "an unknown option" 2 "$report" --all
has "  is answered with the usage" "^usage: scripts/report-hardware"
done_testing

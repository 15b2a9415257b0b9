#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The session of another user, which root's tools repair, reset, save, archive and import: links in
# it lead nowhere that its owner could not go himself.
. "$OP_SOURCE_ROOT/tests/live/lib.sh"
need_root
user=65534
as_user() { setpriv --reuid=$user --regid=$user --clear-groups "$@"; }
racer=
cleanup() { [ -z "$racer" ] || kill -9 "$racer" 2>/dev/null; }
as_user true 2>/dev/null || skip_all "needs setpriv, and the right to become another user"

chmod 755 "$dir"
samples=$dir/session/samples/current
sample="{root}/usr/bin/app/{dep}/{root}/usr/bin/app/TIMER.0.0.all.all.all"

# A session of the user, and what belongs to root: a directory, a file that nobody else may read.
new_session()
{
	rm -rf "$dir/session" "$dir/roots" "$dir/out"
	mkdir -p "$dir/roots/current" "$dir/out"
	chmod 700 "$dir/out"
	echo precious >"$dir/roots/current/precious"
	echo secret >"$dir/roots/secret"
	chmod 600 "$dir/roots/secret"
	printf 'cpu 4\nfile /usr/bin/app /usr/bin/app TIMER.0.0.all.all.all\n    0x1000 60 0x2000 30\n' |
		"$OP_BUILD_ROOT/tests/golden/mksession" "$dir/session"
	chown -R $user:$user "$dir/session"
	chmod 750 "$dir/session"
}
# Root's things are as they were.
untouched()
{
	[ "$(cd "$dir/roots" && find . | sort | xargs stat -c '%n %u %a')" = ". 0 755
./current 0 755
./current/precious 0 644
./secret 0 600" ]
}
# Nothing root made contains the secret.
no_secret() { ! grep -rq secret "$dir/out" && ! zstd -dcq "$dir"/out/*.oparc 2>/dev/null | grep -q secret; }

new_session
as_user mkdir "$samples/damaged"
as_user ln -s "$dir/roots" "$samples/damaged/{root}"
echo evil | as_user tee "$samples/{root}/evil.sh" >"$dir/output"
fails "a repair with a link in damaged/ fails" 1 opcheck --repair "$dir/session"
ok "and puts nothing where it leads" untouched

# A damaged file is replaced by a copy; the racer replaces the copy before it is complete.
new_session
cp -p "$samples/$sample" "$dir/undamaged"
tries=20
# Not as_user, whose process would be the shell's.
setpriv --reuid=$user --regid=$user --clear-groups "$OP_BUILD_ROOT/tests/hostile/racer" \
	"$samples/$(dirname "$sample")" .repair. "$dir/roots/secret" >"$dir/racing" 2>&1 &
racer=$!
wait_for grep -q watching "$dir/racing"
while [ $tries -gt 0 ] && untouched; do
	tries=$((tries - 1))
	rm -f "$samples/$sample"
	cp -p "$dir/undamaged" "$samples/$sample"
	head -c 3 /dev/zero >>"$samples/$sample"
	opcheck --repair "$dir/session" >/dev/null 2>&1
done
kill $racer
wait $racer 2>/dev/null
ok "a copy that becomes a link gives nothing away" untouched

new_session
as_user mv "$dir/session/samples" "$dir/session/real"
as_user ln -s "$dir/roots" "$dir/session/samples"
fails "no reset where 'samples' is a link" 1 opcontrol --session-dir="$dir/session" --reset
fails "no saving there" 1 opcontrol --session-dir="$dir/session" --save=monday
ok "nothing is removed or renamed" untouched

printf 'event TIMER 100\nprocess 0 70 70 /bin/app\nsample 0 5 /bin/app 0x10\ntotal sample_received 5\n' |
	"$OP_BUILD_ROOT/tests/golden/mkstream" "$dir/recording"
oprofiled --config=/dev/null --no-vmlinux --session-dir="$dir/session" --replay="$dir/recording" \
	>"$dir/output" 2>&1
ok "a replay writes nothing there" untouched
# In root's own session it is in the sandbox, which lets it write in the session only.
new_session
rm -rf "$dir/session"
mkdir "$dir/session"
ln -s "$dir/roots" "$dir/session/samples"
if OPROFILE_SANDBOX=yes opreport --sandbox --session-dir=/none 2>&1 | grep -q -e "--sandbox:"; then
	skip "nor out of root's session" "no whole sandbox here"
else
	oprofiled --config=/dev/null --no-vmlinux --session-dir="$dir/session" \
		--replay="$dir/recording" >"$dir/output" 2>&1
	ok "nor out of root's session" untouched
fi

# Links in place of files that are copied.
new_session
as_user ln -s "$dir/roots/secret" "$samples/kallsyms"
as_user ln -s "$dir/roots/secret" "$samples/kallsyms.zst"
as_user ln -s "$dir/roots/secret" "$samples/notes"
as_user ln -s "$dir/roots/secret" "$samples/{root}/usr/bin/app/{dep}/{root}/usr/bin/app/TIMER.1.0.all.all.all"
ok "an archive" oparchive --session-dir="$dir/session" -o "$dir/out/archive"
ok "a compact archive" oparchive --session-dir="$dir/session" --compact -o "$dir/out/x.oparc"
fails "an import, which skips what is no file" 1 opimport --force -o "$dir/out/imported" "$dir/session"
ok "none of them has what links lead to" no_secret
is "the archive is only for who made it" "$(stat -c '%u %a' "$dir/out/archive" "$dir/out/x.oparc" | xargs)" \
	"0 700 0 600"
ok "all its files belong to root" [ -z "$(find "$dir/out" ! -user 0)" ]
ok "it can be reported" opreport "archive:$dir/out/archive"
ok "the compact one, too" opreport "archive:$dir/out/x.oparc"

# The files that were not used for long: a link in place of a batch, of a file in one, of all of them.
for where in idle idle/1.files "idle/1.files/$sample" idle/flat.3.1-1; do
	new_session
	as_user mkdir -p "$samples/$(dirname "$where")"
	target=$dir/roots
	case $where in */TIMER* | *flat*) target=$dir/roots/secret ;; esac
	as_user ln -s "$target" "$samples/$where"
	for words in "opreport -l" "opcheck --repair" "oparchive -o $dir/out/archive" \
		"oparchive --compact -o $dir/out/x.oparc" "opcontrol --reset"; do
		# shellcheck disable=SC2086 # words
		set -- $words
		tool=$1
		shift
		timeout 60 "$tool" --session-dir="$dir/session" "$@" >"$dir/output" 2>&1
		test $? -le 2
		result $? "$words ends where $where is a link"
	done
	ok "  nothing is removed or changed" untouched
	ok "  nor copied" no_secret
done

# A program that the owner may not read, and one that he may.
new_session
cp "$OP_BUILD_ROOT/tests/hostile/racer" "$dir/roots/private"
cp "$OP_BUILD_ROOT/tests/hostile/racer" "$dir/roots/public"
rm -rf "$dir/session"
for program in private public; do
	printf 'file %s %s TIMER.0.0.all.all.all\n    main 7\n' "$dir/roots/$program" "$dir/roots/$program"
done | "$OP_BUILD_ROOT/tests/golden/mksession" "$dir/session"
printf 'file %s %s TIMER.0.0.all.all.all\n    main 7\n' "$dir/roots/public" "$dir/roots/public" |
	"$OP_BUILD_ROOT/tests/golden/mksession" "$dir/mine"
chmod 700 "$dir/roots/private"
chown -R $user:$user "$dir/session"
for sandbox in yes no; do
	export OPROFILE_SANDBOX=$sandbox
	ok "a report with OPROFILE_SANDBOX=$sandbox" opreport -l --session-dir="$dir/session"
	has "names what the owner may not read" "private: Permission denied"
	has "and shows the rest" "public  *main"
	ok "a report of session:DIR" opreport -l "session:other,$dir/session/samples/current"
	has "  names what the owner may not read" "private: Permission denied"
	ok "a report of session:DIR in braces" opreport -l { --session-dir "$dir/mine" } \
		{ "session:$dir/session/samples/current" }
	has "  names what the owner may not read" "private: Permission denied"
	ok "a report of --session-dir DIR in braces" opreport -l { --session-dir "$dir/mine" } \
		{ --session-dir "$dir/session" }
	has "  names what the owner may not read" "private: Permission denied"
	ok "a file for root" opreport -l --session-dir="$dir/session" -o "$dir/out/report"
	ok "a graph for root" opgprof --session-dir="$dir/session" -o "$dir/out/gmon" "$dir/roots/public"
	ok "sources for root" opannotate --source --session-dir="$dir/session" -o "$dir/out/source"
	ok "all belong to root" [ -z "$(find "$dir/out" ! -user 0)" ]
	rm -rf "$dir/out"/*
done
unset OPROFILE_SANDBOX
oparchive --session-dir="$dir/mine" --compact -o "$dir/web1.opar" >"$dir/output" 2>&1
cp "$dir/web1.opar" "$dir/web2.opar"
chown $user "$dir/web1.opar"
chmod 600 "$dir/web1.opar" "$dir/web2.opar"
fails "an archive that the owner of the first cannot read" 1 opreport "$dir/web1.opar" "$dir/web2.opar"
has "is named, with whose rights are used" "cannot read $dir/web2.opar: .*uid $user, the owner of $dir/web1.opar"
chmod 700 "$dir"
fails "a session that its owner cannot reach" 1 opreport --session-dir="$dir/session"
has "is named, with the reason" "its owner, uid $user, .* cannot reach it"
chmod 755 "$dir"

# The log and the description of the machine are copied from above the samples.
new_session
as_user rm "$dir/session/abi"
as_user ln -s "$dir/roots/secret" "$dir/session/abi"
oparchive --session-dir="$dir/session" -o "$dir/out/archive" >"$dir/output" 2>&1
ok "nor by links above the samples" no_secret

done_testing

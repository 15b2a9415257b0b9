#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports on what somebody else made to take all memory, disk or time, or to change later reports.
# They run in the sandbox, with far less memory than the attacks ask for, and end with a sentence
# that names the file. Whether a report in the sandbox is the same as without: tests/golden.
. "$OP_SOURCE_ROOT/tests/live/lib.sh"
for tool in xz zstd objcopy truncate; do
	command -v $tool >/dev/null || skip_all "needs $tool"
done
opreport --sandbox --session-dir=/none 2>&1 | grep -q -e "--sandbox:" && skip_all "no whole sandbox here"

mksession=$OP_BUILD_ROOT/tests/golden/mksession
export OPROFILE_SANDBOX=yes OPROFILE_SYMBOL_CACHE=no TMPDIR="$dir/temporary"
mkdir "$TMPDIR"
cd "$dir" || exit 1
ln -s "$OP_BUILD_ROOT/tests/fixtures/elf-golden" elf
kbytes=300000 # of memory for a report

# session PATH: a session with samples in the program at PATH.
session()
{
	rm -rf oprofile_data
	printf 'cpu 4\nfile ./elf/demo.so %s TIMER.0.0.all.all.all\n\t0x1020 20\n' "$1" |
		"$mksession" oprofile_data
}

# small WORD...: runs a tool with little memory; its messages are in the file said.
small()
{
	# shellcheck disable=SC3045
	(ulimit -d $kbytes && "$@" >printed 2>said)
	status=$?
	cat said printed >output
	return $status
}

# left_out TITLE MESSAGE: the report of ./evil.so is made, and says what it lacks.
left_out()
{
	session ./evil.so
	ok "$1: there is a report" small opreport -l -n -g
	ok "$1: its samples are in it" grep -q '^20 .*evil.so' printed
	ok "$1: it says what is missing" grep -q "evil.so: $2" said
}

# le COUNT NUMBER: the number as COUNT bytes, the lowest first.
le()
{
	number=$2
	for _ in $(seq "$1"); do
		# shellcheck disable=SC2059
		printf "\\$(printf %03o $((number % 256)))"
		number=$((number / 256))
	done
}

# put FILE OFFSET: overwrites bytes of the file by standard input.
put()
{
	dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

head -c 1G /dev/zero | xz -0 -c >packed
objcopy --strip-all --add-section .gnu_debugdata=packed elf/demo.so evil.so
left_out ".gnu_debugdata of 1 GiB" "its .gnu_debugdata would unpack to far more than its"

# A section that says that it will have 1 TiB: the size is the second word of its header.
head -c 100000 /dev/zero >zeros
objcopy --add-section .debug_names=zeros elf/demo.so large.so
objcopy --compress-debug-sections=zlib large.so evil.so
offset=$(readelf -SW evil.so | sed -n 's/.*\.debug_names *PROGBITS *[0-9a-f]* *\([0-9a-f]*\) .*/\1/p')
le 8 $((1 << 40)) | put evil.so $((0x$offset + 8))
left_out "a section of 1 TiB" "its section .debug_names would unpack to 1048576 MiB"

# A compressed section with damaged contents
objcopy --compress-debug-sections=zlib large.so evil.so
offset=$(readelf -SW evil.so | sed -n 's/.*\.debug_line *PROGBITS *[0-9a-f]* *\([0-9a-f]*\) .*/\1/p')
le 8 0 | put evil.so $((0x$offset + 24))
left_out "a section that is damaged" "its section .debug_line cannot be unpacked"

# Three million section headers in a hole: the number is in the first of them.
cp elf/demo.so evil.so
chmod u+w evil.so
size=$((($(stat -Lc %s evil.so) + 7) / 8 * 8))
le 8 $size | put evil.so 40
le 2 0 | put evil.so 60
truncate -s $((size + 64 * 3000000)) evil.so
le 8 3000000 | put evil.so $((size + 32))
left_out "three million sections in a hole" "has more than 65535 sections"

# An archive of 1 GiB in some kilobytes
mkdir archive
yes | head -c 1G >archive/large
tar -C archive --format=ustar -c large | zstd -q >evil.oparc
rm -r archive
small opreport archive:evil.oparc
ok "an archive of 1 GiB is refused" test $? = 1
ok "and named" grep -q "evil.oparc: not unpacked: it would take more than [0-9]* MiB" said
ok "and nothing of it is left" rmdir "$TMPDIR"
mkdir "$TMPDIR"

# Killed while it unpacks: nothing is left, neither files nor processes.
opreport --max-size=2G archive:evil.oparc >/dev/null 2>&1 &
pid=$!
until [ -n "$(find "$TMPDIR" -name large)" ] || ! kill -0 $pid; do sleep 0.01; done
child=$(cat "/proc/$pid/task/$pid/children")
ok "a report unpacks" kill -KILL $pid
for _ in $(seq 200); do rmdir "$TMPDIR" 2>/dev/null && break; sleep 0.1; done
ok "a report that was killed leaves no files" test ! -e "$TMPDIR"
# Who adopts them may let them be zombies.
# shellcheck disable=SC2086
ok "and no processes" test -z "$(ps -o stat= -p "$(echo $child | tr ' ' ,)" | grep -v Z)"
mkdir "$TMPDIR"

# A parser that was taken over, with the rights of the child that reads files
mkdir other theirs evil
echo secret | tee other/victim other/secret >/dev/null
chmod 600 other/secret
cp "$OP_BUILD_ROOT/tests/hostile/confined" other/program
before=$(stat -c '%n %u %a %s %Y' other other/*)
ok "what it cannot do can be tried" "$OP_BUILD_ROOT/tests/hostile/confined" evil other
has "  it tried" "[0-9][0-9] attempts"
is "it can do none of that" "$(grep could output)" ""
is "nothing has changed" "$(stat -c '%n %u %a %s %Y' other other/*)" "$before"
is "  nor was anything made" "$(ls evil)" ""
if [ "$(id -u)" = 0 ]; then
	chown 65534 theirs
	chmod 755 "$dir"
	ok "nor with the rights of a session's owner" \
		"$OP_BUILD_ROOT/tests/hostile/confined" evil other theirs
	is "  can it become root" "$(grep could output)" ""
fi
rm -r other theirs evil

# Names of a program with the build-id of another one
mkdir good evil
cp elf/lib.so good
LC_ALL=C sed s/marked_second/innocent_name/g elf/lib.so >evil/lib.so
{
	printf 'cpu 4\nmanifest ./good/lib.so build 0 0\nmanifest ./evil/lib.so build 0 0\nsymbols ./good/lib.so\n'
	for program in good evil; do
		printf 'file ./%s/lib.so ./%s/lib.so TIMER.0.0.all.all.all\n\tmarked_second 20\n' $program $program
	done
} >description
rm -rf oprofile_data
"$mksession" oprofile_data <description
export OPROFILE_SYMBOL_CACHE="$dir/cache"
small opreport -l -n image:evil/lib.so
ok "a forged build-id: the program has its own names" grep -q innocent_name printed
small opreport -l -n image:good/lib.so
ok "and the other one keeps its names" grep -q marked_second printed
done_testing

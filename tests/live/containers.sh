#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs with a root directory or mounts of their own: reports find the files where the host has
# them, and say so if it does not. OP_DRIVER selects the driver.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
need_root
unshare -m true 2>/dev/null || skip_all "no mount namespace can be made"
cd "$dir" || exit 1
# Nothing of this test is where its processes see it.
export OPROFILE_SYMBOL_CACHE=no

# named TITLE NAME: nearly all samples of the program are in its functions.
named()
{
	share=$(awk '$1 ~ /^[0-9]+$/ && /work_|burn|chain|main/ && !/[[]kernel[]]/ { n += $1 }
		$1 ~ /^[0-9]+$/ && !/[[]kernel[]]/ { all += $1 } END { printf "%d", all ? 100 * n / all : 0 }' "$2.report")
	echo "# $share % of what is not the kernel's has a name"
	{ cat "$2.log" "$2.err" "$2.report" && cat "$2/samples/current/images"; } >output
	test "$share" -ge 90
	result $? "$1"
}

# host NAME IMAGE: where the manifest says that the host has it.
host()
{
	awk -F '\t' -v image="$2" '$1 == image { print $7 }' "$1/samples/current/images" | tail -n 1
}

mkdir jail jail/bin lower upper work merged bound private
cp "$live/truth_chains_static" jail/bin/jailed
cp "$live/truth_chains_static" lower/layered
cp "$live/truth_chains_static" original
cp "$live/truth_chains_static" other
touch bound/here

ok "a program in a chroot" profile jail chroot "$dir/jail" /bin/jailed 0.5 25 75
named "has its symbols" jail
is "and both its paths" "$(host jail /bin/jailed)" "$dir/jail/bin/jailed"

if command -v python3 >/dev/null && command -v objdump >/dev/null && [ "$(uname -m)" = x86_64 ]; then
	# Linked with libraries of its own root.
	cp "$live/truth_chains" jail/bin/linked
	ldd "$live/truth_chains" | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "jail${library%/*}" && cp "$library" "jail$library"
	done
	ok "call chains of a program in a chroot" profile jailcalls -g chroot "$dir/jail" /bin/linked 0.5 25 75
	ok "have callers that are callers" python3 "$OP_SOURCE_ROOT/tests/truth/check.py" --calls-only \
		"$OP_BUILD_ROOT/tools" "$dir/jailcalls"
	has "by the bytes of the file that it sees" "^# step direct: [0-9]\{3,\}"
else
	skip "call chains of a program in a chroot" "needs python3, objdump and x86-64"
fi
rm -rf jail/lib jail/lib64 jail/usr

# Its debug information is where its own root has it.
strip -o jail/bin/stripped "$live/truth_chains_static"
objcopy --only-keep-debug "$live/truth_chains_static" stripped.debug
id=$(readelf -n jail/bin/stripped | awk '/Build ID/ { print $3 }')
place=jail/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)
mkdir -p "$place"
cp stripped.debug "$place/$(echo "$id" | cut -c3-).debug"
ok "a stripped program in a chroot" profile stripped chroot "$dir/jail" /bin/stripped 0.5 25 75
named "has its symbols by build-id" stripped
rm -r jail/usr
report stripped
ok "and without that none" sh -c '! grep -q " chain_b$" stripped.report'
(cd jail/bin && objcopy --add-gnu-debuglink=../../stripped.debug stripped)
mkdir jail/bin/.debug
cp stripped.debug jail/bin/.debug/
report stripped
named "has them by .gnu_debuglink" stripped

ok "a program that is mounted elsewhere" profile bound unshare -m sh -c \
	"mount --bind $dir/original $dir/bound/here && exec $dir/bound/here 0.5 25 75"
named "has its symbols" bound
# A file system whose handles are made of inode and generation; else nobody here can see it.
case $(host bound "$dir/bound/here") in
"$dir/original") result 0 "and both its paths" ;;
*) skip "and both its paths" "files of $(stat -f -c %T "$dir") cannot be found by number" ;;
esac

overlay="mount -t overlay overlay -o lowerdir=$dir/lower,upperdir=$dir/upper,workdir=$dir/work $dir/merged"
tmp_overlay="mount -t tmpfs tmpfs $dir/work && mkdir $dir/work/u $dir/work/w && mount -t overlay overlay \
	-o lowerdir=$dir/lower,upperdir=$dir/work/u,workdir=$dir/work/w $dir/merged"
unshare -m sh -c "$overlay" 2>/dev/null || overlay=$tmp_overlay
if unshare -m sh -c "$overlay" 2>/dev/null; then
	ok "a program on an overlay" profile overlay \
		unshare -m sh -c "$overlay && exec $dir/merged/layered 0.5 25 75"
	named "has its symbols" overlay
	is "and both its paths" "$(host overlay "$dir/merged/layered")" "$dir/lower/layered"
	ok "one in a chroot on an overlay" profile inner \
		unshare -m sh -c "$overlay && exec chroot $dir/merged /layered 0.5 25 75"
	named "has its symbols" inner
	is "and both its paths" "$(host inner /layered)" "$dir/lower/layered"
else
	skip "overlays" "no overlayfs here"
fi

ok "a program that nobody else can see" profile private unshare -m sh -c \
	"mount -t tmpfs tmpfs $dir/private && cp $dir/original $dir/private/ && exec $dir/private/original 0.5 25 75"
rm -r private/symbols
report private
has "the foot says why it has no symbols" "original: only visible in the mount namespace" private.report
opreport --session-dir="$dir/private" --image-path="$dir" -l >private.report 2>private.err
named "a copy of it serves" private

mkdir gone
cp "$live/truth_chains_static" gone/program
ok "a program in a chroot that goes away" profile gone.s chroot "$dir/gone" /program 0.5 25 75
rm -r gone
report gone.s
has "has the functions that were kept" "program .*chain_b" gone.s.report
rm -r gone.s/symbols
report gone.s
has "without them, the foot says where it was" "program: not on this machine.*(it was $dir/gone/program on this machine)" gone.s.report

if unshare -pf --mount-proc true 2>/dev/null; then
	rm -f /tmp/perf-1.map
	ok "code made by the first process of a PID namespace" profile map \
		unshare -pf --mount-proc "$live/truth_jitted" map 4
	rm -f /tmp/perf-1.map
	report map
	has "has names" "jit first" map.report
	# What a container has by default: neither the right to trace, nor one that goes with it.
	few=-sys_ptrace,-sys_admin,-perfmon,-bpf,-checkpoint_restore,-syslog
	cat >inside <<-END
		"$live/truth_chains_static" 8 25 75 & program=\$!
		operf --driver=perf -d attached --duration=2s --pid=\$program 2>attached.log
		kill \$program
	END
	ok "a process that runs in a container" unshare -pf --mount-proc \
		setpriv --bounding-set=$few sh inside
	fails "  its samples are not lost" 1 grep "their process was not known" attached.log
	report attached
	named "  and have names" attached
fi

# A map that nobody outside can see, by any path. The program itself may lie below /tmp.
ok "code made where /tmp is another one" profile tmp unshare -m sh -c \
	"mount -t tmpfs tmpfs /tmp && cat >/tmp/made && chmod +x /tmp/made && exec /tmp/made map 4" \
	<"$live/truth_jitted"
report tmp
has "has names" "jit first" tmp.report

done_testing

# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the tests that boot an emulated machine:
#
#	here=$(cd "$(dirname "$0")" && pwd)
#	. "$here/lib.sh"
#	need qemu-system-x86_64
#	new_root /usr/bin/busybox guest-kernels
#	add program bin
#	pack_root
#	boot NAME qemu-system-x86_64 OPTION...
#	finish
#
# $dir is removed at the end; $root in it becomes the guest's file system. The guest prints TAP lines
# with the prefix "vm:", whose test numbers are ignored. Its last line is "vm:end".
dir=$(mktemp -d "${TMPDIR:-/tmp}/opvm.XXXXXX")
qemu=
trap '[ -z "$qemu" ] || kill -9 "$qemu" 2>/dev/null; rm -rf "$dir"' EXIT
root=$dir/root
tests=0
failed=0

skip()
{
	echo "1..0 # SKIP $*"
	exit 0
}

# need TOOL...: skips the test if one is missing.
need()
{
	for tool; do
		command -v "$tool" >/dev/null || skip "$tool is not installed"
	done
}

# new_root BUSYBOX GUEST: makes a file system with busybox, ./init and the script that it runs.
new_root()
{
	mkdir -p "$root/bin"
	cp "$1" "$root/bin/busybox"
	for name in $(busybox --list); do
		[ -e "$root/bin/$name" ] || ln -s busybox "$root/bin/$name"
	done
	cp "$here/init" "$root/init"
	cp "$here/$2" "$root/guest"
}

# libraries FILE: prints the paths of its libraries; redefined for another architecture.
libraries()
{
	ldd "$1" 2>/dev/null | grep -o '/[^ ]*' || :
}

# add FILE DIRECTORY: adds a program and its libraries to the file system.
add()
{
	mkdir -p "$root/$2"
	cp -L "$1" "$root/$2/"
	libraries "$1" | while read -r library; do
		mkdir -p "$root/$(dirname "$library")"
		[ -e "$root/$library" ] || cp -L "${sysroot:-}$library" "$root/$library"
	done
}

pack_root()
{
	(cd "$root" && find . | cpio -o -H newc 2>/dev/null) | gzip -1 >"$dir/initramfs"
}

# kernel_of PACKAGE|FILE: prints the path of its kernel, or nothing if it is not available. PACKAGE may be
# one that depends on the newest kernel of its kind. apt() may be redefined.
apt()
{
	"$@"
}
kernel_of()
{
	if [ -f "$1" ]; then
		echo "$1"
		return
	fi
	package=$(apt apt-cache depends "$1" 2>/dev/null | awk '/Depends: linux-image/ { print $2; exit }')
	package=${package:-$1}
	if [ ! -e "$cache/$package" ]; then
		(cd "$dir" && apt apt-get download -qq "$package" >/dev/null 2>&1) || return 0
		dpkg-deb --fsys-tarfile "$dir/$package"_*.deb |
			tar xO --wildcards './boot/vmlinuz-*' >"$cache/$package.$$"
		mv "$cache/$package.$$" "$cache/$package"
		rm -f "$dir/$package"_*.deb
	fi
	echo "$cache/$package"
}

# one VERDICT TEXT: prints a line of TAP.
one()
{
	tests=$((tests + 1))
	[ "$1" = ok ] || failed=1
	echo "$1 $tests - $2"
}

# guest QEMU...: runs it, its console to a file. A quiet machine takes two minutes, a busy one many times
# that; one that prints nothing for five minutes hangs, and is ended.
guest()
{
	"$@" -nographic -no-reboot -nodefaults -serial stdio -initrd "$dir/initramfs" \
		</dev/null >"$dir/console" 2>&1 &
	qemu=$!
	printed=0
	silent=0
	lived=0
	while kill -0 "$qemu" 2>/dev/null; do
		sleep 1
		lived=$((lived + 1))
		silent=$((silent + 1))
		now=$(stat -c %s "$dir/console")
		[ "$now" = "$printed" ] || silent=0
		printed=$now
		if [ "$silent" -ge 300 ] || [ "$lived" -ge 1700 ]; then
			kill -9 "$qemu"
			echo "ended after $lived s, the last $silent of them silent" >>"$dir/console"
		fi
	done
	wait "$qemu" || :
	qemu=
}

# emulator_failed: whether a CPU ran a breakpoint that the guest's kernel had put in its own code for a moment,
# to patch it, and had removed again. A real CPU does not: the kernel waits for all of them. With one host
# thread per CPU, QEMU has a short time in which it still runs what it has translated before.
emulator_failed()
{
	grep -q 'int3: 0000 \[#[0-9]' "$dir/console"
}

# boot NAME QEMU...: runs the guest and takes over its tests. A guest in which the emulator fails is booted
# again, twice at most.
boot()
{
	name=$1
	shift
	guest "$@"
	for _ in 1 2; do
		emulator_failed || break
		echo "# $name: the emulator ran a breakpoint that was gone; booted again"
		guest "$@"
	done
	tr -d '\r' <"$dir/console" | sed -n 's/^.*vm://p' >"$dir/tap"
	if ! grep -q "^end$" "$dir/tap"; then
		one "not ok" "$name ran to its end"
		tail -n 60 "$dir/console" | tr -d '\r' | sed 's/^/# /'
	fi
	while IFS= read -r line; do
		case $line in
		"ok "*) one ok "$name: ${line#*- }" ;;
		"not ok "*) one "not ok" "$name: ${line#*- }" ;;
		"1..0 # SKIP "*) one ok "$name # SKIP ${line#*SKIP }" ;;
		"#"*) echo "$line" ;;
		esac
	done <"$dir/tap"
}

# own_root GUEST: makes a file system with programs of this machine and of $build; sets $cache, the
# directory for kernels.
own_root()
{
	[ "$(uname -m)" = x86_64 ] || skip "kernels of x86-64 only"
	need qemu-system-x86_64 cpio busybox apt-get
	cache=${OP_VM_CACHE:-$build/vm-kernels}
	mkdir -p "$cache"
	new_root "$(command -v busybox)" "$1"
	add "$build/daemon/oprofiled" bin
	for tool in opcheck opcontrol operf opreport op-check-perfevents; do
		add "$build/tools/$tool" bin
	done
	add "$build/tests/live/truth_chains" bin
	add "$build/tests/live/offcpu_nap" bin
	add "$build/tests/vm/truth_calls" bin
	for program in busy_probed truth_32_part; do
		[ ! -e "$build/tests/live/$program" ] || add "$build/tests/live/$program" bin
	done
	mkdir -p "$root/src/tests/live"
	cp "$here"/../live/*.sh "$root/src/tests/live/"
	mkdir -p "$root/share"
	cp -rL "$build/events" "$root/share/oprofile"
	ln -s share/oprofile "$root/events"
	pack_root
}

# try KERNEL NAME [OPTION]: boots it in that system, with one more option on its command line.
try()
{
	kernel=$(kernel_of "$1")
	if [ -z "$kernel" ]; then
		one ok "$2 # SKIP the package cannot be had"
		return
	fi
	boot "$2" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -m 1024 -smp 2 \
		-kernel "$kernel" -append "console=ttyS0 panic=-1 quiet ${3:-}"
}

finish()
{
	echo "1..$tests"
	exit $failed
}

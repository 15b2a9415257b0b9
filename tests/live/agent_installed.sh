#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An installed OProfile has everything that a program needs to describe its JIT code: the library,
# its header, the pkg-config file, and an example that builds with nothing else.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
for tool in cc meson pkg-config readelf; do
	command -v $tool >/dev/null || skip_all "$tool is not installed"
done
cd "$dir" || exit 1

ok "everything is installed" meson install -C "$OP_BUILD_ROOT" --no-rebuild --quiet --destdir "$dir/root"
pc=$(find root -name opagent.pc)
library=$(find root -name 'libopagent.so')
example=$(find root -name opagent_example.c)
find root >output
test -n "$pc" -a -n "$library" -a -n "$example" -a -n "$(find root -name opagent.h)"
result $? "the library, its header, pkg-config's file and the example are there"

# Nothing but what was installed: not the tree's headers, nor its build directory.
mkdir away
cp "$example" away/example.c
export PKG_CONFIG_PATH="$dir/$(dirname "$pc")" PKG_CONFIG_SYSROOT_DIR="$dir/root"
# Also where they are those of the system: here these are below another root.
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
flags=$(pkg-config --cflags --libs opagent)
echo "# $flags"
# shellcheck disable=SC2086 # words
ok "the example is built with what pkg-config says" cc -Wall -Wextra -Werror away/example.c $flags -o away/example
readelf -d away/example >needed
has "it wants the library by its version" 'NEEDED.*\[libopagent\.so\.1\]' needed
if command -v c++ >/dev/null; then
	printf '#include <opagent.h>\nint main() { return op_major_version() != 1; }\n' >away/plus.cc
	# shellcheck disable=SC2086 # words
	ok "a program in C++ is, too" c++ -Wall -Wextra -Werror away/plus.cc $flags -o away/plus
else
	skip "a program in C++ is, too" "no compiler for it"
fi
LD_LIBRARY_PATH=$dir/$(dirname "$library")
export LD_LIBRARY_PATH
[ ! -e away/plus ] || ok "which runs" away/plus

if op-check-perfevents >/dev/null 2>&1; then
	ok "the example is profiled" env JITDUMPDIR="$dir" operf --session-dir="$dir/agent" \
		--rate="$rate" away/example 1
	report agent
	counts=$(awk '$1 ~ /^[0-9]+$/ && $3 == "[JIT" { all += $1 }
		/made_at_run_time/ { named += $1 } END { print named + 0, all + 0 }' agent.report)
	echo "# $counts samples of its code have its name, and all"
	cp agent.report output
	ok "what it told is in the report" test "${counts#* }" -gt 1000 -a \
		$((${counts% *} * 100)) -ge $((${counts#* } * 99))
	opannotate --session-dir="$dir/agent" --source >listing 2>&1
	has "with its line" '[0-9] :/[*] x = x [*] 3' listing
else
	skip "the example is profiled" "$(op-check-perfevents | head -n 1)"
fi

agent=$(find root -name libjvmti_oprofile.so)
if [ -n "$agent" ]; then
	where=$(readelf -d "$agent" | sed -n 's/.*R.*PATH.*\[\(.*\)\]/\1/p')
	ok "the agent for Java finds the library where it is installed" test -e "root$where/libopagent.so.1"
else
	skip "the agent for Java" "it is not built"
fi
done_testing

# SPDX-License-Identifier: GPL-2.0-or-later
# Replaying a teed stream gives the same sample files. Only our own programs are compared: on a
# machine with many others, files are closed and reopened, so the order within a file depends on
# time, and JIT code exists only once.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
command -v python3 >/dev/null || skip_all "needs python3"
script=
cleanup()
{
	[ -z "$script" ] || kill "$script" 2>/dev/null
	stop_all
}

# same_samples A B: both hold the same sample files, with the same headers, and in them the same samples,
# in whatever order: those that waited for something while they were taken come later. Other files are the
# same byte by byte. Which kernel programs ran is unknown once they are unloaded.
same_samples()
{
	python3 - "$1" "$2" <<'END'
import os, struct, sys
HEADER, NODE = 72, 16
# A replay keeps no functions or lines of the files, drains nothing late, and costs no sampling. Chains have numbers
# in the order in which their parts came first.
LEFT_OUT = ("setup", "kallsyms", "kallsyms.zst", "images", "history", "chains", "{kern}", "functions_kept", "lines_kept",
            "lines_put_off", "drains_late", "cost_ns", "cost_of_ns")

def contents(top):
    found = {}
    for place, directories, files in os.walk(top):
        directories[:] = [name for name in directories if name not in LEFT_OUT]
        for name in set(files) - set(LEFT_OUT):
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                data = file.read()
            if data.startswith(b"DAE\n"):
                used = struct.unpack_from("I", data, HEADER + 4)[0]
                nodes = data[HEADER + 32 + NODE:][:(used - 1) * NODE]
                data = data[:HEADER], sorted(struct.iter_unpack("QI4x", nodes))
            found[os.path.relpath(path, top)] = data
    return found

one, other = map(contents, sys.argv[1:])
differ = [path for path in sorted(one.keys() | other.keys()) if one.get(path) != other.get(path)]
print("\n".join(differ))
sys.exit(not one or len(differ) > 0)
END
}

(while :; do "$OP_BUILD_ROOT/tests/live/truth_images" 1; done) >/dev/null &
worker=$!
# Also an interpreter of ours, because its functions are places in a source file.
cp "$(known_python || command -v true)" "$dir/truth_python"
printf 'def looping():\n\twhile True:\n\t\tpass\nlooping()\n' >"$dir/looping.py"
"$dir/truth_python" "$dir/looping.py" &
script=$!
ok "setup" opcontrol --setup --session-dir="$session"
ok "it starts with a tee" oprofiled --start --session-dir="$session" --events=TIMER:997 \
	--separate=library,thread --image='truth_*' --tee="$dir/stream"
recorded_some() { opcontrol --dump && [ "$(counter samples)" -gt 300 ]; }
ok "samples come" wait_for recorded_some
is_bpf=$(uses_bpf && known_python)
ok "it ends" opcontrol --shutdown
ok "the stream replays" oprofiled --replay="$dir/stream" --session-dir="$dir/again" \
	--separate=library,thread --image='truth_*'
has "  and prints statistics" "^Nr. non-backtrace samples: $(counter samples)$"
has_text() { zstd -dcq "$1" | grep -q "^[0-9a-f]*[1-9a-f][0-9a-f]* . _text$"; }
if command -v zstd >/dev/null; then
	ok "  the kernel's addresses can be read in the sandbox" \
		has_text "$dir/again/samples/current/kallsyms.zst"
else
	skip "  the kernel's addresses can be read in the sandbox" "no zstd here"
fi
source_samples()
{
	opreport --session-dir="$dir/again" --long-filenames --merge=all "lib-image:$dir/looping.py" 2>/dev/null |
		awk '$1 ~ /^[0-9]+$/ { print $1; exit }'
}
[ -z "$is_bpf" ] || ok "  functions of a source file" test "$(source_samples)" -gt 10
# The daemon enters the kernel in the manifest before it samples, the replay when its first sample comes.
ok "  the sample files are the same" same_samples "$session/samples/current" \
	"$dir/again/samples/current"
chains_of() { opreport --session-dir="$1" --folded | sort >"$2"; }
chains_of "$session" "$dir/chains"
chains_of "$dir/again" "$dir/chains.again"
ok "  there are chains" grep -q 'truth_images.*;.*;.* [0-9]' "$dir/chains"
ok "  they are the same" cmp "$dir/chains" "$dir/chains.again"
# The version of a file that other programs deleted is not known as exactly from the stream.
for run in "$session" "$dir/again"; do
	grep -v " (deleted)" "$run/samples/current/images" | sort >"$dir/images.${run##*/}"
done
ok "  the images too" cmp "$dir/images.${session##*/}" "$dir/images.again"
# Of all sample files, whose names end so; nothing comes that the counts could wait for.
inject=$OP_BUILD_ROOT/tests/robust/inject
if [ -x "$inject" ]; then
	EMFILE=24
	fails "samples for which there is no descriptor until the end" 3 "$inject" -c openat -w .all -n 1 -f -e "$EMFILE" \
		"$OP_BUILD_ROOT/daemon/oprofiled" --replay="$dir/stream" --session-dir="$dir/lost" \
		--separate=library,thread --image='truth_*'
	has "  are lost" "oprofiled: error: $(counter samples) samples that waited for memory or descriptors are lost"
	session=$dir/lost
	is "  and counted" "$(counter lost_samplefile)" "$(counter samples)"
fi
fails "a file that is no stream" 1 oprofiled --replay="$OPROFILE_DAEMONRC" --session-dir="$dir/other"
has "  is named" "$OPROFILE_DAEMONRC: not a recorded event stream"
done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Ruby functions are in call chains, in the order in which Ruby itself shows them; their own time is
# theirs, with lines.
OP_DRIVER=bpf
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
program=$OP_SOURCE_ROOT/tests/live/truth_ruby.rb
ruby=$(command -v ruby) || skip_all "no Ruby"
"$ruby" -e 'exit RUBY_ENGINE == "ruby" && RUBY_VERSION.start_with?("3.1.", "3.3.")' ||
	skip_all "no Ruby 3.1 or 3.3"
rate=1999
export LC_ALL=C.UTF-8

"$ruby" "$program" stacks | sort -u >"$dir/stacks"
"$ruby" "$program" lines >"$dir/lines"
ok "a Ruby program" profile ruby --callgraph=200 "$ruby" "$program" 4
opreport --session-dir="$dir/ruby" --folded --merge=runtime 2>/dev/null | sed 's/_\[[a-z]\]//g' >"$dir/ruby.folded"
ok "  its chains have the shares and stacks that it knows" python3 "$OP_SOURCE_ROOT/tests/live/script_check.py" \
	"$dir/ruby.shares" "$dir/stacks" "$dir/ruby.folded"
sed 's/^/# /' "$dir/output"
ok "  all frames could be read" test \
	$(($(stat_of ruby script_bad_frame) + $(stat_of ruby script_bad_code))) -le 20
echo "# without Ruby: $(stat_of ruby script_no_thread); late: $(stat_of ruby script_unreadable)," \
	"$(stat_of ruby script_ring_full)"

opreport --session-dir="$dir/ruby" -l -d -g --json lib-image:"$program" >"$dir/details" 2>/dev/null
ok "  its lines are those that Ruby has" python3 "$OP_SOURCE_ROOT/tests/live/lines_check.py" \
	"$program" "$dir/lines" "$dir/details"
sed 's/^/# /' "$dir/output"
opreport --session-dir="$dir/ruby" -l --json >"$dir/rows" 2>/dev/null
ok "  the kind of its functions is ruby" grep -q '"symbol":"spin".*"kind":"ruby"' "$dir/rows"

opannotate --session-dir="$dir/ruby" --source truth_ruby.rb >"$dir/annotated" 2>/dev/null
awk '/^ *[0-9]+ .*:/ { all += $1; if (/while i < n|total \+= i & 7|i \+= 1/) loop += $1 }
END { printf "%d of %d samples\n", loop, all; exit !(all > 200 && loop >= 0.9 * all) }' "$dir/annotated" >"$dir/output"
result $? "its own time is in the lines of its loop"

# Scripts without a file, that are gone before anybody can ask for their names.
# shellcheck disable=SC2016 # expanded by Ruby and the inner shell
ok "short scripts" profile short --callgraph=200 \
	sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do "$0" --disable=gems -e "def burn() i = 0; while i < 3000000; i += 1; end; end; burn"; done' "$ruby"
opreport --session-dir="$dir/short" -l -f -n >"$dir/report" 2>/dev/null
ok "  have names" grep -q '<-e>.* burn$' "$dir/report"
done_testing

# SPDX-License-Identifier: GPL-2.0-or-later
# Reads folded chains of TruthJava.java. Its methods must have only the callers that they have, except
# that code which has no name yet may be any. At least 99 % of the chains with one of its methods must be
# complete. -v need_pairs=0: methods may be inlined, so callers are not checked. -v stacks=FILE: nothing
# is compiled, so the chains of its innermost methods are those that the program printed to FILE.
function short(name)
{
	sub(/_\[[a-z]\]$/, "", name)
	sub(/\(.*/, "", name)
	sub(/.* /, "", name)
	return name
}

# The chain as the program prints it.
function stack_of(frame, frames,    i, text)
{
	for (i = 2; i <= frames; i++)
		if (frame[i] ~ /TruthJava[.$]/ && frame[i] !~ /\$\$Lambda/)
			text = text ";" short(frame[i])
	return substr(text, 2)
}

BEGIN {
	split("spin:first first:second second:round deep:round deep:deep bottom:deep catcher:round " \
		"thrower:catcher handled:catcher sorts:round worker:lambda$main$0 inThread:worker " \
		"shapes:round ofRound:Round.area ofSquare:Square.area round:main used:main", list, " ")
	for (i in list)
		allowed[list[i]] = 1
	while (stacks && (getline line < stacks) > 0)
		known[line] = 1
}

{
	count = $NF
	chain = $0
	sub(/ [0-9]+$/, "", chain)
	frames = split(chain, frame, ";")
	if (chain !~ /TruthJava/)
		next
	all += count
	is_whole = frame[1] !~ /^\[(no_|not_|unr|depth|fp_)/
	whole += is_whole ? count : 0
	if (!is_whole)
		ends[frame[1]] += count
	for (i = 2; need_pairs && i <= frames; i++) {
		if (frame[i] !~ /TruthJava[.$]/ || frame[i - 1] ~ /^(Interpreter|\[)/)
			continue
		caller = short(frame[i - 1])
		callee = short(frame[i])
		if (callee ~ /Lambda|compare$|\.main$|lambda|area$|tell$|<init>$/)
			continue
		sub(/^TruthJava[.$]/, "", caller)
		sub(/^TruthJava[.$]/, "", callee)
		pairs += count
		if (!((callee ":" caller) in allowed)) {
			wrong += count
			print "wrong caller: " caller " of " callee ": " chain
		}
	}
	if (!stacks || !is_whole || short(frame[frames]) !~ /\.(spin|bottom|handled|inThread|of[RS][a-z]*)$/)
		next
	innermost += count
	if (!(stack_of(frame, frames) in known)) {
		strange += count
		print "no such stack: " chain
	}
}

END {
	printf "%d of %d chains complete, %d callers, %d of them wrong\n", whole, all, pairs, wrong
	if (stacks)
		printf "%d stacks, %d of them strange\n", innermost, strange
	for (e in ends)
		print ends[e] " " e
	exit !(all >= 200 && whole >= 0.99 * all && (!need_pairs || (pairs >= 200 && !wrong)) &&
		(!stacks || (innermost >= 200 && !strange)))
}

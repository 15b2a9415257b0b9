# SPDX-License-Identifier: GPL-2.0-or-later
# Compares a report with what a truth program said of itself.
#
#	awk -v least=10000 -v lost=0 -f truth_check.awk SHARES REPORT
#
# SHARES has lines "share IMAGE SYMBOL WEIGHT" (symbol "-": all of the image); REPORT is what
# opreport -l prints. With p the part of the weight and n the samples of all lines, the samples of
# each must be np give or take 6 standard errors, sqrt(np(1-p)): chance alone does not bring that about
# in a hundred million tests. A busy machine loses samples, any of them: they are more give or take, and
# n and they must be at least `least`. Samples elsewhere (the kernel, the loader) do not count. Exits 1
# where it does not hold.

FNR == NR {
	if ($1 == "share") {
		image[++lines] = $2
		symbol[lines] = $3
		weight[lines] = $4
		weights += $4
	}
	next
}

$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9.e+-]+$/ {
	for (i = 1; i <= lines; i++)
		if (image[i] == $3 && (symbol[i] == "-" || symbol[i] == $NF)) {
			count[i] += $1
			all += $1
		}
}

END {
	bad = lines == 0 || all + lost < least
	printf "%d samples, %d lost, at least %d wanted\n", all, lost, least
	for (i = 1; i <= lines; i++) {
		p = weight[i] / weights
		error = sqrt(all * p * (1 - p))
		excess = count[i] - all * p
		off = error > 0 ? excess / error : excess
		printf "%s %s: %d samples, %.3f %%, should be %.3f %%: off by %.2f standard errors\n",
		       image[i], symbol[i], count[i], all ? 100 * count[i] / all : 0, 100 * p, off
		if (excess > 6 * error + lost || excess < -6 * error - lost)
			bad = 1
	}
	exit bad
}

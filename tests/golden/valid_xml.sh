#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# valid_xml.sh: copies an XML report from standard input to the output, then reports if it is not valid
# against opreport.xsd (not checked if xmllint is not installed).
set -eu
report=$(mktemp)
trap 'rm -f "$report"' EXIT
tee "$report"
command -v xmllint >/dev/null || exit 0
xmllint --noout --schema "$(dirname "$0")/../../data/opreport.xsd" "$report" 2>"$report.err" ||
	cat "$report.err"
rm -f "$report.err"

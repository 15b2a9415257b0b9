#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# damaged.sh IMAGE_DAMAGE EVERY: reads damaged copies of every EVERY-th ELF file of the system. Names the
# file if that fails.
set -u
list=$(mktemp)
trap 'rm -f "$list" "$list.out"' EXIT
trap "exit 1" INT TERM
find -L /usr/bin /usr/sbin /usr/lib /usr/libexec /usr/local -xdev -type f -size +1k -size -8192k \
	\( -perm -100 -o -name '*.so*' -o -name '*.ko*' -o -name '*.o' \) 2>/dev/null | sort -u |
	awk "NR % $2 == 0" >"$list"
# 200 files a process, in limited time.
xargs -d '\n' -n 200 timeout 250 "$1" <"$list" >"$list.out" 2>&1 || {
	echo "damaged.sh: bad end; the last file, and what was said:"
	tail -n 40 "$list.out"
	exit 1
}
grep 'copies read' "$list.out"

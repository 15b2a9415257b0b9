/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recipe of corpus/lines, in an empty directory with a copy of this file:
 * gcc -Os -g1 -nostdlib -shared -Wl,-z,noseparate-code -Wl,-z,norelro -Wl,--build-id=none
 *	-fno-asynchronous-unwind-tables lines.c -o dwarf5-aranges; the same with -gdwarf-4 -o
 *dwarf4; objcopy -R .debug_aranges dwarf5-aranges dwarf5-ranges. */
static inline int twice(int x)
{
	return x * 2;
}

int f(int);

int f(int x)
{
	return x > 3 ? twice(x) : f(x + 1);
}

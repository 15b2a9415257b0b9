/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recipe of what in corpus/lines has functions and inlined calls in pieces:
 * gcc -O2 -g -gdwarf-4 -nostdlib -shared -fPIC -Wl,-z,noseparate-code -Wl,-z,norelro
 *	-Wl,--build-id=none -Wl,--hash-style=gnu -fno-asynchronous-unwind-tables pieces.c -o
 *	dwarf4-pieces; the same with -gdwarf-5 -o dwarf5-pieces, and by clang -o dwarf5-indexed;
 *each strip --strip-unneeded -K f --keep-section='.debug*'. */
volatile int sink;

static inline __attribute__((always_inline)) void leaf(int x)
{
	if (__builtin_expect(x > 100, 0)) {
		sink = x;
		__builtin_trap();
	}
	sink += x;
}

int f(int x);

int f(int x)
{
	leaf(x);
	sink = 2;
	leaf(x + 1);
	return sink;
}

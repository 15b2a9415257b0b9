/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that looks like a Python interpreter: the symbols that are searched for, and what 3.13
 * says about itself, with the numbers of a build of 3.13.0. Tests write other versions over it. */
#include <stdint.h>

extern const uint64_t Py_Version;
extern uint64_t _PyRuntime[584 / 8];
extern uint64_t PyCode_Type[4];
int _PyEval_EvalFrameDefault(int);

const uint64_t Py_Version = 0x030d00f0;
uint64_t PyCode_Type[4] = { 1 };
uint64_t _PyRuntime[584 / 8] = {
	[0] = 0x7970677562656478, /* "xdebugpy" */
	[1] = 0x030d00f0,
	[5] = 632,    /* interpreters */
	[6] = 100000, /* the size of an interpreter's state is not used */
	[8] = 7264,
	[9] = 7344,
	[21] = 8,
	[23] = 72, /* current frame */
	[24] = 152,
	[27] = 32,
	[29] = 8,
	[30] = 0,
	[31] = 56,
	[33] = 70,
	[35] = 112, /* file */
	[36] = 120,
	[37] = 128,
	[38] = 136,
	[39] = 68,
	[43] = 200,
	[70] = 40,
};

int _PyEval_EvalFrameDefault(int n)
{
	return n + 1;
}

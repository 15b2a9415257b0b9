/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program that contains Python: C calls functions in its main interpreter and, in the same
 * thread, in another one. Prints the CPU time of each kind of work, in ms. */
#include <Python.h>

#include <stdio.h>
#include <time.h>

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Calls the function @name of __main__. */
static void call(const char *name)
{
	PyObject *module = PyImport_AddModule("__main__");
	PyObject *result = PyObject_CallMethod(module, name, NULL);

	if (!result)
		PyErr_Print();
	Py_XDECREF(result);
}

static const char code[] = "def spin():\n"
			   "    total = 0\n"
			   "    for i in range(400000):\n"
			   "        total += i & 7\n"
			   "def in_main():\n"
			   "    spin()\n"
			   "def in_other():\n"
			   "    sorted(range(1), key=lambda x: spin())\n";

int main(int argc, char **argv)
{
	double spent[2] = { 0, 0 }, begin = cpu_ms(), start;
	PyThreadState *states[2];
	int i = 0;

	Py_Initialize();
	states[0] = PyThreadState_Get();
	PyRun_SimpleString(code);
	states[1] = Py_NewInterpreter();
	PyRun_SimpleString(code);
	while (cpu_ms() - begin < (argc > 1 ? atof(argv[1]) : 1) * 1e3) {
		PyThreadState_Swap(states[i]);
		start = cpu_ms();
		call(i ? "in_other" : "in_main");
		spent[i] += cpu_ms() - start;
		i = !i;
	}
	PyThreadState_Swap(states[1]);
	Py_EndInterpreter(states[1]);
	PyThreadState_Swap(states[0]);
	printf("in_main %.0f\nin_other %.0f\n", spent[0], spent[1]);
	return Py_FinalizeEx() < 0;
}

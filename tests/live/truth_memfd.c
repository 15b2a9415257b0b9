/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_memfd FILE [ARGUMENT]...: copies a program to memory and executes it there, so that it has
 * no file. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int from = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	int to = memfd_create("truth", MFD_CLOEXEC);
	struct stat st;

	if (from < 0 || to < 0 || fstat(from, &st) < 0 ||
	    sendfile(to, from, NULL, (size_t)st.st_size) != st.st_size)
		return 1;
	(void)fexecve(to, argv + 1, environ);
	perror("truth_memfd");
	return 1;
}

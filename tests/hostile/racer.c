/* SPDX-License-Identifier: GPL-2.0-or-later */
/* racer DIRECTORY PREFIX TARGET: replaces each file in DIRECTORY whose name starts with PREFIX by a
 * link to TARGET, as soon as it appears. Prints a line once it watches, and runs until killed. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void replace_all(DIR *dir, const char *prefix, const char *target)
{
	const struct dirent *entry;

	rewinddir(dir);
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, prefix, strlen(prefix)) && unlink(entry->d_name) == 0)
			(void)!symlink(target, entry->d_name);
}

int main(int argc, char **argv)
{
	DIR *dir = argc == 4 && chdir(argv[1]) == 0 ? opendir(".") : NULL;

	if (!dir)
		return 2;
	puts("watching");
	(void)fflush(stdout);
	while (1)
		replace_all(dir, argv[2], argv[3]);
}

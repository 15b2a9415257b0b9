/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names that PHP has for files and functions, in the form that reports show. They come from the
 * memory of a process, so they may contain anything.
 *
 *	_cleanup_free_ char *file = php_names_file("/srv/a.php(3) : eval()'d code");
 *	puts(file);				"/srv/<a.php(3) : eval()'d code>"
 */
#pragma once

/* The name of a source file: a path, or with its last part in brackets if it is no file, such as
 * "<Command line code>". A file in a phar archive is in a directory with the archive's name. Caller
 * frees. */
char *php_names_file(const char *file);
/* The name of a function of the class @scope, which may be "". Caller frees. */
char *php_names_function(const char *scope, const char *name);

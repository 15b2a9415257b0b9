/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command-line options as a table: an option stands in one line of it, from which come parsing,
 * --help, --list-options (which completion and the man page check read). Nothing is printed here.
 *
 *	static const char *session_dir;
 *	static bool symbols;
 *	static const struct opt opts[] = {
 *		{ 'l', "symbols", OPT_FLAG, &symbols, NULL, "list symbols" },
 *		{ 0, "session-dir", OPT_PATH, &session_dir, "DIR", "read the session in DIR" },
 *		OPT_END
 *	};
 *	int operands = opt_parse(&cmdline, argc, argv, &err);
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

enum opt_kind {
	OPT_FLAG,   /* bool: set to true */
	OPT_STRING, /* const char *: the argument, borrowed from argv */
	OPT_PATH,   /* likewise, and not empty */
	OPT_U64,    /* uint64_t: a number */
	OPT_SIZE,   /* uint64_t: a number of bytes such as 64K */
	OPT_CALL,   /* calls ->call with the argument (NULL if ->arg is NULL) */
	OPT_HEADING /* no option: a heading of --help, its text in ->help */
};

struct opt {
	char letter;	  /* short form, or 0 */
	const char *name; /* long form without dashes; NULL ends the table (but for a heading) */
	enum opt_kind kind;
	void *target;	  /* where the value goes; for OPT_CALL handed to ->call */
	const char *arg;  /* the argument's name in --help, NULL if there is none; in brackets
			   * ("[LEVEL]") if it may be left out, which OPT_CALL sees as NULL */
	const char *help; /* a line or more without a full stop; NULL: accepted, not shown */
	int (*call)(const char *arg, void *target, struct error *err); /* 0 or negative */
};

#define OPT_END                                                                                    \
	{                                                                                          \
		0, NULL, OPT_FLAG, NULL, NULL, NULL, NULL                                          \
	}

struct opt_cmdline {
	const char *tool;    /* "opreport" */
	const char *usage;   /* what follows the tool's name: "[OPTION]... [IMAGE]..." */
	const char *summary; /* one sentence for --help */
	const char *epilog;  /* more text below the options, or NULL */
	const struct opt *opts;
	bool stop_at_operand; /* the first operand ends the options (operf COMMAND --its-option) */
};

enum {
	OPT_HELP = -1000,    /* --help or -h (where -h is not taken), or --usage was given */
	OPT_VERSION = -1001, /* --version or -v (where -v is not taken) */
	OPT_LIST = -1002     /* --list-options */
};

/* Parses argv by the table. Returns the index of the first operand in argv, which is reordered so
 * that operands stand last, one of the codes above, or -EINVAL with the reason in @err: an unknown
 * option names the nearest one there is. */
int opt_parse(const struct opt_cmdline *cmdline, int argc, char **argv, struct error *err);

/* Prints the text of --help into @out, wrapped to @width columns. */
void opt_help(const struct opt_cmdline *cmdline, unsigned int width, struct strbuf *out);

/* Prints the options one a line: "--name[=]" and, where there is one, a tab and "-x". */
void opt_list(const struct opt_cmdline *cmdline, struct strbuf *out);

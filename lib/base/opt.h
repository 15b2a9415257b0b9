/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command-line options as a table, one line for each option. Parsing, --help and --list-options
 * (which shell completion and lint read) all follow from it. Nothing is printed here.
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
	OPT_PATH,   /* the same, and not empty */
	OPT_U64,    /* uint64_t: a number */
	OPT_SIZE,   /* uint64_t: a number of bytes such as 64K */
	OPT_CALL,   /* calls ->call with the argument (NULL if ->arg is NULL) */
	OPT_HEADING /* not an option: ->help is a heading in --help */
};

struct opt {
	char letter;	  /* short form, or 0 */
	const char *name; /* long form without dashes; NULL: end of the table, or a heading */
	enum opt_kind kind;
	void *target;	  /* where to store the value; passed to ->call for OPT_CALL */
	const char *arg;  /* the argument's name in --help, NULL if there is none; in brackets
			   * ("[LEVEL]") if it may be left out, which OPT_CALL sees as NULL */
	const char *help; /* one or more lines, no full stop; NULL: accepted but not shown */
	int (*call)(const char *arg, void *target, struct error *err); /* 0 or negative */
	bool destroys; /* only accepted in full, and never proposed for a mistyped option */
};

#define OPT_END                                                                                    \
	{                                                                                          \
		0, NULL, OPT_FLAG, NULL, NULL, NULL, NULL                                          \
	}

struct opt_cmdline {
	const char *tool;    /* "opreport" */
	const char *usage;   /* what follows the tool's name: "[OPTION]... [IMAGE]...", in lines */
	const char *summary; /* one sentence for --help */
	const char *epilog;  /* lines after the options, wrapped, or NULL */
	const struct opt *opts;
	bool acts; /* acts without operands: a lone -V, often the version, just shows it, as it does
		    * in tools without that letter */
	bool stop_at_operand; /* the first operand ends the options (operf COMMAND --its-option) */
};

enum {
	OPT_HELP = -1000,    /* --help or --usage, or -h where the table has no -h */
	OPT_VERSION = -1001, /* --version, or -v where the table has no -v */
	OPT_LIST = -1002     /* --list-options */
};

/* Parses argv. Returns the index of the first operand in argv, which is reordered so that operands
 * come last; one of the codes above; or -EINVAL with the reason in @err, which for an unknown
 * option suggests the nearest known one. */
int opt_parse(const struct opt_cmdline *cmdline, int argc, char **argv, struct error *err);

/* Adds the text of --help to @out, wrapped to @width columns. */
void opt_help(const struct opt_cmdline *cmdline, unsigned int width, struct strbuf *out);

/* Adds the options to @out, one per line: "--name[=]" and, if it has a letter, a tab and "-x". */
void opt_list(const struct opt_cmdline *cmdline, struct strbuf *out);

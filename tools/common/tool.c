/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/common/tool.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/text.h"
#include "file/mapped_name.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

static const char *tool_name = "oprofile";

/* Directories that messages call something else. */
static struct alias {
	char *directory, *name;
} * aliases;
static size_t alias_count, alias_room;

void tool_alias(const char *directory, const char *name)
{
	array_grow(&aliases, alias_count + 1, &alias_room);
	aliases[alias_count++] = (struct alias){ xstrdup(directory), xstrdup(name) };
}

/* The text with the name of a directory instead of its path; caller frees. */
static char *replace_alias(const char *text, const struct alias *alias)
{
	struct strbuf out = STRBUF_INIT;
	const char *at;

	for (; (at = strstr(text, alias->directory)); text = at + strlen(alias->directory)) {
		strbuf_add(&out, text, (size_t)(at - text));
		strbuf_adds(&out, alias->name);
	}
	strbuf_adds(&out, text);
	return strbuf_take(&out);
}

char *tool_text(const char *text)
{
	char *now = xstrdup(text);
	size_t i;

	for (i = 0; i < alias_count; i++) {
		_cleanup_free_ char *before = now;

		now = replace_alias(before, &aliases[i]);
	}
	return now;
}

/* Prints a message. Control characters are made visible, because some messages contain names of
 * files and processes. */
static void say(const char *kind, const char *text)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	_cleanup_free_ char *copy = tool_text(text);
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		text_visible(&out, line);
		strbuf_adds(&out, "\n");
	}
	(void)fprintf(stderr, "%s: %s%s", tool_name, kind, strbuf_text(&out));
}

/* Prints a line of the log, a warning once: some profiles are read several times for one report. */
static void stderr_sink(enum log_level level, const char *text, void *data _unused_)
{
	static struct map known; /* by hash of the text */
	bool is_repeated;

	flockfile(stderr); /* threads warn, too */
	is_repeated = level == LOG_LEVEL_WARNING &&
		      map_set(&known, hash_text(text, strlen(text)), &known);
	if (!is_repeated)
		say(log_prefix(level), text);
	funlockfile(stderr);
}

void tool_verbose(enum log_level level)
{
	log_to(level, stderr_sink, NULL);
}

int tool_set_verbose(const char *arg _unused_, void *target _unused_, struct error *err _unused_)
{
	tool_verbose(LOG_LEVEL_DEBUG);
	return 0;
}

unsigned int tool_terminal_width(int fd)
{
	struct winsize size;

	if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col ? size.ws_col : 80;
}

bool tool_can_redraw(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

void tool_tidy(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	(void)close_range(STDERR_FILENO + 1, ~0U, 0);
	umask(022);
	(void)!chdir("/");
}

int tool_fail(const struct error *err)
{
	(void)fflush(stdout);
	say("", err->text);
	return TOOL_FAILURE;
}

/* Why writing to @out failed. stdio does not keep it; another write fails for the same reason. */
static int find_reason(FILE *out)
{
	int fd = fileno(out);

	return fd < 0 || write(fd, "\n", 1) == 1 ? EIO : errno;
}

int tool_flush(FILE *out, const char *path, struct error *err)
{
	errno = 0;
	if ((fflush(out) | ferror(out)) == 0)
		return 0;
	return error_errno(err, -(errno ?: find_reason(out)), "%s",
			   path ? path : "standard output");
}

int tool_finish(int status)
{
	struct error err = ERROR_INIT;

	return tool_flush(stdout, NULL, &err) == 0 ? status : tool_fail(&err);
}

int tool_usage(const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, format);
	text = xvasprintf(format, ap);
	va_end(ap);
	say("", text);
	(void)fprintf(stderr, "Try '%s --help'.\n", tool_name);
	return TOOL_USAGE;
}

void tool_warn(const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, format);
	text = xvasprintf(format, ap);
	va_end(ap);
	say("warning: ", text);
}

/* The width of the text of --help: of the terminal it goes to, or may go to through a pager. */
static unsigned int help_width(void)
{
	enum { WIDEST = 120, USUAL = 80 };
	const char *columns = getenv("COLUMNS");
	unsigned int width = tool_terminal_width(STDOUT_FILENO);
	uint64_t number;

	if (!width && columns && parse_u64(columns, 20, WIDEST, &number) == 0)
		width = (unsigned int)number;
	if (!width)
		width = tool_terminal_width(STDERR_FILENO);
	return MIN(width ?: USUAL, (unsigned int)WIDEST);
}

/* A signal handler: system calls only. */
static void put_raw(const char *text)
{
	(void)!write(STDERR_FILENO, text, strlen(text));
}

static void on_sigbus(int number _unused_, siginfo_t *info, void *context _unused_)
{
	char name[MAPPED_NAME_ROOM];
	bool known = mapped_name(info->si_addr, name, sizeof(name));

	put_raw(tool_name);
	put_raw(": ");
	put_raw(known ? name : "a mapped file");
	put_raw(": was cut short while it was in use, or the disk is full or fails\n");
	_exit(TOOL_FAILURE);
}

int tool_options(const struct opt_cmdline *cmdline, int argc, char **argv)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	const struct sigaction action = { .sa_sigaction = on_sigbus,
					  .sa_flags = (int)(SA_SIGINFO | SA_RESETHAND) };
	struct error err = ERROR_INIT;
	int r;

	tool_name = cmdline->tool;
	(void)sigaction(SIGBUS, &action, NULL);
	tool_verbose(LOG_LEVEL_WARNING);
	r = opt_parse(cmdline, argc, argv, &err);
	if (r >= 0)
		return r;
	switch (r) {
	case OPT_HELP:
		opt_help(cmdline, help_width(), &out);
		break;
	case OPT_VERSION:
		strbuf_addf(&out, "%s (OProfile) %s\n", cmdline->tool, OPROFILE_VERSION);
		break;
	case OPT_LIST:
		opt_list(cmdline, &out);
		break;
	default:
		exit(tool_usage("%s", err.text));
	}
	(void)fputs(strbuf_text(&out), stdout);
	exit(tool_finish(0));
}

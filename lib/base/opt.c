/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/opt.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/text.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

enum { HELP_COLUMN = 30 };

static const struct opt standard[] = {
	{ 'h', "help", OPT_FLAG, NULL, NULL, "show this help", NULL },
	{ 0, "usage", OPT_FLAG, NULL, NULL, NULL, NULL },
	{ 'v', "version", OPT_FLAG, NULL, NULL, "show the version", NULL },
	{ 0, "list-options", OPT_FLAG, NULL, NULL, NULL, NULL },
};
static const int standard_code[] = { OPT_HELP, OPT_HELP, OPT_VERSION, OPT_LIST };

static bool is_end(const struct opt *opt)
{
	return !opt->name && opt->kind != OPT_HEADING;
}

static bool letter_taken(const struct opt *opts, char letter)
{
	for (; !is_end(opts); opts++)
		if (opts->letter == letter)
			return true;
	return false;
}

/* The tables for getopt_long(), made from ours. */
struct getopt_tables {
	struct option *longs;	/* val = index into all[] + 256 */
	const struct opt **all; /* the tool's options, then the standard ones */
	size_t count;
	size_t own; /* number of the tool's options */
	struct strbuf shorts;
};

static void tables_done(struct getopt_tables *t)
{
	free(t->longs);
	free(t->all);
	strbuf_done(&t->shorts);
}

static void tables_add(struct getopt_tables *t, const struct opt *opt, size_t *room, size_t *lroom)
{
	bool optional = opt->arg && opt->arg[0] == '[';
	int has_arg = !opt->arg ? no_argument : optional ? optional_argument : required_argument;

	array_grow(&t->all, t->count + 1, room);
	array_grow(&t->longs, t->count + 2, lroom);
	t->all[t->count] = opt;
	t->longs[t->count] = (struct option){ opt->name, has_arg, NULL, (int)t->count + 256 };
	t->longs[++t->count] = (struct option){ 0 };
	if (opt->letter)
		strbuf_addf(&t->shorts, "%c%s", opt->letter, optional ? "::" : opt->arg ? ":" : "");
}

static void tables_init(struct getopt_tables *t, const struct opt_cmdline *cmdline)
{
	size_t room = 0, lroom = 0, i;

	*t = (struct getopt_tables){ 0 };
	strbuf_adds(&t->shorts, cmdline->stop_at_operand ? "+:" : ":");
	for (const struct opt *opt = cmdline->opts; !is_end(opt); opt++)
		if (opt->kind != OPT_HEADING)
			tables_add(t, opt, &room, &lroom);
	t->own = t->count;
	for (i = 0; i < ARRAY_SIZE(standard); i++) {
		struct opt own = standard[i];

		tables_add(t, &standard[i], &room, &lroom);
		if (own.letter && letter_taken(cmdline->opts, own.letter))
			t->shorts.text[--t->shorts.length] = '\0';
	}
}

/* Stores one option's value. */
static int opt_store(const struct opt *opt, const char *arg, struct error *err)
{
	uint64_t value;
	int r = 0;

	switch (opt->kind) {
	case OPT_FLAG:
		*(bool *)opt->target = true;
		return 0;
	case OPT_PATH:
		if (!*arg)
			return error_set(err, -EINVAL, "--%s: an empty name", opt->name);
		*(const char **)opt->target = arg;
		return 0;
	case OPT_STRING:
		*(const char **)opt->target = arg;
		return 0;
	case OPT_U64:
		r = parse_u64(arg, 0, UINT64_MAX, &value);
		break;
	case OPT_SIZE:
		r = parse_size(arg, &value);
		break;
	case OPT_CALL:
		return opt->call(arg, opt->target, err);
	case OPT_HEADING:
		return 0;
	}
	if (r < 0)
		return error_set(err, -EINVAL, "--%s: '%s' is not a number", opt->name, arg);
	*(uint64_t *)opt->target = value;
	return 0;
}

/* Lists the options whose names begin with @word; returns how many there are. */
static size_t add_begun(const struct getopt_tables *t, const char *word, struct strbuf *out)
{
	size_t count = 0, i;

	for (i = 0; *word && i < t->count; i++) {
		const struct opt *opt = t->all[i];

		if (strncmp(opt->name, word, strlen(word)) != 0 || !opt->help)
			continue;
		strbuf_addf(out, "%s'--%s'", count++ ? ", " : "", opt->name);
	}
	return count;
}

static int unknown_option(const struct getopt_tables *t, const char *word, struct error *err)
{
	_cleanup_free_ char *name = xstrndup(word + 2, strcspn(word + 2, "="));
	_cleanup_(strbuf_done) struct strbuf begun = STRBUF_INIT;
	const struct opt *nearest = NULL;
	/* A name that differs in more than a third is another word, not a typing error. */
	unsigned int best = MIN(((unsigned int)strlen(name) + 1) / 3 + 1, 4u), distance;
	size_t i;

	for (i = 0; i < t->count; i++) {
		distance = text_distance(name, t->all[i]->name);
		if (distance < best && t->all[i]->help) {
			best = distance;
			nearest = t->all[i];
		}
	}
	if (add_begun(t, name, &begun) > 1)
		return error_set(err, -EINVAL, "option '--%s' is ambiguous; it may be %s", name,
				 strbuf_text(&begun));
	if (nearest && !nearest->destroys)
		return error_set(err, -EINVAL, "unknown option '--%s'; did you mean '--%s'?", name,
				 nearest->name);
	return error_set(err, -EINVAL, "unknown option '--%s'", name);
}

/* The error of getopt_long() in our words. */
static int bad_option(const struct getopt_tables *t, int c, char **argv, struct error *err)
{
	const char *word = argv[optind - 1];

	if (c == ':')
		return error_set(err, -EINVAL, "option '%s' needs an argument", word);
	if (optopt >= 256)
		return error_set(err, -EINVAL, "option '--%s' takes no argument",
				 t->all[optopt - 256]->name);
	if (optopt)
		return error_set(err, -EINVAL, "unknown option '-%c'", optopt);
	return unknown_option(t, word, err);
}

static int find_letter(const struct getopt_tables *t, int c)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		if (t->all[i]->letter == c)
			return (int)i;
	return -1;
}

/* Refuses the abbreviation of an option that destroys something: it may be a typing error. The
 * option was the last word that getopt_long() took, or the one before its argument. */
static int check_in_full(const struct opt *opt, char **argv, struct error *err)
{
	const char *word = argv[optind - (optarg && optarg == argv[optind - 1] ? 2 : 1)];
	size_t length = strlen(opt->name);

	if (!opt->destroys || strncmp(word, "--", 2) != 0 ||
	    (strcspn(word + 2, "=") == length && !strncmp(word + 2, opt->name, length)))
		return 0;
	return error_set(err, -EINVAL,
			 "option '%.*s': '--%s' is not accepted abbreviated; write it in full",
			 (int)strcspn(word, "="), word, opt->name);
}

int opt_parse(const struct opt_cmdline *cmdline, int argc, char **argv, struct error *err)
{
	_cleanup_(tables_done) struct getopt_tables t;
	int c, i, r;

	tables_init(&t, cmdline);
	if (argc == 2 && !strcmp(argv[1], "-V") &&
	    (cmdline->acts || !letter_taken(cmdline->opts, 'V')))
		return OPT_VERSION;
	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, t.shorts.text, t.longs, NULL)) != -1) {
		/* getopt's sign of an unknown letter, and the original's option for help. */
		if (c == '?' && optopt == '?')
			return OPT_HELP;
		if (c == '?' || c == ':')
			return bad_option(&t, c, argv, err);
		i = c >= 256 ? c - 256 : find_letter(&t, c);
		if ((size_t)i >= t.own)
			return standard_code[(size_t)i - t.own];
		r = check_in_full(t.all[i], argv, err);
		if (r == 0)
			r = opt_store(t.all[i], optarg, err);
		if (r < 0)
			return r;
	}
	return optind;
}

/* Adds an option to --help: its forms, padded to the column of the wrapped text. */
static void help_option(const struct opt *opt, bool letter, unsigned int width, struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf left = STRBUF_INIT;
	bool optional = opt->arg && opt->arg[0] == '[';

	strbuf_addf(&left, "  %s", letter && opt->letter ? (char[]){ '-', opt->letter, 0 } : "  ");
	strbuf_addf(&left, "%s --%s", letter && opt->letter ? "," : " ", opt->name);
	if (opt->arg)
		strbuf_addf(&left, optional ? "[=%s" : "=%s", opt->arg + optional);
	strbuf_adds(out, strbuf_text(&left));
	if (left.length + 1 >= HELP_COLUMN)
		strbuf_addf(out, "\n%*s", HELP_COLUMN, "");
	else
		strbuf_addf(out, "%*s", (int)(HELP_COLUMN - left.length), "");
	text_wrap(out, opt->help, HELP_COLUMN, width);
}

/* Adds lines of text, each wrapped to its own indentation; the first starts in column @indent. */
static void help_lines(struct strbuf *out, const char *text, unsigned int indent,
		       unsigned int width)
{
	while (*text) {
		size_t blanks = strspn(text, " "), length = strcspn(text, "\n");
		_cleanup_free_ char *line = xstrndup(text + blanks, length - blanks);

		strbuf_addf(out, "%*s", (int)blanks, "");
		text_wrap(out, line, indent + (unsigned int)blanks, width);
		text += length + (text[length] == '\n');
		indent = 0;
	}
}

void opt_help(const struct opt_cmdline *cmdline, unsigned int width, struct strbuf *out)
{
	_cleanup_free_ char *usage = xasprintf("%s %s", cmdline->tool, cmdline->usage);
	const struct opt *opt;
	size_t i;

	strbuf_adds(out, "Usage: ");
	help_lines(out, usage, (unsigned int)strlen("Usage: "), width);
	text_wrap(out, cmdline->summary, 0, width);
	strbuf_adds(out, "\n");
	for (opt = cmdline->opts; !is_end(opt); opt++)
		if (opt->kind == OPT_HEADING)
			strbuf_addf(out, "%s%s:\n", opt == cmdline->opts ? "" : "\n", opt->help);
		else if (opt->help)
			help_option(opt, true, width, out);
	strbuf_adds(out, "\n");
	for (i = 0; i < ARRAY_SIZE(standard); i++)
		if (standard[i].help)
			help_option(&standard[i], !letter_taken(cmdline->opts, standard[i].letter),
				    width, out);
	if (!cmdline->epilog)
		return;
	strbuf_adds(out, "\n");
	help_lines(out, cmdline->epilog, 0, width);
}

void opt_list(const struct opt_cmdline *cmdline, struct strbuf *out)
{
	for (const struct opt *opt = cmdline->opts; !is_end(opt); opt++) {
		if (opt->kind == OPT_HEADING || !opt->help)
			continue;
		strbuf_addf(out, "--%s%s", opt->name, opt->arg && opt->arg[0] != '[' ? "=" : "");
		if (opt->letter)
			strbuf_addf(out, "\t-%c", opt->letter);
		strbuf_adds(out, "\n");
	}
	strbuf_addf(out, "--help%s\n--version%s\n", letter_taken(cmdline->opts, 'h') ? "" : "\t-h",
		    letter_taken(cmdline->opts, 'v') ? "" : "\t-v");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/common/braces.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "profile/select/gather.h"
#include "tools/common/reporting.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <string.h>

/* The options that can be in braces, with their targets. */
static const struct {
	const char *name;
	size_t offset;
} of_one_profile[] = {
	{ "session-dir", offsetof(struct profile_config, session_dir) },
	{ "image-path", offsetof(struct profile_config, binaries.image_paths) },
	{ "root", offsetof(struct profile_config, binaries.root) },
};

static int refuse(const char *arg _unused_, void *target, struct error *err)
{
	return error_set(err, -EINVAL, "--%s is for both profiles; it cannot be inside the braces",
			 ((const struct opt *)target)->name);
}

/* The option as it works in braces, where it sets @profile. */
static struct opt braced(const struct opt *opt, struct profile_config *profile)
{
	struct opt copy = *opt;
	size_t i;

	if (opt->kind == OPT_HEADING)
		return copy;
	copy.kind = OPT_CALL;
	copy.call = refuse;
	copy.target = (void *)opt;
	for (i = 0; i < ARRAY_SIZE(of_one_profile); i++) {
		if (strcmp(opt->name, of_one_profile[i].name) != 0)
			continue;
		copy.kind = opt->kind;
		copy.target = (char *)profile + of_one_profile[i].offset;
	}
	return copy;
}

static struct opt *braced_options(const struct opt *opts, struct profile_config *profile)
{
	static const struct opt end = OPT_END;
	struct opt *all = NULL;
	size_t count = 0, room = 0;

	for (; opts->name || opts->kind == OPT_HEADING; opts++) {
		array_grow(&all, count + 2, &room);
		all[count++] = braced(opts, profile);
		all[count] = end;
	}
	return all;
}

int braces_parse(struct braces *b, const struct opt_cmdline *cmdline, struct error *err)
{
	struct profile_config profile = b->profile;
	_cleanup_free_ struct opt *opts = braced_options(cmdline->opts, &profile);
	_cleanup_free_ char **words = xcalloc(b->count + 2, sizeof(*words));
	struct opt_cmdline inside = { .tool = cmdline->tool, .opts = opts };
	struct strbuf text = STRBUF_INIT;
	int operands;
	size_t i;

	words[0] = (char *)cmdline->tool;
	memcpy(&words[1], b->words, b->count * sizeof(*words));
	operands = opt_parse(&inside, (int)b->count + 1, words, err);
	if (operands == OPT_HELP || operands == OPT_VERSION || operands == OPT_LIST)
		return error_set(err, -EINVAL, "--help and --version cannot be inside the braces");
	if (operands < 0)
		return operands;
	b->profile = profile;
	for (i = 0; i < b->count; i++)
		strbuf_addf(&text, "%s%s", i ? " " : "", b->words[i]);
	b->text = strbuf_take(&text);
	b->owned = STEAL(words);
	b->words = b->owned + operands;
	b->count = b->count + 1 - (size_t)operands;
	return 0;
}

int braces_parse_pair(const struct spec_pair *pair, const struct profile_config *both,
		      const struct opt_cmdline *cmdline, struct braces ret[2], struct error *err)
{
	unsigned int i;
	int r = 0;

	for (i = 0; i < 2 && r == 0; i++) {
		ret[i] = (struct braces){ .profile = *both,
					  .words = pair->words[i],
					  .count = pair->count[i] };
		r = braces_parse(&ret[i], cmdline, err);
	}
	return r;
}

void braces_renew(struct braces *b, const struct profile_config *both)
{
	const struct profile_config own = b->profile;
	size_t i, at;

	b->profile = *both;
	for (i = 0; i < ARRAY_SIZE(of_one_profile); i++) {
		at = of_one_profile[i].offset;
		*(const char **)((char *)&b->profile + at) =
			*(char *const *)((const char *)&own + at);
	}
}

int braces_become_owner(const struct braces sides[2], bool writes, struct error *err)
{
	unsigned int i;
	int r = 0;

	for (i = 0; i < 2 && r == 0; i++)
		r = reporting_become_owner(&sides[i].profile, writes, sides[i].words, err);
	return r;
}

/* Whether both are the same sample file, or counts of blocks, which only some files have. */
static bool is_same(const struct gather *g, const struct gather_file *a,
		    const struct gather_file *b)
{
	if (g->has_whole && a->past && b->past)
		return true;
	return a->path && b->path && !strcmp(a->path, b->path);
}

void braces_warn_same(const struct gather *a, const struct gather *b)
{
	size_t i;

	if (a->file_count != b->file_count)
		return;
	for (i = 0; i < a->file_count; i++)
		if (!is_same(a, &a->files[i], &b->files[i]))
			return;
	tool_warn("both profiles are the same sample files of %s", a->sessions[0].samples);
}

void braces_done(struct braces *b)
{
	free(b->owned);
	free(b->text);
	*b = (struct braces){ 0 };
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile.h"

#include "base/log.h"
#include "base/mem.h"
#include "file/path.h"
#include "file/scratch.h"
#include "profile/binary/keep.h"
#include "profile/binary/sources.h"
#include "profile/compact/pack.h"
#include "profile/rows/keep_lines.h"
#include "profile/select/programs.h"
#include "symbol/symcache.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Whether an archive is one file. */
static bool is_packed(const char *archive, struct stat *ret)
{
	return stat(archive, ret) == 0 && S_ISREG(ret->st_mode);
}

/* Makes the directory that archives are unpacked into, if any is one file. */
static int make_room(const struct profile_config *config, struct profile *p, struct error *err)
{
	static const char *const name = "oprofile-archive";
	const struct spec_values *archives = &p->spec.of[SPEC_ARCHIVE];
	uint64_t room = 0;
	bool any = false;
	struct stat st;
	size_t i;

	for (i = 0; i < archives->count; i++) {
		if (!is_packed(archives->values[i], &st))
			continue;
		room += pack_limit((uint64_t)st.st_size, config->max_size).bytes;
		any = true;
	}
	if (!any)
		return 0;
	return config->scratch_dir ? scratch_below(config->scratch_dir, name, &p->unpacked, err)
				   : scratch_new(name, room, &p->unpacked, err);
}

/* Unpacks archive number @i if it is one file. The directory has the archive's name, which is the
 * host's if the session does not say that. */
static int unpack_archive(const struct profile_config *config, struct profile *p, size_t i,
			  struct error *err)
{
	const char *archive = p->spec.of[SPEC_ARCHIVE].values[i];
	_cleanup_free_ char *below = NULL, *directory = NULL;
	struct stat st;
	int r;

	if (!is_packed(archive, &st))
		return 0;
	below = xasprintf("%zu/%s", i, path_base(archive));
	directory = path_join(scratch_path(p->unpacked), below);
	r = path_make_dirs(directory, 0700, err);
	if (r == 0)
		r = pack_unpack(archive, directory, config->max_size, err);
	if (r == 0 && config->unpacked)
		config->unpacked(directory, archive);
	if (r == 0)
		spec_set_archive(&p->spec, i, STEAL(directory));
	return r;
}

static int unpack_archives(const struct profile_config *config, struct profile *p,
			   struct error *err)
{
	size_t i;
	int r;

	spec_drop_repeated(&p->spec);
	r = make_room(config, p, err);
	for (i = 0; i < p->spec.of[SPEC_ARCHIVE].count && r == 0; i++)
		r = unpack_archive(config, p, i, err);
	return r;
}

const char *profile_session_dir(const struct profile_config *config, bool is_archive)
{
	if (config->session_dir)
		return config->session_dir;
	return !is_archive && access(PROFILE_LOCAL_DIR, F_OK) == 0 ? PROFILE_LOCAL_DIR
								   : PROFILE_SYSTEM_DIR;
}

static void find_session_dir(const struct profile_config *config, struct profile *p)
{
	bool is_archive = spec_value(&p->spec, SPEC_ARCHIVE);

	p->session_dir = profile_session_dir(config, is_archive);
	p->is_system_dir = !config->session_dir && !is_archive &&
			   !strcmp(p->session_dir, PROFILE_SYSTEM_DIR) &&
			   spec_wants_session_dir(&p->spec);
}

/* Opens the whole call chains, which adds their images to the gather. */
static int open_chains(struct profile *p, enum profile_chains wanted, struct error *err)
{
	struct error why = ERROR_INIT;
	int r;

	if (wanted == PROFILE_NO_CHAINS)
		return 0;
	if (wanted == PROFILE_CHAINS_NEEDED)
		return chains_open(&p->chains, p->gather, &p->spec, err);
	r = chains_open(&p->chains, p->gather, &p->spec, &why);
	if (r < 0 && r != -ENODATA)
		log_warn("%s; call chains are left out", why.text);
	return 0;
}

/* Goes from the specification to the files of each image. */
static int select_files(const struct profile_config *config, struct profile *p, struct error *err)
{
	int r = unpack_archives(config, p, err);

	if (r < 0)
		return r;
	find_session_dir(config, p);
	spec_expand_sessions(&p->spec, p->session_dir);
	r = gather_files(&p->spec, p->session_dir, config->calls, &p->gather, err);
	if (r == 0)
		programs_find(p->gather);
	if (r == 0)
		r = open_chains(p, config->chains, err);
	if (r == 0)
		r = classes_arrange(p->gather, config->merge, &p->classes, err);
	if (r < 0)
		return r;
	by_image_group(p->gather, &p->classes, &p->by_image);
	losses_collect(p->gather, &p->losses);
	return 0;
}

struct binaries *profile_binaries(const struct profile *p, const struct profile_config *config)
{
	struct binaries_config where = config->binaries;
	struct error err = ERROR_INIT;
	struct binaries *bs;

	where.root = p->root;
	where.lender = config->lender ? config->lender->binaries : where.lender;
	where.cache = p->cache;
	bs = binaries_new(p->gather, &where);
	fetch_images(&config->fetch, p->gather, bs, &err);
	if (err.code)
		log_warn("%s", err.text);
	return bs;
}

static void find_binaries(const struct profile_config *config, struct profile *p)
{
	const char *archive = spec_value(&p->spec, SPEC_ARCHIVE);
	/* A compact archive has the images' build-ids, but only the symbols of its own profile. */
	bool want_cache = config->symbol_cache && !p->unpacked;
	_cleanup_free_ char *directory = want_cache ? symcache_directory() : NULL;

	p->root = archive ?: config->binaries.root;
	p->cache = directory ? symcache_open(directory, SYMCACHE_CAP) : NULL;
	p->binaries = profile_binaries(p, config);
}

int profile_open(const struct profile_config *config, size_t count, char *const *words,
		 struct profile **ret, struct error *err)
{
	_cleanup_(profile_closep) struct profile *p = xcalloc(1, sizeof(*p));
	int r = spec_parse(words, count, &p->spec, err);

	if (r == 0 && config->division.most)
		spec_divide_time(&p->spec, config->division);
	p->spec.sums_only = config->sums_only;
	p->spec.top = config->top;
	p->spec.wants_blocks = config->blocks && !config->division.most;
	if (r == 0)
		r = select_files(config, p, err);
	if (r < 0)
		return r;
	find_binaries(config, p);
	*ret = STEAL(p);
	return 0;
}

static void close_cache(struct symcache *cache)
{
	const struct symcache_stats *s = cache ? symcache_stats(cache) : NULL;

	if (s)
		log_debug("symbol cache: %zu tables found, %zu not, %zu stored, %zu damaged, %zu "
			  "not written",
			  s->hits, s->misses, s->stored, s->damaged, s->failed);
	symcache_close(cache);
}

struct sources *profile_sources(const struct profile *p, const char *search_dirs,
				const char *base_dirs)
{
	const struct spec_values *archives = &p->spec.of[SPEC_ARCHIVE];
	struct sources *s = sources_new(p->root, search_dirs, base_dirs);
	size_t i;

	for (i = 1; i < archives->count; i++)
		sources_add_root(s, archives->values[i]);
	return s;
}

static struct keep_limits keep_limits_of(uid_t owner)
{
	return (struct keep_limits){ .time_ns = 1000000000,
				     .file_bytes = 256 << 20,
				     .owner = owner };
}

void profile_keep_lines(const char *session_dir, uid_t owner)
{
	const struct profile_config config = { .session_dir = session_dir,
					       .merge = CLASSES_MANY_AXES };
	const struct keep_limits limits = keep_limits_of(owner);
	_cleanup_(profile_closep) struct profile *p = NULL;
	struct error err = ERROR_INIT;

	if (profile_open(&config, 0, NULL, &p, &err) < 0)
		log_debug("no lines are kept: %s", err.text);
	else
		log_debug("lines of %zu files are kept",
			  keep_lines(p->gather, &p->by_image, p->binaries, &limits));
}

void profile_keep_symbols(const char *session_dir, uid_t owner)
{
	const struct profile_config config = { .session_dir = session_dir,
					       .symbol_cache = true,
					       .merge = CLASSES_MANY_AXES,
					       .binaries = { .symbols_only = true } };
	const struct keep_limits limits = keep_limits_of(owner);
	_cleanup_(profile_closep) struct profile *p = NULL;
	struct error err = ERROR_INIT;

	if (profile_open(&config, 0, NULL, &p, &err) < 0)
		log_debug("no symbols are kept: %s", err.text);
	else if (p->cache)
		log_debug("symbols of %zu files are kept",
			  keep_symbols(p->gather, p->binaries, &limits));
}

void profile_close(struct profile *p)
{
	if (!p)
		return;
	losses_done(&p->losses);
	binaries_free(p->binaries);
	close_cache(p->cache);
	chains_done(&p->chains);
	by_image_done(&p->by_image);
	classes_done(&p->classes);
	gather_free(p->gather);
	scratch_free(p->unpacked);
	spec_done(&p->spec);
	free(p);
}

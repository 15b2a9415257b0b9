/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/binary/internal/kernel_binaries.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "elf/elf_build_id.h"
#include "symbol/elfsym.h"
#include "elf/elffile.h"
#include "elf/filefind.h"
#include "symbol/kallsyms.h"
#include "symbol/symcache.h"
#include "profile/binary/internal/module_file.h"
#include "profile/select/gather.h"
#include "profile/select/no_vmlinux.h"
#include "sfile/manifest.h"
#include "sfile/setup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* The symbols of one kernel: sessions can contain samples of several, and each archive has its
 * own. */
struct source {
	uint32_t session;
	const char *suffix;	   /* of the images' names, and of its file in the session */
	struct kallsyms *kallsyms; /* NULL: there are none */
};

struct kernel_binaries {
	const struct gather *gather;
	struct kernel_binaries_config config;
	struct filefind **installed; /* by session: modules in /lib/modules; NULL: not searched */
	struct source *sources;	     /* sources used so far */
	size_t source_count, source_room;
	bool warned_hidden;
};

struct kernel_binaries *kernel_binaries_new(const struct gather *g,
					    const struct kernel_binaries_config *config)
{
	struct kernel_binaries *k = xcalloc(1, sizeof(*k));

	k->gather = g;
	k->config = *config;
	k->installed = xcalloc(g->session_count + 1, sizeof(*k->installed));
	return k;
}

void kernel_binaries_free(struct kernel_binaries *k)
{
	size_t i;

	if (!k)
		return;
	for (i = 0; i < k->source_count; i++)
		kallsyms_free(k->sources[i].kallsyms);
	free(k->sources);
	for (i = 0; i < k->gather->session_count; i++)
		filefind_free(k->installed[i]);
	free(k->installed);
	free(k);
}

/* The root of the files of the session's host; "" for this machine. */
static const char *root_of(const struct kernel_binaries *k, uint32_t session)
{
	return k->gather->sessions[session].archive ?: k->config.root;
}

/* Returns whether the running kernel is the one that was profiled. */
static bool is_running(const struct manifest_image *profiled)
{
	struct build_id running = { 0 };

	return profiled && elf_build_id_read_kernel(NULL, &running) == 0 &&
	       build_id_equal(&running, &profiled->version.build_id);
}

/* Returns whether @samples was not written since this machine booted, so that the samples may be
 * from another kernel. */
static bool is_older_than_boot(const char *samples)
{
	_cleanup_free_ char *text = NULL;
	const char *line;
	struct stat st;
	uint64_t booted;

	if (stat(samples, &st) < 0 || path_read(NULL, "/proc/stat", &text, NULL) < 0)
		return false;
	line = strstr(text, "btime ");
	if (!line)
		return false;
	line += strlen("btime ");
	return parse_dec(&line, &booted) == 0 && (uint64_t)st.st_mtime < booted;
}

/* The running kernel's symbols, if there are no others and it can be the profiled one. */
static struct kallsyms *load_live(const struct gather_session *s,
				  const struct manifest_image *profiled)
{
	static const char *const remedy =
		"its samples are shown without symbols (--root=DIR reads DIR/proc/kallsyms)";
	bool known = profiled && profiled->version.build_id.size, running = is_running(profiled);
	struct kallsyms *live = NULL;
	struct error err = ERROR_INIT;

	if (known && !running) {
		log_warn("the kernel that was profiled no longer runs, and the session has no copy "
			 "of its symbols: %s",
			 remedy);
	} else if (!known && is_older_than_boot(s->samples)) {
		log_warn("the session is older than this boot and does not say which kernel was "
			 "profiled: %s",
			 remedy);
	} else if (kallsyms_load_live(NULL, &live, &err) < 0) {
		log_warn("%s; samples in the kernel are shown without symbols", err.text);
	} else if (!running) {
		log_warn("kernel symbols are those of the running kernel, which may differ from "
			 "the one that was profiled");
	}
	return live;
}

static struct kallsyms *load_for(const struct kernel_binaries *k, const struct gather_image *image)
{
	const struct gather_session *s = &k->gather->sessions[image->session];
	_cleanup_free_ char *name = xasprintf("/proc/kallsyms%s", image->suffix);
	_cleanup_free_ char *saved = path_join(s->samples, path_base(name));
	const struct manifest_image *profiled =
		s->manifest ? manifest_find(s->manifest, name) : NULL;
	const char *root = root_of(k, image->session);
	_cleanup_free_ char *archived = path_under(root, "/proc/kallsyms");
	struct kallsyms *symbols = NULL;
	struct error err = ERROR_INIT;

	if (kallsyms_load(saved, &symbols, &err) == 0)
		return symbols;
	if (err.code != -ENOENT)
		log_warn("%s", err.text);
	if (!*root)
		return load_live(s, profiled);
	if (kallsyms_load(archived, &symbols, &err) < 0)
		log_warn("%s; samples in the kernel are shown without symbols", err.text);
	return symbols;
}

/* The symbols of the kernel that @image is or belongs to, read on the first call. */
static const struct kallsyms *source_of(struct kernel_binaries *k, const struct gather_image *image)
{
	size_t i;

	for (i = 0; i < k->source_count; i++)
		if (k->sources[i].session == image->session &&
		    !strcmp(k->sources[i].suffix, image->suffix))
			return k->sources[i].kallsyms;
	array_grow(&k->sources, k->source_count + 1, &k->source_room);
	k->sources[k->source_count++] =
		(struct source){ image->session, image->suffix, load_for(k, image) };
	return k->sources[i].kallsyms;
}

/* Converts kallsyms to a symtab, which borrows the names. The image starts at @start. */
static struct symtab *convert(const struct kallsyms_image *image, uint64_t start)
{
	struct symtab *st = symtab_new();
	size_t i;

	for (i = 0; i < image->count; i++) {
		const struct kallsyms_symbol *from = &image->symbols[i];
		struct symbol to = { .offset = from->address - image->start, .name = from->name };

		/* Of several names at one address, the first is shown. */
		if (i && from[-1].address == from->address)
			continue;
		if (from->address < image->start)
			continue;
		to.end = to.offset;
		to.address = start + to.offset;
		to.limit = image->end > image->start ? image->end - image->start : UINT64_MAX;
		symtab_add(st, &to);
	}
	symtab_settle(st);
	return st;
}

/* The modules installed for the kernel of the session. */
static struct filefind *installed_modules(struct kernel_binaries *k, uint32_t session)
{
	struct filefind **found = &k->installed[session];
	struct setup setup = { 0 };
	_cleanup_free_ char *below = NULL, *directory = NULL;

	if (*found)
		return *found;
	*found = filefind_new();
	if (setup_read(k->gather->sessions[session].samples, &setup, NULL) == 0 && setup.kernel &&
	    !strchr(setup.kernel, '/')) {
		below = xasprintf("/lib/modules/%s", setup.kernel);
		directory = path_under(root_of(k, session), below);
		if (access(directory, F_OK) == 0)
			filefind_add(*found, directory);
	}
	setup_done(&setup);
	return *found;
}

static struct symtab *load_module(struct kernel_binaries *k, const struct gather_image *image,
				  struct elffile **ret_file)
{
	struct symtab *st = module_file_load(k->config.found, image, ret_file);

	return st ? st : module_file_load(installed_modules(k, image->session), image, ret_file);
}

static void warn_no_vmlinux(struct kernel_binaries *k, uint32_t session)
{
	if (!k->warned_hidden)
		log_warn("%s", no_vmlinux_warning(k->gather->sessions[session].samples));
	k->warned_hidden = true;
}

/* An image of a kernel's symbols, for later reading. */
struct place {
	const struct kallsyms *source;
	char *name;
};

static struct symtab *load_place(void *data)
{
	const struct place *at = data;
	const struct kallsyms_image *symbols = kallsyms_image(at->source, at->name);

	return symbols && symbols->count ? convert(symbols, 0) : NULL;
}

static void free_place(void *data)
{
	struct place *at = data;

	free(at->name);
	free(at);
}

/* The symbols in @source of the image called @name, or NULL; through the cache. */
static struct symtab *load_cached(struct kernel_binaries *k, const struct kallsyms *source,
				  const char *name)
{
	struct place at = { source, (char *)name };
	struct symcache_reload reload = { load_place, NULL, free_place };
	_cleanup_free_ char *key = NULL;
	struct symtab *st;
	uint64_t digest[2];

	if (!k->config.cache || !kallsyms_digest(source, name, digest))
		return load_place(&at);
	key = xasprintf("kallsyms %016" PRIx64 "%016" PRIx64 " %s", digest[0], digest[1], name);
	at.name = xstrdup(name);
	reload.data = xmemdup(&at, sizeof(at));
	st = symcache_find(k->config.cache, key, &reload);
	if (st)
		return st;
	st = load_place(&at);
	free_place(reload.data);
	if (st)
		symcache_store(k->config.cache, key, st);
	return st;
}

/* --- with code --- */

/* Opens @path if it is the kernel with that build-id. */
static struct elffile *try_kernel(const char *path, const struct build_id *id)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct error err = ERROR_INIT;

	if (elffile_open(path, &ef, &err) < 0) {
		log_warn("%s", err.text);
		return NULL;
	}
	if (id && id->size && elffile_build_id(ef) && !build_id_equal(id, elffile_build_id(ef))) {
		log_warn("%s: not the kernel that was profiled", path);
		return NULL;
	}
	return STEAL(ef);
}

static struct elffile *try_found(struct filefind *found, const char *name,
				 const struct build_id *id)
{
	struct elffile *ef = NULL;
	const char *path;
	size_t i;

	for (i = 0; !ef && (path = filefind_get(found, name, i)); i++)
		ef = try_kernel(path, id);
	return ef;
}

/* The vmlinux of kernel @release (may be NULL): the given one, one in the image paths, or where
 * distributions install it. With @id (may be NULL or empty) it must have that build-id. NULL if
 * there is none; caller closes. */
static struct elffile *find_vmlinux(const struct kernel_binaries_config *where, const char *root,
				    const char *release, const struct build_id *id)
{
	static const char *const installed[] = { "/usr/lib/debug/boot/vmlinux-%s",
						 "/usr/lib/debug/lib/modules/%s/vmlinux",
						 "/lib/modules/%s/build/vmlinux",
						 "/boot/vmlinux-%s" };
	struct elffile *ef = where->vmlinux ? try_kernel(where->vmlinux, id) : NULL;
	size_t i;

	if (!ef)
		ef = try_found(where->found, "vmlinux", id);
	for (i = 0; !ef && release && i < ARRAY_SIZE(installed); i++) {
		const char *mark = strstr(installed[i], "%s");
		_cleanup_free_ char *name = xasprintf("%.*s%s%s", (int)(mark - installed[i]),
						      installed[i], release, mark + 2);
		_cleanup_free_ char *path = path_under(root, name);

		ef = try_found(where->found, path_base(name), id);
		if (!ef && access(path, F_OK) == 0)
			ef = try_kernel(path, id);
	}
	return ef;
}

/* The running kernel's memory, with addresses as in /proc/kallsyms; NULL if it cannot be read. The
 * caller closes. */
static struct elffile *find_core(const char *root)
{
	_cleanup_free_ char *path = path_under(root, "/proc/kcore");
	struct elffile *ef = NULL;
	struct error err = ERROR_INIT;

	if (access(path, F_OK) == 0 && elffile_open(path, &ef, &err) < 0)
		log_debug("%s", err.text);
	return ef;
}

static const struct manifest_image *profiled_kernel(const struct kernel_binaries *k,
						    const struct gather_image *image)
{
	const struct gather_session *s = &k->gather->sessions[image->session];
	_cleanup_free_ char *name = xasprintf("/proc/kallsyms%s", image->suffix);

	return s->manifest ? manifest_find(s->manifest, name) : NULL;
}

/* Opens the kernel's own file, with its symbols. */
static bool open_vmlinux(struct kernel_binaries *k, const struct gather_image *image,
			 struct kernel_binary *ret)
{
	const char *samples = k->gather->sessions[image->session].samples;
	const struct manifest_image *profiled = profiled_kernel(k, image);
	const char *release = NULL;
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	struct setup setup = { 0 };
	struct elffile *ef;

	if (setup_read(samples, &setup, NULL) == 0 && setup.kernel && !strchr(setup.kernel, '/'))
		release = setup.kernel;
	ef = find_vmlinux(&k->config, root_of(k, image->session), release,
			  profiled ? &profiled->version.build_id : NULL);
	setup_done(&setup);
	if (!ef)
		return false;
	symtab_hold(st, ef, elfsym_release);
	if (!elfsym_load(ef, NULL, ELFSYM_FROM_TEXT, st)) {
		log_warn("%s: no symbols", elffile_path(ef));
		return false;
	}
	symtab_settle(st);
	ret->symtab = STEAL(st);
	ret->file = ef;
	return true;
}

/* Where the image is in @core, the memory of the kernel: of the running one, or of the one below
 * @root; false if that is not known. */
static bool find_start(const char *root, const struct elffile *core,
		       const struct kallsyms_image *symbols, uint64_t *ret)
{
	if (!*root)
		return kallsyms_start(NULL, symbols->name, ret);
	*ret = (*symbols->name ? 0 : elfsym_text_start(core)) ?: symbols->start;
	return true;
}

/* Opens the memory of the kernel, with the symbols of kallsyms. */
static bool open_core(struct kernel_binaries *k, const struct gather_image *image,
		      const struct kallsyms_image *symbols, struct kernel_binary *ret)
{
	const struct manifest_image *profiled = profiled_kernel(k, image);
	const char *root = root_of(k, image->session);
	bool known = profiled && profiled->version.build_id.size;
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	uint64_t start;

	ret->no_code = "symbols only: no vmlinux was found (--vmlinux, --image-path), and the "
		       "kernel that was profiled no longer runs";
	if (!*root && known && !is_running(profiled))
		return false;
	ret->no_code = "symbols only: no vmlinux was found (--vmlinux, --image-path), and "
		       "/proc/kcore cannot be read";
	ef = symbols->start ? find_core(root) : NULL;
	if (!ef || !find_start(root, ef, symbols, &start))
		return false;
	ret->symtab = convert(symbols, start);
	symtab_hold(ret->symtab, ef, elfsym_release);
	ret->file = STEAL(ef);
	ret->no_code = NULL;
	return true;
}

/* Opens the file with the code and symbols of the image; false if there is none. */
static bool open_code(struct kernel_binaries *k, const struct gather_image *image,
		      struct kernel_binary *ret)
{
	bool is_kernel = image->id.kind == SNAME_ROOT;
	const struct kallsyms_image *symbols;
	const struct kallsyms *source;

	if (is_kernel && open_vmlinux(k, image, ret))
		return true;
	if (!is_kernel && (ret->symtab = load_module(k, image, &ret->file)))
		return true;
	source = source_of(k, image);
	symbols = source ? kallsyms_image(source, is_kernel ? "" : image->display) : NULL;
	return symbols && symbols->count && open_core(k, image, symbols, ret);
}

void kernel_binaries_open(struct kernel_binaries *k, const struct gather_image *image,
			  struct kernel_binary *ret)
{
	bool is_kernel = image->id.kind == SNAME_ROOT;
	const struct kallsyms *source;

	*ret = (struct kernel_binary){ 0 };
	if (!strcmp(image->display, "no-vmlinux")) {
		warn_no_vmlinux(k, image->session);
		return;
	}
	if (k->config.code && open_code(k, image, ret))
		return;
	source = source_of(k, image);
	if (source)
		ret->symtab = load_cached(k, source, is_kernel ? "" : image->display);
	if (!ret->symtab && !is_kernel)
		ret->symtab = load_module(k, image, &ret->file);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tools/common/target.c, tools/operf/processes.c and tools/operf/target_files.c: which command is
 * run, when, how it ends for the tool, which processes are chosen, and which files are mapped. */
#include "test.h"

#include "file/file_identity.h"
#include "identity/opener.h"
#include "parser/parser.h"
#include "sfile/manifest.h"
#include "tools/common/target.h"
#include "tools/common/tool.h"
#include "tools/operf/processes.h"
#include "tools/operf/target_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void put_file(const char *directory, const char *name, const char *text, mode_t mode)
{
	_cleanup_free_ char *path = path_join(directory, name);

	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	CHECK_EQ(path_write(path, text, 0644, NULL), 0);
	CHECK_EQ(chmod(path, mode), 0);
}

/* As target_done(); the next target finds the signals as this one did. */
static void give_back(struct target *target)
{
	const sigset_t mask = target->mask;
	bool taken = target->signals >= 0;

	target_done(target);
	if (taken)
		(void)sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* Runs the command to its end, unless it cannot be started; its exit status for the tool, whose own
 * work ended with @result. */
static int run(char **command, int result, struct error *err)
{
	_cleanup_(give_back) struct target target = TARGET_INIT;

	*err = ERROR_INIT;
	if (target_command(&target, command, err) == 0 && target_release(&target, err) == 0)
		target_wait(&target);
	return target_exit_status(&target, result);
}

static void exit_status_is_that_of_the_command(void)
{
	static const struct {
		const char *script;
		int result, status;
	} rows[] = {
		{ "exit 0", 0, 0 },
		{ "exit 3", 0, 3 },
		{ "exit 3", -EIO, 3 },
		{ "exit 0", -EIO, TOOL_FAILURE },
		{ "kill -9 $$", 0, 128 + SIGKILL },
		{ "kill -15 $$", -EIO, 128 + SIGTERM },
		{ "exit 255", 0, 255 },
	};
	struct error err;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		char *command[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" }, (char *)rows[i].script,
				    NULL };

		if (!CHECK(run(command, rows[i].result, &err) == rows[i].status))
			printf("# %s: %s\n", rows[i].script, err.text);
	}
}

static void commands_are_found_as_a_shell_finds_them(void)
{
	static const struct {
		const char *path, *name; /* below the test's directory if they begin with a slash */
		int status;
		const char *message;
	} rows[] = {
		{ "/one:/two", "good", 7, "" },
		{ "/one:/two", "shadowed", 7, "" }, /* the first is no program */
		{ "/one:/two", "plain", 126, "plain: Permission denied" },
		{ "/one:/two", "directory", 126, "directory: Permission denied" },
		{ "/one:/two", "missing", 127, "missing: command not found" },
		{ "/none:/one", "good", 127, "good: command not found" },
		{ "", "/two/good", 7, "" },
		{ "/two", "/one/plain", 126, "Permission denied" },
		{ "/two", "/two/missing", 127, "No such file or directory" },
		{ "/two", "/two/orphan", 127, "No such file or directory" }, /* its interpreter */
	};
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *before = xstrdup(getenv("PATH") ?: "");
	struct error err;
	size_t i;

	put_file(dir, "two/good", "#!/bin/sh\nexit 7\n", 0755);
	put_file(dir, "two/shadowed", "#!/bin/sh\nexit 7\n", 0755);
	put_file(dir, "two/orphan", "#!/no/such/interpreter\n", 0755);
	put_file(dir, "one/shadowed", "", 0644);
	put_file(dir, "one/plain", "", 0644);
	put_file(dir, "one/directory/file", "", 0644);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *path = xasprintf("%s/one:%s/two", dir, dir);
		_cleanup_free_ char *name = *rows[i].name == '/'
						    ? xasprintf("%s%s", dir, rows[i].name)
						    : xstrdup(rows[i].name);
		char *command[] = { name, NULL };

		if (strcmp(rows[i].path, "/one:/two") != 0) {
			free(path);
			path = xasprintf("%s%s", dir, rows[i].path);
		}
		CHECK_EQ(setenv("PATH", path, 1), 0);
		if (!CHECK(run(command, 0, &err) == rows[i].status) ||
		    !CHECK(strstr(err.text, rows[i].message)))
			printf("# row %zu: %s\n", i, err.text);
	}
	CHECK_EQ(setenv("PATH", before, 1), 0);
}

static void nothing_runs_before_it_is_released(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *made = path_join(dir, "made");
	char *command[] = { (char[]){ "touch" }, made, NULL };
	struct error err = ERROR_INIT;
	struct target target = TARGET_INIT;

	/* One that is given up never runs. */
	CHECK_EQ(target_command(&target, command, &err), 0);
	CHECK(target.pid > 0 && kill(target.pid, 0) == 0);
	give_back(&target);
	CHECK(access(made, F_OK) < 0);
	target = TARGET_INIT;
	CHECK_EQ(target_command(&target, command, &err), 0);
	CHECK(!target_ended(&target));
	CHECK(access(made, F_OK) < 0);
	CHECK_EQ(target_release(&target, &err), 0);
	target_wait(&target);
	CHECK(target_ended(&target));
	CHECK_EQ(access(made, F_OK), 0);
	give_back(&target);
}

static void a_signal_for_the_tool_is_for_the_command_too(void)
{
	_cleanup_(give_back) struct target target = TARGET_INIT;
	char *command[] = { (char[]){ "sleep" }, (char[]){ "30" }, NULL };
	struct error err = ERROR_INIT;

	CHECK_EQ(target_command(&target, command, &err), 0);
	CHECK_EQ(target_release(&target, &err), 0);
	CHECK(!target_ended(&target));
	CHECK_EQ(kill(getpid(), SIGTERM), 0);
	target_wait(&target);
	CHECK_EQ(target_exit_status(&target, 0), 128 + SIGTERM);
}

/* Forks a child that waits to be killed; its name is at most 15 characters. */
static pid_t fork_named(const char *name)
{
	pid_t child = fork();

	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)prctl(PR_SET_NAME, name);
		for (;;)
			(void)pause();
	}
	return child;
}

static void kill_and_reap(pid_t child)
{
	CHECK_EQ(kill(child, SIGKILL), 0);
	CHECK_EQ(waitpid(child, NULL, 0), child);
}

static void processes_are_followed_until_all_have_ended(void)
{
	_cleanup_(give_back) struct target target = TARGET_INIT;
	struct target other = TARGET_INIT;
	struct error err = ERROR_INIT;
	const pid_t children[] = { fork_named("one"), fork_named("two") };

	target.kind = TARGET_PROCESS;
	CHECK_EQ(target_processes(&target, children, 2, &err), 0);
	CHECK(!target_ended(&target));
	kill_and_reap(children[0]);
	CHECK(!target_ended(&target));
	kill_and_reap(children[1]);
	CHECK(target_ended(&target));
	CHECK_EQ(target_exit_status(&target, 0), 0);
	CHECK_EQ(target_processes(&other, children, 1, &err), -ESRCH);
	give_back(&other);
}

static void processes_are_chosen_by_ids_names_and_cgroups(void)
{
	struct processes chosen = { 0 };
	struct error err = ERROR_INIT;
	_cleanup_free_ char *name = xasprintf("odd %d", getpid());
	_cleanup_free_ char *pattern = xasprintf("?dd %d", getpid());
	pid_t child = fork_named(name);
	_cleanup_free_ char *cgroups = NULL, *path = xasprintf("/proc/%d/cgroup", child);
	_cleanup_free_ char *list = xasprintf("%d,%d,1", child, child);
	char *cgroup;

	CHECK_EQ(processes_add(list, &chosen, &err), 0);
	CHECK(chosen.count == 2 && chosen.pids[0] == child && chosen.pids[1] == 1);
	chosen.count = 0;
	while (processes_add_named(pattern, &chosen, &err) < 0) /* prctl() of the child */
		(void)usleep(1000);
	CHECK(chosen.count == 1 && chosen.pids[0] == child);
	CHECK_EQ(processes_add_named("odd", &chosen, &err), -ESRCH);
	CHECK_STR(err.text, "--name=odd: no running process has this name");
	CHECK(path_read("", path, &cgroups, NULL) > 0);
	cgroup = strrchr(cgroups, ':') + 1;
	cgroup[strcspn(cgroup, "\n")] = '\0';
	chosen.count = 0;
	CHECK_EQ(processes_add_cgroup(cgroup, &chosen, &err), 0);
	CHECK(chosen.count >= 1);
	CHECK_EQ(processes_add_cgroup("/no/such/cgroup", &chosen, &err), -ESRCH);
	CHECK_EQ(processes_add("1,x", &chosen, &err), -EINVAL);
	CHECK_EQ(processes_add("", &chosen, &err), -EINVAL);
	kill_and_reap(child);
	free(chosen.pids);
}

static void a_signal_ends_what_has_no_end_of_its_own(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		_cleanup_(give_back) struct target target = TARGET_INIT;
		struct error err = ERROR_INIT;

		target.kind = TARGET_SYSTEM;
		CHECK_EQ(target_system(&target, &err), 0);
		CHECK(!target_ended(&target));
		CHECK_EQ(kill(getpid(), signals[i]), 0);
		CHECK(target_ended(&target));
	}
}

/* The files that were passed on: which of the wanted ones, as bits, and how many. */
struct files {
	const char *wanted[4];
	unsigned int seen;
	size_t count;
};

static void see(int fd, void *data)
{
	struct files *files = data;
	struct stat a, b;
	size_t i;

	files->count++;
	CHECK_EQ(fstat(fd, &a), 0);
	for (i = 0; i < ARRAY_SIZE(files->wanted) && files->wanted[i]; i++)
		if (stat(files->wanted[i], &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
			files->seen |= 1u << i;
}

static void files_of_a_command_are_its_program_and_libraries(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *script = path_join(dir, "script");
	_cleanup_free_ char *text = path_join(dir, "text");
	_cleanup_free_ char *found = path_join(dir, "found"), *nested = path_join(dir, "nested");
	_cleanup_free_ char *endless = path_join(dir, "endless"), *line = NULL, *itself = NULL;
	const struct {
		char *command;
		struct files files;
		unsigned int seen;
		size_t least;
	} rows[] = {
		{ (char[]){ "/bin/sh" }, { .wanted = { "/bin/sh" } }, 1, 2 }, /* and libc */
		{ script, { .wanted = { "/bin/sh", script } }, 1, 2 },
		{ found, { .wanted = { "/usr/bin/env", "/bin/sh", found } }, 3, 3 },
		{ nested, { .wanted = { "/usr/bin/env", "/bin/sh", script, nested } }, 3, 3 },
		{ endless, { .wanted = { "/bin/sh" } }, 0, 0 },
		{ text, { .wanted = { text, "/bin/sh" } }, 1, 1 },
	};
	size_t i;

	put_file(dir, "script", "#! /bin/sh -e\nexit 0\n", 0755);
	put_file(dir, "text", "exit 0\n", 0755);
	put_file(dir, "found", "#!/usr/bin/env -S NAME=value sh -e\nexit 0\n", 0755);
	line = xasprintf("#!/usr/bin/env %s\n", script);
	put_file(dir, "nested", line, 0755);
	itself = xasprintf("#!%s\n", endless);
	put_file(dir, "endless", itself, 0755);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(give_back) struct target target = TARGET_INIT;
		struct files files = rows[i].files;
		struct error err = ERROR_INIT;

		CHECK_EQ(target_command(&target, (char *[]){ rows[i].command, NULL }, &err), 0);
		target_files(&target, NULL, see, &files);
		if (!CHECK(files.seen == rows[i].seen && files.count >= rows[i].least))
			printf("# %s: %#x of %zu\n", rows[i].command, files.seen, files.count);
	}
}

static void files_of_a_process_are_those_it_has_mapped(void)
{
	const struct target target = { .kind = TARGET_PROCESS, .pid = getpid() };
	struct files files = { .wanted = { "/proc/self/exe" } };

	if (geteuid() != 0)
		SKIP("not root");
	target_files(&target, NULL, see, &files);
	CHECK_EQ(files.seen, 1);
	CHECK(files.count >= 2);
}

/* Enters the file at @path in the manifest; @inode 0: its own. */
static void enter_image(struct manifest *m, const char *path, uint64_t inode)
{
	struct manifest_image image = { .path = path };
	struct stat st;

	CHECK_EQ(stat(path, &st), 0);
	image.file = file_identity_of(&st);
	image.file.inode = inode ?: image.file.inode;
	CHECK(manifest_name(m, &image, NULL) != NULL);
}

static void files_of_the_last_profile_are_those_that_did_not_change(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = path_join(dir, "samples/previous");
	_cleanup_free_ char *kept = path_join(dir, "kept"), *changed = path_join(dir, "changed");
	struct files files = { .wanted = { "/bin/sh", kept, changed } };
	_cleanup_(parser_freep) struct parser *parser = NULL;
	_cleanup_(opener_freep) struct opener *opener = NULL;
	_cleanup_(manifest_closep) struct manifest *m = NULL;
	size_t i;

	put_file(dir, "kept", "text", 0644);
	put_file(dir, "changed", "text", 0644);
	put_file(dir, "samples/previous/images", "", 0644);
	CHECK_EQ(manifest_open(samples, true, &m, NULL), 0);
	enter_image(m, "/bin/sh", 0);
	enter_image(m, kept, 0);
	enter_image(m, changed, 12345);
	CHECK_EQ(parser_new(&parser, NULL), 0);
	CHECK_EQ(opener_new(parser, &opener, NULL), 0);
	target_files_sampled(dir, NULL, see, &files);
	CHECK_EQ(files.count, 0);
	/* On a busy machine its time may be over before it has looked at both. */
	for (i = 0; files.count < 2 && i < 100; i++) {
		files.seen = files.count = 0;
		target_files_sampled(dir, opener, see, &files);
	}
	CHECK_EQ(files.count, 2);
	CHECK_EQ(files.seen, 3);
}

TESTS(T(exit_status_is_that_of_the_command), T(commands_are_found_as_a_shell_finds_them),
      T(nothing_runs_before_it_is_released), T(a_signal_for_the_tool_is_for_the_command_too),
      T(processes_are_followed_until_all_have_ended),
      T(processes_are_chosen_by_ids_names_and_cgroups), T(a_signal_ends_what_has_no_end_of_its_own),
      T(files_of_a_command_are_its_program_and_libraries),
      T(files_of_a_process_are_those_it_has_mapped),
      T(files_of_the_last_profile_are_those_that_did_not_change))

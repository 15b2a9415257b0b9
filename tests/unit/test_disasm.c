/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/strbuf.h"
#include "disasm/disasm.h"

#include <errno.h>

static struct elffile *fixture_open(const char *name)
{
	const char *root = getenv("OP_BUILD_ROOT");
	_cleanup_free_ char *path = xasprintf("%s/tests/fixtures/elf/%s", root ? root : ".", name);
	struct error err = ERROR_INIT;
	struct elffile *ef;

	if (elffile_open(path, &ef, &err) < 0) {
		printf("# %s\n", err.text);
		abort();
	}
	return ef;
}

/* The instructions from @start to @end, joined by "; "; caller frees. */
static char *code(struct disasm *d, uint64_t start, uint64_t end)
{
	struct strbuf b = STRBUF_INIT;
	struct disasm_insn insn;

	if (disasm_seek(d, start, end))
		while (disasm_next(d, &insn))
			strbuf_addf(&b, "%s%" PRIx64 "+%u %s", b.length ? "; " : "", insn.address,
				    insn.size, insn.text);
	return strbuf_take(&b);
}

static void name_it(uint64_t address, struct strbuf *out, void *data)
{
	strbuf_addf(out, " <%s+%" PRIx64 ">", (const char *)data, address & 0xf);
}

static void code_is_decoded(void)
{
	static const struct {
		const char *options;
		uint64_t start, end;
		const char *expected;
	} rows[] = {
		{ NULL, 0x1020, 0x1027, "1020+5 mov    $0x1,%ecx; 1025+2 xor    %eax,%eax" },
		{ "intel", 0x1020, 0x1027, "1020+5 mov    ecx,0x1; 1025+2 xor    eax,eax" },
		{ NULL, 0x103d, 0x103f, "103d+2 jmp    1027 <x+7>" },
		{ NULL, 0x1020, 0x1022, "1020+1 .byte 0xb9; 1021+1 .byte 0x1" },
		{ NULL, 0x1020, 0x1020, "" },
		{ NULL, 0x1020, 0x101f, "" },
		{ NULL, 0, 100, "" },
		{ NULL, UINT64_MAX - 1, UINT64_MAX, "" },
	};
	_cleanup_(elffile_closep) struct elffile *ef = fixture_open("demo.so");
	size_t i;

	if (elffile_header(ef)->e_machine != EM_X86_64)
		SKIP("the fixture is x86-64 code");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(disasm_freep) struct disasm *d = NULL;
		_cleanup_free_ char *text = NULL;

		CHECK_EQ(disasm_new(ef, rows[i].options, name_it, (void *)"x", &d, NULL), 0);
		text = code(d, rows[i].start, rows[i].end);
		CHECK_STR(text, rows[i].expected);
	}
}

static void code_ends_with_its_section(void)
{
	_cleanup_(elffile_closep) struct elffile *ef = fixture_open("demo.so");
	_cleanup_(disasm_freep) struct disasm *d = NULL;
	struct disasm_insn insn = { 0 };
	struct elf_section text;

	CHECK(elffile_find_section(ef, ".text", &text));
	CHECK_EQ(disasm_new(ef, NULL, NULL, NULL, &d, NULL), 0);
	CHECK(disasm_seek(d, text.header.sh_addr, UINT64_MAX));
	CHECK_STR(disasm_section(d), ".text");
	while (disasm_next(d, &insn))
		;
	CHECK_EQ(insn.address + insn.size, text.header.sh_addr + text.header.sh_size);
	CHECK(!disasm_next(d, &insn));
}

static void an_unknown_machine_is_said(void)
{
	_cleanup_(disasm_freep) struct disasm *d = NULL;
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct error err = ERROR_INIT;
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			      .e_type = ET_DYN,
			      .e_machine = EM_AVR,
			      .e_version = 1,
			      .e_ehsize = sizeof(header) };

	CHECK_EQ(elffile_open_memory(&header, sizeof(header), "avr", &ef, &err), 0);
	CHECK_EQ(disasm_new(ef, NULL, NULL, NULL, &d, &err), -ENOTSUP);
	CHECK_STR(err.text, "avr: no disassembler for its machine (83)");
}

TESTS(T(code_is_decoded), T(code_ends_with_its_section), T(an_unknown_machine_is_said))

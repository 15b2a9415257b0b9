/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that looks like HotSpot's libjvm.so of JDK 11 or 25: the tables in which it describes its
 * structures, as far as they are read. */
#include <stddef.h>
#include <stdint.h>

struct struct_entry {
	const char *type, *field, *field_type;
	int32_t is_static;
	uint64_t offset;
	void *address;
};

struct type_entry {
	const char *type, *super;
	int32_t is_oop, is_integer, is_unsigned;
	uint64_t size;
};

static int version = JDK;
static void *heaps;
extern struct struct_entry *gHotSpotVMStructs;
extern struct type_entry *gHotSpotVMTypes;
int call(int);

#define MEMBER(type, field, field_type)                                                            \
	{                                                                                          \
#type, #field, field_type, 0, 0, NULL                                              \
	}

static struct struct_entry structs[] = {
	MEMBER(Symbol, _length, "u2"),
	MEMBER(Symbol, _body, NULL),
	{ "CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", 1, 0, &heaps },
	{ "Abstract_VM_Version", "_vm_major_version", "int", 1, 0, &version },
	MEMBER(CodeHeap, _memory, "VirtualSpace"),
	MEMBER(CodeHeap, _segmap, "VirtualSpace"),
	MEMBER(CodeHeap, _log2_segment_size, "int"),
	MEMBER(VirtualSpace, _low_boundary, "char*"),
	MEMBER(VirtualSpace, _high_boundary, "char*"),
#if JDK < 15
	MEMBER(GenericGrowableArray, _len, "int"),
#else
	MEMBER(GrowableArrayBase, _len, "int"),
	MEMBER(ConstantPool, _source_file_name_index, "u2"),
#endif
	MEMBER(GrowableArray<int>, _data, "int*"),
	MEMBER(CodeBlob, _name, "const char*"),
	MEMBER(CodeBlob, _frame_size, "int"),
	MEMBER(CodeBlob, _data_offset, "int"),
	MEMBER(nmethod, _compile_id, "int"),
#if JDK < 23
	MEMBER(CompiledMethod, _method, "Method*"),
	MEMBER(CodeBlob, _frame_complete_offset, "int"),
	MEMBER(CodeBlob, _code_begin, "address"),
#else
	MEMBER(nmethod, _method, "Method*"),
	MEMBER(CodeBlob, _frame_complete_offset, "int16_t"),
	MEMBER(CodeBlob, _code_offset, "int"),
#endif
	MEMBER(Method, _constMethod, "ConstMethod*"),
	MEMBER(ConstMethod, _constants, "ConstantPool*"),
	MEMBER(ConstMethod, _code_size, "u2"),
	MEMBER(ConstMethod, _name_index, "u2"),
	MEMBER(ConstMethod, _signature_index, "u2"),
	MEMBER(ConstMethod, _constMethod_size, "int"),
#if JDK < 21
	MEMBER(ConstMethod, _flags, "u2"),
#else
	MEMBER(ConstMethod, _flags._flags, "u4"),
#endif
	MEMBER(ConstantPool, _pool_holder, "InstanceKlass*"),
	MEMBER(Klass, _name, "Symbol*"),
	{ NULL, NULL, NULL, 0, 0, NULL },
};

static struct type_entry types[] = {
	{ "ConstantPool", "Metadata", 0, 0, 0, 72 },
	{ "ConstMethod", "MetaspaceObj", 0, 0, 0, 56 },
	{ "HeapBlock", NULL, 0, 0, 0, 16 },
	{ NULL, NULL, 0, 0, 0, 0 },
};

struct struct_entry *gHotSpotVMStructs = structs;
struct type_entry *gHotSpotVMTypes = types;

int call(int n)
{
	return n + 1;
}

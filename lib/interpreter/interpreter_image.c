/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpreter/interpreter_image.h"

#include "base/macro.h"
#include "interpreter/java_layout.h"
#include "interpreter/php_layout.h"
#include "interpreter/python_layout.h"
#include "interpreter/ruby_layout.h"

static bool read_python(const struct elffile *ef, uint64_t base, struct interpreter *ret)
{
	if (!python_layout_read(ef, base, &ret->python))
		return false;
	ret->is_known = ret->python.entry != PYTHON_ENTRY_NONE;
	return true;
}

static bool python_makes_sense(const struct interpreter *i)
{
	return python_layout_makes_sense(&i->python) &&
	       i->is_known == (i->python.entry != PYTHON_ENTRY_NONE);
}

static bool read_php(const struct elffile *ef, uint64_t base, struct interpreter *ret)
{
	if (!php_layout_read(ef, base, &ret->php))
		return false;
	ret->is_known = ret->php.is_known;
	return true;
}

static bool php_makes_sense(const struct interpreter *i)
{
	return php_layout_makes_sense(&i->php) && i->is_known == i->php.is_known;
}

static bool read_ruby(const struct elffile *ef, uint64_t base, struct interpreter *ret)
{
	if (!ruby_layout_read(ef, base, &ret->ruby))
		return false;
	ret->is_known = ret->ruby.is_known;
	return true;
}

static bool ruby_makes_sense(const struct interpreter *i)
{
	return ruby_layout_makes_sense(&i->ruby) && i->is_known == i->ruby.is_known;
}

static bool read_java(const struct elffile *ef, uint64_t base, struct interpreter *ret)
{
	if (!java_layout_read(ef, base, &ret->java))
		return false;
	ret->is_known = ret->java.is_known;
	return true;
}

static bool java_makes_sense(const struct interpreter *i)
{
	return java_layout_makes_sense(&i->java) && i->is_known == i->java.is_known;
}

static const struct {
	bool (*read)(const struct elffile *ef, uint64_t base, struct interpreter *ret);
	bool (*makes_sense)(const struct interpreter *i);
} languages[] = {
	[INTERPRETER_NONE] = { NULL, NULL },
	[INTERPRETER_PYTHON] = { read_python, python_makes_sense },
	[INTERPRETER_PHP] = { read_php, php_makes_sense },
	[INTERPRETER_RUBY] = { read_ruby, ruby_makes_sense },
	[INTERPRETER_JAVA] = { read_java, java_makes_sense },
};
static_assert(ARRAY_SIZE(languages) == INTERPRETER_COUNT_, "one row each");

bool interpreter_image_read(const struct elffile *ef, uint64_t base, struct interpreter *ret)
{
	uint32_t kind;

	*ret = (struct interpreter){ 0 };
	for (kind = INTERPRETER_NONE + 1; kind < INTERPRETER_COUNT_; kind++) {
		if (!languages[kind].read(ef, base, ret))
			continue;
		ret->kind = kind;
		return true;
	}
	*ret = (struct interpreter){ 0 };
	return false;
}

bool interpreter_image_makes_sense(const struct interpreter *i)
{
	if (i->kind == INTERPRETER_NONE)
		return true; /* nothing of it is used */
	return i->kind < INTERPRETER_COUNT_ && languages[i->kind].makes_sense(i);
}

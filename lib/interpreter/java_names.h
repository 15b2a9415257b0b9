/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of Java's methods and files, from those that its virtual machine has. They come from the
 * memory of a process, so they may contain anything.
 *
 *	_cleanup_free_ char *file = java_names_file("com/acme/Shop$Cart", "Shop.java");
 *	puts(file);				"/[java]/com/acme/Shop.java"
 */
#pragma once

/* The image of a source file: @source, without a directory, in the package of @class. If there is
 * no @source, it is the name of a class, and the file is named after the outermost one. Caller
 * frees. */
char *java_names_file(const char *class_name, const char *source);
/* The path of the source in the image called @file, as compilers have it: "com/acme/Shop.java".
 * That of other languages is the name itself. Borrowed. */
const char *java_names_source(const char *file);
/* The name of a method with its class and @signature, as linkers would have it, without the address
 * of a class that was made at run time: "Lcom/acme/Shop;sell(I)V". Caller frees. */
char *java_names_method(const char *class_name, const char *name, const char *signature);

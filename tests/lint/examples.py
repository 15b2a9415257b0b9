# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples in the comments that open headers, compiled.

An example is a block of lines that begin with " *", a tab and code; one of them at least ends with a
semicolon. Within a line a tab begins a remark. "..." stands for anything: a statement, the rest of an
initialiser, a value. Lines that begin with "static" are put outside the function made of the rest.

Names that an example does not declare are declared here: as what the functions that they are handed to
take, as what the function returns that they are assigned from, as the structure of the same name, or as
a number.
"""
import os
import re
import shutil
import subprocess

SYSTEM = ("errno", "fcntl", "inttypes", "poll", "stdio", "stdlib", "string", "sys/mman", "sys/socket",
          "unistd")
JAVAC = os.path.realpath(shutil.which("javac") or "/nonexistent/bin/javac")
JDK = [option for end in ("include", "include/linux")
       for option in ("-isystem", os.path.join(os.path.dirname(os.path.dirname(JAVAC)), end))]
COMPILER = ["cc", *JDK, "-std=gnu17", "-D_GNU_SOURCE", '-DOPROFILE_VERSION=""', "-Wno-int-conversion",
            "-Werror=implicit-function-declaration", "-Werror=incompatible-pointer-types",
            "-isystem", "/usr/include/fuse3", "-fsyntax-only", "-x", "c"]
IN_PARENTHESES = r"\(((?:[^()]|\([^()]*\))*)\)"


def prototypes(text):
    """Functions that a header declares: by name, the types of what each returns and takes, with a %s
    where a name belongs."""
    text = re.sub(r"/\*.*?\*/|^\s*#[^\n]*$|_\w+_\([^()]*\)|^static \w*inline ", "", text,
                  flags=re.S | re.M)
    found = {}
    for result, name, takes in re.findall(rf"^(\w[\w ]*[ *])(\w+){IN_PARENTHESES}\s*[;{{]", text, re.M):
        kinds = re.split(r",(?![^()]*\))", " ".join(takes.split()))
        found[name] = (result + "%s", [re.sub(r"(?<=\(\*)\w+|\w+(?=(\[\w*\])?$)", "%s", kind, count=1)
                                       for kind in kinds])
    return found


class Headers:
    """What all headers declare: functions, and the members of which structures are known."""

    def __init__(self, texts):
        self.functions, self.structs = {}, set()
        for text in texts:
            self.functions.update(prototypes(text))
            self.structs.update(re.findall(r"^struct (\w+) {", text, re.M))

    def declaration(self, name, code):
        """The declaration of @name, which @code uses without one."""
        code = re.sub('"[^"\n]*"', '""', code)
        for function, arguments in re.findall(rf"(\w+){IN_PARENTHESES}", code):
            kinds = self.functions.get(function, ("", []))[1]
            for argument, kind in zip(re.split(r",(?![^({]*[)}])", arguments), kinds):
                if argument.strip() == name and "%s" in kind:
                    return kind.replace("%s", name)
                if argument.strip() == f"&{name}" and "*%s" in kind and "void *%s" not in kind:
                    kind = kind.replace("*%s", name)
                    return kind if "*" in kind else kind.replace("const ", "")
        assigned = re.search(rf"\b{name} = (\w+)\(", code)
        if assigned and assigned[1] in self.functions:
            return self.functions[assigned[1]][0].replace("%s", name)
        if name in self.structs and re.search(rf"\b{name}(\.|->)|&{name}\b", code):
            return f"struct {name} {'*' * (f'{name}->' in code)}{name}"
        return f"char **{name}" if f"*{name} = " in code else f"size_t {name}"


class Example:
    def __init__(self, path, line, block):
        self.path, self.line, self.block, self.declared = path, line, block, set()

    def holds(self, path, line):
        return path == self.path and self.line <= line < self.line + len(self.block)

    def code(self, number):
        """The example as a function of its own, each line of which has its number in the header."""
        parts = outside, inside = [], []
        part = inside
        for line in self.block:
            if line[:1] not in ("\t", "{", "}"):
                part = parts[not line.startswith("static ")]
            outside.append(line if part is outside else "")
            inside.append(line if part is inside else "")
        here = f'#line {self.line} "{self.path}"'
        takes = ", ".join(sorted(self.declared)) or "void"
        return "\n".join([here, *outside, f"static int example_{number}({takes})", "{", here, *inside,
                          "return 0;", "}", ""])


def examples(path, text):
    """The examples in the comment that opens a header."""
    opening = re.match(r"(/\* SPDX[^\n]*\n(?:#pragma once\n)?\s*)(/\*.*?\*/)", text, re.S)
    first, block = (opening[1].count("\n") + 1 if opening else 1), []
    for number, line in enumerate([*(opening[2] if opening else "").splitlines(), ""], first):
        if line.startswith(" *\t"):
            code = re.sub(r"(?<=\S)\t.*", "", line.removeprefix(" *\t"))
            code = re.sub(r"^\s*\.\.\..*| \.\.\.$", ";", code)
            block.append(re.sub(r",? \.\.\.(?= })| = \.\.\.(?=[,;])", "", code))
            continue
        if any(code.endswith(";") for code in block):
            yield Example(path, number - len(block), block)
        block = []


def compile_errors(root, included, found, headers):
    """What the compiler says of these examples together: at the first go, of names that they do not
    declare; then it knows those."""
    for _ in range(2):
        code = "".join([*(f"#include <{name}.h>\n" for name in SYSTEM),
                        *(f'#include "{path}"\n' for path in included),
                        *(example.code(i) for i, example in enumerate(found))])
        run = subprocess.run([*COMPILER, "-I", f"{root}/lib", "-I", root, "-"], input=code, text=True,
                             env={**os.environ, "LC_ALL": "C"}, capture_output=True)
        errors = re.findall(r"^([^:\n]+):(\d+):\d+: (?:fatal )?error: (.*)", run.stderr, re.M)
        for path, line, error in errors:
            name = re.search(r"'(\w+)' undeclared|undeclared identifier '(\w+)'", error)
            for example in found:
                if name and example.holds(path, int(line)):
                    example.declared.add(headers.declaration(name[1] or name[2],
                                                             "\n".join(example.block)))
    if re.search(r"(fuse_lowlevel|jvmti).h: No such file", run.stderr):  # they are optional
        return []
    return [f"{path}:{line}: {error}" for path, line, error in errors]

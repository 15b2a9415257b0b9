# SPDX-License-Identifier: GPL-2.0-or-later
"""How much stack the BPF program needs, computed as kernels do that load it.

The verifier adds up the frames of nested functions, each rounded up to 32 bytes, and refuses a program
that may need more than 512. How large a frame is depends on the compiler and the architecture, so a
change may load on one machine and be refused on another.
"""
import struct
import subprocess

LIMIT = 512
ARCHITECTURES = "x86", "arm64"
FRAME = 10  # the register that contains the address of the frame
CALL, LOAD_ADDRESS, MOVE, ADD = 0x85, 0x18, 0xbf, 0x07
STORE_CLASSES = 2, 3
LOAD_CLASS = 1
SYMBOL_TABLE, RELOCATIONS = 2, 9
FUNCTION, SECTION = 2, 3


class Object:
    """The sections, symbols and relocations of an ELF file."""

    def __init__(self, data):
        self.data = data
        at, = struct.unpack_from("<Q", data, 0x28)
        count, = struct.unpack_from("<H", data, 0x3c)
        self.sections = [struct.unpack_from("<IIQQQQII", data, at + i * 64) for i in range(count)]
        self.symbols = [symbol for section in self.sections if section[1] == SYMBOL_TABLE
                        for symbol in self.symbols_of(section)]
        self.relocations = {}
        for _, kind, _, _, offset, size, _, info in self.sections:
            for entry in range(offset, offset + size, 16) if kind == RELOCATIONS else ():
                where, what = struct.unpack_from("<QQ", data, entry)
                self.relocations[info, where] = self.symbols[what >> 32]

    def symbols_of(self, section):
        names = self.sections[section[6]][4]
        for entry in range(section[4], section[4] + section[5], 24):
            name, info, _, index, value, size = struct.unpack_from("<IBBHQQ", self.data, entry)
            end = self.data.index(b"\0", names + name)
            yield self.data[names + name:end].decode(), info & 15, index, value, size

    def instructions(self, section, start, size):
        for at in range(start, start + size, 8):
            code, registers, offset, value = struct.unpack_from("<BBhi", self.data,
                                                                self.sections[section][4] + at)
            yield at, code, registers & 15, registers >> 4, offset, value

    def callee(self, section, at, code, source, value):
        """Returns (section, offset) of the function that the instruction calls, or whose address it
        loads, or None."""
        symbol = self.relocations.get((section, at))
        if code == CALL and source == 1:
            if not symbol:
                return section, at + 8 + value * 8
            return symbol[2], (value + 1) * 8 if symbol[1] == SECTION else symbol[3]
        if code == LOAD_ADDRESS and symbol:
            return symbol[2], value if symbol[1] == SECTION else symbol[3]
        return None


def frame_bytes(instructions):
    """Returns the size of a function's frame, from the addresses that it uses."""
    lowest, copies = 0, set()
    for _, code, target, source, offset, value in instructions:
        kind = code & 7
        if kind == LOAD_CLASS and source == FRAME or kind in STORE_CLASSES and target == FRAME:
            lowest = min(lowest, offset)
        if code == MOVE and source == FRAME:
            copies.add(target)
        elif code == ADD and target in copies:
            lowest = min(lowest, value)
            copies.remove(target)
    return -lowest


def deepest(functions, name):
    """Returns how much stack the function needs with all that it calls, and the calls."""
    frame, callees = functions[name]
    below, calls = max((deepest(functions, callee) for callee in callees), default=(0, []))
    return (max(frame, 1) + 31) // 32 * 32 + below, [f"{name} {frame}", *calls]


def functions_of(elf):
    """Returns each function with its frame's size and the functions that it calls."""
    names = {symbol[2:4]: symbol[0] for symbol in elf.symbols if symbol[1] == FUNCTION}
    functions = {}
    for name, kind, section, start, size in elf.symbols:
        if kind != FUNCTION:
            continue
        code = list(elf.instructions(section, start, size))
        callees = {names.get(elf.callee(section, at, code, source, value))
                   for at, code, _, source, _, value in code}
        functions[name] = frame_bytes(code), callees - {None}
    return functions


def stack_errors(root):
    """Returns for each architecture the calls that need too much stack."""
    triplet = subprocess.run(["cc", "-print-multiarch"], text=True, capture_output=True).stdout.strip()
    for architecture in ARCHITECTURES:
        run = subprocess.run(["clang", "-target", "bpf", "-mcpu=v3", "-O2", "-g", "-I", root,
                              f"-D__TARGET_ARCH_{architecture}", "-isystem", f"/usr/include/{triplet}",
                              "-c", f"{root}/bpf/sample.bpf.c", "-o", "-"], capture_output=True)
        if run.returncode:
            yield f"{architecture}: {run.stderr.decode().splitlines()[0]}"
            continue
        functions = functions_of(Object(run.stdout))
        need, calls = max(deepest(functions, name) for name in functions)
        if need > LIMIT:
            yield f"{architecture}: {need} bytes of stack, more than {LIMIT}: {', '.join(calls)}"

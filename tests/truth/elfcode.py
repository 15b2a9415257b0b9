# SPDX-License-Identifier: GPL-2.0-or-later
"""Code of ELF files for 64-bit little-endian machines, read without the tools' library: functions from the
table of .eh_frame_hdr, slots of the linkage table and their symbols, instructions from objdump.

    image = Code("/usr/lib/x86_64-linux-gnu/libc.so.6")
    image.address(offset), image.function(address)
    instructions({(image, start, end)})     # {(image, start): {address: (text, next address)}}
"""
import bisect
import os
import re
import struct
import subprocess
import tempfile

SHT_RELA, SHT_DYNSYM, SHT_NOBITS, STT_IFUNC, STT_FUNC = 4, 11, 8, 10, 2
NOPS = b"\x90" * 16
RESTORE_RT = bytes.fromhex("48c7c00f0000000f05")  # mov $15,%rax; syscall
MOV_RBX_RSP = b"\x48\x89\xdc"
ENDBR64 = bytes.fromhex("f30f1efa")


class Code:
    def __init__(self, path, name=None):
        with open(path, "rb") as file:
            self.data = file.read()
        self.path, self.name = path, name or path
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path}: no 64-bit little-endian ELF file")
        header = struct.unpack_from("<HHIQQQIHHHHHH", self.data, 16)
        self.machine, segments, sections = header[1], header[4], header[5]
        self.segments = [struct.unpack_from("<IIQQQQQQ", self.data, segments + i * header[8])
                         for i in range(header[9])]
        self.sections = self.read_sections(sections, header[11], header[12])
        self.starts = self.read_functions()
        # ->canonical: where the program's own linkage table has the address of a symbol for all.
        self.slots, self.symbols, self.canonical = {}, {}, {}
        self.read_symbols()

    def read_sections(self, at, count, names):
        """{name: (type, address, offset, size)}"""
        rows = [struct.unpack_from("<IIQQQQIIQQ", self.data, at + i * 64) for i in range(count)]
        found = {}
        for row in rows:
            first = rows[names][4] + row[0]
            name = self.data[first:self.data.index(b"\0", first)].decode("utf-8", "replace")
            found.setdefault(name, (row[1], row[3], row[4], row[5]))
        return found

    def address(self, offset):
        for kind, _, start, address, _, size, _, _ in self.segments:
            if kind == 1 and start <= offset < start + size:
                return offset - start + address
        return None

    def bytes_at(self, address, size):
        for kind, _, start, base, _, length, _, _ in self.segments:
            if kind == 1 and base <= address < base + length:
                first = start + address - base
                return self.data[first:first + min(size, base + length - address)]
        return b""

    def read_functions(self):
        """Start addresses out of the search table, which linkers write in one encoding only."""
        for kind, _, offset, address, _, size, _, _ in self.segments:
            if kind != 0x6474e550 or self.data[offset:offset + 4] != b"\x01\x1b\x03\x3b":
                continue
            count = struct.unpack_from("<I", self.data, offset + 8)[0]
            count = min(count, (size - 12) // 8)
            table = struct.unpack_from(f"<{2 * count}i", self.data, offset + 12)
            # Made of pieces of several files, which nothing describes.
            bare = {self.sections[name][1] for name in (".init", ".fini") if name in self.sections}
            return sorted({address + start for start in table[0::2]} | bare)
        return []

    def read_symbols(self):
        text = subprocess.run(["readelf", "-W", "--dyn-syms", "-r", self.path], capture_output=True,
                              check=False, env={**os.environ, "LC_ALL": "C"})
        for line in text.stdout.decode("utf-8", "replace").splitlines():
            m = re.match(r" *\d+: ([0-9a-f]+) +\S+ (\S+) +\S+ +\S+ +(\S+) (\S+)", line)
            if m and m[3] != "UND":
                self.symbols.setdefault(m[4].partition("@")[0], []).append((int(m[1], 16), m[2]))
                continue
            if m and int(m[1], 16):
                self.canonical[m[4].partition("@")[0]] = int(m[1], 16)
                continue
            m = re.match(r"([0-9a-f]{12,}) +[0-9a-f]+ (R_\S+) +[0-9a-f]+ +(\S+)(?: \+ [0-9a-f]+)?$", line)
            if m:
                self.slots[int(m[1], 16)] = m[3].partition("@")[0]
                continue
            m = re.match(r"([0-9a-f]{12,}) +[0-9a-f]+ (R_\S+) +([0-9a-f]+)$", line)
            if m:
                self.slots[int(m[1], 16)] = int(m[3], 16)

    def function(self, address):
        """Start of the function that @address is in, as far as call frame information shows."""
        index = bisect.bisect_right(self.starts, address)
        return self.starts[index - 1] if index else None

    def end(self, start):
        index = bisect.bisect_right(self.starts, start)
        return self.starts[index] if index < len(self.starts) else start + 4096

    def in_plt(self, address):
        return any(name.startswith(".plt") and start <= address < start + size
                   for name, (_, start, _, size) in self.sections.items())

    def slot_of_plt(self, address):
        """The symbol (or address) that the entry of the linkage table at @address jumps to."""
        code = self.bytes_at(address, 16)
        code = code[4:] if code.startswith(ENDBR64) else code
        skipped = 16 - len(code)
        prefix = 1 if code[:1] == b"\xf2" else 0
        if code[prefix:prefix + 2] == b"\xff\x25":
            slot = address + skipped + prefix + 6 + struct.unpack_from("<i", code, prefix + 2)[0]
            return self.slots.get(slot)
        if code[:1] == b"\x68":  # push of a number; the jump follows in .plt.sec
            return "lazy"
        return None

    def is_context_start(self, address):
        """Whether a function starts there that replaces its stack at once, so that nothing can have
        called it: it is only returned to."""
        return self.function(address) == address and self.bytes_at(address, 3) == MOV_RBX_RSP

    def is_signal_return(self, address):
        """Whether a signal handler returns there (plus one: opchains(5)), or its return has entered
        the kernel there."""
        return RESTORE_RT in (self.bytes_at(address - back, len(RESTORE_RT))
                              for back in (0, 1, len(RESTORE_RT) - 2, len(RESTORE_RT)))


class Generated(Code):
    """What a process generated, as it is next to the session's chains: opjit(5)."""

    def read_functions(self):
        """Start addresses out of the table of symbols, without pieces whose code the process did not
        write."""
        self.sizes = {}
        _, _, offset, size = self.sections.get(".symtab", (0, 0, 0, 0))
        for _, info, _, _, value, length in struct.iter_unpack("<IBBHQQ", self.data[offset:offset + size]):
            if info & 15 == STT_FUNC and any(self.bytes_at(value, length)):
                self.sizes[value] = length
        return sorted(self.sizes)

    def function(self, address):
        start = super().function(address)
        return start if start is not None and address < start + self.sizes[start] else None

    def end(self, start):
        return start + self.sizes[start]


def instructions(wanted):
    """Disassembles functions, given as (image, start, end), all with one run of objdump."""
    blob, places = bytearray(), []
    for image, start, end in sorted(wanted, key=lambda w: (w[0].path, w[1])):
        code = image.bytes_at(start, end - start)
        places.append((len(blob), image, start, len(code)))
        blob += code + NOPS
    with tempfile.NamedTemporaryFile() as file:
        file.write(blob)
        file.flush()
        done = subprocess.run(["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-w", "-z",
                               "--no-show-raw-insn", file.name], capture_output=True, check=True)
    found, begins = {}, [place[0] for place in places]
    last = None
    for line in done.stdout.decode("ascii", "replace").splitlines():
        address, colon, text = line.partition(":\t")
        if not colon:
            continue
        at = int(address, 16)
        begin, image, start, size = places[bisect.bisect_right(begins, at) - 1]
        here = at - begin + start
        if last and last[0] == (image, start):
            insns = found.setdefault(last[0], {})
            insns[last[1]] = (moved(last[2], start - begin), here)
        last = ((image, start), here, text) if at < begin + size else None
    return found


def moved(text, by):
    """Targets of jumps and calls, which objdump shows as addresses in the blob."""
    if "0x" not in text or not re.search(r"\b(?:call|j[a-z]+)\b", text):
        return text.strip()
    return re.sub(r"^((?:\S+ +)*?(?:call|j[a-z]+)(?:,p[nt])? +)0x([0-9a-f]+)$",
                  lambda m: f"{m[1]}0x{(int(m[2], 16) + by) & (2 ** 64 - 1):x}", text.strip())

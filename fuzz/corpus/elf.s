# SPDX-License-Identifier: GPL-2.0-or-later
# The recipe of corpus/elf: gcc -c elf.s -o relocatable; gcc -nostdlib -shared -Wl,--hash-style=gnu
# -Wl,-z,noseparate-code -Wl,-z,norelro -Wl,--build-id=0x0123456789abcdef relocatable -o shared;
# then objcopy --add-gnu-debuglink=FILE shared. segments is shared with its section headers
# zeroed (bytes 40 to 47 and 58 to 63).
.globl _start
.type _start,@function
_start: call puts@plt
 ret
.size _start,.-_start
.type helper,@function
helper: ret
.size helper,.-helper

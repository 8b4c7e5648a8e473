#!/usr/bin/env python3
"""Runs the products of tests/sycl/products.cpp, compiled for an AMD GPU, in tinygrad's emulator of machine code of RDNA 3 and
CDNA, and compares them with NumPy's. Elements are small integers, so no bit may differ. By hand; docs/elsewhere.md says how.

  python3 tests/hip/emulate.py <checkout of tinygrad> <code object> f16_f32     (numpy and pyelftools from PyPI)
"""
import argparse
import ctypes
import importlib.util
import mmap
import os
import struct
import sys

import numpy as np
from elftools.elf.elffile import ELFFile

ACCESSES = 16  # as arguments.hpp has it
FORMAT = "<QQQ6q3qiiddi4xqQQ4q"  # struct product
BFLOAT = "bf16"
MACHINES = {0x41: "rdna3", 0x4c: "cdna", 0x4f: "cdna"}  # gfx1100, gfx942, gfx950
TYPES = {  # elements of A, B and C
    "f32": (np.float32,) * 3, "f64": (np.float64,) * 3, "i32": (np.uint32,) * 3, "i8_i32": (np.int8, np.int8, np.uint32),
    "c32": (np.complex64,) * 3, "f16_f32": (np.float16, np.float16, np.float32), "bf16_f32": (BFLOAT, BFLOAT, np.float32),
}


def load_emulator(checkout):
    """Its function run_asm, with what it lacks (commit a9069c177a): s_getpc, s_setpc and s_swappc; loads from local memory into
    one half of a register, which must leave the other half; and global_load_lds."""
    sys.path[:0] = [checkout, os.path.join(checkout, "test")]
    os.environ.setdefault("CPU", "1")
    path = os.path.join(checkout, "test/mockgpu/amd/emu.py")
    with open(path) as file:
        text = file.read()

    def add(anchor, lines):
        nonlocal text
        if text.count(anchor) != 1:
            sys.exit(f"{path} is another than the one this was written for: no place to add what it lacks")
        indent = " " * (len(anchor) - len(anchor.lstrip()))
        text = text.replace(anchor, anchor + "".join(f"\n{indent}{line}" for line in lines))

    add("    srcs = {'S0': ctx.rsrc_dyn(ssrc0_off, None, bits['s0'], literal)}", [
        "if any(jump in _op_name(inst) for jump in ('GETPC', 'SETPC', 'SWAPPC')):",
        "  low, high = _split64(ctx.rpc() + UOp.const(inst.size(), dtypes.uint64))",
        "  target = [ctx.rsgpr_dyn(ssrc0_off), ctx.rsgpr_dyn(ssrc0_off + _c(1))]",
        "  kept = [] if 'SETPC' in _op_name(inst) else [ctx.wsgpr_dyn(sdst_off, low), ctx.wsgpr_dyn(sdst_off + _c(1), high)]",
        "  if 'GETPC' in _op_name(inst): return UOp.sink(*kept, *ctx.inc_pc())",
        "  return UOp.sink(*kept, ctx.wsgpr_dyn(_c(PC_LO_IDX), target[0]), ctx.wsgpr_dyn(_c(PC_HI_IDX), target[1]))",
    ])
    add("        bit_width, dword_idx = int(m.group(1)) - int(m.group(2)) + 1, int(m.group(2)) // 32", [
        "if bit_width < 32:",
        "  bits, at, reg = (1 << bit_width) - 1, int(m.group(2)) % 32, vdst_reg + _c(dword_idx)",
        "  rest = (ctx.raccvgpr_dyn if use_acc else ctx.rvgpr_dyn)(reg, lane) & _c(0xffffffff ^ bits << at)",
        "  return [_wdata(reg, rest | (_to_u32(val) & _c(bits)) << _c(at), lane, exec_mask)]",
    ])
    add('  """Unified memory operation compiler for DS, FLAT, GLOBAL, SCRATCH."""', [
        "if 'LOAD_LDS' in _op_name(inst):",
        "  lane, wide, size = ctx.range(), dtypes.uint64, 16 if 'X4' in _op_name(inst) else 4",
        "  addr_reg, saddr_reg = ctx.inst_field(type(inst).addr), ctx.inst_field(type(inst).saddr)",
        "  active, low = _lane_active(ctx.rexec(), lane), ctx.rvgpr_dyn(addr_reg, lane)",
        "  offset = ctx.inst_field_signed(type(inst).offset)",
        "  base = (saddr_reg < _c(124)).where(_u64(ctx.rsgpr_dyn(saddr_reg), ctx.rsgpr_dyn(saddr_reg + _c(1))) + low.cast(wide),",
        "                                     _u64(low, ctx.rvgpr_dyn(addr_reg + _c(1), lane)))",
        "  first, stores = (ctx.rsgpr_dyn(_c(124)) & _c(0x3ffff)) + lane.cast(dtypes.uint32) * _c(size), []",
        "  for at in range(0, size, 4):",
        "    word = (base + offset.cast(dtypes.int64).cast(wide) + UOp.const(at, wide)) >> UOp.const(2, wide)",
        "    x = ctx.vmem.index(word.cast(dtypes.int64).valid(active)).load()",
        "    stores.append(ctx.lds.index(((first + _c(at)) >> _c(2)).valid(active)).store(x))",
        "  return UOp.sink(UOp.group(*stores).end(lane), *ctx.inc_pc())",
    ])
    spec = importlib.util.spec_from_file_location("keramos_emulator", path)
    emulator = importlib.util.module_from_spec(spec)
    exec(compile(text, path, "exec"), emulator.__dict__)
    return emulator.run_asm


class CodeObject:
    def __init__(self, path, run_asm):
        self.run_asm = run_asm
        with open(path, "rb") as file:
            elf = ELFFile(file)
            self.arch = MACHINES[elf["e_flags"] & 0xff]
            loaded = [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD"]
            self.size = max(s["p_vaddr"] + s["p_memsz"] for s in loaded) + 4096
            self.memory = mmap.mmap(-1, self.size)
            for s in loaded:
                self.memory[s["p_vaddr"]:s["p_vaddr"] + s["p_filesz"]] = s.data()
            self.symbols = {s.name: s["st_value"] for s in elf.get_section_by_name(".symtab").iter_symbols()}
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        # The emulator has no caches, nor instructions that empty them: buffer_gl0_inv, buffer_gl1_inv.
        nothing = struct.pack("<II", 0xbf800000, 0xbf800000)
        for word in (0xe0ac0000, 0xe0b00000):
            at = self.memory.find(struct.pack("<II", word, 0))
            while at >= 0:
                if at % 4 == 0:
                    self.memory[at:at + 8] = nothing
                at = self.memory.find(struct.pack("<II", word, 0), at + 4)

    def run(self, kernel, blocks, threads, arguments):
        """As LLVM's "User Guide for AMDGPU Backend" has kernel descriptors and the registers at a kernel's begin."""
        descriptor = self.symbols[kernel + ".kd"]
        local, private, argument_bytes = struct.unpack_from("<III", self.memory, descriptor)
        entry, = struct.unpack_from("<q", self.memory, descriptor + 16)
        rsrc2, properties = struct.unpack_from("<IH", self.memory, descriptor + 52)
        buffer = ctypes.create_string_buffer(arguments.ljust(argument_bytes, b"\0"), max(argument_bytes, len(arguments)))
        address = ctypes.addressof(buffer)
        registers = []
        for bit, values in enumerate([[0] * 4, [0] * 2, [0] * 2, [address & 0xffffffff, address >> 32], [0] * 2, [0] * 2,
                                      [private]]):
            if properties >> bit & 1:
                registers += values
        rsrc2 = rsrc2 & ~(0x1ff << 15) | (local + 511) // 512 << 15
        self.run_asm(self.address + descriptor + entry, self.size, blocks, 1, 1, threads, 1, 1, address, rsrc2=rsrc2,
                     scratch_size=private, arch=self.arch, user_data=registers)


class Matrix:
    """rows x cols small integers in memory along the rows or the columns, from a multiple of 16 bytes on, or from none."""

    def __init__(self, random, element, rows, cols, along_rows, in_vectors):
        self.values = random.integers(-2, 3, (rows, cols))
        stored = np.uint16 if element == BFLOAT else element
        if np.issubdtype(stored, np.complexfloating):
            self.values = self.values + 1j * random.integers(-2, 3, (rows, cols))
        size = np.dtype(stored).itemsize
        vector = max(1, 16 // size)
        extent, others = (cols, rows) if along_rows else (rows, cols)
        pitch = -(-extent // vector) * vector + (not in_vectors)
        self.memory = np.zeros(pitch * others + 2 * vector, stored)
        offset = -self.memory.ctypes.data % 16 // size + (not in_vectors)
        self.address = self.memory.ctypes.data + offset * size
        self.strides = (pitch, 1) if along_rows else (1, pitch)
        placed = np.lib.stride_tricks.as_strided(self.memory[offset:], (rows, cols), [s * size for s in self.strides])
        placed[:] = (self.values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16) if element == BFLOAT \
            else self.values.astype(stored)


def wrong_elements(code, kernel, access, elements, random, block, shape, beta, k_per_part):
    m, n, k = shape
    conjugates = access & 8 != 0
    a = Matrix(random, elements[0], m, k, access & 1 != 0, access & 4 != 0)
    b = Matrix(random, elements[1], k, n, access & 2 == 0, access & 4 != 0)
    c = random.integers(-2, 3, (m, n + 1)).astype(elements[2])  # a column more, which must stay
    expected = c.copy()
    product = 2 * ((a.values.conj() if conjugates else a.values) @ b.values)
    with np.errstate(over="ignore"):
        expected[:, :n] = product.astype(np.int64).astype(elements[2]) if not np.iscomplexobj(product) else product
        expected[:, :n] += (np.array(beta).astype(elements[2]) * c[:, :n]).astype(elements[2])
    tiles = -(-m // block[0]) * -(-n // block[1])
    parts = -(-k // k_per_part) if k_per_part else 1
    sums = np.full(tiles * parts * block[0] * block[1], np.nan, np.complex128)
    arrivals = np.zeros(tiles * parts, np.int32)
    code.run(kernel, tiles * parts, block[3],
             struct.pack(FORMAT, a.address, b.address, c.ctypes.data, a.strides[0], a.strides[1], b.strides[1], b.strides[0],
                         n + 1, 1, m, n, k, conjugates, 0, 2, beta, parts, k_per_part or k, sums.ctypes.data,
                         arrivals.ctypes.data, 1, 0, 0, 0))
    return int((c != expected).sum()) + int(arrivals.any())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tinygrad")
    parser.add_argument("code_object")
    parser.add_argument("type", choices=TYPES)
    parser.add_argument("--rows", type=int, default=3, help="of the tile table, from the first on")
    options = parser.parse_args()
    code = CodeObject(options.code_object, load_emulator(os.path.abspath(options.tinygrad)))
    random = np.random.default_rng(42)

    described = np.zeros((3 * ACCESSES, 5), np.int32)
    code.run("describe", 1, 1, struct.pack("<Q", described.ctypes.data))
    count = wrong = 0
    for number, (threads, block_m, block_n, block_k, splits_k) in enumerate(described[:options.rows * ACCESSES].tolist()):
        if threads == 0:
            continue
        kernel, access = f"product_{number // ACCESSES}_{number % ACCESSES}", number % ACCESSES
        cases = [((block_m, block_n, 2 * block_k), 0, 0), ((block_m // 2 + 5, block_n + 3, block_k + 7), -1, 0),
                 ((block_m, block_n + 1, 3 * block_k + 7), -1, 0)]
        if splits_k:
            cases.append(((33, 18, 5 * block_k - 3), -1, 2 * block_k))
        for shape, beta, k_per_part in cases:
            here = wrong_elements(code, kernel, access, TYPES[options.type], random, (block_m, block_n, block_k, threads), shape,
                                  beta, k_per_part)
            count += 1
            wrong += here > 0
            if here > 0:
                print(f"{kernel}: {here} elements of {shape} are wrong, beta {beta}, parts of {k_per_part}")
    print(f"{options.type}: {count} products, {wrong} wrong")
    sys.exit(1 if wrong or not count else 0)


if __name__ == "__main__":
    main()

import { dlopen, ptr } from "bun:ffi";

/** From include/uapi/asm-generic/socket.h. Attaching classic BPF needs no privilege. */
const SOL_SOCKET = 1;
const SO_ATTACH_REUSEPORT_CBPF = 51;
const SO_DETACH_REUSEPORT_BPF = 68;

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, constant: number];

/**
 * Makes the kernel choose randomly among the listeners at these indexes; null: among all, which is its default. It also falls back to
 * its default if an index no longer exists.
 */
export function setReusePortFilter(descriptor: number, places: readonly number[] | null): boolean {
  const { setsockopt } = openLibrary();
  if (places === null) {
    const unused = new Int32Array(1);
    return setsockopt(descriptor, SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, ptr(unused), unused.byteLength) === 0;
  }
  if (places.length === 0) return false;
  const program = encoded(chooseAmong(places));
  // struct sock_fprog: number of instructions, then a pointer aligned to eight bytes.
  const head = new DataView(new ArrayBuffer(16));
  head.setUint16(0, program.byteLength / instructionBytes, true);
  head.setBigUint64(8, BigInt(ptr(program)), true);
  const bytes = new Uint8Array(head.buffer);
  return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, ptr(bytes), bytes.byteLength) === 0;
}

const instructionBytes = 8;

/** Takes a random number modulo the count, and branches for each remainder. Codes from include/uapi/linux/bpf_common.h. */
function chooseAmong(places: readonly number[]): readonly Instruction[] {
  const LOAD_WORD = 0x20;
  const MODULO = 0x94;
  const JUMP_IF_EQUAL = 0x15;
  const RETURN = 0x06;
  // SKF_AD_OFF + SKF_AD_RANDOM from include/uapi/linux/filter.h.
  const RANDOM = 0xfffff000 + 56;
  return [
    [LOAD_WORD, 0, 0, RANDOM],
    [MODULO, 0, 0, places.length],
    ...places.flatMap((place, remainder): Instruction[] => [
      [JUMP_IF_EQUAL, 0, 1, remainder],
      [RETURN, 0, 0, place],
    ]),
    [RETURN, 0, 0, places[0] ?? 0],
  ];
}

/** struct sock_filter: u16 code, u8 jt, u8 jf, u32 k. */
function encoded(program: readonly Instruction[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(program.length * instructionBytes));
  for (const [index, [code, jumpTrue, jumpFalse, constant]] of program.entries()) {
    const at = index * instructionBytes;
    view.setUint16(at, code, true);
    view.setUint8(at + 2, jumpTrue);
    view.setUint8(at + 3, jumpFalse);
    view.setUint32(at + 4, constant, true);
  }
  return new Uint8Array(view.buffer);
}

/** The C library by its name on glibc and musl. Throws if there is neither. */
function openLibrary() {
  const names = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];
  let last: unknown;
  for (const name of names) {
    try {
      const { symbols } = dlopen(name, { setsockopt: { args: ["int", "int", "int", "ptr", "u32"], returns: "int" } });
      return symbols;
    } catch (thrown) {
      last = thrown;
    }
  }
  throw last;
}

/** The type of each field: a scalar or a message. `*` after a type: repeated. */
export interface Shape {
  readonly [field: number]: readonly [name: string, kind: Kind];
}
type Scalar =
  | "string"
  | "hex"
  | "varint"
  | "int64"
  | "fixed64"
  | "fixed32"
  | "double"
  | "bool"
  | "doubles"
  | "fixed64s";
type Kind = Scalar | `${Scalar}*` | Shape | readonly [Shape] | (() => Shape | readonly [Shape]);

type Message = Record<string, unknown>;

/** Decodes Protocol Buffers by a shape. Skips fields that the shape lacks. */
export function readMessage(bytes: Uint8Array, shape: Shape): Message {
  const out: Message = {};
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error("The message ends within a number.");
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    let raw: bigint | Uint8Array;
    if (wire === 0) raw = varint();
    else if (wire === 1) {
      raw = view.getBigUint64(at, true);
      at += 8;
    } else if (wire === 5) {
      raw = BigInt(view.getUint32(at, true));
      at += 4;
    } else if (wire === 2) {
      const length = Number(varint());
      raw = bytes.subarray(at, at + length);
      if (raw.length !== length) throw new Error("The message ends within a field.");
      at += length;
    } else throw new Error(`There is no wire type ${wire}.`);
    const field = shape[tag >>> 3];
    if (field !== undefined) put(out, field[0], field[1], raw);
  }
  return out;
}

function put(out: Message, name: string, kind: Kind, raw: bigint | Uint8Array): void {
  const resolved = typeof kind === "function" ? kind() : kind;
  if (typeof resolved === "object") {
    const repeated = Array.isArray(resolved);
    const read = readMessage(raw as Uint8Array, (repeated ? resolved[0] : resolved) as Shape);
    if (repeated) out[name] = [...((out[name] as unknown[] | undefined) ?? []), read];
    else out[name] = read;
    return;
  }
  const repeated = resolved.endsWith("*");
  const value = scalar(resolved.replace("*", "") as Scalar, raw);
  if (repeated) out[name] = [...((out[name] as unknown[] | undefined) ?? []), value];
  else out[name] = value;
}

function scalar(kind: Scalar, raw: bigint | Uint8Array): unknown {
  if (raw instanceof Uint8Array) {
    const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
    const each = Array.from({ length: raw.length / 8 }, (_, place) => place * 8);
    if (kind === "string") return new TextDecoder("utf-8", { fatal: true }).decode(raw);
    if (kind === "doubles") return each.map((place) => view.getFloat64(place, true));
    if (kind === "fixed64s") return each.map((place) => Number(view.getBigUint64(place, true)));
    return Buffer.from(raw).toString("hex");
  }
  if (kind === "double") {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, raw);
    return view.getFloat64(0);
  }
  if (kind === "bool") return raw === 1n;
  if (kind === "int64") return Number(BigInt.asIntN(64, raw));
  return kind === "fixed64" ? raw : Number(raw);
}

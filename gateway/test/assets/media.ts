/**
 * Minimal files built from each format's specification. They contain a header and no picture, which is enough for
 * code that reads headers only.
 */
export interface Sides {
  readonly width: number;
  readonly height: number;
}

const latin = (text: string): Buffer => Buffer.from(text, "latin1");
const be16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);
const be32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const le = (value: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntLE(value, 0, length);
  return bytes;
};
const join = (...parts: readonly Buffer[]): Buffer => Buffer.concat(parts);

export const filler = (length: number): Buffer => Buffer.alloc(length, 7);

export function png({ width, height }: Sides, rest = filler(40)): Buffer {
  return join(latin("\x89PNG\r\n\x1a\n"), be32(13), latin("IHDR"), be32(width), be32(height), filler(9), rest);
}

export function gif({ width, height }: Sides): Buffer {
  return join(latin("GIF89a"), le(width, 2), le(height, 2), filler(60));
}

/** `header` 12 is the oldest format; a negative height means rows from the top. */
export function bmp({ width, height }: Sides, header: 12 | 40 = 40): Buffer {
  const sides =
    header === 12
      ? join(le(width, 2), le(height, 2))
      : join(le(width, 4), le(height < 0 ? height + 2 ** 32 : height, 4));
  return join(latin("BM"), le(200, 4), Buffer.alloc(4), le(54, 4), le(header, 4), sides, filler(60));
}

/** With a profile and a preview before the frame, as cameras write them. */
export function jpeg({ width, height }: Sides, frame = 0xc0, before = 70_000): Buffer {
  const segments: Buffer[] = [];
  for (let left = before; left > 0; left -= 60_000) {
    const length = Math.min(left, 60_000);
    segments.push(join(Buffer.from([0xff, 0xff, 0xe1]), be16(length + 2), filler(length)));
  }
  const start = join(Buffer.from([0xff, frame]), be16(17), Buffer.from([8]), be16(height), be16(width), filler(10));
  return join(Buffer.from([0xff, 0xd8]), ...segments, Buffer.from([0xff, 0xc4]), be16(4), filler(2), start, filler(60));
}

export function webp({ width, height }: Sides, form: "VP8 " | "VP8L" | "VP8X"): Buffer {
  const inside = {
    "VP8 ": () => join(filler(3), Buffer.from([0x9d, 0x01, 0x2a]), le(width | 0x4000, 2), le(height, 2)),
    VP8L: () => join(Buffer.from([0x2f]), le((width - 1) | ((height - 1) << 14), 4)),
    VP8X: () => join(Buffer.alloc(4), le(width - 1, 3), le(height - 1, 3)),
  }[form]();
  return join(latin("RIFF"), le(100, 4), latin("WEBP"), latin(form), le(inside.length, 4), inside, filler(60));
}

/** Its directory follows the picture, as most programs write it. */
export function tiff({ width, height }: Sides, order: "II" | "MM"): Buffer {
  const number = (value: number, length: number): Buffer =>
    order === "II" ? le(value, length) : le(value, length).reverse();
  const entry = (tag: number, type: number, value: Buffer): Buffer =>
    join(number(tag, 2), number(type, 2), number(1, 4), value, Buffer.alloc(4 - value.length));
  const at = 100_000;
  const entries = [entry(254, 4, number(0, 4)), entry(256, 3, number(width, 2)), entry(257, 4, number(height, 4))];
  return join(latin(order), number(42, 2), number(at, 4), filler(at - 8), number(entries.length, 2), ...entries);
}

function box(name: string, ...inside: readonly Buffer[]): Buffer {
  const bytes = join(...inside);
  return join(be32(bytes.length + 8), latin(name), bytes);
}

/** A box with a 64-bit length. */
function wideBox(name: string, inside: Buffer): Buffer {
  return join(be32(1), latin(name), be32(0), be32(inside.length + 16), inside);
}

export function heic(...extents: readonly Sides[]): Buffer {
  const spatial = extents.map(({ width, height }) => box("ispe", Buffer.alloc(4), be32(width), be32(height)));
  const properties = box("iprp", box("ipco", box("colr", filler(9)), ...spatial));
  return join(
    box("ftyp", latin("heic"), be32(0), latin("mif1")),
    box("meta", Buffer.alloc(4), box("hdlr", filler(20)), properties),
  );
}

/** The movie box follows the pictures, as recorders write it. */
export function mp4(seconds: number, brand = "isom", version: 0 | 1 = 0): Buffer {
  const scale = 600;
  const length = Math.round(seconds * scale);
  const inside =
    version === 0
      ? join(Buffer.alloc(4), filler(8), be32(scale), be32(length))
      : join(Buffer.from([1, 0, 0, 0]), filler(16), be32(scale), be32(0), be32(length));
  return join(
    box("ftyp", latin(brand), be32(0)),
    wideBox("mdat", filler(90_000)),
    box("moov", box("mvhd", inside, filler(80))),
  );
}

export function wav(seconds: number): Buffer {
  const perSecond = 8_000;
  const format = join(le(1, 2), le(1, 2), le(8_000, 4), le(perSecond, 4), le(1, 2), le(8, 2));
  const data = filler(Math.round(seconds * perSecond));
  const chunk = (name: string, bytes: Buffer): Buffer =>
    join(latin(name), le(bytes.length, 4), bytes, Buffer.alloc(bytes.length % 2));
  return join(
    latin("RIFF"),
    le(0, 4),
    latin("WAVE"),
    chunk("fmt ", format),
    chunk("LIST", filler(33)),
    chunk("data", data),
  );
}

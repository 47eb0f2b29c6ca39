import { bounds } from "#core/index.ts";
import type { ByteView } from "./blob-view.ts";
import { boxesIn, findBox, wholeFile } from "./boxes.ts";

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

type Reader = (view: ByteView) => Promise<ImageSize | null>;

/** The sides of a picture in pixels; null where its header cannot be read. Rotation marks are not looked at. */
export async function imageSizeOf(view: ByteView, contentType: string): Promise<ImageSize | null> {
  const size = (await readers[contentType]?.(view)) ?? null;
  return size === null || size.width === 0 || size.height === 0 ? null : size;
}

const readers: Readonly<Record<string, Reader>> = {
  "image/png": (view) => fixed(view, 24, (head) => [head.readUInt32BE(16), head.readUInt32BE(20)]),
  "image/gif": (view) => fixed(view, 10, (head) => [head.readUInt16LE(6), head.readUInt16LE(8)]),
  "image/bmp": (view) => fixed(view, 26, bitmapSides),
  "image/webp": (view) => fixed(view, 30, webpSides),
  "image/jpeg": jpegSize,
  "image/tiff": tiffSize,
  "image/heic": heicSize,
};

async function fixed(
  view: ByteView,
  length: number,
  sides: (head: Buffer) => readonly [number, number] | null,
): Promise<ImageSize | null> {
  const head = Buffer.from(await view.at(0, length));
  const found = head.length < length ? null : sides(head);
  return found === null ? null : { width: found[0], height: found[1] };
}

/** The oldest header (12 bytes) has 16-bit sides; in the others a negative height means rows from the top. */
function bitmapSides(head: Buffer): readonly [number, number] {
  if (head.readUInt32LE(14) === 12) return [head.readUInt16LE(18), head.readUInt16LE(20)];
  return [Math.abs(head.readInt32LE(18)), Math.abs(head.readInt32LE(22))];
}

/** https://developers.google.com/speed/webp/docs/riff_container: lossy, lossless and extended begin differently. */
function webpSides(head: Buffer): readonly [number, number] | null {
  const form = head.toString("latin1", 12, 16);
  if (form === "VP8 ") return [head.readUInt16LE(26) & 0x3fff, head.readUInt16LE(28) & 0x3fff];
  if (form === "VP8X") return [head.readUIntLE(24, 3) + 1, head.readUIntLE(27, 3) + 1];
  if (form !== "VP8L") return null;
  const bits = head.readUInt32LE(21);
  return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
}

/** From marker to marker until a frame begins; colour profiles and previews before it may be large. */
async function jpegSize(view: ByteView): Promise<ImageSize | null> {
  let at = 2;
  for (let seen = 0; seen < bounds.mediaPartsMax; seen++) {
    const head = Buffer.from(await view.at(at, 9));
    if (head.length < 9 || head[0] !== 0xff) return null;
    const marker = head[1] ?? 0;
    // A marker may be filled up with further ff; 01 and the restarts stand alone.
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return { width: head.readUInt16BE(7), height: head.readUInt16BE(5) };
    } else at += 2 + head.readUInt16BE(2);
  }
  return null;
}

/** The first directory, wherever it is: tag 256 is the width, 257 the height, in 16 or 32 bits. */
async function tiffSize(view: ByteView): Promise<ImageSize | null> {
  const head = Buffer.from(await view.at(0, 8));
  if (head.length < 8) return null;
  const little = head[0] === 0x49;
  const short = (bytes: Buffer, at: number): number => (little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const long = (bytes: Buffer, at: number): number => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const directory = long(head, 4);
  const counted = Buffer.from(await view.at(directory, 2));
  if (counted.length < 2) return null;
  const count = Math.min(short(counted, 0), bounds.mediaPartsMax);
  const entries = Buffer.from(await view.at(directory + 2, count * 12));
  const fieldOf = (tag: number): number | null => {
    for (let at = 0; at + 12 <= entries.length; at += 12) {
      if (short(entries, at) === tag)
        return short(entries, at + 2) === 3 ? short(entries, at + 8) : long(entries, at + 8);
    }
    return null;
  };
  const width = fieldOf(256);
  const height = fieldOf(257);
  return width === null || height === null ? null : { width, height };
}

/** Each item of the file (tiles, previews, the whole) has its extent among the properties; the whole is the largest. */
async function heicSize(view: ByteView): Promise<ImageSize | null> {
  const properties = await findBox(view, wholeFile(view), "meta", "iprp", "ipco");
  if (properties === null) return null;
  let largest: ImageSize | null = null;
  for (const box of await boxesIn(view, properties.start, properties.end)) {
    if (box.name !== "ispe") continue;
    const extent = Buffer.from(await view.at(box.start, 12));
    if (extent.length < 12) continue;
    const size = { width: extent.readUInt32BE(4), height: extent.readUInt32BE(8) };
    if (largest === null || size.width * size.height > largest.width * largest.height) largest = size;
  }
  return largest;
}

import type { BlobInfo, BlobStore } from "#ports/index.ts";
import type { MediaType } from "./media-type.ts";

/** Pixel sizes and ratios that the strictest known library accepts. */
const assetSidePixelsMin = 300;
const assetSidePixelsMax = 6_000;
const assetRatioMin = 0.4;
const assetRatioMax = 2.5;
/** Wider than any vendor's range (Ark: 2 to 15 seconds). */
const assetSecondsMin = 1;
const assetSecondsMax = 120;
/** Parts of a file that are read at most. */
const mediaPartsMax = 512;

/** Checks dimensions or length, if readable. null: no problem found. */
export async function measureProblem(view: ByteView, media: MediaType): Promise<Refusal | null> {
  return media.type === "Image" ? imageProblem(view, media.contentType) : durationProblem(view, media.contentType);
}

async function imageProblem(view: ByteView, contentType: string): Promise<Refusal | null> {
  const size = await imageSizeOf(view, contentType);
  if (size === null) return null;
  const { width, height } = size;
  const found = `The picture is ${width} × ${height} pixels`;
  if (Math.min(width, height) < assetSidePixelsMin || Math.max(width, height) > assetSidePixelsMax) {
    return finalRefusal(
      "bad_dimensions",
      `${found}; each side must have ${assetSidePixelsMin} to ${assetSidePixelsMax}.`,
    );
  }
  const ratio = width / height;
  if (ratio >= assetRatioMin && ratio <= assetRatioMax) return null;
  return finalRefusal("bad_dimensions", `${found}; width by height must be ${assetRatioMin} to ${assetRatioMax}.`);
}

async function durationProblem(view: ByteView, contentType: string): Promise<Refusal | null> {
  const seconds = await durationOf(view, contentType);
  if (seconds === null || (seconds >= assetSecondsMin && seconds <= assetSecondsMax)) return null;
  const found = `It lasts ${Math.round(seconds * 10) / 10} seconds`;
  return finalRefusal("bad_duration", `${found}; it must last ${assetSecondsMin} to ${assetSecondsMax}.`);
}

interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** The size in pixels, without rotation; null if the header cannot be read. */
export async function imageSizeOf(view: ByteView, contentType: string): Promise<ImageSize | null> {
  const size = (await readers[contentType]?.(view)) ?? null;
  return size === null || size.width === 0 || size.height === 0 ? null : size;
}

const readers: Readonly<Record<string, (view: ByteView) => Promise<ImageSize | null>>> = {
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

/** The oldest header (12 bytes) has 16-bit sizes; a negative height means top-down rows. */
function bitmapSides(head: Buffer): readonly [number, number] {
  if (head.readUInt32LE(14) === 12) return [head.readUInt16LE(18), head.readUInt16LE(20)];
  return [Math.abs(head.readInt32LE(18)), Math.abs(head.readInt32LE(22))];
}

/** https://developers.google.com/speed/webp/docs/riff_container */
function webpSides(head: Buffer): readonly [number, number] | null {
  const form = head.toString("latin1", 12, 16);
  if (form === "VP8 ") return [head.readUInt16LE(26) & 0x3fff, head.readUInt16LE(28) & 0x3fff];
  if (form === "VP8X") return [head.readUIntLE(24, 3) + 1, head.readUIntLE(27, 3) + 1];
  if (form !== "VP8L") return null;
  const bits = head.readUInt32LE(21);
  return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
}

/** Skips markers until a frame begins, since profiles and previews may be large. */
async function jpegSize(view: ByteView): Promise<ImageSize | null> {
  let at = 2;
  for (let seen = 0; seen < mediaPartsMax; seen++) {
    const head = Buffer.from(await view.at(at, 9));
    if (head.length < 9 || head[0] !== 0xff) return null;
    const marker = head[1] ?? 0;
    // 0xff may be padding; 01 and the restart markers have no length.
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return { width: head.readUInt16BE(7), height: head.readUInt16BE(5) };
    } else at += 2 + head.readUInt16BE(2);
  }
  return null;
}

/** The first directory: tag 256 is the width, 257 the height, in 16 or 32 bits. */
async function tiffSize(view: ByteView): Promise<ImageSize | null> {
  const head = Buffer.from(await view.at(0, 8));
  if (head.length < 8) return null;
  const little = head[0] === 0x49;
  const short = (bytes: Buffer, at: number): number => (little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const long = (bytes: Buffer, at: number): number => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const directory = long(head, 4);
  const counted = Buffer.from(await view.at(directory, 2));
  if (counted.length < 2) return null;
  const count = Math.min(short(counted, 0), mediaPartsMax);
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

/** Each item (tile, preview, image) has a size; the image is the largest. */
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

/** Seconds from the header of a video or audio file; null if unknown. */
export async function durationOf(view: ByteView, contentType: string): Promise<number | null> {
  const seconds = await secondsOf(view, contentType);
  return seconds !== null && Number.isFinite(seconds) && seconds > 0 ? seconds : null;
}

function secondsOf(view: ByteView, contentType: string): Promise<number | null> {
  if (contentType === "audio/wav") return waveSeconds(view);
  const boxed = contentType === "video/mp4" || contentType === "video/quicktime" || contentType === "audio/mp4";
  return boxed ? movieSeconds(view) : Promise.resolve(null);
}

/** Fragmented files have 0, which means unknown. */
async function movieSeconds(view: ByteView): Promise<number | null> {
  const header = await findBox(view, wholeFile(view), "moov", "mvhd");
  if (header === null) return null;
  const bytes = Buffer.from(await view.at(header.start, 32));
  const wide = bytes[0] === 1;
  if (bytes.length < (wide ? 32 : 20)) return null;
  const scale = bytes.readUInt32BE(wide ? 20 : 12);
  const length = wide ? Number(bytes.readBigUInt64BE(24)) : bytes.readUInt32BE(16);
  return length / scale;
}

async function waveSeconds(view: ByteView): Promise<number | null> {
  let bytesPerSecond = 0;
  for (const chunk of await chunksOf(view)) {
    if (chunk.name === "fmt ") {
      const format = Buffer.from(await view.at(chunk.start, 12));
      if (format.length >= 12) bytesPerSecond = format.readUInt32LE(8);
    }
    if (chunk.name === "data") return bytesPerSecond === 0 ? null : (chunk.end - chunk.start) / bytesPerSecond;
  }
  return null;
}

/** A box of an ISO base media file, or a chunk of a RIFF file, with the range of its content. */
interface Box {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The complete boxes in a range. */
async function boxesIn(view: ByteView, from: number, to: number): Promise<Box[]> {
  const boxes: Box[] = [];
  for (let at = from; at + 8 <= to && boxes.length < mediaPartsMax; ) {
    const head = Buffer.from(await view.at(at, 16));
    if (head.length < 8) break;
    const declared = head.readUInt32BE(0);
    // 1: a 64-bit length follows; 0: to the end of the file (ISO/IEC 14496-12, 4.2).
    const wide = declared === 1 && head.length >= 16;
    const size = wide ? Number(head.readBigUInt64BE(8)) : declared === 0 ? to - at : declared;
    const inner = wide ? 16 : 8;
    if (size < inner) break;
    boxes.push({ name: head.toString("latin1", 4, 8), start: at + inner, end: Math.min(to, at + size) });
    at += size;
  }
  return boxes;
}

/** Follows a path of box names. */
async function findBox(view: ByteView, within: Box, ...path: readonly string[]): Promise<Box | null> {
  let box = within;
  for (const name of path) {
    const found = (await boxesIn(view, box.start, box.end)).find((one) => one.name === name);
    if (found === undefined) return null;
    // `meta` has four bytes of version and flags before its boxes.
    box = name === "meta" ? { ...found, start: found.start + 4 } : found;
  }
  return box;
}

function wholeFile(view: ByteView): Box {
  return { name: "", start: 0, end: view.size };
}

/** The chunks of a RIFF file, cut at the end of the file. */
async function chunksOf(view: ByteView): Promise<Box[]> {
  const chunks: Box[] = [];
  for (let at = 12; at + 8 <= view.size && chunks.length < mediaPartsMax; ) {
    const head = Buffer.from(await view.at(at, 8));
    if (head.length < 8) break;
    const size = head.readUInt32LE(4);
    const start = at + 8;
    chunks.push({ name: head.toString("latin1", 0, 4), start, end: Math.min(view.size, start + size) });
    // Chunks are aligned to even offsets.
    at = start + size + (size % 2);
  }
  return chunks;
}

const mediaWindowBytes = 64 * 1024;

/** Random access to a file. `at` returns fewer bytes only at the end. */
export interface ByteView {
  readonly size: number;
  /** At most mediaWindowBytes. */
  at(start: number, length: number): Promise<Uint8Array>;
}

const nothing: Uint8Array = new Uint8Array(0);

/** Reads a stored blob through one window. */
export class BlobView implements ByteView {
  readonly size: number;
  readonly #blobs: BlobStore;
  readonly #hash: string;
  #start = 0;
  #window = nothing;

  constructor(blobs: BlobStore, blob: BlobInfo) {
    this.#blobs = blobs;
    this.#hash = blob.hash;
    this.size = blob.size;
  }

  async at(start: number, length: number): Promise<Uint8Array> {
    const end = Math.min(this.size, start + Math.min(length, mediaWindowBytes));
    if (start < 0 || start >= end) return nothing;
    if (start < this.#start || end > this.#start + this.#window.length) {
      this.#start = start;
      this.#window = await this.#read(start, Math.min(this.size, start + mediaWindowBytes));
    }
    return this.#window.subarray(start - this.#start, end - this.#start);
  }

  async #read(start: number, end: number): Promise<Uint8Array> {
    const stream = await this.#blobs.read(this.#hash, start, end);
    return stream === null ? nothing : new Response(stream).bytes();
  }
}

/** Why an asset was refused. */
export interface Refusal {
  readonly code:
    | "fetch_failed"
    | "too_large"
    | "unsupported_type"
    | "wrong_type"
    | "bad_dimensions"
    | "bad_duration"
    | "storage_failed";
  readonly message: string;
  /** Another attempt may succeed. */
  readonly retryable: boolean;
}

export function finalRefusal(code: Refusal["code"], message: string): Refusal {
  return { code, message, retryable: false };
}

export function retryableRefusal(code: Refusal["code"], message: string): Refusal {
  return { code, message, retryable: true };
}

export function isRefusal(value: object): value is Refusal {
  return "retryable" in value;
}

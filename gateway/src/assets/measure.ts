import type { BlobInfo, BlobStore } from "#ports/index.ts";
import type { MediaType } from "./media-type.ts";

/** Sides in pixels, and width by height, as the strictest known library takes them. */
const assetSidePixelsMin = 300;
const assetSidePixelsMax = 6_000;
const assetRatioMin = 0.4;
const assetRatioMax = 2.5;
/** Wider than any one vendor (Ark takes 2 to 15 seconds); each judges for itself beyond this. */
const assetSecondsMin = 1;
const assetSecondsMax = 120;
/** Parts of a file that are read to find its measures. */
const mediaPartsMax = 512;

/** Whether the measures of a file, as far as they can be read, are ones that material may have. null: nothing against it. */
export async function measureProblem(view: ByteView, media: MediaType): Promise<Refusal | null> {
  return media.type === "Image" ? imageProblem(view, media.contentType) : durationProblem(view, media.contentType);
}

async function imageProblem(view: ByteView, contentType: string): Promise<Refusal | null> {
  const size = await imageSizeOf(view, contentType);
  if (size === null) return null;
  const { width, height } = size;
  const said = `The picture is ${width} × ${height} pixels`;
  if (Math.min(width, height) < assetSidePixelsMin || Math.max(width, height) > assetSidePixelsMax) {
    return refused("bad_dimensions", `${said}; each side must have ${assetSidePixelsMin} to ${assetSidePixelsMax}.`);
  }
  const ratio = width / height;
  if (ratio >= assetRatioMin && ratio <= assetRatioMax) return null;
  return refused("bad_dimensions", `${said}; width by height must be ${assetRatioMin} to ${assetRatioMax}.`);
}

async function durationProblem(view: ByteView, contentType: string): Promise<Refusal | null> {
  const seconds = await durationOf(view, contentType);
  if (seconds === null || (seconds >= assetSecondsMin && seconds <= assetSecondsMax)) return null;
  const said = `It lasts ${Math.round(seconds * 10) / 10} seconds`;
  return refused("bad_duration", `${said}; ${assetSecondsMin} to ${assetSecondsMax} are taken.`);
}

interface ImageSize {
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
  for (let seen = 0; seen < mediaPartsMax; seen++) {
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

/** How long a video or a sound lasts, in seconds, where its header says so; null where it does not, or cannot be read. */
export async function durationOf(view: ByteView, contentType: string): Promise<number | null> {
  const seconds = await secondsOf(view, contentType);
  return seconds !== null && Number.isFinite(seconds) && seconds > 0 ? seconds : null;
}

function secondsOf(view: ByteView, contentType: string): Promise<number | null> {
  if (contentType === "audio/wav") return waveSeconds(view);
  const boxed = contentType === "video/mp4" || contentType === "video/quicktime" || contentType === "audio/mp4";
  return boxed ? movieSeconds(view) : Promise.resolve(null);
}

/** The movie header, wherever in the file the movie box is. A fragmented file says 0 there, which is no answer. */
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

/** A box of an ISO base media file, or a chunk of a RIFF file: what is in it lies from `start` to `end`. */
interface Box {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The boxes between two places of the file, one after the other, as far as they are whole. */
async function boxesIn(view: ByteView, from: number, to: number): Promise<Box[]> {
  const boxes: Box[] = [];
  for (let at = from; at + 8 <= to && boxes.length < mediaPartsMax; ) {
    const head = Buffer.from(await view.at(at, 16));
    if (head.length < 8) break;
    const told = head.readUInt32BE(0);
    // 1: the length follows in 64 bits; 0: to the end of the file (ISO/IEC 14496-12, 4.2).
    const wide = told === 1 && head.length >= 16;
    const size = wide ? Number(head.readBigUInt64BE(8)) : told === 0 ? to - at : told;
    const inner = wide ? 16 : 8;
    if (size < inner) break;
    boxes.push({ name: head.toString("latin1", 4, 8), start: at + inner, end: Math.min(to, at + size) });
    at += size;
  }
  return boxes;
}

/** The first box on a path of names; `within` says where to begin. */
async function findBox(view: ByteView, within: Box, ...path: readonly string[]): Promise<Box | null> {
  let box = within;
  for (const name of path) {
    const found = (await boxesIn(view, box.start, box.end)).find((one) => one.name === name);
    if (found === undefined) return null;
    // `meta` begins with four bytes of version and flags before its boxes.
    box = name === "meta" ? { ...found, start: found.start + 4 } : found;
  }
  return box;
}

function wholeFile(view: ByteView): Box {
  return { name: "", start: 0, end: view.size };
}

/** The chunks of a RIFF file, in order. One that claims more than there is ends with the file. */
async function chunksOf(view: ByteView): Promise<Box[]> {
  const chunks: Box[] = [];
  for (let at = 12; at + 8 <= view.size && chunks.length < mediaPartsMax; ) {
    const head = Buffer.from(await view.at(at, 8));
    if (head.length < 8) break;
    const size = head.readUInt32LE(4);
    const start = at + 8;
    chunks.push({ name: head.toString("latin1", 0, 4), start, end: Math.min(view.size, start + size) });
    // Chunks begin at even places.
    at = start + size + (size % 2);
  }
  return chunks;
}

/** How much of a file is read at once to find its measures. */
const mediaWindowBytes = 64 * 1024;

/** A file that is looked into here and there. `at` gives fewer bytes than asked for only at its end. */
export interface ByteView {
  readonly size: number;
  /** At most mediaWindowBytes. */
  at(start: number, length: number): Promise<Uint8Array>;
}

const nothing: Uint8Array = new Uint8Array(0);

/** One window over a stored blob, moved to where the reader looks. */
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

/** Why an asset could not be taken in: the error its owner will read, unless another try may help. */
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
  /** Not the asset's fault as far as we know. */
  readonly again: boolean;
}

/** For good. */
export function refused(code: Refusal["code"], message: string): Refusal {
  return { code, message, again: false };
}

/** For now. */
export function refusedForNow(code: Refusal["code"], message: string): Refusal {
  return { code, message, again: true };
}

export function isRefusal(value: object): value is Refusal {
  return "again" in value;
}

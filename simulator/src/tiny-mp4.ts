import { type ByteSource, filledBytes } from "./byte-source.ts";
import { frame, frameHeight, frameWidth, pictureParameters, sequenceParameters } from "./tiny-h264.ts";

const framesMax = 24;

/**
 * A complete MP4 (ISO/IEC 14496-12 and -15): one track of H.264 frames with moving bars, as long as the video. A `free`
 * box at its end contains the task's name, so that all videos differ, and pads the file to its size.
 */
export function tinyMp4(video: {
  readonly name: string;
  readonly seconds: number;
  readonly bytes: number;
}): ByteSource {
  const frames = framesOf(Math.min(framesMax, Math.max(2, Math.round(video.seconds * 4))));
  const duration = Math.round(video.seconds * 1000);
  const type = box("ftyp", "isom", u32(512), "isom", "avc1", "mp41");
  const moovLength = moov(duration, frames, 0).length;
  const start = Buffer.concat([type, moov(duration, frames, type.length + moovLength + 8), box("mdat", ...frames)]);
  const name = Buffer.from(video.name);
  const size = Math.max(video.bytes, start.length + 8 + name.length);
  return filledBytes("video/mp4", Buffer.concat([start, u32(size - start.length), Buffer.from("free"), name]), size);
}

/** The frames are the same for every video with this many. */
function framesOf(count: number): readonly Buffer[] {
  let frames = framesByCount.get(count);
  if (frames === undefined) {
    frames = Array.from({ length: count }, (_, index) => frame(index, index / count));
    framesByCount.set(count, frames);
  }
  return frames;
}
const framesByCount = new Map<number, readonly Buffer[]>();

function moov(duration: number, frames: readonly Buffer[], sampleAt: number): Buffer {
  return box("moov", movieHeader(duration), box("trak", trackHeader(duration), media(duration, frames, sampleAt)));
}

function movieHeader(duration: number): Buffer {
  const rate = [u32(0x10000), u16(0x100), Buffer.alloc(10)];
  return box("mvhd", u32(0), u32(0), u32(0), u32(1000), u32(duration), ...rate, matrix, Buffer.alloc(24), u32(2));
}

function trackHeader(duration: number): Buffer {
  // Flags: enabled, in the movie.
  const start = [u32(3), u32(0), u32(0), u32(1), u32(0), u32(duration), Buffer.alloc(16)];
  return box("tkhd", ...start, matrix, u32(frameWidth * 0x10000), u32(frameHeight * 0x10000));
}

function media(duration: number, frames: readonly Buffer[], sampleAt: number): Buffer {
  // The language is "und", with five bits per letter.
  const header = box("mdhd", u32(0), u32(0), u32(0), u32(1000), u32(duration), u16(0x55c4), u16(0));
  const handler = box("hdlr", u32(0), u32(0), "vide", Buffer.alloc(12), "video\0");
  const dataInformation = box("dinf", box("dref", u32(0), u32(1), box("url ", u32(1))));
  const information = box(
    "minf",
    box("vmhd", u32(1), Buffer.alloc(8)),
    dataInformation,
    sampleTable(duration, frames, sampleAt),
  );
  return box("mdia", header, handler, information);
}

/** Every frame is a sync sample, so no sync sample table is needed. */
function sampleTable(duration: number, frames: readonly Buffer[], sampleAt: number): Buffer {
  const each = Math.floor(duration / frames.length);
  const last = duration - each * (frames.length - 1);
  return box(
    "stbl",
    box("stsd", u32(0), u32(1), sampleEntry()),
    box("stts", u32(0), u32(2), u32(frames.length - 1), u32(each), u32(1), u32(last)),
    box("stsc", u32(0), u32(1), u32(1), u32(frames.length), u32(1)),
    box("stsz", u32(0), u32(0), u32(frames.length), ...frames.map(({ length }) => u32(length))),
    box("stco", u32(0), u32(1), u32(sampleAt)),
  );
}

function sampleEntry(): Buffer {
  const size = [u16(frameWidth), u16(frameHeight)];
  const format = [...size, u32(0x480000), u32(0x480000), u32(0), u16(1), Buffer.alloc(32), u16(24), u16(0xffff)];
  const [sequence, picture] = [sequenceParameters(), pictureParameters()];
  // Profile and level as in the sequence parameters; lengths take four bytes.
  const head = Buffer.from([1, ...sequence.subarray(1, 4), 0xff, 0xe1]);
  const config = box("avcC", head, u16(sequence.length), sequence, Buffer.from([1]), u16(picture.length), picture);
  return box("avc1", Buffer.alloc(6), u16(1), Buffer.alloc(16), ...format, config);
}

/** No rotation, no scale. */
const matrix = Buffer.concat([0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].map(u32));

function box(type: string, ...parts: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part)));
  return Buffer.concat([u32(body.length + 8), Buffer.from(type, "latin1"), body]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

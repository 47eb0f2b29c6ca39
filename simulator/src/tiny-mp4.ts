import { type ByteSource, filledBytes } from "./byte-source.ts";
import { tinyPng } from "./tiny-png.ts";

/**
 * A whole MP4 (ISO/IEC 14496-12): one track with one picture, a PNG, shown for the length of the video. A `free` box at
 * its end names the task, so that no two videos are the same bytes, and makes it as large as it has to be.
 */
export function tinyMp4(video: {
  readonly name: string;
  readonly seconds: number;
  readonly bytes: number;
}): ByteSource {
  const duration = Math.round(video.seconds * 1000);
  const type = box("ftyp", "isom", u32(512), "isom", "mp41");
  const moovLength = moov(duration, 0).length;
  const start = Buffer.concat([type, moov(duration, type.length + moovLength + 8), box("mdat", tinyPng)]);
  const name = Buffer.from(video.name);
  const size = Math.max(video.bytes, start.length + 8 + name.length);
  return filledBytes("video/mp4", Buffer.concat([start, u32(size - start.length), Buffer.from("free"), name]), size);
}

function moov(duration: number, sampleAt: number): Buffer {
  return box("moov", movieHeader(duration), box("trak", trackHeader(duration), media(duration, sampleAt)));
}

function movieHeader(duration: number): Buffer {
  const rate = [u32(0x10000), u16(0x100), Buffer.alloc(10)];
  return box("mvhd", u32(0), u32(0), u32(0), u32(1000), u32(duration), ...rate, matrix, Buffer.alloc(24), u32(2));
}

function trackHeader(duration: number): Buffer {
  // Flags: enabled, in the movie.
  const place = [u32(3), u32(0), u32(0), u32(1), u32(0), u32(duration), Buffer.alloc(16)];
  return box("tkhd", ...place, matrix, u32(0x10000), u32(0x10000));
}

function media(duration: number, sampleAt: number): Buffer {
  // The language is "und", in five bits a letter.
  const header = box("mdhd", u32(0), u32(0), u32(0), u32(1000), u32(duration), u16(0x55c4), u16(0));
  const handler = box("hdlr", u32(0), u32(0), "vide", Buffer.alloc(12), "video\0");
  const where = box("dinf", box("dref", u32(0), u32(1), box("url ", u32(1))));
  const information = box("minf", box("vmhd", u32(1), Buffer.alloc(8)), where, sampleTable(duration, sampleAt));
  return box("mdia", header, handler, information);
}

function sampleTable(duration: number, sampleAt: number): Buffer {
  return box(
    "stbl",
    box("stsd", u32(0), u32(1), sampleEntry()),
    box("stts", u32(0), u32(1), u32(1), u32(duration)),
    box("stsc", u32(0), u32(1), u32(1), u32(1), u32(1)),
    box("stsz", u32(0), u32(tinyPng.length), u32(1)),
    box("stco", u32(0), u32(1), u32(sampleAt)),
  );
}

/** MPEG-4 visual whose object type (0x6d) says PNG. */
function sampleEntry(): Buffer {
  const look = [u16(1), u16(1), u32(0x480000), u32(0x480000), u32(0), u16(1), Buffer.alloc(32), u16(24), u16(0xffff)];
  const decoder = Buffer.concat([Buffer.from([4, 13, 0x6d, 0x11, 0, 0, 0]), u32(0), u32(0)]);
  const stream = Buffer.concat([Buffer.from([3, 3 + decoder.length + 3, 0, 1, 0]), decoder, Buffer.from([6, 1, 2])]);
  return box("mp4v", Buffer.alloc(6), u16(1), Buffer.alloc(16), ...look, box("esds", u32(0), stream));
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

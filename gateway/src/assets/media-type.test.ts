import { expect, test } from "bun:test";
import * as media from "../../test/assets/media.ts";
import { mediaTypeOf } from "./media-type.ts";

const typeOf = (bytes: Uint8Array | string): string | null =>
  mediaTypeOf(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes.subarray(0, 64))?.contentType ?? null;

test("detects videos and audio by their first bytes", () => {
  expect(typeOf(media.mp4(1))).toBe("video/mp4");
  expect(typeOf(media.mp4(1, "qt  "))).toBe("video/quicktime");
  expect(typeOf(media.mp4(1, "M4A "))).toBe("audio/mp4");
  expect(typeOf("\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm")).toBe("video/webm");
  expect(typeOf(media.wav(0.1))).toBe("audio/wav");
  expect(typeOf("ID3\x04\x00\x00\x00\x00\x00\x00")).toBe("audio/mpeg");
  expect(typeOf("\xff\xfb\x90\x64\x00")).toBe("audio/mpeg");
  expect(typeOf("fLaC\x00\x00\x00\x22")).toBe("audio/flac");
  expect(typeOf("OggS\x00\x02")).toBe("audio/ogg");
});

test("rejects pages, scripts, archives, text and other containers", () => {
  const others = [
    "",
    "<!doctype html><html>",
    '<svg xmlns="http://www.w3.org/2000/svg">',
    "%PDF-1.7",
    "PK\x03\x04",
    "BMW is a maker of cars and motorcycles",
    "RIFF\x00\x00\x00\x00AVI LIST",
    "\x1a\x45\xdf\xa3\x42\x82\x88matroska",
    "\x00\x00\x00\x1cftypavif",
    "\xff\xf1\x50\x80",
    "\xff\xfea\x00b\x00",
    "\xff\xfe<\x00h\x00t\x00m\x00l\x00",
    '{"error":"not found"}',
  ];
  expect(others.filter((text) => typeOf(text) !== null)).toEqual([]);
});

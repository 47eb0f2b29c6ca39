import { expect, test } from "bun:test";
import fc from "fast-check";
import * as media from "../../test/assets/media.ts";
import { type ByteView, durationOf, imageSizeOf } from "./measure.ts";
import { mediaTypeOf } from "./media-type.ts";

const view = (bytes: Uint8Array): ByteView => ({
  size: bytes.length,
  at: async (start, length) => bytes.subarray(start, start + length),
});
const sides = { width: 641, height: 1_283 };
const pictures: Readonly<Record<string, readonly Buffer[]>> = {
  "image/png": [media.png(sides)],
  "image/gif": [media.gif(sides)],
  "image/bmp": [media.bmp(sides), media.bmp(sides, 12), media.bmp({ width: 641, height: -1_283 })],
  "image/jpeg": [media.jpeg(sides), media.jpeg(sides, 0xc2, 0), media.jpeg(sides, 0xc1, 900_000)],
  "image/webp": [media.webp(sides, "VP8 "), media.webp(sides, "VP8L"), media.webp(sides, "VP8X")],
  "image/tiff": [media.tiff(sides, "II"), media.tiff(sides, "MM")],
  "image/heic": [media.heic({ width: 320, height: 240 }, sides, { width: 512, height: 512 })],
};

test.each(Object.keys(pictures))("the type and the sides of %s are read from its header", async (contentType) => {
  for (const bytes of pictures[contentType] ?? []) {
    expect(mediaTypeOf(bytes.subarray(0, 64))).toEqual({ type: "Image", contentType });
    expect(await imageSizeOf(view(bytes), contentType)).toEqual(sides);
  }
});

test("reads the length of a video or audio file wherever its header is", async () => {
  expect(await durationOf(view(media.mp4(7.5)), "video/mp4")).toBe(7.5);
  expect(await durationOf(view(media.mp4(12, "qt  ", 1)), "video/quicktime")).toBe(12);
  expect(await durationOf(view(media.wav(3)), "audio/wav")).toBe(3);
  expect(await durationOf(view(media.mp4(0)), "video/mp4")).toBeNull();
});

test("returns null for truncated and false headers", async () => {
  const files = [...Object.values(pictures).flat(), media.mp4(3), media.wav(1)];
  const types = [...Object.keys(pictures), "video/mp4", "audio/wav"];
  const damage = fc.array(fc.tuple(fc.nat({ max: 300 }), fc.nat({ max: 255 })), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...files),
      fc.constantFrom(...types),
      fc.nat({ max: 400 }),
      damage,
      async (file, type, length, bytes) => {
        const cut = Buffer.from(file.subarray(0, length));
        for (const [at, value] of bytes) if (at < cut.length) cut[at] = value;
        const size = await imageSizeOf(view(cut), type);
        if (size !== null) expect(size.width).toBeGreaterThan(0);
        const seconds = await durationOf(view(cut), type);
        if (seconds !== null) expect(seconds).toBeGreaterThan(0);
      },
    ),
    { numRuns: 500 },
  );
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { frameSize, ratioAndResolution } from "./video-members.ts";

test.each([
  ["16:9", "720p", { width: 1280, height: 720 }],
  ["9:16", "720p", { width: 720, height: 1280 }],
  ["7:4", "1024p", { width: 1792, height: 1024 }],
  ["1:1", "480p", { width: 480, height: 480 }],
  ["21:9", "1080p", { width: 2520, height: 1080 }],
  ["9:16", null, { width: 720, height: 1280 }],
  [null, "1080P", { width: 1920, height: 1080 }],
  [null, null, null],
  ["adaptive", "720p", null],
  ["16:9", "4k", null],
  ["0:9", "720p", null],
])("turns %p at %p into %p", (ratio, resolution, size) => {
  expect(frameSize(ratio, resolution)).toEqual(size);
});

test("restores a size from its ratio and resolution", () => {
  expect(ratioAndResolution("1792x1024")).toEqual({ ratio: "7:4", resolution: "1024p" });
  const side = fc.integer({ min: 5, max: 4_999 }).map((half) => 2 * half);
  fc.assert(
    fc.property(side, side, (width, height) => {
      const shape = ratioAndResolution(`${width}x${height}`);
      expect(frameSize(shape?.ratio ?? null, shape?.resolution ?? null)).toEqual({ width, height });
    }),
  );
});

test.each(["", "720", "720p", "720 x 1280", "1281x720", "0x720", "720x99999", "720X1280", "720*1280", "-720x1280"])(
  "rejects %p",
  (size) => {
    expect(ratioAndResolution(size)).toBeNull();
  },
);

import { expect, test } from "bun:test";
import { readDataUri } from "./data-uri.ts";
import { frameSize } from "./frame-size.ts";

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
])("a ratio of %p at %p is %p", (ratio, resolution, size) => {
  expect(frameSize(ratio, resolution)).toEqual(size);
});

test("a data: URI tells its type and its base64, whatever else it says", () => {
  expect(readDataUri("data:image/PNG;name=a;BASE64,AAA=")).toEqual({ contentType: "image/png", base64: "AAA=" });
  expect(readDataUri("data:;base64,AAA=")).toEqual({ contentType: "application/octet-stream", base64: "AAA=" });
  for (const url of ["https://x.example/a,b;base64", "data:text/plain,hello", "data:image/png;base64", ""]) {
    expect(readDataUri(url)).toBeNull();
  }
});

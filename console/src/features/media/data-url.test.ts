import { expect, test } from "bun:test";
import { addressProblem, bytesOfDataUrl, extensionOf, pictureProblem, pictureUrl } from "./data-url.ts";

test("only pictures of supported types and sizes can be attached", () => {
  expect(pictureProblem({ name: "a.png", type: "image/png", size: 10 })).toBeNull();
  expect(pictureProblem({ name: "a.svg", type: "image/svg+xml", size: 10 })).toContain("a.svg");
  expect(pictureProblem({ name: "", type: "image/png", size: 9_000_000 })).toContain("9.0 MB");
  expect(pictureProblem({ name: "a.png", type: "image/png", size: 0 })).toContain("empty");
});

test("rejects a URL that is not a web address", () => {
  expect(addressProblem("https://example.com/a.png")).toBeNull();
  for (const wrong of ["javascript:alert(1)", "file:///etc/passwd", "a.png", "https://me:secret@example.com/"]) {
    expect(addressProblem(wrong), wrong).not.toBeNull();
  }
});

test("the type of bare base64 comes from its first bytes, and its size from its length", () => {
  const jpeg = pictureUrl(Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1]).toString("base64"));
  expect([jpeg.slice(0, 23), extensionOf(jpeg), bytesOfDataUrl(jpeg)]).toEqual(["data:image/jpeg;base64,", "jpg", 5]);
  expect(extensionOf(pictureUrl("iVBORw0KGgo="))).toBe("png");
});

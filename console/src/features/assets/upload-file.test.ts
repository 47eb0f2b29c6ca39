import { expect, test } from "bun:test";
import { Problem } from "../../client/problem.ts";
import { nameOfFile, refusedFile, uploadProblem } from "./upload-file.ts";

const file = (change: Partial<{ name: string; size: number; type: string }>) => ({
  ...{ name: "hero.png", size: 1_000, type: "image/png" },
  ...change,
});

test.each([
  ["an image", file({})],
  ["a video", file({ name: "a.mp4", type: "video/mp4", size: 40_000_000 })],
  ["a sound that the browser does not know", file({ name: "a.flac", type: "" })],
])("%s may be uploaded", (_, given) => {
  expect(uploadProblem(given)).toBeNull();
});

test.each([
  ["an empty file", file({ size: 0 }), "hero.png is empty."],
  ["a text", file({ name: "a.txt", type: "text/plain" }), "a.txt is not an image, video or audio file."],
  ["what nobody knows", file({ name: "hero", type: "" }), "hero is not an image, video or audio file."],
  ["a sound that is too large", file({ name: "a.wav", type: "audio/wav", size: 20_000_000 }), "a.wav is 20.0 MB"],
])("%s is refused before anything is sent", (_, given, words) => {
  expect(uploadProblem(given)).toStartWith(words);
});

test("the gateway's errors about a file are translated", () => {
  const messageOf = (code: string, param: string | null) =>
    refusedFile(new Problem(code, "Said by the API.", null, param));
  expect(messageOf("unsupported_media_type", "file")).toBe("This file format is not supported.");
  expect(messageOf("request_too_large", null)).toBe("The file is too large.");
  expect(messageOf("invalid_request", "file")).toStartWith("This file cannot be used.");
  expect(messageOf("invalid_request", "name")).toBeNull();
  expect(refusedFile(null)).toBeNull();
});

test("an asset is named after its file, without the extension, up to the maximum length", () => {
  expect(nameOfFile("hero.final.PNG")).toBe("hero.final");
  expect(nameOfFile(`${"好".repeat(90)}.png`)).toBe("好".repeat(64));
});

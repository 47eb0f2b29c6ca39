import { gzipSync } from "node:zlib";
import { accepted, either, type HostileShape, MiB, many, refused } from "./hostile-shape.ts";

const path = "/v1/video/tasks";
const picture = (bytes: number): string => `"data:image/png;base64,${"A".repeat(bytes)}"`;

function video(what: string, more: () => string, answers: readonly number[], model = "clip"): HostileShape {
  return { name: `video: ${what}`, path, body: () => `{"model":"${model}","prompt":"p",${more()}}`, answers };
}

/** Sent one after the other: the second repeats the first; the third is another request with the same idempotency key. */
const repeated = [
  ["for the first time", "A", 200],
  ["for the second time", "A", 200],
  ["with another image and the same key", "B", 409],
].map(
  ([what, letter, status]): HostileShape => ({
    ...video(`an image of 20 MiB ${what}`, () => `"image":"data:image/png;base64,${String(letter).repeat(20 * MiB)}"`, [
      Number(status),
    ]),
    headers: { "idempotency-key": "the same image" },
  }),
);

/** Videos with their inputs in the request. */
export const videoShapes: readonly HostileShape[] = [
  video("an image of 30 MiB", () => `"image":${picture(30 * MiB)}`, accepted),
  video("an image of 30 MiB, for a vendor that takes forms", () => `"image":${picture(30 * MiB)}`, accepted, "sora"),
  video(
    "an image of 30 MiB, for a vendor that takes plain base64",
    () => `"image":${picture(30 * MiB)}`,
    accepted,
    "veo",
  ),
  video("two frames", () => `"image":${picture(15 * MiB)},"last_frame":${picture(15 * MiB)}`, accepted),
  video("sixty images", () => `"references":[${many(60, picture(500 * 1024))}]`, accepted),
  video(
    "sixty images, for a vendor that takes none",
    () => `"references":[${many(60, picture(500 * 1024))}]`,
    refused,
    "sora",
  ),
  video("too many images", () => `"references":[${many(65, picture(450 * 1024))}]`, refused),
  video("9,000 images", () => `"references":[${many(9_000, picture(3 * 1024))}]`, refused),
  video(
    "base64 with line breaks",
    () => `"image":"data:image/png;base64,${`${"A".repeat(76)}\\n`.repeat(390_000)}"`,
    accepted,
  ),
  video("base64 in escapes", () => `"image":"data:image/png;base64,${"\\u0041".repeat(5 * MiB)}"`, accepted),
  video("invalid base64", () => `"image":"data:image/png;base64,${"%".repeat(30 * MiB)}"`, accepted),
  video("a data URL without a type", () => `"image":"data:,${"A".repeat(30 * MiB)}"`, refused),
  video("base64 without a data URL", () => `"image":"${"A".repeat(30 * MiB)}"`, refused),
  video("a data URL without a comma", () => `"image":"data:image/png;base64${"A".repeat(30 * MiB)}"`, refused),
  video("unpaired surrogates", () => `"image":"data:image/png;base64,${"\\ud800".repeat(4 * MiB)}"`, refused),
  video("an image within an image", () => `"image":{"url":{"url":${picture(30 * MiB)}}}`, refused),
  video("images in nested lists", () => `"references":[[${picture(30 * MiB)}]]`, refused),
  video("images in text fields", () => `"ratio":${picture(10 * MiB)},"seed":${picture(10 * MiB)}`, refused),
  video(
    "a vendor-specific list",
    () => `"content":[{"type":"image_url","role":"first_frame","image_url":{"url":${picture(30 * MiB)}}}]`,
    accepted,
  ),
  video("a vendor-specific field", () => `"image_tail":"${"A".repeat(30 * MiB)}"`, accepted),
  video("a duplicate image field", () => `"image":${picture(10 * MiB)},"image":${picture(10 * MiB)}`, [200, 400]),
  video("30 MiB of whitespace", () => `"seed":${" ".repeat(30 * MiB)}1`, accepted),
  video("an asset id of 30 MiB", () => `"image":"asset://${"a".repeat(30 * MiB)}"`, [404, 413]),
  video("a URL that is too long", () => `"image":"https://a.example/${"a".repeat(9_000)}"`, refused),
  video("metadata of 20 MiB", () => `"metadata":{"a":"${"a".repeat(20 * MiB)}"}`, refused),
  video("a callback URL of 20 MiB", () => `"callback_url":"https://a.example/${"a".repeat(20 * MiB)}"`, refused),
  video("5,000 strings", () => `"x":[${many(5_000, `"${"a".repeat(6_000)}"`)}]`, refused),
  video("a name of 10 MiB", () => `"${"a".repeat(10 * MiB)}":1`, refused),
  video("an image that is too large", () => `"image":${picture(33 * MiB)}`, [413]),
  ...["200", "100000", String(20 * MiB)].map((count) => ({
    name: `video: ${count} words`,
    path,
    body: () => `{"model":"clip","prompt":"${"a ".repeat(Number(count))}"}`,
    answers: count === "200" ? accepted : refused,
  })),
  {
    name: "video: a compressed image of 30 MiB",
    path,
    headers: { "content-encoding": "gzip" },
    body: () => gzipSync(`{"model":"clip","prompt":"p","image":"${"data:image/png;base64,"}${noise(30 * MiB)}"}`),
    answers: accepted,
  },
  ...repeated,
  ...openAiShapes(),
];

/** The same with OpenAI's videos API, as JSON and as forms. */
function openAiShapes(): readonly HostileShape[] {
  const request = (what: string, more: () => string, answers: readonly number[]): HostileShape => ({
    name: `OpenAI video: ${what}`,
    path: "/v1/videos",
    body: () => `{"model":"clip","prompt":"p",${more()}}`,
    answers,
  });
  const form = (what: string, parts: () => string, answers: readonly number[]): HostileShape => ({
    name: `OpenAI video form: ${what}`,
    path: "/v1/videos",
    headers: { "content-type": "multipart/form-data; boundary=b" },
    body: () => `${part("model", "clip")}${part("prompt", "p")}${parts()}--b--\r\n`,
    answers,
  });
  const file = (bytes: number): string =>
    part("input_reference", "A".repeat(bytes), '; filename="a.png"\r\ncontent-type: image/png');
  return [
    request("an image of 30 MiB", () => `"input_reference":{"image_url":${picture(30 * MiB)}}`, accepted),
    request("a URL of 30 MiB", () => `"input_reference":"https://${"a".repeat(30 * MiB)}"`, refused),
    request("a size of 20 MiB", () => `"size":"${"1".repeat(20 * MiB)}x720"`, refused),
    request("a duration of 20 MiB", () => `"seconds":"${"1".repeat(20 * MiB)}"`, refused),
    form("an image of 20 MiB", () => file(20 * MiB), accepted),
    form("an image of 30 MiB", () => file(30 * MiB), refused),
    form("a style of 20 MiB", () => part("style", "a ".repeat(10 * MiB)), either),
    form("metadata of ten million brackets", () => part("metadata", `{"a":${"[".repeat(10 * MiB)}`), refused),
    form("metadata of ten million values", () => part("metadata", `{"a":[${"1,".repeat(10 * MiB)}1]}`), refused),
    form("a thousand parts", () => part("x", "y").repeat(1_000), refused),
    form("no final boundary", () => `--b\r\n${"a".repeat(20 * MiB)}`, refused),
  ];
}

function part(name: string, value: string, more = ""): string {
  return `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
}

/** Random text, so that it does not compress to a hundredth of its size. */
function noise(bytes: number): string {
  const block = Buffer.from(crypto.getRandomValues(new Uint8Array(48 * 1024))).toString("base64");
  return block.repeat(Math.floor(bytes / block.length));
}

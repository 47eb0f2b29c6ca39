import { gzipSync } from "node:zlib";
import { either, type HostileShape, MiB, many, passed, refused } from "./hostile-shape.ts";

const path = "/v1/video/tasks";
const picture = (bytes: number): string => `"data:image/png;base64,${"A".repeat(bytes)}"`;

function video(what: string, more: () => string, answers: readonly number[], model = "clip"): HostileShape {
  return { name: `video: ${what}`, path, body: () => `{"model":"${model}","prompt":"p",${more()}}`, answers };
}

/** Sent one after the other: the second is the first again, the third is another one under the same name. */
const again = [
  ["for the first time", "A", 200],
  ["for the second time", "A", 200],
  ["another one under the same name", "B", 409],
].map(
  ([what, letter, status]): HostileShape => ({
    ...video(
      `a picture of twenty megabytes ${what}`,
      () => `"image":"data:image/png;base64,${String(letter).repeat(20 * MiB)}"`,
      [Number(status)],
    ),
    headers: { "idempotency-key": "the same picture" },
  }),
);

/** Videos with their material inside. */
export const videoShapes: readonly HostileShape[] = [
  video("a picture of thirty megabytes", () => `"image":${picture(30 * MiB)}`, passed),
  video("a picture of thirty megabytes, for a vendor of forms", () => `"image":${picture(30 * MiB)}`, passed, "sora"),
  video(
    "a picture of thirty megabytes, for a vendor of bare bytes",
    () => `"image":${picture(30 * MiB)}`,
    passed,
    "veo",
  ),
  video("two frames", () => `"image":${picture(15 * MiB)},"last_frame":${picture(15 * MiB)}`, passed),
  video("sixty pictures", () => `"references":[${many(60, picture(500 * 1024))}]`, passed),
  video(
    "sixty pictures, for a vendor who takes none",
    () => `"references":[${many(60, picture(500 * 1024))}]`,
    refused,
    "sora",
  ),
  video("more pictures than may be", () => `"references":[${many(65, picture(450 * 1024))}]`, refused),
  video("nine thousand pictures", () => `"references":[${many(9_000, picture(3 * 1024))}]`, refused),
  video("base64 in lines", () => `"image":"data:image/png;base64,${`${"A".repeat(76)}\\n`.repeat(390_000)}"`, passed),
  video("base64 in escapes", () => `"image":"data:image/png;base64,${"\\u0041".repeat(5 * MiB)}"`, passed),
  video("what is no base64", () => `"image":"data:image/png;base64,${"%".repeat(30 * MiB)}"`, passed),
  video("what has no type", () => `"image":"data:,${"A".repeat(30 * MiB)}"`, refused),
  video("what has no beginning", () => `"image":"${"A".repeat(30 * MiB)}"`, refused),
  video("what has no end", () => `"image":"data:image/png;base64${"A".repeat(30 * MiB)}"`, refused),
  video("halves of surrogates", () => `"image":"data:image/png;base64,${"\\ud800".repeat(4 * MiB)}"`, refused),
  video("a picture within a picture", () => `"image":{"url":{"url":${picture(30 * MiB)}}}`, refused),
  video("pictures in lists of lists", () => `"references":[[${picture(30 * MiB)}]]`, refused),
  video("pictures where words belong", () => `"ratio":${picture(10 * MiB)},"seed":${picture(10 * MiB)}`, refused),
  video(
    "a vendor's own list",
    () => `"content":[{"type":"image_url","role":"first_frame","image_url":{"url":${picture(30 * MiB)}}}]`,
    passed,
  ),
  video("a vendor's own member", () => `"image_tail":"${"A".repeat(30 * MiB)}"`, passed),
  video(
    "a picture twice under one name",
    () => `"image":${picture(10 * MiB)},"image":${picture(10 * MiB)}`,
    [200, 400],
  ),
  video("thirty megabytes of white space", () => `"seed":${" ".repeat(30 * MiB)}1`, passed),
  video("an asset's name of thirty megabytes", () => `"image":"asset://${"a".repeat(30 * MiB)}"`, [404, 413]),
  video("an address longer than one may be", () => `"image":"https://a.example/${"a".repeat(9_000)}"`, refused),
  video("settings of twenty megabytes", () => `"metadata":{"a":"${"a".repeat(20 * MiB)}"}`, refused),
  video("an address of twenty megabytes", () => `"callback_url":"https://a.example/${"a".repeat(20 * MiB)}"`, refused),
  video("five thousand texts", () => `"x":[${many(5_000, `"${"a".repeat(6_000)}"`)}]`, refused),
  video("a name of ten megabytes", () => `"${"a".repeat(10 * MiB)}":1`, refused),
  video("more than a video may have", () => `"image":${picture(33 * MiB)}`, [413]),
  ...["200", "100000", String(20 * MiB)].map((count) => ({
    name: `video: ${count} words`,
    path,
    body: () => `{"model":"clip","prompt":"${"a ".repeat(Number(count))}"}`,
    answers: count === "200" ? passed : refused,
  })),
  {
    name: "video: a packed picture of thirty megabytes",
    path,
    headers: { "content-encoding": "gzip" },
    body: () => gzipSync(`{"model":"clip","prompt":"p","image":"${"data:image/png;base64,"}${noise(30 * MiB)}"}`),
    answers: passed,
  },
  ...again,
  ...openAiShapes(),
];

/** The same asked for in OpenAI's way, by JSON and by forms. */
function openAiShapes(): readonly HostileShape[] {
  const asked = (what: string, more: () => string, answers: readonly number[]): HostileShape => ({
    name: `video, as OpenAI: ${what}`,
    path: "/v1/videos",
    body: () => `{"model":"clip","prompt":"p",${more()}}`,
    answers,
  });
  const form = (what: string, parts: () => string, answers: readonly number[]): HostileShape => ({
    name: `video, by a form: ${what}`,
    path: "/v1/videos",
    headers: { "content-type": "multipart/form-data; boundary=b" },
    body: () => `${part("model", "clip")}${part("prompt", "p")}${parts()}--b--\r\n`,
    answers,
  });
  const file = (bytes: number): string =>
    part("input_reference", "A".repeat(bytes), '; filename="a.png"\r\ncontent-type: image/png');
  return [
    asked("a picture of thirty megabytes", () => `"input_reference":{"image_url":${picture(30 * MiB)}}`, passed),
    asked("an address of thirty megabytes", () => `"input_reference":"https://${"a".repeat(30 * MiB)}"`, refused),
    asked("a size of twenty megabytes", () => `"size":"${"1".repeat(20 * MiB)}x720"`, refused),
    asked("seconds of twenty megabytes", () => `"seconds":"${"1".repeat(20 * MiB)}"`, refused),
    form("a picture of twenty megabytes", () => file(20 * MiB), passed),
    form("a picture of thirty megabytes", () => file(30 * MiB), refused),
    form("words of twenty megabytes", () => part("style", "a ".repeat(10 * MiB)), either),
    form("metadata of ten million brackets", () => part("metadata", `{"a":${"[".repeat(10 * MiB)}`), refused),
    form("metadata of ten million values", () => part("metadata", `{"a":[${"1,".repeat(10 * MiB)}1]}`), refused),
    form("a thousand parts", () => part("x", "y").repeat(1_000), refused),
    form("no end", () => `--b\r\n${"a".repeat(20 * MiB)}`, refused),
  ];
}

function part(name: string, value: string, more = ""): string {
  return `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
}

/** Letters that are not packed a hundred times smaller. */
function noise(bytes: number): string {
  const block = Buffer.from(crypto.getRandomValues(new Uint8Array(48 * 1024))).toString("base64");
  return block.repeat(Math.floor(bytes / block.length));
}

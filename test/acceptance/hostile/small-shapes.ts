import {
  accepted,
  call,
  chat,
  chatOf,
  each,
  type HostileShape,
  many,
  native,
  translated,
  userMessage,
} from "./hostile-shape.ts";

/** The largest body that is handled on the event loop, without a worker thread. */
const smallBytes = 2_400_000;
export const small: readonly HostileShape[] = [
  ...each(native, "small, numbers", () => `"x":[${"1,".repeat(480_000)}1]`),
  ...each(native, "small, empty arrays", () => `"x":[${"[],".repeat(480_000)}1]`),
  ...each(native, "small, escapes", () => `"x":"${"\\u0061".repeat(smallBytes / 6)}"`),
  ...each(native, "small, long top-level names with escapes", () =>
    many(4_000, (at) => `"${"\\u0061".repeat(60)}${at}":1`),
  ),
  ...each(native, "small, names that resemble restricted fields", () => many(4_000, (at) => `"models${at}":1`)),
  ...each(
    native,
    "small, strings that resemble sealed content",
    () => `"x":[${many(30_000, '"c2x1aWNlMS5hYWFhYWFhYWFhYWFhYWFhYWFh"')}]`,
  ),
  ...each(native, "small, image fields", () => `"tools":[${many(60_000, '{"inlineData":{"data":"a"}}')}]`),
  ...each(native, "small, base64 prefixes", () => `"instructions":"${";base64,".repeat(smallBytes / 8)}"`),
  ...each(native, "small, many file fields", () => `"x":{"type":"a_output",${many(150_000, '"file_id":"a"')}}`),
  ...each(
    native,
    "small, a source with many URLs",
    () => `"x":{"source":{"type":"no",${many(150_000, '"url":"https://a.example"')}}}`,
    [200, 400, 413],
  ),
  ...each(
    native,
    "small, nested files",
    () => `"x":${'{"type2":1,"file_id":"a","x":'.repeat(100)}[${"1,".repeat(400_000)}1]${"}".repeat(100)}`,
  ),
  ...each(
    native,
    "small, nested URLs",
    () => `"x":${'{"type2":1,"image_url":{"x":'.repeat(50)}[${"1,".repeat(400_000)}1]${"}".repeat(100)}`,
  ),
  call(
    "chat, native",
    "small, nested audio",
    () => `"x":${'{"audio":'.repeat(100)}[${"1,".repeat(400_000)}1]${"}".repeat(100)}`,
    [200],
  ),
  ...each(
    native,
    "small, nested sources",
    () =>
      `"x":${'{"source":{"type":"url","url":"https://a.example","x":'.repeat(50)}[${"1,".repeat(400_000)}1]${"}".repeat(100)}`,
    [200, 400, 413],
  ),
  ...each(native, "small, many names with an escape", () => `"x":{${many(150_000, '"fil\\u0065":1')}}`),
  ...each(translated, "small, messages", () => `"x":[${many(4_000, "{}")}]`),
  call("images", "small, assets", () => `"x":[${many(60, (at) => `"asset://as_${at}"`)}]`, [404]),
];
export const tiny = [
  ["openai", 350],
  ["claude", 350],
].map(
  ([model, count]): HostileShape => ({
    name: `chat with ${model}: ${count} messages, translated on the event loop`,
    path: chat,
    body: chatOf(String(model), () => many(Number(count), userMessage)),
    answers: accepted,
  }),
);

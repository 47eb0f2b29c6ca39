import {
  call,
  chat,
  chatOf,
  each,
  type HostileShape,
  many,
  native,
  passed,
  said,
  translated,
} from "./hostile-shape.ts";

/** As large as what is worked on at once may be. */
const small = 2_400_000;
export const justSmall: readonly HostileShape[] = [
  ...each(native, "small, numbers", () => `"x":[${"1,".repeat(480_000)}1]`),
  ...each(native, "small, empty arrays", () => `"x":[${"[],".repeat(480_000)}1]`),
  ...each(native, "small, escapes", () => `"x":"${"\\u0061".repeat(small / 6)}"`),
  ...each(native, "small, long names with escapes at the top", () =>
    many(4_000, (at) => `"${"\\u0061".repeat(60)}${at}":1`),
  ),
  ...each(native, "small, names that are almost governed", () => many(4_000, (at) => `"models${at}":1`)),
  ...each(
    native,
    "small, what looks like our seals",
    () => `"x":[${many(30_000, '"c2x1aWNlMS5hYWFhYWFhYWFhYWFhYWFhYWFh"')}]`,
  ),
  ...each(native, "small, marks of pictures", () => `"tools":[${many(60_000, '{"inlineData":{"data":"a"}}')}]`),
  ...each(native, "small, marks of base64", () => `"instructions":"${";base64,".repeat(small / 8)}"`),
  ...each(
    native,
    "small, a member that names files, over and over",
    () => `"x":{"type":"a_output",${many(150_000, '"file_id":"a"')}}`,
  ),
  ...each(
    native,
    "small, a source of many addresses",
    () => `"x":{"source":{"type":"no",${many(150_000, '"url":"https://a.example"')}}}`,
    [200, 400, 413],
  ),
  ...each(
    native,
    "small, files within files",
    () => `"x":${'{"type2":1,"file_id":"a","x":'.repeat(100)}[${"1,".repeat(400_000)}1]${"}".repeat(100)}`,
  ),
  ...each(
    native,
    "small, addresses within addresses",
    () => `"x":${'{"type2":1,"image_url":{"x":'.repeat(50)}[${"1,".repeat(400_000)}1]${"}".repeat(100)}`,
  ),
  call(
    "chat, native",
    "small, sounds within sounds",
    () => `"x":${'{"audio":'.repeat(100)}[${"1,".repeat(400_000)}1]${"}".repeat(100)}`,
    [200],
  ),
  ...each(
    native,
    "small, sources within sources",
    () =>
      `"x":${'{"source":{"type":"url","url":"https://a.example","x":'.repeat(50)}[${"1,".repeat(400_000)}1]${"}".repeat(100)}`,
    [200, 400, 413],
  ),
  ...each(native, "small, names with an escape, over and over", () => `"x":{${many(150_000, '"fil\\u0065":1')}}`),
  ...each(translated, "small, messages", () => `"x":[${many(4_000, "{}")}]`),
  call("images", "small, assets", () => `"x":[${many(60, (at) => `"asset://as_${at}"`)}]`, [404]),
];
export const tiny = [
  ["openai", 350],
  ["claude", 350],
].map(
  ([model, count]): HostileShape => ({
    name: `chat with ${model}: ${count} messages, translated at once`,
    path: chat,
    body: chatOf(String(model), () => many(Number(count), said)),
    answers: passed,
  }),
);

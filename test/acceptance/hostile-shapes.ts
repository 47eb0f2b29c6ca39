import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";

/** One request that nobody sends who means well. */
export interface HostileShape {
  readonly name: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Made when it is sent. */
  readonly body: () => string | Uint8Array;
  /** What it may be answered with. */
  readonly answers: readonly number[];
  /** Why this one still takes longer than it may. */
  readonly skipped?: string;
}

const MiB = 1024 * 1024;
const anthropicVersion = { "anthropic-version": "2023-06-01" };
const refused = [400, 413];
const passed = [200];
const either = [200, 400, 413, 422];

/** Endpoints and the model that makes each native or translated; `with`: the members that a call of it has. */
const chat = "/v1/chat/completions";
const calls = {
  "chat, native": { path: chat, headers: {}, with: '"model":"openai","messages":[{"role":"user","content":"hi"}]' },
  "chat to Messages": { path: chat, headers: {}, with: '"model":"claude","messages":[{"role":"user","content":"hi"}]' },
  "chat with Gemini": { path: chat, headers: {}, with: '"model":"gemini","messages":[{"role":"user","content":"hi"}]' },
  "messages, native": {
    path: "/v1/messages",
    headers: anthropicVersion,
    with: '"model":"claude","max_tokens":5,"messages":[{"role":"user","content":"hi"}]',
  },
  "messages to chat": {
    path: "/v1/messages",
    headers: anthropicVersion,
    with: '"model":"openai","max_tokens":5,"messages":[{"role":"user","content":"hi"}]',
  },
  "responses, native": { path: "/v1/responses", headers: {}, with: '"model":"openai","input":"hi"' },
  "responses to Messages": { path: "/v1/responses", headers: {}, with: '"model":"claude","input":"hi"' },
  "generate to chat": {
    path: "/v1beta/models/openai:generateContent",
    headers: {},
    with: '"contents":[{"role":"user","parts":[{"text":"hi"}]}]',
  },
  "generate, native": {
    path: "/v1beta/models/gemini:generateContent",
    headers: {},
    with: '"contents":[{"role":"user","parts":[{"text":"hi"}]}]',
  },
  embeddings: { path: "/v1/embeddings", headers: {}, with: '"model":"openai","input":"hi"' },
  images: { path: "/v1/images/generations", headers: {}, with: '"model":"painter","prompt":"hi"' },
} as const;
type CallName = keyof typeof calls;
const native = [
  "chat, native",
  "messages, native",
  "responses, native",
  "generate, native",
  "embeddings",
  "images",
] as const;
const translated = [
  "chat to Messages",
  "chat with Gemini",
  "messages to chat",
  "responses to Messages",
  "generate to chat",
] as const;

function call(name: CallName, what: string, more: () => string, answers: readonly number[]): HostileShape {
  const { path, headers, with: own } = calls[name];
  return { name: `${name}: ${what}`, path, headers, body: () => `{${own},${more()}}`, answers };
}

function each(names: readonly CallName[], what: string, more: () => string, answers = either): HostileShape[] {
  return names.map((name) => call(name, what, more, answers));
}

const many = (count: number, one: string | ((index: number) => string)): string =>
  Array.from({ length: count }, (_, index) => (typeof one === "string" ? one : one(index))).join(",");

const said = '{"role":"user","content":"a"}';
const chatOf =
  (model: string, messages: () => string): (() => string) =>
  () =>
    `{"model":"${model}","messages":[${messages()}]}`;

/** Bodies that are wide, deep or long, at the endpoints of calls. */
const jsonShapes: readonly HostileShape[] = [
  ...each([...native, ...translated], "four hundred thousand values", () => `"x":[${"1,".repeat(400_000)}1]`),
  ...each(native, "a million values", () => `"x":[${"1,".repeat(1_000_000)}1]`, refused),
  ...each(native, "a million empty objects", () => `"x":[${"{},".repeat(1_000_000)}1]`, refused),
  ...each(native, "ten thousand members at the top", () => many(10_000, (at) => `"k${at}":1`), refused),
  call(
    "chat, native",
    "two hundred thousand members below",
    () => `"x":{${many(200_000, (at) => `"k${at}":1`)}}`,
    passed,
  ),
  ...each(["chat, native", "chat to Messages"], "a hundred thousand deep", () => `"x":${"[".repeat(100_000)}`, refused),
  call(
    "chat, native",
    "as deep as may be, over and over",
    () => `"x":[${many(3_000, "[".repeat(120) + "]".repeat(120))}]`,
    either,
  ),
  ...each([...native, ...translated], "a string of 40 MiB", () => `"x":"${"a".repeat(40 * MiB)}"`),
  call("chat, native", "sixty megabytes of escapes", () => `"x":"${"\\u0061".repeat(10 * MiB)}"`, passed),
  call("chat to Messages", "thirty megabytes of escapes", () => `"x":"${"\\u0061".repeat(5 * MiB)}"`, either),
  call("chat, native", "sixty megabytes of white space", () => `"x":${" ".repeat(60 * MiB)}1`, passed),
  call(
    "chat, native",
    "a hundred thousand long names with escapes",
    () => `"x":{${many(100_000, (at) => `"${"\\u0061".repeat(30)}${at}":1`)}}`,
    passed,
  ),
  call("chat, native", "a name of five megabytes", () => `"${"\\u0061".repeat(900_000)}":1`, passed),
  call("chat, native", "a number of four hundred thousand digits", () => `"x":${"9".repeat(400_000)}`, passed),
  ...each(translated, "numbers of many digits", () => `"temperature":${"9".repeat(400_000)},"x":1e999999`),
  call(
    "chat, native",
    "the same unknown name a hundred thousand times",
    () => `"x":{${many(100_000, '"a":1')}}`,
    passed,
  ),
  call("chat, native", "the model twice", () => '"model":"openai"', refused),
  call("chat, native", "halves of surrogates", () => `"x":"${"\\ud800".repeat(500_000)}"`, passed),
  call("chat, native", "a flag of ten megabytes", () => `"stream":"${"a".repeat(10 * MiB)}"`, refused),
  call(
    "chat, native",
    "stream options of a hundred thousand members",
    () => `"stream":true,"stream_options":{${many(100_000, (at) => `"k${at}":1`)}}`,
    either,
  ),
  call(
    "messages, native",
    "metadata of ten megabytes",
    () => `"metadata":{"user_id":"${"a".repeat(10 * MiB)}"}`,
    passed,
  ),
  call(
    "responses, native",
    "the id to go on from of ten megabytes",
    () => `"previous_response_id":"${"a".repeat(10 * MiB)}"`,
    [400],
  ),
  call(
    "responses, native",
    "a conversation of many members",
    () => `"conversation":{${many(100_000, (at) => `"k${at}":1`)}}`,
    [400],
  ),
  call(
    "responses, native",
    "a million marks of base64",
    () => `"x":1,"instructions":"${";base64,".repeat(1_000_000)}"`,
    passed,
  ),
  call(
    "generate, native",
    "marks of pictures without any",
    () => `"tools":["${'\\"inlineData\\"'.repeat(10)}",{${many(100_000, (at) => `"inlineData":${at}`)}}]`,
    either,
  ),
  call(
    "chat, native",
    "what looks like our seals",
    () => `"x":[${many(100_000, '"c2x1aWNlMS5hYWFhYWFhYWFhYWFhYWFhYWFh"')}]`,
    either,
  ),
  call("chat, native", "one seal that never ends", () => `"x":"c2x1aWNlMS5${"a".repeat(30 * MiB)}`, refused),
  call("images", "a hundred thousand assets", () => `"x":[${many(100_000, (at) => `"asset://as_${at}"`)}]`, [400, 404]),
  call(
    "images",
    "assets and two hundred thousand values",
    () => `"x":[${"1,".repeat(200_000)}"asset://as_1"]`,
    [400, 404],
  ),
  call("embeddings", "three hundred thousand tokens", () => `"x":1,"dimensions":[${"1,".repeat(300_000)}1]`, passed),
  ...each(
    translated,
    "fifty thousand tools",
    () =>
      `"tools":[${many(50_000, (at) => `{"type":"function","function":{"name":"t${at}"},"name":"t${at}","input_schema":{}}`)}]`,
  ),
  ...each(
    ["chat to Messages", "responses to Messages"],
    "tools of ten megabytes",
    () => `"tools":[{"type":"function","name":"t","function":{"name":"t","description":"${"a".repeat(10 * MiB)}"}}]`,
  ),
  ...each(
    translated,
    "schemas a hundred deep",
    () =>
      `"tools":[{"type":"function","name":"t","input_schema":${'{"a":'.repeat(100)}1${"}".repeat(100)},"function":{"name":"t","parameters":${'{"a":'.repeat(100)}1${"}".repeat(100)}}}]`,
  ),
];

/** As large as what is worked on at once may be. */
const small = 2_400_000;
const justSmall: readonly HostileShape[] = [
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
  ...each(translated, "small, messages", () => `"x":[${many(4_000, "{}")}]`),
  call("images", "small, assets", () => `"x":[${many(60, (at) => `"asset://as_${at}"`)}]`, [404]),
];
const tiny = [
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

/** What is changed on its way by a kind of provider, or governed. */
const changed: readonly HostileShape[] = [
  call(
    "chat, native",
    "a tier that is governed, before sixty megabytes",
    () => `"service_tier":"priority","x":"${"a".repeat(60 * MiB)}"`,
    passed,
  ),
  call("chat, native", "a tier of ten megabytes", () => `"service_tier":"${"a".repeat(10 * MiB)}"`, passed),
  call(
    "chat to Messages",
    "a tier that is governed, before thirty megabytes",
    () => `"service_tier":"priority","messages2":"${"a".repeat(30 * MiB)}"`,
    either,
  ),
  {
    name: "an upstream that wants a member by its older name: sixty megabytes",
    path: chat,
    body: () => `{"model":"deepseek","max_completion_tokens":5,"messages":[${said}],"x":"${"a".repeat(60 * MiB)}"}`,
    answers: passed,
  },
  {
    name: "an upstream that wants signed requests: thirty megabytes",
    path: chat,
    body: () => `{"model":"bedrock","messages":[{"role":"user","content":"${"a".repeat(30 * MiB)}"}]}`,
    answers: [...either, 502, 503],
  },
  {
    name: "a video with a picture of thirty megabytes in it",
    path: "/v1/video/tasks",
    body: () => `{"model":"clip","prompt":"p","image":"data:image/png;base64,${"A".repeat(30 * MiB)}"}`,
    answers: [...either, 502, 503, 404],
    skipped: "material inside a video task is read, digested and stored on the event loop",
  },
];

/** Conversations that are long themselves. */
const conversations: readonly HostileShape[] = [
  ["openai", 1_000_000, [413]],
  ["claude", 1_000_000, [413]],
  ["openai", 120_000, passed],
  ["claude", 60_000, either],
  ["gemini", 60_000, either],
].map(([model, count, answers]) => ({
  name: `chat with ${model}: ${count} messages`,
  path: chat,
  body: chatOf(String(model), () => many(Number(count), said)),
  answers: answers as readonly number[],
}));

const unreadable: readonly HostileShape[] = [
  ["nothing", ""],
  ["a byte order mark", `\ufeff${chatOf("openai", () => said)()}`],
  ["letters that are none", new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0xc0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
  ["an array of a million", `[${"1,".repeat(1_000_000)}1]`],
  ["thirty megabytes of brackets", "[".repeat(30 * MiB)],
  ["thirty megabytes of nothing", new Uint8Array(30 * MiB)],
  ["thirty megabytes of quotes", '"'.repeat(30 * MiB)],
  ["thirty megabytes of backslashes in a name", `{"${"\\\\".repeat(15 * MiB)}`],
].map(([name, body]) => ({
  name: `no JSON: ${String(name)}`,
  path: chat,
  body: () => body as string | Uint8Array,
  answers: name === "letters that are none" || name === "a byte order mark" ? [400] : [400, 413],
}));

const packings: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  gzip: (bytes) => gzipSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: (bytes) => zstdCompressSync(bytes),
};

const packed: readonly HostileShape[] = [
  ...Object.entries(packings).flatMap(([encoding, pack]): HostileShape[] => [
    {
      name: `${encoding}: a bomb of 64 MiB`,
      path: chat,
      headers: { "content-encoding": encoding },
      body: () => pack(Buffer.alloc(64 * MiB, "x")),
      answers: refused,
    },
    {
      name: `${encoding}: a bomb that holds a conversation of a million messages`,
      path: chat,
      headers: { "content-encoding": encoding },
      body: () => pack(Buffer.from(chatOf("claude", () => many(1_000_000, said))())),
      answers: refused,
    },
    {
      name: `${encoding}: packed badly enough to pass, thirty megabytes of it`,
      path: chat,
      headers: { "content-encoding": encoding },
      body: () =>
        pack(Buffer.from(`{"model":"openai","messages":[${said}],"x":"${noise(8 * MiB)}${"a".repeat(22 * MiB)}"}`)),
      answers: passed,
    },
    {
      name: `${encoding}: an asset of two million members`,
      path: "/v1/assets",
      headers: { "content-encoding": encoding },
      body: () => pack(Buffer.from(`{${many(2_000_000, (at) => `"k${at}":1`)}}`)),
      answers: refused,
    },
    {
      name: `${encoding}: what is not packed`,
      path: chat,
      headers: { "content-encoding": encoding },
      body: () => "x".repeat(200_000),
      answers: [400],
    },
  ]),
  {
    name: "gzip in gzip",
    path: chat,
    headers: { "content-encoding": "gzip, gzip" },
    body: () => gzipSync(gzipSync("{}")),
    answers: [415],
  },
];

/** Letters that do not pack well. */
function noise(bytes: number): string {
  const pieces = Array.from({ length: Math.ceil(bytes / 131_072) }, () =>
    crypto.getRandomValues(new Uint8Array(65_536)),
  );
  return Buffer.concat(pieces).toString("hex");
}

const formType = "multipart/form-data; boundary=b";
const field = (name: string, value: string): string =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const picture = (bytes: string): string =>
  `--b\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\ncontent-type: image/png\r\n\r\n${bytes}\r\n`;
const forms: readonly HostileShape[] = [
  ["ten thousand parts", () => `${field("x", "1").repeat(10_000)}--b--`, refused],
  ["a head of a megabyte", () => `--b\r\ncontent-disposition: form-data; name="${"a".repeat(MiB)}"\r\n\r\n`, refused],
  ["no end", () => `${field("model", "painter")}${picture("a".repeat(20 * MiB))}`, refused],
  [
    "what almost ends, over and over",
    () => `${field("model", "painter")}${field("prompt", "p")}${picture("\r\n--".repeat(7 * MiB))}--b--`,
    either,
  ],
  [
    "thirty megabytes of line ends",
    () => `${field("model", "painter")}${field("prompt", "p")}${picture("\r\n".repeat(15 * MiB))}--b--`,
    either,
  ],
  [
    "a prompt of ten megabytes",
    () => `${field("model", "painter")}${field("prompt", "p".repeat(10 * MiB))}--b--`,
    refused,
  ],
  [
    "a picture for an upstream that takes no forms",
    () => `${field("model", "seedream")}${field("prompt", "p")}${picture("a".repeat(30 * MiB))}--b--`,
    either,
  ],
].map(([name, body, answers]) => ({
  name: `form: ${String(name)}`,
  path: "/v1/images/edits",
  headers: { "content-type": formType },
  body: body as () => string,
  answers: answers as readonly number[],
}));

const others: readonly HostileShape[] = [
  ...["/v1/assets", "/v1/asset-groups", "/v1/video/tasks"].flatMap((path): HostileShape[] => [
    {
      name: `${path}: a million members`,
      path,
      body: () => `{${many(1_000_000, (at) => `"k${at}":1`)}}`,
      answers: refused,
    },
    { name: `${path}: ten megabytes of brackets`, path, body: () => "[".repeat(10 * MiB), answers: refused },
    { name: `${path}: nine thousand values`, path, body: () => `{"x":[${"{},".repeat(9_000)}1]}`, answers: [400, 404] },
  ]),
  {
    name: "callback: a bomb with a guessed token",
    path: "/v1/video/callbacks/vt_01KX4000000000000000000000/guessed",
    headers: { "content-encoding": "gzip" },
    body: () => gzipSync(Buffer.alloc(64 * MiB, "x")),
    answers: [404],
  },
  {
    name: "count_tokens: a hundred thousand messages",
    path: "/v1/messages/count_tokens",
    headers: anthropicVersion,
    body: () => `{"model":"claude","messages":[${many(100_000, said)}]}`,
    answers: passed,
  },
  {
    name: "tags without an end",
    path: chat,
    headers: { "x-sluice-tags": "a=b,".repeat(2_000) },
    body: chatOf("openai", () => said),
    answers: [400],
  },
  {
    name: "a query of many pairs",
    path: `${chat}?${"a=b&".repeat(2_000)}`,
    body: chatOf("openai", () => said),
    answers: [200, 414, 431],
  },
  {
    name: "a sign-in of a megabyte",
    path: "/api/auth/sign-in/email",
    body: () => `{"email":"${"a".repeat(MiB)}"}`,
    answers: [400, 403, 404, 413],
  },
  {
    name: "a set-up that is deep",
    path: "/api/setup",
    body: () => `{"a":${"[".repeat(60_000)}`,
    answers: [400, 403, 404, 409, 410, 413],
  },
  {
    name: "a report of a browser that is none",
    path: "/api/csp-reports",
    body: () => "[".repeat(60_000),
    answers: [400, 404, 413, 415],
  },
];

export const hostileShapes: readonly HostileShape[] = [
  ...jsonShapes,
  ...justSmall,
  ...tiny,
  ...changed,
  ...conversations,
  ...unreadable,
  ...packed,
  ...forms,
  ...others,
];

import { shellQuoted } from "../../../parts/snippet-texts.ts";
import { jsLiteral, pythonArguments, pythonLiteral, shortened } from "./literals.ts";

type Sdk = "chat" | "images" | "edits" | "video" | "embeddings";

/** A call of the playground, as a program would make it. */
export interface SameCall {
  readonly path: string;
  readonly sdk: Sdk;
  readonly body: Readonly<Record<string, unknown>>;
  /** Names of the pictures that go along as files, in a form. */
  readonly files?: readonly string[];
}

export interface SameCallText {
  readonly id: "curl" | "python" | "javascript";
  readonly title: string;
  /** With long data: URLs cut short, for reading. */
  readonly shown: string;
  /** Whole, for copying. */
  readonly whole: string;
}

export function sameCallTexts(call: SameCall, baseUrl: string): readonly SameCallText[] {
  const url = baseUrl.replace(/\/+$/, "");
  const short: SameCall = { ...call, body: shortened(call.body) };
  return writers.map(({ id, title, write }) => ({ id, title, shown: write(short, url), whole: write(call, url) }));
}

const writers = [
  { id: "curl", title: "curl", write: curl },
  { id: "python", title: "Python", write: python },
  { id: "javascript", title: "JavaScript", write: javascript },
] as const;

/** The key is named, not shown: what is copied gets pasted into tickets. */
function curl({ path, body, files }: SameCall, url: string): string {
  const stream = body["stream"] === true ? " -N" : "";
  const head = [`curl${stream} ${shellQuoted(url + path)} \\`, '  -H "authorization: Bearer $SLUICE_API_KEY" \\'];
  if (files !== undefined) {
    const fields = Object.entries(body).map(([name, value]) => `  -F ${shellQuoted(`${name}=${formText(value)}`)}`);
    const pictures = files.map((file) => `  -F ${shellQuoted(`${fileField(files)}=@${file}`)}`);
    return [...head, [...fields, ...pictures].join(" \\\n")].join("\n");
  }
  // Nothing in JSON is a line that says only JSON, and a here-document takes pictures of any size.
  return [
    ...head,
    "  -H 'content-type: application/json' \\",
    "  --data-binary @- <<'JSON'",
    JSON.stringify(body, null, 2),
    "JSON",
  ].join("\n");
}

const pythonMethods = {
  chat: "client.chat.completions.create",
  images: "client.images.generate",
  edits: "client.images.edit",
  embeddings: "client.embeddings.create",
} as const;

/** What the SDK's methods take by name; the rest goes into `extra_body`. */
const known: Readonly<Record<keyof typeof pythonMethods, ReadonlySet<string>>> = {
  chat: new Set(
    "model messages stream stream_options temperature max_completion_tokens max_tokens stop tools tool_choice top_p seed n user reasoning_effort response_format presence_penalty frequency_penalty parallel_tool_calls".split(
      " ",
    ),
  ),
  images: new Set("model prompt size n quality response_format background output_format style user".split(" ")),
  edits: new Set("model prompt size n quality response_format background output_format user".split(" ")),
  embeddings: new Set("model input dimensions encoding_format user".split(" ")),
};

function python({ sdk, path, body, files }: SameCall, url: string): string {
  const head = [
    "import os",
    ...(sdk === "images" || sdk === "edits" ? ["import base64"] : []),
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url=${pythonLiteral(`${url}/v1`)}, api_key=os.environ["SLUICE_API_KEY"])`,
  ];
  if (sdk === "video") {
    const call = `task = client.post(${pythonLiteral(path.slice("/v1".length))}, cast_to=object, body=${pythonLiteral(body)})`;
    return [...head, call, 'print(task["id"], task["status"])'].join("\n");
  }
  const opened = (files ?? []).map((file) => `open(${pythonLiteral(file)}, "rb")`);
  const first = opened.length === 0 ? "" : `    image=${opened.length === 1 ? opened[0] : `[${opened.join(", ")}]`},\n`;
  const call = `answer = ${pythonMethods[sdk]}(\n${first}${pythonArguments(body, known[sdk])})`;
  return [...head, call, ...pythonReads[sdk]].join("\n");
}

const pythonReads = {
  chat: [
    "for chunk in answer:",
    "    if chunk.choices and chunk.choices[0].delta.content:",
    '        print(chunk.choices[0].delta.content, end="", flush=True)',
  ],
  images: ['open("picture.png", "wb").write(base64.b64decode(answer.data[0].b64_json))'],
  edits: ['open("picture.png", "wb").write(base64.b64decode(answer.data[0].b64_json))'],
  embeddings: ["print([len(row.embedding) for row in answer.data])"],
} as const;

function javascript({ sdk, path, body, files }: SameCall, url: string): string {
  const imports = [
    'import OpenAI from "openai";',
    ...(sdk === "images" ? ['import { writeFileSync } from "node:fs";'] : []),
    ...(sdk === "edits" ? ['import { createReadStream, writeFileSync } from "node:fs";'] : []),
    "",
    `const client = new OpenAI({ baseURL: ${jsLiteral(`${url}/v1`)}, apiKey: process.env.SLUICE_API_KEY });`,
  ];
  if (sdk === "video") {
    const call = `const task = await client.post(${jsLiteral(path.slice("/v1".length))}, { body: ${jsLiteral(body)} });`;
    return [...imports, call, "console.log(task.id, task.status);"].join("\n");
  }
  const streams = (files ?? []).map(
    (file) => `await OpenAI.toFile(createReadStream(${jsLiteral(file)}), null, { type: ${jsLiteral(typeOf(file))} })`,
  );
  const opened = streams.length === 0 ? "" : `  image: [${streams.join(", ")}],\n`;
  const rest = jsLiteral(body);
  const whole = opened === "" ? rest : rest.replace("{\n", () => `{\n${opened}`);
  return [...imports, `const answer = await ${jsMethods[sdk]}(${whole});`, ...jsReads[sdk]].join("\n");
}

const jsMethods = pythonMethods;

const jsReads = {
  chat: ["for await (const chunk of answer) {", '  process.stdout.write(chunk.choices[0]?.delta?.content ?? "");', "}"],
  images: ['writeFileSync("picture.png", Buffer.from(answer.data[0].b64_json, "base64"));'],
  edits: ['writeFileSync("picture.png", Buffer.from(answer.data[0].b64_json, "base64"));'],
  embeddings: ["console.log(answer.data.map((row) => row.embedding.length));"],
} as const;

/** One picture is `image`; of several each is `image[]`, as the vendor wants it. */
export function fileField(files: readonly unknown[]): "image" | "image[]" {
  return files.length === 1 ? "image" : "image[]";
}

/** The vendor wants to be told; a stream does not know. */
function typeOf(file: string): string {
  const extension = file.split(".").at(-1)?.toLowerCase() ?? "";
  return extension === "jpg" ? "image/jpeg" : `image/${extension === "" ? "png" : extension}`;
}

export function formText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

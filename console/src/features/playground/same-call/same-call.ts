import { shellQuoted } from "../../../components/snippet-texts.ts";
import { jsLiteral, pythonArguments, pythonLiteral, shortened } from "./literals.ts";

type Sdk = keyof typeof pythonMethods | "video" | "rerank";

/** A call of the playground, to be shown as code. */
export interface SameCall {
  readonly path: string;
  readonly sdk: Sdk;
  readonly body: Readonly<Record<string, unknown>>;
  /** File names of the pictures or audio in a form. */
  readonly files?: readonly string[];
}

export interface SameCallText {
  readonly id: "curl" | "python" | "javascript";
  readonly title: string;
  /** With long data: URLs cut short, for reading. */
  readonly shown: string;
  /** Complete, for copying. */
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

/** The key is a variable, because snippets get pasted into tickets. */
function curl({ path, sdk, body, files }: SameCall, url: string): string {
  const stream = String(body["stream"]) === "true" ? " -N" : sdk === "speech" ? ` -o ${soundFile(body)}` : "";
  const head = [`curl${stream} ${shellQuoted(url + path)} \\`, '  -H "authorization: Bearer $SLUICE_API_KEY" \\'];
  if (files !== undefined) {
    const fields = Object.entries(body).map(([name, value]) => `  -F ${shellQuoted(`${name}=${formText(value)}`)}`);
    const fileFields = files.map((file) => `  -F ${shellQuoted(`${fieldOf(sdk, files)}=@${file}`)}`);
    return [...head, [...fields, ...fileFields].join(" \\\n")].join("\n");
  }
  // No line of JSON can equal the delimiter, and a here-document has no size limit.
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
  completions: "client.completions.create",
  moderations: "client.moderations.create",
  decisions: "client.decisions.create",
  transcriptions: "client.audio.transcriptions.create",
  translations: "client.audio.translations.create",
  speech: "client.audio.speech.create",
} as const;

/** Named parameters of the SDK's methods. Others go into `extra_body`. */
const namedParameters: Readonly<Record<keyof typeof pythonMethods, ReadonlySet<string>>> = {
  chat: new Set(
    "model messages stream stream_options temperature max_completion_tokens max_tokens stop tools tool_choice top_p seed n user reasoning_effort response_format presence_penalty frequency_penalty parallel_tool_calls".split(
      " ",
    ),
  ),
  images: new Set("model prompt size n quality response_format background output_format style user".split(" ")),
  edits: new Set("model prompt size n quality response_format background output_format user".split(" ")),
  embeddings: new Set("model input dimensions encoding_format user".split(" ")),
  completions: new Set("model prompt suffix max_tokens temperature stream stream_options stop".split(" ")),
  moderations: new Set("model input".split(" ")),
  decisions: new Set("model input questions".split(" ")),
  transcriptions: new Set("model response_format language prompt stream".split(" ")),
  translations: new Set("model response_format prompt".split(" ")),
  speech: new Set("model input voice response_format instructions speed".split(" ")),
};

function python({ sdk, path, body, files }: SameCall, url: string): string {
  const head = [
    "import os",
    ...(sdk === "images" || sdk === "edits" ? ["import base64"] : []),
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url=${pythonLiteral(`${url}/v1`)}, api_key=os.environ["SLUICE_API_KEY"])`,
  ];
  if (sdk === "video" || sdk === "rerank") {
    const name = sdk === "video" ? "task" : "answer";
    const call = `${name} = client.post(${pythonLiteral(path.slice("/v1".length))}, cast_to=object, body=${pythonLiteral(body)})`;
    return [...head, call, sdk === "video" ? 'print(task["id"], task["status"])' : pythonRanking].join("\n");
  }
  const opened = (files ?? []).map((file) => `open(${pythonLiteral(file)}, "rb")`);
  const file = opened.length === 1 ? opened[0] : `[${opened.join(", ")}]`;
  const first = opened.length === 0 ? "" : `    ${isSound(sdk) ? "file" : "image"}=${file},\n`;
  // Form fields are texts; the SDK needs typed values.
  const typed = body["stream"] === "true" ? { ...body, stream: true } : body;
  const call = `answer = ${pythonMethods[sdk]}(\n${first}${pythonArguments(typed, namedParameters[sdk])})`;
  if (sdk === "speech") return [...head, call, `answer.write_to_file(${pythonLiteral(soundFile(body))})`].join("\n");
  const reads = isSound(sdk) && typed["stream"] === true ? pythonEvents : pythonReads[sdk];
  return [...head, call, ...reads].join("\n");
}

const pythonRanking = 'for row in answer["results"]:\n    print(row["index"], row["relevance_score"])';
const pythonEvents = [
  "for event in answer:",
  '    if event.type == "transcript.text.delta":',
  '        print(event.delta, end="", flush=True)',
];

const pythonReads = {
  chat: [
    "for chunk in answer:",
    "    if chunk.choices and chunk.choices[0].delta.content:",
    '        print(chunk.choices[0].delta.content, end="", flush=True)',
  ],
  images: ['open("picture.png", "wb").write(base64.b64decode(answer.data[0].b64_json))'],
  edits: ['open("picture.png", "wb").write(base64.b64decode(answer.data[0].b64_json))'],
  embeddings: ["print([len(row.embedding) for row in answer.data])"],
  completions: [
    "for chunk in answer:",
    '    print(chunk.choices[0].text if chunk.choices else "", end="", flush=True)',
  ],
  moderations: ["print(answer.results[0].flagged, answer.results[0].category_scores)"],
  decisions: ["print(answer.answers)"],
  transcriptions: ['print(getattr(answer, "text", answer))'],
  translations: ['print(getattr(answer, "text", answer))'],
} as const;

function javascript({ sdk, path, body, files }: SameCall, url: string): string {
  const imports = [
    'import OpenAI from "openai";',
    ...(sdk === "images" || sdk === "speech" ? ['import { writeFileSync } from "node:fs";'] : []),
    ...(sdk === "edits" ? ['import { createReadStream, writeFileSync } from "node:fs";'] : []),
    ...(isSound(sdk) ? ['import { createReadStream } from "node:fs";'] : []),
    "",
    `const client = new OpenAI({ baseURL: ${jsLiteral(`${url}/v1`)}, apiKey: process.env.SLUICE_API_KEY });`,
  ];
  if (sdk === "video" || sdk === "rerank") {
    const name = sdk === "video" ? "task" : "answer";
    const call = `const ${name} = await client.post(${jsLiteral(path.slice("/v1".length))}, { body: ${jsLiteral(body)} });`;
    return [...imports, call, `console.log(${sdk === "video" ? "task.id, task.status" : "answer.results"});`].join(
      "\n",
    );
  }
  const typed = body["stream"] === "true" ? { ...body, stream: true } : body;
  const rest = jsLiteral(typed);
  const opened = openedFiles(sdk, files ?? []);
  const whole = opened === "" ? rest : rest.replace("{\n", () => `{\n${opened}`);
  const call = `const answer = await ${jsMethods[sdk]}(${whole});`;
  if (sdk === "speech") {
    return [
      ...imports,
      call,
      `writeFileSync(${jsLiteral(soundFile(body))}, Buffer.from(await answer.arrayBuffer()));`,
    ].join("\n");
  }
  const reads = isSound(sdk) && typed["stream"] === true ? jsEvents : jsReads[sdk];
  return [...imports, call, ...reads].join("\n");
}

/** The arguments that are files. */
function openedFiles(sdk: Sdk, files: readonly string[]): string {
  if (files.length === 0) return "";
  if (isSound(sdk)) return `  file: createReadStream(${jsLiteral(files[0])}),\n`;
  const streams = files.map(
    (file) => `await OpenAI.toFile(createReadStream(${jsLiteral(file)}), null, { type: ${jsLiteral(typeOf(file))} })`,
  );
  return `  image: [${streams.join(", ")}],\n`;
}

const jsEvents = [
  "for await (const event of answer) {",
  '  if (event.type === "transcript.text.delta") process.stdout.write(event.delta);',
  "}",
];

const jsMethods = pythonMethods;

const jsReads = {
  chat: ["for await (const chunk of answer) {", '  process.stdout.write(chunk.choices[0]?.delta?.content ?? "");', "}"],
  images: ['writeFileSync("picture.png", Buffer.from(answer.data[0].b64_json, "base64"));'],
  edits: ['writeFileSync("picture.png", Buffer.from(answer.data[0].b64_json, "base64"));'],
  embeddings: ["console.log(answer.data.map((row) => row.embedding.length));"],
  completions: ["for await (const chunk of answer) {", '  process.stdout.write(chunk.choices[0]?.text ?? "");', "}"],
  moderations: ["console.log(answer.results[0].flagged, answer.results[0].category_scores);"],
  decisions: ["console.log(answer.answers);"],
  transcriptions: ["console.log(answer.text ?? answer);"],
  translations: ["console.log(answer.text ?? answer);"],
} as const;

function isSound(sdk: Sdk): sdk is "transcriptions" | "translations" {
  return sdk === "transcriptions" || sdk === "translations";
}

function fieldOf(sdk: Sdk, files: readonly string[]): string {
  return isSound(sdk) ? "file" : fileField(files);
}

/** File name of generated speech. */
function soundFile(body: SameCall["body"]): string {
  return `speech.${String(body["response_format"] ?? "mp3").replaceAll(/\W/g, "")}`;
}

/** One picture is sent as `image`, several as `image[]`, as the vendor requires. */
export function fileField(files: readonly unknown[]): "image" | "image[]" {
  return files.length === 1 ? "image" : "image[]";
}

/** Vendors require the content type, and a stream of bytes has none. */
function typeOf(file: string): string {
  const extension = file.split(".").at(-1)?.toLowerCase() ?? "";
  return extension === "jpg" ? "image/jpeg" : `image/${extension === "" ? "png" : extension}`;
}

export function formText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

import type { ModelTypeName } from "@sluice/contract";
import { t } from "../language/areas/snippets.ts";

export interface SnippetOptions {
  /** The gateway's URL for callers, without a trailing slash: `session.answer.public_url`. */
  readonly baseUrl: string;
  /** null: the snippets read it from the environment. */
  readonly apiKey: string | null;
  readonly model: string;
  /** Type of the model. Coding agents need a chat model; image and video models have their own calls. */
  readonly type?: ModelTypeName;
  /** Models for the names `opus`, `sonnet` and `haiku` of Claude Code. Default: `model`. */
  readonly tiers?: ClaudeTiers;
}

export type ClaudeTiers = Readonly<Record<"opus" | "sonnet" | "haiku", string>>;

export interface Snippet {
  readonly id: string;
  readonly title: string;
  readonly parts: readonly { readonly where: string; readonly code: string }[];
}

const keyVariable = "SLUICE_API_KEY";

export function snippetsFor({ baseUrl, apiKey, model, type = "chat", tiers }: SnippetOptions): readonly Snippet[] {
  const call = {
    url: baseUrl.replace(/\/+$/, ""),
    apiKey,
    model,
    type,
    tiers: tiers ?? { opus: model, sonnet: model, haiku: model },
  };
  const plain = [curlSnippet(call), ...pythonSnippets(call), ...javascriptSnippets(call)];
  const agents = type === "chat" ? [claudeCodeSnippet(call), codexSnippet(call)] : [];
  return [...plain, ...agents, environmentSnippet(call)];
}

interface Call {
  readonly url: string;
  readonly apiKey: string | null;
  readonly model: string;
  readonly type: ModelTypeName;
  readonly tiers: ClaudeTiers;
}

/** Quotes for a POSIX shell: inside single quotes, only the single quote itself is special. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A first call for each type of model. Types without an SDK method have a shell snippet only. */
interface FirstCall {
  readonly path: string;
  /** Parameters in addition to the model. */
  readonly rest: object;
  /** A file of the form that is sent instead of JSON. */
  readonly file?: string;
  /** File for a response that is not text. */
  readonly output?: string;
  readonly python: ((model: string) => readonly string[]) | null;
  readonly javascript: ((model: string) => readonly string[]) | null;
}

const firstCalls: Readonly<Record<ModelTypeName, FirstCall>> = {
  chat: {
    path: "/v1/chat/completions",
    rest: { messages: [{ role: "user", content: "Hello" }] },
    python: (name) => [
      "answer = client.chat.completions.create(",
      `    model=${name},`,
      '    messages=[{"role": "user", "content": "Hello"}],',
      ")",
      "print(answer.choices[0].message.content)",
    ],
    javascript: (name) => [
      "const answer = await client.chat.completions.create({",
      `  model: ${name},`,
      '  messages: [{ role: "user", content: "Hello" }],',
      "});",
      "console.log(answer.choices[0].message.content);",
    ],
  },
  completion: {
    path: "/v1/completions",
    rest: { prompt: "def fib(n):", suffix: "print(fib(8))", max_tokens: 64 },
    python: (name) => [
      `answer = client.completions.create(model=${name}, prompt="def fib(n):", suffix="print(fib(8))", max_tokens=64)`,
      "print(answer.choices[0].text)",
    ],
    javascript: (name) => [
      "const answer = await client.completions.create({",
      `  model: ${name}, prompt: "def fib(n):", suffix: "print(fib(8))", max_tokens: 64,`,
      "});",
      "console.log(answer.choices[0].text);",
    ],
  },
  image: {
    path: "/v1/images/generations",
    rest: { prompt: "A lighthouse at dawn", size: "1024x1024", n: 1 },
    python: (name) => [
      `answer = client.images.generate(model=${name}, prompt="A lighthouse at dawn", size="1024x1024")`,
      "print(answer.data[0])",
    ],
    javascript: (name) => [
      `const answer = await client.images.generate({ model: ${name}, prompt: "A lighthouse at dawn", size: "1024x1024" });`,
      "console.log(answer.data[0]);",
    ],
  },
  video: {
    path: "/v1/video/tasks",
    rest: { prompt: "A lighthouse at dawn", ratio: "16:9", duration: 5 },
    python: (name) => [
      'task = client.post("/video/tasks", cast_to=object, body={',
      `    "model": ${name}, "prompt": "A lighthouse at dawn", "ratio": "16:9", "duration": 5,`,
      "})",
      'print(task["id"], task["status"])',
    ],
    javascript: (name) => [
      'const task = await client.post("/video/tasks", {',
      `  body: { model: ${name}, prompt: "A lighthouse at dawn", ratio: "16:9", duration: 5 },`,
      "});",
      "console.log(task.id, task.status);",
    ],
  },
  embedding: {
    path: "/v1/embeddings",
    rest: { input: "Hello" },
    python: (name) => [
      `answer = client.embeddings.create(model=${name}, input="Hello")`,
      "print(len(answer.data[0].embedding))",
    ],
    javascript: (name) => [
      `const answer = await client.embeddings.create({ model: ${name}, input: "Hello" });`,
      "console.log(answer.data[0].embedding.length);",
    ],
  },
  rerank: {
    path: "/v1/rerank",
    rest: { query: "Where do ships go?", documents: ["A lighthouse", "A harbour", "A hill"], top_n: 2 },
    python: null,
    javascript: null,
  },
  moderation: {
    path: "/v1/moderations",
    rest: { input: "Hello" },
    python: (name) => [
      `answer = client.moderations.create(model=${name}, input="Hello")`,
      "print(answer.results[0].flagged)",
    ],
    javascript: (name) => [
      `const answer = await client.moderations.create({ model: ${name}, input: "Hello" });`,
      "console.log(answer.results[0].flagged);",
    ],
  },
  decision: {
    path: "/v1/decisions",
    rest: {
      input: "My parcel never arrived.",
      questions: [{ type: "predicate", instructions: "The customer complains." }],
    },
    python: (name) => [
      "answer = client.decisions.create(",
      `    model=${name}, input="My parcel never arrived.",`,
      '    questions=[{"type": "predicate", "instructions": "The customer complains."}],',
      ")",
      "print(answer.answers[0].probability)",
    ],
    javascript: (name) => [
      "const answer = await client.decisions.create({",
      `  model: ${name}, input: "My parcel never arrived.",`,
      '  questions: [{ type: "predicate", instructions: "The customer complains." }],',
      "});",
      "console.log(answer.answers[0].probability);",
    ],
  },
  transcription: {
    path: "/v1/audio/transcriptions",
    rest: {},
    file: "speech.mp3",
    python: (name) => [
      `answer = client.audio.transcriptions.create(model=${name}, file=open("speech.mp3", "rb"))`,
      "print(answer.text)",
    ],
    javascript: (name) => [
      `const answer = await client.audio.transcriptions.create({ model: ${name}, file: createReadStream("speech.mp3") });`,
      "console.log(answer.text);",
    ],
  },
  speech: {
    path: "/v1/audio/speech",
    rest: { input: "A lighthouse at dawn.", voice: "alloy" },
    output: "speech.mp3",
    python: (name) => [
      `answer = client.audio.speech.create(model=${name}, input="A lighthouse at dawn.", voice="alloy")`,
      'answer.write_to_file("speech.mp3")',
    ],
    javascript: (name) => [
      `const answer = await client.audio.speech.create({ model: ${name}, input: "A lighthouse at dawn.", voice: "alloy" });`,
      'await writeFile("speech.mp3", Buffer.from(await answer.arrayBuffer()));',
    ],
  },
};

function curlSnippet({ url, apiKey, model, type }: Call): Snippet {
  const { path, rest, file, output } = firstCalls[type];
  const header =
    apiKey === null ? `"authorization: Bearer $${keyVariable}"` : shellQuoted(`authorization: Bearer ${apiKey}`);
  const body =
    file === undefined
      ? ["  -H 'content-type: application/json' \\", `  -d ${shellQuoted(JSON.stringify({ model, ...rest }))}`]
      : [`  -F ${shellQuoted(`model=${model}`)} \\`, `  -F ${shellQuoted(`file=@${file}`)}`];
  const code = [`curl ${shellQuoted(url + path)} \\`, `  -H ${header} \\`, ...body];
  const last = code.pop() ?? "";
  const whole = output === undefined ? [...code, last] : [...code, `${last} \\`, `  -o ${output}`];
  return { id: "curl", title: "curl", parts: [{ where: t("snippets.shell"), code: whole.join("\n") }] };
}

function pythonSnippets({ url, apiKey, model, type }: Call): readonly Snippet[] {
  const call = firstCalls[type].python;
  if (call === null) return [];
  const key = apiKey === null ? `os.environ["${keyVariable}"]` : JSON.stringify(apiKey);
  const head = [...(apiKey === null ? ["import os", ""] : []), "from openai import OpenAI", ""];
  const client = `client = OpenAI(base_url=${JSON.stringify(`${url}/v1`)}, api_key=${key})`;
  const code = [...head, client, ...call(JSON.stringify(model))].join("\n");
  const first = { where: t("snippets.pythonSdk"), code };
  if (type !== "chat") return [{ id: "python", title: "Python", parts: [first] }];
  const anthropic = [
    ...(apiKey === null ? ["import os", ""] : []),
    "from anthropic import Anthropic",
    "",
    `client = Anthropic(base_url=${JSON.stringify(url)}, api_key=${key})`,
    "message = client.messages.create(",
    `    model=${JSON.stringify(model)},`,
    "    max_tokens=1024,",
    '    messages=[{"role": "user", "content": "Hello"}],',
    ")",
    'print(next(block.text for block in message.content if block.type == "text"))',
  ];
  const second = { where: t("snippets.pythonAnthropic"), code: anthropic.join("\n") };
  return [{ id: "python", title: "Python", parts: [first, second] }];
}

function javascriptSnippets({ url, apiKey, model, type }: Call): readonly Snippet[] {
  const call = firstCalls[type].javascript;
  if (call === null) return [];
  const key = apiKey === null ? `process.env.${keyVariable}` : JSON.stringify(apiKey);
  const files: { readonly [Type in ModelTypeName]?: string } = {
    transcription: 'import { createReadStream } from "node:fs";',
    speech: 'import { writeFile } from "node:fs/promises";',
  };
  const more = files[type] === undefined ? [] : [files[type]];
  const head = [...more, 'import OpenAI from "openai";', ""];
  const client = `const client = new OpenAI({ baseURL: ${JSON.stringify(`${url}/v1`)}, apiKey: ${key} });`;
  const code = [...head, client, ...call(JSON.stringify(model))].join("\n");
  const first = { where: t("snippets.javascriptSdk"), code };
  if (type !== "chat") return [{ id: "javascript", title: "JavaScript", parts: [first] }];
  const anthropic = [
    'import Anthropic from "@anthropic-ai/sdk";',
    "",
    `const client = new Anthropic({ baseURL: ${JSON.stringify(url)}, apiKey: ${key} });`,
    "const message = await client.messages.create({",
    `  model: ${JSON.stringify(model)},`,
    "  max_tokens: 1024,",
    '  messages: [{ role: "user", content: "Hello" }],',
    "});",
    'console.log(message.content.find((block) => block.type === "text")?.text);',
  ];
  const second = { where: t("snippets.javascriptAnthropic"), code: anthropic.join("\n") };
  return [{ id: "javascript", title: "JavaScript", parts: [first, second] }];
}

function claudeCodeSnippet({ url, apiKey, model, tiers }: Call): Snippet {
  const code = [
    `export ANTHROPIC_BASE_URL=${shellQuoted(url)}`,
    `export ANTHROPIC_AUTH_TOKEN=${apiKey === null ? `"$${keyVariable}"` : shellQuoted(apiKey)}`,
    `export ANTHROPIC_MODEL=${shellQuoted(model)}`,
    `export ANTHROPIC_DEFAULT_OPUS_MODEL=${shellQuoted(tiers.opus)}`,
    `export ANTHROPIC_DEFAULT_SONNET_MODEL=${shellQuoted(tiers.sonnet)}`,
    `export ANTHROPIC_DEFAULT_HAIKU_MODEL=${shellQuoted(tiers.haiku)}`,
    "claude",
  ];
  return { id: "claude-code", title: "Claude Code", parts: [{ where: t("snippets.shell"), code: code.join("\n") }] };
}

function codexSnippet({ url, apiKey, model }: Call): Snippet {
  const config = [
    `model = ${JSON.stringify(model)}`,
    'model_provider = "sluice"',
    "",
    "[model_providers.sluice]",
    'name = "Sluice"',
    `base_url = ${JSON.stringify(`${url}/v1`)}`,
    `env_key = "${keyVariable}"`,
    'wire_api = "responses"',
  ];
  const shell = [...(apiKey === null ? [] : [`export ${keyVariable}=${shellQuoted(apiKey)}`]), "codex"];
  return {
    id: "codex",
    title: "Codex",
    parts: [
      { where: "~/.codex/config.toml", code: config.join("\n") },
      { where: t("snippets.shell"), code: shell.join("\n") },
    ],
  };
}

/** The variables that both vendors' SDKs and most programs read by default. */
function environmentSnippet({ url, apiKey, model }: Call): Snippet {
  const key = apiKey === null ? `"$${keyVariable}"` : shellQuoted(apiKey);
  const code = [
    `export OPENAI_BASE_URL=${shellQuoted(`${url}/v1`)}`,
    `export OPENAI_API_KEY=${key}`,
    `export ANTHROPIC_BASE_URL=${shellQuoted(url)}`,
    `export ANTHROPIC_AUTH_TOKEN=${key}`,
    `# then ask for the model ${JSON.stringify(model)}`,
  ];
  return {
    id: "environment",
    title: t("snippets.environment"),
    parts: [{ where: t("snippets.environmentWhere"), code: code.join("\n") }],
  };
}

export interface SnippetOptions {
  /** Where callers reach the gateway, without a slash at the end: `session.answer.public_url`. */
  readonly baseUrl: string;
  /** null: the snippets read it from the environment. */
  readonly apiKey: string | null;
  readonly model: string;
  /** Coding agents need a chat model; a picture or a video model gets its own call. */
  readonly type?: "chat" | "image" | "video" | "embedding";
}

export interface Snippet {
  readonly id: string;
  readonly title: string;
  readonly parts: readonly { readonly where: string; readonly code: string }[];
}

const keyVariable = "SLUICE_API_KEY";

export function snippetsFor({ baseUrl, apiKey, model, type = "chat" }: SnippetOptions): readonly Snippet[] {
  const call = { url: baseUrl.replace(/\/+$/, ""), apiKey, model, type };
  const plain = [curlSnippet(call), pythonSnippet(call), javascriptSnippet(call)];
  const agents = type === "chat" ? [claudeCodeSnippet(call), codexSnippet(call)] : [];
  return [...plain, ...agents, environmentSnippet(call)];
}

interface Call {
  readonly url: string;
  readonly apiKey: string | null;
  readonly model: string;
  readonly type: "chat" | "image" | "video" | "embedding";
}

/** For a POSIX shell: nothing inside single quotes means anything but a single quote. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const bodies = {
  chat: { path: "/v1/chat/completions", rest: { messages: [{ role: "user", content: "Hello" }] } },
  image: { path: "/v1/images/generations", rest: { prompt: "A lighthouse at dawn", size: "1024x1024", n: 1 } },
  video: { path: "/v1/video/tasks", rest: { prompt: "A lighthouse at dawn", ratio: "16:9", duration: 5 } },
  embedding: { path: "/v1/embeddings", rest: { input: "Hello" } },
} as const;

function curlSnippet({ url, apiKey, model, type }: Call): Snippet {
  const { path, rest } = bodies[type];
  const header =
    apiKey === null ? `"authorization: Bearer $${keyVariable}"` : shellQuoted(`authorization: Bearer ${apiKey}`);
  const body = shellQuoted(JSON.stringify({ model, ...rest }));
  const code = [
    `curl ${shellQuoted(url + path)} \\`,
    `  -H ${header} \\`,
    "  -H 'content-type: application/json' \\",
    `  -d ${body}`,
  ];
  return { id: "curl", title: "curl", parts: [{ where: "In a shell", code: code.join("\n") }] };
}

function pythonSnippet({ url, apiKey, model, type }: Call): Snippet {
  const key = apiKey === null ? `os.environ["${keyVariable}"]` : JSON.stringify(apiKey);
  const name = JSON.stringify(model);
  const calls = {
    chat: [
      "answer = client.chat.completions.create(",
      `    model=${name},`,
      '    messages=[{"role": "user", "content": "Hello"}],',
      ")",
      "print(answer.choices[0].message.content)",
    ],
    image: [
      `answer = client.images.generate(model=${name}, prompt="A lighthouse at dawn", size="1024x1024")`,
      "print(answer.data[0])",
    ],
    video: [
      'task = client.post("/video/tasks", cast_to=object, body={',
      `    "model": ${name}, "prompt": "A lighthouse at dawn", "ratio": "16:9", "duration": 5,`,
      "})",
      'print(task["id"], task["status"])',
    ],
    embedding: [
      `answer = client.embeddings.create(model=${name}, input="Hello")`,
      "print(len(answer.data[0].embedding))",
    ],
  } as const;
  const head = [...(apiKey === null ? ["import os", ""] : []), "from openai import OpenAI", ""];
  const client = `client = OpenAI(base_url=${JSON.stringify(`${url}/v1`)}, api_key=${key})`;
  return {
    id: "python",
    title: "Python",
    parts: [{ where: "With the OpenAI SDK: pip install openai", code: [...head, client, ...calls[type]].join("\n") }],
  };
}

function javascriptSnippet({ url, apiKey, model, type }: Call): Snippet {
  const key = apiKey === null ? `process.env.${keyVariable}` : JSON.stringify(apiKey);
  const name = JSON.stringify(model);
  const calls = {
    chat: [
      "const answer = await client.chat.completions.create({",
      `  model: ${name},`,
      '  messages: [{ role: "user", content: "Hello" }],',
      "});",
      "console.log(answer.choices[0].message.content);",
    ],
    image: [
      `const answer = await client.images.generate({ model: ${name}, prompt: "A lighthouse at dawn", size: "1024x1024" });`,
      "console.log(answer.data[0]);",
    ],
    video: [
      'const task = await client.post("/video/tasks", {',
      `  body: { model: ${name}, prompt: "A lighthouse at dawn", ratio: "16:9", duration: 5 },`,
      "});",
      "console.log(task.id, task.status);",
    ],
    embedding: [
      `const answer = await client.embeddings.create({ model: ${name}, input: "Hello" });`,
      "console.log(answer.data[0].embedding.length);",
    ],
  } as const;
  const head = ['import OpenAI from "openai";', ""];
  const client = `const client = new OpenAI({ baseURL: ${JSON.stringify(`${url}/v1`)}, apiKey: ${key} });`;
  return {
    id: "javascript",
    title: "JavaScript",
    parts: [{ where: "With the OpenAI SDK: npm install openai", code: [...head, client, ...calls[type]].join("\n") }],
  };
}

function claudeCodeSnippet({ url, apiKey, model }: Call): Snippet {
  const code = [
    `export ANTHROPIC_BASE_URL=${shellQuoted(url)}`,
    `export ANTHROPIC_AUTH_TOKEN=${apiKey === null ? `"$${keyVariable}"` : shellQuoted(apiKey)}`,
    `export ANTHROPIC_MODEL=${shellQuoted(model)}`,
    `export ANTHROPIC_DEFAULT_HAIKU_MODEL=${shellQuoted(model)}`,
    "claude",
  ];
  return { id: "claude-code", title: "Claude Code", parts: [{ where: "In a shell", code: code.join("\n") }] };
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
      { where: "In a shell", code: shell.join("\n") },
    ],
  };
}

/** What the SDKs of both vendors and most programs read by themselves. */
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
    title: "Environment",
    parts: [{ where: "Read by the SDKs and most programs", code: code.join("\n") }],
  };
}

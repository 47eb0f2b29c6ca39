import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

const malloryKey = "sk-mallory-0123456789abcdefghij";

let gateway: StartedGateway;
beforeAll(async () => {
  const settings = { objects: ["file-listed", "vs_team_*"] };
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("openai", simulator, { kind: "openai", settings }),
      upstream("claude", simulator, { kind: "anthropic", settings }),
      upstream("google", simulator, { kind: "gemini", settings: { endpoints: ["generate"], ...settings } }),
      upstream("private", simulator, { kind: "openai" }),
    ],
    models: [
      { name: "gpt", deployments: [{ provider: "openai" }] },
      { name: "claude", deployments: [{ provider: "claude" }] },
      { name: "gem", deployments: [{ provider: "google" }] },
      { name: "mine", deployments: [{ provider: "private" }] },
    ],
    workspace: { models: ["*"] },
    moreWorkspaces: [
      {
        slug: "rival",
        models: ["gpt", "claude", "gem"],
        groups: [{ name: "default" }],
        keys: [{ name: "mallory", secret: malloryKey }],
      },
    ],
  });
});
afterAll(() => gateway.stop());

const version = { "anthropic-version": "2023-06-01" };
const path = {
  responses: "/v1/responses",
  compact: "/v1/responses/compact",
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  generate: "/v1beta/models/gem:generateContent",
} as const;
const post = (where: keyof typeof path, body: unknown, key = malloryKey) =>
  gateway.post(path[where], body, { key, headers: version });

const messagesOf = (content: unknown) => [{ role: "user", content }];
const inResponses = (more: object) => ({ model: "gpt", input: "x", ...more });
const inMessages = (content: unknown, more: object = {}) => ({
  model: "claude",
  max_tokens: 9,
  messages: messagesOf(content),
  ...more,
});

const named: readonly [what: string, where: keyof typeof path, body: unknown, param: string][] = [
  ["a conversation", "responses", inResponses({ conversation: "conv_of_acme" }), "conversation"],
  ["a conversation's object", "responses", inResponses({ conversation: { id: "conv_of_acme" } }), "conversation"],
  [
    "a conversation next to a response",
    "responses",
    inResponses({ conversation: "conv_of_acme", previous_response_id: null }),
    "conversation",
  ],
  ["a stored prompt", "responses", inResponses({ prompt: { id: "pmpt_of_acme" } }), "prompt"],
  [
    "a file",
    "responses",
    inResponses({ input: messagesOf([{ type: "input_file", file_id: "file-of-acme" }]) }),
    "file_id",
  ],
  [
    "a picture's file in a compaction",
    "compact",
    inResponses({ input: messagesOf([{ type: "input_image", file_id: "file-of-acme" }]) }),
    "file_id",
  ],
  [
    "a vector store",
    "responses",
    inResponses({ tools: [{ type: "file_search", vector_store_ids: ["vs_team_1", "vs_of_acme"] }] }),
    "vector_store_ids",
  ],
  [
    "a container",
    "responses",
    inResponses({ tools: [{ type: "code_interpreter", container: "cntr_of_acme" }] }),
    "container",
  ],
  [
    "the container of an earlier call",
    "responses",
    inResponses({
      input: [{ type: "code_interpreter_call", id: "ci_1", status: "completed", container_id: "cntr_of_acme" }],
      tools: [{ type: "code_interpreter", container: { type: "auto" } }],
    }),
    "container_id",
  ],
  [
    "a container's files",
    "responses",
    inResponses({ tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: ["file-of-acme"] } }] }),
    "file_ids",
  ],
  [
    "a file of a chat",
    "chat",
    { model: "gpt", messages: messagesOf([{ type: "file", file: { file_id: "file-of-acme" } }]) },
    "file_id",
  ],
  [
    "a document's file",
    "messages",
    inMessages([{ type: "document", source: { type: "file", file_id: "file_of_acme" } }]),
    "file_id",
  ],
  [
    "an upload to a container",
    "messages",
    inMessages([{ type: "container_upload", file_id: "file_of_acme" }]),
    "file_id",
  ],
  ["a code execution container", "messages", inMessages("x", { container: "container_of_acme" }), "container"],
  [
    "a container with skills",
    "messages",
    inMessages("x", { container: { id: "container_of_acme", skills: [] } }),
    "container",
  ],
  [
    "a cache",
    "generate",
    { contents: [{ parts: [{ text: "x" }] }], cachedContent: "cachedContents/of-acme" },
    "cachedContent",
  ],
  [
    "a cache, in a chat at Google's endpoint",
    "chat",
    { model: "gem", messages: messagesOf("x"), extra_body: { google: { cached_content: "cachedContents/of-acme" } } },
    "cached_content",
  ],
  [
    "a Gemini file",
    "generate",
    {
      contents: [
        { parts: [{ fileData: { fileUri: "https://generativelanguage.googleapis.com/v1beta/files/of-acme" } }] },
      ],
    },
    "fileUri",
  ],
];

const skill = { type: "custom", skill_id: "skill_of_acme", version: "latest" };
const shell = (environment: object) => inResponses({ tools: [{ type: "shell", environment }] });
const retrieval = (store: object) => ({ contents: [{ parts: [{ text: "x" }] }], tools: [{ retrieval: store }] });
const ofNewerMembers: typeof named = [
  ["a skill", "messages", inMessages("x", { container: { skills: [skill] } }), "skill_id"],
  ["a shell's container", "responses", shell({ type: "container_reference", container_id: "cntr_1" }), "container_id"],
  [
    "a shell's skill",
    "responses",
    shell({ type: "container_auto", skills: [{ type: "skill_reference", skill_id: "skill_1" }] }),
    "skill_id",
  ],
  [
    "a response to compare with",
    "responses",
    inResponses({ prompt_cache_options: { comparison_response_id: "resp_of_acme" } }),
    "comparison_response_id",
  ],
  ["a tunnel", "responses", inResponses({ tools: [{ type: "mcp", tunnel_id: "tunnel_1" }] }), "tunnel_id"],
  ["a voice", "chat", { model: "gpt", messages: messagesOf("x"), audio: { voice: { id: "voice_1" } } }, "voice"],
  [
    "the audio of an answer",
    "chat",
    {
      model: "gpt",
      messages: [...messagesOf("x"), { role: "assistant", audio: { id: "audio_1" } }, ...messagesOf("y")],
    },
    "audio",
  ],
  ["a corpus", "generate", retrieval({ vertexRagStore: { ragResources: [{ ragCorpus: "of-acme" }] } }), "ragCorpus"],
  ["a datastore to search", "generate", retrieval({ vertex_ai_search: { datastore: "of-acme" } }), "datastore"],
  [
    "an answer to continue",
    "generate",
    { contents: [{ parts: [{ text: "x" }] }], continuationToken: "b2YtYWNtZQ==" },
    "continuationToken",
  ],
];

test.each([...named, ...ofNewerMembers])(
  "%s of another workspace returns 404 at a shared account",
  async (_, where, body, param) => {
    const before = gateway.simulator.simulator.truth.list().total;
    const answer = await post(where, body);
    expect(answer.status).toBe(404);
    const problem = await answer.text();
    expect(problem).toContain("There is no object with the id");
    if (where !== "generate" && where !== "messages") expect(JSON.parse(problem)).toMatchObject({ error: { param } });
    expect(gateway.simulator.simulator.truth.list().total).toBe(before);
  },
);

test("a name with escapes is the same name", async () => {
  const input = '[{"role":"user","content":[{"type":"input_file","\\u0066ile_id":"file-of-acme"}]}]';
  expect((await post("responses", `{"model":"gpt","input":${input}}`)).status).toBe(404);
});

test("an object listed by the operator exists for all, and a workspace alone on an account may name anything", async () => {
  const listed = inResponses({
    input: messagesOf([{ type: "input_file", file_id: "file-listed" }]),
    tools: [{ type: "file_search", vector_store_ids: ["vs_team_1", "vs_team_2"] }],
  });
  expect((await post("responses", listed)).status).toBe(200);
  const own = {
    ...inResponses({ input: messagesOf([{ type: "input_file", file_id: "file-of-acme" }]) }),
    model: "mine",
  };
  expect((await post("responses", own, aliceKey)).status).toBe(200);
});

test("keeps what only looks like a name: arguments, schemas, citations, earlier results", async () => {
  const bodies: readonly [keyof typeof path, object][] = [
    [
      "responses",
      inResponses({
        input: [
          { type: "function_call", call_id: "c", name: "f", arguments: '{"file_id":"mine"}' },
          { type: "function_call_output", call_id: "c", output: "file_id" },
          {
            role: "assistant",
            content: [{ type: "output_text", text: "x", annotations: [{ type: "file_citation", file_id: "file-1" }] }],
          },
          { role: "user", content: "x" },
        ],
        tools: [
          {
            type: "function",
            name: "f",
            parameters: { type: "object", properties: { file_id: { type: "string", default: "x" } } },
          },
        ],
      }),
    ],
    [
      "messages",
      {
        model: "claude",
        max_tokens: 9,
        container: { skills: [{ type: "anthropic", skill_id: "pptx", version: "latest" }] },
        messages: [
          { role: "user", content: "x" },
          {
            role: "assistant",
            content: [{ type: "tool_use", id: "toolu_1", name: "f", input: { file_id: "mine", container: "web" } }],
          },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok" }] },
        ],
        tools: [
          { name: "f", input_schema: { type: "object", properties: { file_id: { type: "string", const: "mine" } } } },
        ],
      },
    ],
    [
      "generate",
      {
        contents: [
          { role: "user", parts: [{ text: "x" }, { fileData: { fileUri: "https://www.youtube.com/watch?v=1" } }] },
          { role: "model", parts: [{ functionCall: { name: "f", args: { fileUri: "gs://mine/x" } } }] },
          { role: "user", parts: [{ functionResponse: { name: "f", response: { fileUri: "gs://mine/x" } } }] },
        ],
      },
    ],
  ];
  for (const [where, body] of bodies) expect((await post(where, body)).status).toBe(200);
});

test("a container belongs to a workspace once it appeared in one of its answers", async () => {
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude",
    content: [{ type: "text", text: "x" }],
  };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const made = {
    ...message,
    stop_reason: "end_turn",
    usage,
    container: { id: "container_new", expires_at: "2027-01-01" },
  };
  const response = {
    id: "resp_1",
    object: "response",
    status: "completed",
    output: [{ type: "code_interpreter_call", id: "ci_1", container_id: "cntr_new", code: "1" }],
    usage,
  };
  const answered = (body: unknown): string => {
    const text = JSON.stringify(body);
    return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\nconnection: close\r\n\r\n${text}`;
  };
  const claude = inMessages("x", { container: "container_new" });
  const openai = inResponses({ tools: [{ type: "code_interpreter", container: "cntr_new" }] });
  expect((await post("messages", claude, aliceKey)).status).toBe(404);
  expect((await post("responses", openai, aliceKey)).status).toBe(404);
  await (
    await gateway.post(path.messages, inMessages("x"), { headers: version, script: { raw_reply: answered(made) } })
  ).text();
  await (await gateway.post(path.responses, inResponses({}), { script: { raw_reply: answered(response) } })).text();
  expect((await post("messages", claude, aliceKey)).status).toBe(200);
  expect((await post("responses", openai, aliceKey)).status).toBe(200);
  expect((await post("messages", claude)).status).toBe(404);
  expect((await post("responses", openai)).status).toBe(404);
});

test.each([false, true])(
  "audio belongs to a workspace once it appeared in one of its answers (stream: %p)",
  async (stream) => {
    const audio = { id: `audio_${stream}`, data: "AAAA", transcript: "x", expires_at: 1 };
    const choice = { index: 0, finish_reason: "stop" };
    const body = stream
      ? `data: ${JSON.stringify({ id: "c", choices: [{ ...choice, delta: { audio } }] })}\n\ndata: [DONE]\n\n`
      : JSON.stringify({ id: "c", choices: [{ ...choice, message: { role: "assistant", content: null, audio } }] });
    const type = stream ? "text/event-stream" : "application/json";
    const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\nconnection: close`;
    const chat = { model: "gpt", stream, messages: messagesOf("x") };
    const next = { model: "gpt", messages: [{ role: "assistant", audio: { id: audio.id } }, ...messagesOf("x")] };
    expect((await post("chat", next, aliceKey)).status).toBe(404);
    await (await gateway.post(path.chat, chat, { script: { raw_reply: `${head}\r\n\r\n${body}` } })).text();
    expect([(await post("chat", next, aliceKey)).status, (await post("chat", next)).status]).toEqual([200, 404]);
  },
);

test.each([
  ["previous_response_id", { previous_response_id: ["resp_1"] }],
  ["previous_response_id", { previous_response_id: { id: "resp_1" } }],
  ["previous_response_id", { previous_response_id: 1 }],
  ["conversation", { conversation: ["conv_1"] }],
  ["conversation", { conversation: { id: ["conv_1"] } }],
  ["vector_store_ids", { tools: [{ type: "file_search", vector_store_ids: [["vs_1"]] }] }],
])("rejects %s of another type: %j", async (param, more) => {
  const problem = await errorOf(await post("responses", inResponses(more), aliceKey));
  expect(problem).toMatchObject({ status: 400, code: "invalid_request", param });
});

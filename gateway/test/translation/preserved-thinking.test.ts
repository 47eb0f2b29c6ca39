import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Script } from "@sluice/simulator";
import { version } from "../endpoints/messages/claude-gateway.ts";
import { type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

/**
 * Claude's newest models bind a thinking block to everything before it. The simulator rejects a conversation whose
 * beginning has changed, so the gateway must remove, add and rewrite the same content on every turn.
 */
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("vertex", simulator, {
        kind: "vertex",
        base_url: simulator.url,
        api_key: "ya29.x",
        settings: { project: "p", location: "us-east5" },
      }),
      upstream("bedrock", simulator, {
        kind: "bedrock",
        base_url: simulator.url,
        api_key: JSON.stringify({ access_key_id: "AKIDEXAMPLE", secret_access_key: "secret" }),
        settings: { region: "us-east-1" },
      }),
      upstream("gpt", simulator, { kind: "openai" }),
    ],
    models: [
      { name: "claude", deployments: [{ provider: "claude", upstream_model: "claude-opus-5-5" }] },
      { name: "vertex", deployments: [{ provider: "vertex", upstream_model: "claude-opus-5-5" }] },
      { name: "bedrock", deployments: [{ provider: "bedrock", upstream_model: "us.anthropic.claude-opus-5-5-v1" }] },
      { name: "gpt", deployments: [{ provider: "gpt", upstream_model: "gpt-6" }] },
    ],
  });
});
afterAll(() => gateway.stop());

type Json = Record<string, unknown>;

/** How one kind of client stores and continues its conversation. */
interface Client {
  readonly path: string;
  /** The request of the client, with its history. */
  body(model: string): Json;
  addQuestion(text: string): void;
  /** Adds an answer to the history and returns the ids of its calls. */
  addAnswer(answer: Json): readonly string[];
  addResult(id: string): void;
}

const longName = `search_for_${"weather_".repeat(9)}`;
const schema = { type: "object", properties: { city: { type: "string" } } };

function messagesClient(more: Json = {}): Client {
  const messages: Json[] = [];
  return {
    path: "/v1/messages",
    body: (model) => ({
      model,
      max_tokens: 4_000,
      system: "Be brief.",
      thinking: { type: "adaptive" },
      tools: [{ name: "search", input_schema: schema }],
      messages: marked(messages),
      ...more,
    }),
    addQuestion: (text) => messages.push({ role: "user", content: [{ type: "text", text }] }),
    addAnswer(answer) {
      const content = answer["content"] as Json[];
      messages.push({ role: "assistant", content });
      return content.filter(({ type }) => type === "tool_use").map(({ id }) => String(id));
    },
    addResult: (id) =>
      messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "sun" }] }),
  };
}

/** Claude Code marks the last block of each turn, and no other. */
function marked(messages: readonly Json[]): readonly Json[] {
  return messages.map((message, index) => {
    if (index < messages.length - 1 || message["role"] !== "user") return message;
    const content = message["content"] as Json[];
    return { ...message, content: content.map((block) => ({ ...block, cache_control: { type: "ephemeral" } })) };
  });
}

function responsesClient(more: (turn: number) => Json = () => ({})): Client & { readonly input: Json[] } {
  const input: Json[] = [{ role: "developer", content: "Be brief." }];
  let turn = 0;
  return {
    input,
    path: "/v1/responses",
    body: (model) => ({
      model,
      store: false,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "high", summary: "auto" },
      tools: [{ type: "function", name: longName, parameters: schema }],
      input,
      ...more(turn++),
    }),
    addQuestion: (text) => input.push({ role: "user", content: [{ type: "input_text", text }] }),
    addAnswer(answer) {
      const output = answer["output"] as Json[];
      input.push(...output);
      return output.filter(({ type }) => type === "function_call").map(({ call_id: id }) => String(id));
    },
    addResult: (id) => input.push({ type: "function_call_output", call_id: id, output: "sun" }),
  };
}

function geminiClient(): Client {
  const contents: Json[] = [];
  let calls: readonly Json[] = [];
  return {
    path: "/v1beta/models/claude:generateContent",
    body: () => ({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents,
      tools: [{ functionDeclarations: [{ name: "search", parameters: { type: "OBJECT", properties: {} } }] }],
      generationConfig: { thinkingConfig: { thinkingLevel: "HIGH", includeThoughts: true } },
    }),
    addQuestion: (text) => contents.push({ role: "user", parts: [{ text }] }),
    addAnswer(answer) {
      const [candidate] = answer["candidates"] as { content: { parts: Json[] } }[];
      const content = candidate?.content ?? { parts: [] };
      contents.push(content as unknown as Json);
      calls = content.parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall as Json]));
      return calls.map((_, index) => String(index));
    },
    addResult(id) {
      const { id: callId, name } = calls[Number(id)] ?? {};
      const functionResponse = { ...(callId === undefined ? {} : { id: callId }), name, response: { sky: "sun" } };
      contents.push({ role: "user", parts: [{ functionResponse }] });
    },
  };
}

function chatClient(): Client {
  const messages: Json[] = [{ role: "system", content: "Be brief." }];
  return {
    path: "/v1/chat/completions",
    body: (model) => ({
      model,
      messages,
      reasoning_effort: "high",
      tools: [{ type: "function", function: { name: longName, parameters: schema } }],
    }),
    addQuestion: (text) => messages.push({ role: "user", content: text }),
    addAnswer(answer) {
      const [choice] = answer["choices"] as { message: Json }[];
      const message = choice?.message ?? {};
      messages.push(message);
      return ((message["tool_calls"] ?? []) as Json[]).map(({ id }) => String(id));
    },
    addResult: (id) => messages.push({ role: "tool", tool_call_id: id, content: "sun" }),
  };
}

async function send(client: Client, model: string): Promise<Json> {
  const response = await gateway.post(client.path, client.body(model), { headers: version });
  const text = await response.text();
  expect([response.status, text.slice(0, 400)]).toEqual([200, expect.any(String)]);
  const end = text.split("\n").findLast((line) => line.includes('"response.completed"') && line.startsWith("data: "));
  if (end === undefined) return JSON.parse(text) as Json;
  return (JSON.parse(end.slice(6)) as { response: Json }).response;
}

const script: Script = { tool_calls: 1, preamble: true, keep_received: true };

/** Three turns: a question, a thought with a tool call, the tool's result, and a thought with the answer. */
async function runThreeTurns(client: Client, modelOf: (turn: number) => string = () => "claude"): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    client.addQuestion(`How is the weather in city ${turn}? [[sim ${JSON.stringify(script)}]]`);
    const calls = client.addAnswer(await send(client, modelOf(turn)));
    expect(calls).toHaveLength(1);
    for (const id of calls) client.addResult(id);
    client.addAnswer(await send(client, modelOf(turn)));
  }
}

test.each([
  ["Vertex", "vertex", "vertex-anthropic", messagesClient],
  ["Vertex", "vertex", "vertex-anthropic", responsesClient],
  ["Bedrock", "bedrock", "bedrock-invoke", messagesClient],
] as const)("on %s thoughts survive (model %s, called with %s)", async (_, model, dialect, clientOf) => {
  gateway.simulator.simulator.truth.clear();
  // Fields that these clouds do not accept are removed in the same way on every turn.
  await runThreeTurns(clientOf(), () => model);
  const attempts = gateway.simulator.simulator.truth.list().data;
  expect(attempts.map((one) => [one.dialect, one.status])).toEqual(Array.from({ length: 6 }, () => [dialect, 200]));
  expect(attempts.at(-1)?.received_body?.split('"type":"thinking"').length).toBeGreaterThan(3);
});

const records = () =>
  gateway.simulator.simulator.truth.list().data.filter(({ dialect }) => dialect === "anthropic-messages");
/** The number of thinking blocks sent back to Claude, and of those that it dropped. */
function thoughts(): { readonly returned: number; readonly dropped: number } {
  const last = records().at(-1);
  return {
    returned: last?.received_body?.split('"type":"thinking"').length ?? 0,
    dropped: records().filter(({ reply_text: text }) => text?.includes("thinking_dropped") === true).length,
  };
}

test.each([
  ["a client of Messages, as Claude Code marks its cache", messagesClient, true],
  ["a client of Responses", responsesClient, true],
  ["a client of Responses that streams", () => responsesClient(() => ({ stream: true })), true],
  ["a client of Gemini", geminiClient, true],
  // Chat completions have no field for signed thoughts.
  ["a client of chat", chatClient, false],
] as const)("%s keeps its thoughts over three turns with tools", async (_, clientOf, returns) => {
  gateway.simulator.simulator.truth.clear();
  await runThreeTurns(clientOf());
  expect(records().map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  const { returned, dropped } = thoughts();
  expect(dropped).toBe(0);
  expect(returned > 3).toBe(returns);
});

test.each([
  ["Messages", messagesClient],
  ["Responses", responsesClient],
] as const)("keeps thoughts complete in %s when another vendor's model answered in between", async (_, clientOf) => {
  for (const order of [
    ["claude", "gpt", "claude"],
    ["gpt", "claude", "claude"],
  ]) {
    gateway.simulator.simulator.truth.clear();
    await runThreeTurns(clientOf(), (turn) => order[turn] ?? "claude");
    expect(records()).toHaveLength(4);
    expect(thoughts().dropped).toBe(0);
    expect(thoughts().returned).toBeGreaterThan(1);
  }
});

test("drops only the thoughts before newly added tools or a new format", async () => {
  gateway.simulator.simulator.truth.clear();
  const added = { type: "function", name: "more", parameters: schema };
  const client = responsesClient((turn) => ({
    ...(turn < 2 ? {} : { tools: [{ type: "function", name: longName, parameters: schema }, added] }),
    ...(turn < 4 ? {} : { text: { format: { type: "json_object" } } }),
  }));
  await runThreeTurns(client);
  expect(records().map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  expect(thoughts().dropped).toBeGreaterThan(1);
  // Later thoughts are still there.
  expect(thoughts().returned).toBeGreaterThan(3);
});

test("returns the vendor's error when a client changes the content before its own thoughts", async () => {
  let system = "Be brief.";
  const client = messagesClient();
  const changing: Client = { ...client, body: (model) => ({ ...client.body(model), system }) };
  changing.addQuestion(`How is the weather? [[sim ${JSON.stringify(script)}]]`);
  for (const id of changing.addAnswer(await send(changing, "claude"))) changing.addResult(id);
  system = "Be long.";
  const refused = await gateway.post(changing.path, changing.body("claude"), { headers: version });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain("bound to a different conversation");
});

test("does not invalidate thoughts by removing fields", async () => {
  gateway.simulator.simulator.truth.clear();
  const client = messagesClient({
    service_tier: "priority",
    speed: "fast",
    fallbacks: [{ model: "claude-sonnet-5-5" }],
  });
  await runThreeTurns(client);
  expect(thoughts()).toMatchObject({ dropped: 0 });
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import type { Script } from "@sluice/simulator";
import { until } from "../until.ts";
import { exportLedger, type LedgerRow } from "./ledger-rows.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys, model, testConfig, upstreamKey } from "./test-config.ts";

/** The examples of the SDK's own README, with only the address set. */
let setup: TestSetup;
let client: GoogleGenAI;
beforeAll(async () => {
  setup = await openSetup((simulatorUrl) => {
    const account = { api_key: upstreamKey, allow_private_network: true };
    const { origin } = new URL(simulatorUrl);
    return {
      ...testConfig(simulatorUrl),
      providers: [
        { id: "google", kind: "gemini", base_url: `${origin}/v1beta`, ...account },
        { id: "anthropic", kind: "anthropic", base_url: origin, ...account },
      ],
      models: [
        model("our-gemini", [{ provider: "google", upstream_model: "gemini-3-sim" }]),
        model("our-research", [{ provider: "google", upstream_model: "deep-research-sim" }]),
        model("our-claude", [{ provider: "anthropic", upstream_model: "claude-sim-4-5" }]),
      ],
      workspaces: [{ slug: "acme", groups: [{ name: "default" }], keys: [{ name: "main", secret: keys.main }] }],
    };
  });
  client = new GoogleGenAI({ apiKey: keys.main, httpOptions: { baseUrl: setup.gateway.url } });
});
afterAll(() => setup?.close());

const scripted = (text: string, script: Script): string => `${text} [[sim ${JSON.stringify(script)}]]`;

const tools = [
  {
    type: "function" as const,
    name: "get_weather",
    description: "Gets the weather for a given location.",
    parameters: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
  },
];

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** The entries of calls that the upstream answered with these ids, once all are in the ledger. */
async function ledgerRows(ids: readonly string[]): Promise<readonly LedgerRow[]> {
  return until(async () => {
    const rows = (await exportLedger(setup.gateway)).filter(
      (row) => "upstream_id" in row && ids.includes(String(row.upstream_id)),
    );
    return rows.length >= ids.length ? rows : null;
  });
}

async function thrownBy(call: PromiseLike<unknown>): Promise<{ readonly name: string; readonly statusCode?: number }> {
  return call.then(
    () => {
      throw new Error("the call did not fail");
    },
    (reason) => reason,
  );
}

test("a conversation is continued with the id of its last interaction", async () => {
  const first = await client.interactions.create({ model: "our-gemini", input: "Hi, my name is Amir." });
  expect([first.status, (first.output_text ?? "").length > 0]).toEqual(["completed", true]);
  const second = await client.interactions.create({
    model: "our-gemini",
    input: "What is my name?",
    previous_interaction_id: first.id,
  });
  expect([second.status, second.previous_interaction_id]).toEqual(["completed", first.id]);
  const rows = await ledgerRows([first.id, second.id]);
  expect(rows.map(({ outcome, usage_source }) => [outcome, usage_source])).toEqual([
    ["succeeded", "upstream"],
    ["succeeded", "upstream"],
  ]);
  const input = rows.map((row) => row.input_uncached + row.cache_read);
  expect(second.usage?.total_input_tokens).toBe(Math.max(...input));
});

test("an agent works in the background and is polled until it is done", async () => {
  const input = scripted("Research the history of TPUs.", { tokens: 12, background_ms: 30 });
  const started = await client.interactions.create({ agent: "our-research", input, background: true });
  expect(["queued", "in_progress"]).toContain(started.status);
  const done = await until(async () => {
    const interaction = await client.interactions.get(started.id);
    return interaction.status === "completed" ? interaction : null;
  });
  expect([done.id, done.usage?.total_output_tokens]).toEqual([started.id, 12]);
  expect(await ledgerRows([started.id])).toMatchObject([
    { outcome: "succeeded", usage_source: "upstream", output: 12 },
  ]);
});

test("a background interaction can be canceled and deleted", async () => {
  const input = scripted("A tale.", { background_ms: 600_000 });
  const { id } = await client.interactions.create({ model: "our-gemini", input, background: true });
  expect((await client.interactions.cancel(id)).status).toBe("cancelled");
  await client.interactions.delete(id);
  expect(await thrownBy(client.interactions.get(id))).toMatchObject({ name: "NotFoundError" });
  expect(await ledgerRows([id])).toMatchObject([{ outcome: "cancelled", usage_source: "estimated" }]);
});

test.each(["our-gemini", "our-claude"])("a picture can be described by %s", async (model) => {
  const interaction = await client.interactions.create({
    model,
    input: [
      { type: "text", text: "Describe the image." },
      { type: "image", data: pixel, mime_type: "image/png" },
    ],
  });
  expect([interaction.status, (interaction.output_text ?? "").length > 0]).toEqual(["completed", true]);
});

test("a function is called and its result is sent with the previous interaction", async () => {
  const called = await client.interactions.create({ model: "our-gemini", input: "use get_weather now", tools });
  expect(called.status).toBe("requires_action");
  const call = called.steps?.find((step) => step.type === "function_call");
  if (call === undefined) throw new Error("no call");
  const answered = await client.interactions.create({
    model: "our-gemini",
    previous_interaction_id: called.id,
    input: [{ type: "function_result", name: call.name, call_id: call.id, result: "Sunny." }],
  });
  expect([answered.status, (answered.output_text ?? "").length > 0]).toEqual(["completed", true]);
});

test("a function is called and its result is sent with all steps to another vendor's model", async () => {
  const input = { type: "user_input" as const, content: [{ type: "text" as const, text: "use get_weather now" }] };
  const called = await client.interactions.create({ model: "our-claude", input: [input], tools, store: false });
  expect(called.status).toBe("requires_action");
  const steps = called.steps ?? [];
  const call = steps.find((step) => step.type === "function_call");
  if (call === undefined) throw new Error("no call");
  const answered = await client.interactions.create({
    model: "our-claude",
    store: false,
    tools,
    input: [input, ...steps, { type: "function_result", name: call.name, call_id: call.id, result: "Sunny." }],
  });
  expect([answered.status, (answered.output_text ?? "").length > 0]).toEqual(["completed", true]);
});

test.each(["our-gemini", "our-claude"])("a stream of %s has its text and usage", async (model) => {
  const input = scripted("Hello.", { tokens: 20 });
  const stream = await client.interactions.create({ model, input, stream: true });
  let text = "";
  let output: number | undefined;
  const types: string[] = [];
  for await (const event of stream) {
    types.push(event.event_type);
    if (event.event_type === "step.delta" && event.delta.type === "text") text += event.delta.text;
    if (event.event_type === "interaction.completed") output = event.interaction.usage?.total_output_tokens;
  }
  expect([types[0], types.at(-1), text.length > 0, output]).toEqual([
    "interaction.created",
    "interaction.completed",
    true,
    20,
  ]);
});

test("the SDK continues an interaction that paused, and every hop is in the ledger with its own price", async () => {
  const input = scripted("A long tale.", { tokens: 15, finish: "pause" });
  const interaction = await client.interactions.create({ model: "our-gemini", input });
  expect(interaction.status).toBe("completed");
  const ids = interaction.continuation_ids ?? [];
  expect([ids.length, ids.at(-1)]).toEqual([2, interaction.id]);
  const rows = await ledgerRows(ids);
  expect(rows.map((row) => [row.outcome, row.output > 0, row.cost_nano_usd > 0])).toEqual([
    ["succeeded", true, true],
    ["succeeded", true, true],
  ]);
});

test.each([
  ["an unknown model", { model: "none", input: "Hi" }, "NotFoundError"],
  [
    "an unknown previous interaction",
    { model: "our-gemini", input: "Hi", previous_interaction_id: "v1_none" },
    "BadRequestError",
  ],
  ["state on another vendor's model", { model: "our-claude", input: "Hi", background: true }, "BadRequestError"],
  ["a wrong type", { model: "our-gemini", input: 5 as unknown as string }, "BadRequestError"],
  ["a refusal of the upstream", { model: "our-gemini", input: scripted("Hi", { status: 429 }) }, "RateLimitError"],
])("%s fails with the SDK's own error", async (_what, request, name) => {
  expect(await thrownBy(client.interactions.create(request, { maxRetries: 0 }))).toMatchObject({ name });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ProviderConfig } from "@sluice/contract";
import { openSocket } from "../endpoints/responses-socket/socket-gateway.ts";
import { aliceKey, type StartedGateway, startGateway } from "../started-gateway.ts";

/** The next answer of the upstream. */
let answer: () => Response;
const server = Bun.serve({
  idleTimeout: 0,
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    await request.text();
    return answer();
  },
});
const at = (id: string, kind: string, path: string, settings: ProviderConfig["settings"] = {}): ProviderConfig => ({
  id,
  kind,
  base_url: `http://127.0.0.1:${server.port}${path}`,
  api_key: `sk-upstream-of-${id}`,
  allow_private_network: true,
  settings,
});

/** Nano-USD per token of the models at 10 and 100 USD a million, and at 1 and 10. */
const big = { input: 10, output: 100 };
const small = { input: 1, output: 10 };
const accounts = ["openai", "claude", "google", "azure"];

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: () => [
      at("openai", "openai", "/v1", { pass_through: { price_per_call: 0.0000001 } }),
      at("claude", "anthropic", ""),
      at("google", "gemini", "/v1beta", { endpoints: ["generate"] }),
      at("azure", "azure-openai", ""),
    ],
    models: [
      ...accounts.flatMap((provider) => [
        { name: `${provider}-big`, deployments: [{ provider, upstream_model: "large-6" }], price: big },
        { name: `${provider}-small`, deployments: [{ provider, upstream_model: "small-6" }], price: small },
      ]),
      { name: "router", deployments: [{ provider: "azure", upstream_model: "model-router" }], price: big },
      { name: "elsewhere", deployments: [{ provider: "claude", upstream_model: "only-claude" }], price: small },
      { name: "free", deployments: [{ provider: "openai", upstream_model: "free-6" }], unpriced: "allow" },
    ],
    workspace: {
      pass_through: accounts,
      groups: [{ name: "default", pass_through: accounts }],
      keys: [{ name: "alice", secret: aliceKey, pass_through: accounts }],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await server.stop(true);
});

type Reply = () => Response;
const whole =
  (body: object): Reply =>
  () =>
    Response.json(body);
const events = (all: readonly object[]): Reply => {
  const lines = all.map((each) => {
    const { type } = each as { type?: string };
    return `${type === undefined ? "" : `event: ${type}\n`}data: ${JSON.stringify(each)}\n\n`;
  });
  return () => new Response(lines.join(""), { headers: { "content-type": "text/event-stream" } });
};

async function entryAfter(path: string, body: object, reply: Reply) {
  answer = reply;
  const headers = { "anthropic-version": "2023-06-01" };
  const response = await gateway.post(path, body, { headers });
  expect(response.status).toBe(200);
  await response.text();
  const [entry] = await gateway.entries();
  return entry;
}

const messages = [{ role: "user", content: "x" }];
const input = 100;
const output = 20;
const bigCost = input * 10_000 + output * 100_000;
const smallCost = bigCost / 10;

const chat = {
  model: "openai-big",
  path: (_stream: boolean) => "/v1/chat/completions",
  ask: (model: string, stream: boolean): object => ({ model, messages, stream }),
  /** `first`: the model of a stream's first event, if it differs. */
  reply: (stream: boolean, model?: string, first = model) => {
    const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    if (!stream)
      return whole({ id: "c", model, choices: [{ index: 0, message: { role: "assistant", content: "x" } }], usage });
    const chunk = { id: "c", object: "chat.completion.chunk" };
    return events([
      { ...chunk, model: first, choices: [{ index: 0, delta: { role: "assistant", content: "x" } }] },
      { ...chunk, model, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { ...chunk, model, choices: [], usage },
    ]);
  },
};

const responses: typeof chat = {
  model: "openai-big",
  path: () => "/v1/responses",
  ask: (model, stream) => ({ model, input: "x", stream }),
  reply: (stream, model, first = model) => {
    const usage = { input_tokens: input, output_tokens: output };
    const response = { id: "r", object: "response", status: "completed", model, output: [], usage };
    if (!stream) return whole(response);
    return events([
      { type: "response.created", response: { ...response, model: first, status: "in_progress", usage: null } },
      { type: "response.output_text.delta", delta: "x" },
      { type: "response.completed", response },
    ]);
  },
};

const claude: typeof chat = {
  model: "claude-big",
  path: () => "/v1/messages",
  ask: (model, stream) => ({ model, max_tokens: 64, messages, stream }),
  reply: (stream, model, first = model) => {
    const usage = { input_tokens: input, output_tokens: output };
    const message = { id: "m", type: "message", role: "assistant", stop_reason: "end_turn" };
    if (!stream) return whole({ ...message, model, content: [{ type: "text", text: "x" }], usage });
    const start = { ...message, model: first, content: [], usage: { ...usage, output_tokens: 1 } };
    const handover = { type: "fallback", from: { model: first }, to: { model } };
    return events([
      { type: "message_start", message: start },
      ...(first === model
        ? []
        : [
            { type: "content_block_start", index: 0, content_block: handover },
            { type: "content_block_stop", index: 0 },
          ]),
      { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "x" } },
      { type: "content_block_stop", index: 1 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: output } },
      { type: "message_stop" },
    ]);
  },
};

const gemini: typeof chat = {
  model: "google-big",
  path: (stream) => `/v1beta/models/google-big:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  ask: () => ({ contents: [{ role: "user", parts: [{ text: "x" }] }] }),
  reply: (stream, modelVersion, first = modelVersion) => {
    const counts = { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output };
    const part = (text: string, more: object = {}) => ({
      candidates: [{ content: { role: "model", parts: [{ text }] }, ...more }],
    });
    const end = { ...part("x", { finishReason: "STOP" }), usageMetadata: counts, modelVersion };
    return stream
      ? events([{ ...part("x"), modelVersion: first }, { ...part("y"), modelVersion: first }, end])
      : whole(end);
  },
};

const endpoints = Object.entries({ chat, responses, claude, gemini });

for (const stream of [false, true]) {
  describe(stream ? "streamed" : "whole", () => {
    describe.each(endpoints)("%s answer", (_, { model, path, ask, reply }) => {
      const served = (named?: string, first?: string) =>
        entryAfter(path(stream), ask(model, stream), reply(stream, named, first));

      test("costs the price of the model that it names", async () => {
        const entry = await served("small-6");
        expect(entry).toMatchObject({ costNanoUsd: smallCost, servedModel: "small-6", upstreamModel: "large-6" });
        expect(entry?.model).toBe(model);
      });

      test("costs the price of the model when it names a dated snapshot", async () => {
        const entry = await served("small-6-2026-08-07");
        expect(entry).toMatchObject({ costNanoUsd: smallCost, servedModel: "small-6-2026-08-07" });
      });

      test.each([undefined, "large-6", "large-6-2026-08-07", "models/large-6"])(
        "costs the requested model's price when it is named as %p",
        async (named) => {
          const entry = await served(named);
          expect(entry?.costNanoUsd).toBe(bigCost);
          expect(entry?.servedModel).toBeUndefined();
        },
      );

      test.each(["unheard-of-1", "small-6-mini", "only-claude-1"])(
        "costs the requested model's price when %s is unknown",
        async (named) => {
          expect(await served(named)).toMatchObject({ costNanoUsd: bigCost, servedModel: named });
        },
      );

      if (!stream) return;
      test("costs the price of the last model that a stream names", async () => {
        expect(await served("small-6", "large-6")).toMatchObject({ costNanoUsd: smallCost, servedModel: "small-6" });
      });
    });

    test("a translated answer costs the price of the model that it names", async () => {
      const entry = await entryAfter(
        chat.path(stream),
        chat.ask("claude-big", stream),
        claude.reply(stream, "small-6", "large-6"),
      );
      expect(entry).toMatchObject({ costNanoUsd: smallCost, servedModel: "small-6" });
    });

    test("a model without a price costs what the named model costs", async () => {
      const entry = await entryAfter(chat.path(stream), chat.ask("free", stream), chat.reply(stream, "large-6"));
      expect(entry).toMatchObject({ costNanoUsd: bigCost, servedModel: "large-6" });
    });

    test("prices Azure answers by the named model only behind a router, since Azure always names another model", async () => {
      const named = chat.reply(stream, "small-6-2026-08-07");
      const deployment = await entryAfter(chat.path(stream), chat.ask("azure-big", stream), named);
      expect(deployment).toMatchObject({ costNanoUsd: bigCost, servedModel: "small-6-2026-08-07" });
      const router = await entryAfter(chat.path(stream), chat.ask("router", stream), named);
      expect(router).toMatchObject({ costNanoUsd: smallCost, servedModel: "small-6-2026-08-07" });
    });

    test.each(["large-6", "unpriced-here"])(
      "a passed-through call for %s costs what the model in its answer costs",
      async (requested) => {
        const path = "/v1/providers/openai/chat/completions";
        const entry = await entryAfter(path, chat.ask(requested, stream), chat.reply(stream, "small-6"));
        expect(entry).toMatchObject({ costNanoUsd: smallCost, servedModel: "small-6" });
      },
    );
  });
}

describe("Anthropic's fallback", () => {
  const request = { input_tokens: input, output_tokens: output };
  const declined = { type: "message", model: "large-6-20260801", input_tokens: input, output_tokens: 3 };
  const took = { type: "fallback_message", model: "small-6-20260801", ...request };
  const usage = { input_tokens: 2 * input, output_tokens: output + 3, iterations: [declined, took] };
  const message = { id: "msg_fallback", type: "message", role: "assistant", model: "large-6", stop_reason: "end_turn" };
  const replies = {
    whole: whole({ ...message, content: [{ type: "text", text: "x" }], usage }),
    streamed: events([
      { type: "message_start", message: { ...message, content: [], usage: { input_tokens: input, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "x" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
      { type: "message_stop" },
    ]),
  };

  test.each(Object.entries(replies))("charges each model at its own price, %s", async (kind, reply) => {
    await entryAfter(claude.path(false), claude.ask("claude-big", kind === "streamed"), reply);
    const [entry, beside] = await gateway.entries();
    const both = [entry, beside].toSorted((one, other) => (other?.calls ?? 1) - (one?.calls ?? 1));
    expect(both[0]).toMatchObject({ costNanoUsd: smallCost, servedModel: "small-6-20260801" });
    expect(both[1]).toMatchObject({ costNanoUsd: input * 10_000 + 3 * 100_000, model: "claude-big", calls: 0 });
    expect(both[1]?.servedModel).toBeUndefined();
  });

  test.each(Object.entries(replies))("ends a thread, because its answer is not stored, %s", async (kind, reply) => {
    const body = { ...claude.ask("claude-big", kind === "streamed"), thread: { type: "create" } };
    await entryAfter(claude.path(false), body, reply);
    const thread = { type: "continue", previous_message_id: "msg_fallback" };
    const headers = { "anthropic-version": "2023-06-01" };
    const next = await gateway.post("/v1/messages", { ...claude.ask("claude-big", false), thread }, { headers });
    expect(next.status).toBe(404);
    expect(((await next.json()) as { error: { details: object } }).error.details).toEqual({
      error_code: "thread_not_found",
    });
  });
});

test("a response over a WebSocket costs the price of the model that it names", async () => {
  answer = responses.reply(true, "small-6", "large-6");
  const socket = await openSocket(gateway);
  expect((await socket.ask({ model: "openai-big", input: "x" })).at(-1)?.type).toBe("response.completed");
  socket.close();
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ costNanoUsd: smallCost, servedModel: "small-6" });
});

test("a background response costs the price of the model that it names at its end", async () => {
  const response = { id: "resp_later", object: "response", model: "large-6", output: [] };
  const body = { model: "openai-big", input: "x", background: true };
  answer = whole({ ...response, status: "queued", usage: null });
  expect((await gateway.post("/v1/responses", body)).status).toBe(200);
  const usage = { input_tokens: input, output_tokens: output };
  answer = whole({ ...response, model: "small-6", status: "completed", usage });
  const ended = await fetch(`${gateway.url}/v1/responses/resp_later`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${aliceKey}` },
  });
  expect(ended.status).toBe(200);
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ upstreamId: "resp_later", costNanoUsd: smallCost, servedModel: "small-6" });
});

test("the ledger can be verified from its entries", async () => {
  await gateway.entries();
  const { faults, entries } = await gateway.control.ledgerStore.check();
  expect(faults).toEqual([]);
  expect(entries).toBeGreaterThan(50);
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ProviderConfig } from "@sluice/contract";
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

let gateway: StartedGateway;
beforeAll(async () => {
  const price = { input: 1, output: 10, web_search: 10 };
  gateway = await startGateway({
    providers: () => [
      at("openai", "openai", "/v1"),
      at("claude", "anthropic", ""),
      at("google", "gemini", "/v1beta", { endpoints: ["generate"] }),
      at("any", "openai-compatible", "/v1"),
      at("rock", "bedrock", "", { region: "us-east-1" }),
    ],
    models: [
      { name: "gpt", deployments: [{ provider: "openai" }], price },
      { name: "claude-opus-5-5", deployments: [{ provider: "claude" }], price },
      { name: "gem", deployments: [{ provider: "google" }], price },
      { name: "nova", deployments: [{ provider: "rock" }], price },
      { name: "other", deployments: [{ provider: "any" }], price },
      {
        name: "own",
        deployments: [{ provider: "openai" }],
        price: {
          ...price,
          long_context: { above: 1_000, input: 2, output: 15 },
          variants: [
            { tier: "priority", input: 3, output: 30 },
            { tier: "flex", multiplier: 0.25 },
          ],
        },
      },
    ],
    keys: [{ name: "alice", secret: aliceKey }],
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
  const text = all.map((each) => {
    const { type } = each as { type?: string };
    return `${
      type === undefined
        ? ""
        : `event: ${type}
`
    }data: ${JSON.stringify(each)}

`;
  });
  return () => new Response(text.join(""), { headers: { "content-type": "text/event-stream" } });
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
/** Nano-USD at the plain price. */
const plain = input * 1_000 + output * 10_000;

const chat = {
  path: "/v1/chat/completions",
  ask: (model: string, stream: boolean) => ({ model, messages, stream }),
  reply: (stream: boolean, tier?: string) => {
    const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    const head = { id: "c", ...(tier === undefined ? {} : { service_tier: tier }) };
    if (!stream)
      return whole({ ...head, choices: [{ index: 0, message: { role: "assistant", content: "x" } }], usage });
    const chunk = { ...head, object: "chat.completion.chunk" };
    return events([
      { ...chunk, choices: [{ index: 0, delta: { role: "assistant", content: "x" } }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { ...chunk, choices: [], usage },
    ]);
  },
};

const responses = {
  path: "/v1/responses",
  ask: (model: string, stream: boolean) => ({ model, input: "x", stream }),
  reply: (stream: boolean, tier?: string) => {
    const usage = { input_tokens: input, output_tokens: output };
    const response = { id: "r", object: "response", status: "completed", output: [], usage, service_tier: tier };
    if (!stream) return whole(response);
    const created = { ...response, status: "in_progress", service_tier: "auto", usage: null };
    return events([
      { type: "response.created", response: created },
      { type: "response.output_text.delta", delta: "x" },
      { type: "response.completed", response },
    ]);
  },
};

const claude = {
  path: "/v1/messages",
  ask: (model: string, stream: boolean) => ({ model, max_tokens: 64, messages, stream }),
  reply: (stream: boolean, served: object = {}) => {
    const usage = { input_tokens: input, output_tokens: output, ...served };
    const message = { id: "m", type: "message", role: "assistant", model: "claude", stop_reason: "end_turn" };
    if (!stream) return whole({ ...message, content: [{ type: "text", text: "x" }], usage });
    return events([
      { type: "message_start", message: { ...message, content: [], usage: { ...usage, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "x" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: output } },
      { type: "message_stop" },
    ]);
  },
};

const gemini = {
  path: (stream: boolean) => `/v1beta/models/gem:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  ask: { contents: [{ role: "user", parts: [{ text: "x" }] }] },
  reply: (stream: boolean, served: object = {}) => {
    const usageMetadata = {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
      ...served,
    };
    const answer = {
      candidates: [{ content: { role: "model", parts: [{ text: "x" }] }, finishReason: "STOP" }],
      usageMetadata,
    };
    return stream ? events([answer]) : whole(answer);
  },
};

for (const stream of [false, true]) {
  describe(stream ? "streamed" : "whole", () => {
    for (const [name, endpoint] of [
      ["chat", chat],
      ["responses", responses],
    ] as const) {
      for (const [tier, times] of [
        ["default", 1],
        ["flex", 0.5],
        ["priority", 2],
        ["batch", 0.5],
        ["ultrafast", 6],
      ] as const) {
        test(`OpenAI's ${name}: an answer of the tier ${tier} costs ${times} times the price`, async () => {
          const entry = await entryAfter(endpoint.path, endpoint.ask("gpt", stream), endpoint.reply(stream, tier));
          expect(entry).toMatchObject({ costNanoUsd: plain * times, usageSource: "upstream" });
          expect(entry?.served).toBe(tier === "default" ? undefined : tier);
          expect(entry?.unpriced).toBeUndefined();
        });
      }
    }

    for (const [served, times, text] of [
      [{ service_tier: "standard", inference_geo: "global", speed: "standard" }, 1, undefined],
      [{ service_tier: "batch" }, 0.5, "batch"],
      [{ inference_geo: "us" }, 1.1, "us"],
      [{ speed: "fast" }, 2, "fast"],
      [{ inference_geo: "us", speed: "fast" }, 2.2, "us fast"],
    ] as const) {
      test(`Anthropic's ${text ?? "plain"} answer costs ${times} times the price, native and translated`, async () => {
        const native = await entryAfter(
          "/v1/messages",
          claude.ask("claude-opus-5-5", stream),
          claude.reply(stream, served),
        );
        expect(native?.costNanoUsd).toBe(Math.round(plain * times));
        expect(native?.served).toBe(text);
        const translated = await entryAfter(
          chat.path,
          chat.ask("claude-opus-5-5", stream),
          claude.reply(stream, served),
        );
        expect(translated?.costNanoUsd).toBe(Math.round(plain * times));
      });
    }

    for (const [served, times] of [
      [{ trafficType: "ON_DEMAND" }, 1],
      [{ trafficType: "ON_DEMAND_FLEX" }, 0.5],
      [{ trafficType: "ON_DEMAND_PRIORITY" }, 1.8],
      [{ trafficType: "PROVISIONED_THROUGHPUT" }, 1],
      [{ serviceTier: "flex" }, 0.5],
    ] as const) {
      test(`Google's ${JSON.stringify(served)} costs ${times} times the price`, async () => {
        const entry = await entryAfter(gemini.path(stream), gemini.ask, gemini.reply(stream, served));
        expect(entry?.costNanoUsd).toBe(Math.round(plain * times));
      });
    }

    test("charges an unknown tier at a high price and marks the entry as assumed", async () => {
      const priority = await entryAfter(chat.path, chat.ask("other", stream), chat.reply(stream, "priority"));
      expect(priority).toMatchObject({ costNanoUsd: 2 * plain, served: "priority", unpriced: ["tier"] });
      const strange = await entryAfter(chat.path, chat.ask("other", stream), chat.reply(stream, "Very Fast!"));
      expect(strange).toMatchObject({ costNanoUsd: 2 * plain, unpriced: ["tier"] });
      const cheap = await entryAfter(chat.path, chat.ask("other", stream), chat.reply(stream, "flex"));
      expect(cheap).toMatchObject({ costNanoUsd: plain, served: "flex" });
    });

    test("a price's own variants take precedence over the provider type's", async () => {
      const priority = await entryAfter(chat.path, chat.ask("own", stream), chat.reply(stream, "priority"));
      expect(priority?.costNanoUsd).toBe(input * 3_000 + output * 30_000);
      expect(priority?.priceVersion).toMatch(/^prc_\w+@0$/);
      const flex = await entryAfter(chat.path, chat.ask("own", stream), chat.reply(stream, "flex"));
      expect(flex?.costNanoUsd).toBe(plain / 4);
    });
  });
}

test("Bedrock's flex tier costs half; its priority tier costs more by an assumed factor, which is marked", async () => {
  const usage = { inputTokens: 300, outputTokens: 40, totalTokens: 340 };
  const output = { message: { role: "assistant", content: [{ text: "x" }] } };
  for (const [type, booked] of [
    ["flex", { costNanoUsd: 350_000 }],
    ["priority", { costNanoUsd: 1_225_000, served: "priority", unpriced: ["tier"] }],
  ] as const) {
    const reply = () => Response.json({ output, stopReason: "end_turn", usage, serviceTier: { type } });
    expect(await entryAfter("/v1/chat/completions", chat.ask("nova", false), reply)).toMatchObject(booked);
  }
});

test("an answer without a tier costs the plain price, and fees are not multiplied", async () => {
  expect(await entryAfter(chat.path, chat.ask("gpt", false), chat.reply(false))).toMatchObject({ costNanoUsd: plain });
  const searched = claude.reply(false, { inference_geo: "us", server_tool_use: { web_search_requests: 3 } });
  const entry = await entryAfter("/v1/messages", claude.ask("claude-opus-5-5", false), searched);
  expect(entry?.costNanoUsd).toBe(Math.round(plain * 1.1) + 3 * 10_000_000);
});

test("the ledger can be verified from its entries", async () => {
  await gateway.entries();
  const { faults, entries } = await gateway.control.ledgerStore.check();
  expect(faults).toEqual([]);
  expect(entries).toBeGreaterThan(50);
});

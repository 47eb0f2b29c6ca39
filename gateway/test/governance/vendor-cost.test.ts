import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ProviderConfig } from "@sluice/contract";
import { aliceKey, type StartedGateway, startGateway } from "../started-gateway.ts";

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
const at = (id: string, kind: string, settings: ProviderConfig["settings"] = {}): ProviderConfig => ({
  id,
  kind,
  base_url: `http://127.0.0.1:${server.port}/v1`,
  api_key: `sk-upstream-of-${id}`,
  allow_private_network: true,
  settings,
});

let gateway: StartedGateway;
beforeAll(async () => {
  const price = { input: 1, output: 1, image: 0.01 };
  gateway = await startGateway({
    providers: () => [
      at("router", "openrouter"),
      at("grok", "xai"),
      at("any", "openai-compatible"),
      at("litellm", "openai-compatible", { cost_source: "vendor" }),
      at("list", "openrouter", { cost_source: "price" }),
    ],
    models: [
      ...["router", "grok", "any", "litellm", "list"].map((name) => ({
        name,
        deployments: [{ provider: name }],
        price,
      })),
      { name: "auto", deployments: [{ provider: "router" }] },
    ],
    keys: [{ name: "alice", secret: aliceKey }],
  });
});
afterAll(async () => {
  await gateway.stop();
  await server.stop(true);
});

const usage = { prompt_tokens: 372, completion_tokens: 20, total_tokens: 392 };
const own = 392_000;
const choice = { index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" };

function chatAnswer(stream: boolean, reported: object, headers: Record<string, string> = {}): () => Response {
  if (!stream)
    return () => Response.json({ id: "c", choices: [choice], usage: { ...usage, ...reported } }, { headers });
  const chunks = [
    { choices: [{ index: 0, delta: { role: "assistant", content: "x" } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { choices: [], usage: { ...usage, ...reported } },
  ];
  const text = chunks.map((chunk) => `data: ${JSON.stringify({ id: "c", ...chunk })}\n\n`).join("");
  return () =>
    new Response(`${text}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream", ...headers } });
}

async function entryAfter(path: string, body: object, reply: () => Response) {
  answer = reply;
  const response = await gateway.post(path, body);
  expect(response.status).toBe(200);
  await response.text();
  const [entry] = await gateway.entries();
  return entry;
}

const chat = (model: string, stream: boolean, reported: object, headers?: Record<string, string>) =>
  entryAfter(
    "/v1/chat/completions",
    { model, stream, messages: [{ role: "user", content: "x" }] },
    chatAnswer(stream, reported, headers),
  );

for (const stream of [false, true]) {
  describe(stream ? "streamed" : "whole", () => {
    test("charges the cost that OpenRouter reports, and records ours as well", async () => {
      expect(await chat("router", stream, { cost: 0.95 })).toMatchObject({
        costNanoUsd: 950_000_000,
        costSource: "vendor",
        vendorCostNanoUsd: 950_000_000,
        ownCostNanoUsd: own,
        usage: { inputUncached: 372, output: 20 },
      });
    });

    test("adds the upstream's cost to the fee for a user-provided key; otherwise it is included", async () => {
      const reported = { cost: 0.05, cost_details: { upstream_inference_cost: 0.9 } };
      expect((await chat("router", stream, { ...reported, is_byok: true }))?.costNanoUsd).toBe(950_000_000);
      expect((await chat("router", stream, { ...reported, is_byok: false }))?.costNanoUsd).toBe(50_000_000);
    });

    test("ignores zero, missing and invalid amounts", async () => {
      for (const cost of [0, null, -1, "0.95", {}, undefined]) {
        const entry = await chat("router", stream, { cost });
        expect(entry?.costNanoUsd).toBe(own);
        expect(entry?.costSource).toBeUndefined();
        expect(entry?.vendorCostNanoUsd).toBeUndefined();
      }
    });

    test("converts xAI's ticks, ten billion to the dollar", async () => {
      expect(await chat("grok", stream, { cost_in_usd_ticks: 37_756_000 })).toMatchObject({
        costNanoUsd: 3_775_600,
        costSource: "vendor",
      });
    });

    test("only records the vendor's cost if the account uses our price", async () => {
      for (const model of ["any", "list"]) {
        expect(await chat(model, stream, { cost: 0.95 })).toMatchObject({
          costNanoUsd: own,
          vendorCostNanoUsd: 950_000_000,
        });
      }
    });

    test("a route without a price costs what the vendor reports", async () => {
      expect(await chat("auto", stream, { cost: 0.02 })).toMatchObject({ costNanoUsd: 20_000_000, priceVersion: null });
    });
  });
}

test("reads xAI's ticks in Responses, whole and streamed, and for images", async () => {
  const reported = { input_tokens: 372, output_tokens: 20, cost_in_usd_ticks: 10_000_000_000 };
  const response = { id: "r", object: "response", status: "completed", output: [], usage: reported };
  const whole = () => Response.json(response);
  const event = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const created = event("response.created", { response: { ...response, status: "in_progress", usage: null } });
  const text = created + event("response.completed", { response });
  const streamed = () => new Response(text, { headers: { "content-type": "text/event-stream" } });
  for (const [stream, reply] of [
    [false, whole],
    [true, streamed],
  ] as const) {
    expect((await entryAfter("/v1/responses", { model: "grok", input: "x", stream }, reply))?.costNanoUsd).toBe(1e9);
  }
  const images = () =>
    Response.json({ data: [{ url: "https://x.test/a.png" }], usage: { cost_in_usd_ticks: 200_000_000 } });
  const entry = await entryAfter("/v1/images/generations", { model: "grok", prompt: "x" }, images);
  expect(entry).toMatchObject({ costNanoUsd: 20_000_000, costSource: "vendor", ownCostNanoUsd: 10_000_000 });
});

test("reads the cost header of a whole answer from LiteLLM or another Sluice", async () => {
  for (const name of ["x-litellm-response-cost", "x-sluice-cost-usd"]) {
    expect((await chat("litellm", false, {}, { [name]: "0.0123" }))?.costNanoUsd).toBe(12_300_000);
    expect((await chat("litellm", false, {}, { [name]: "1.5e-05" }))?.costNanoUsd).toBe(15_000);
    expect((await chat("litellm", false, {}, { [name]: "None" }))?.costNanoUsd).toBe(own);
    expect((await chat("litellm", true, {}, { [name]: "0.0123" }))?.costNanoUsd).toBe(own);
  }
});

test("a metric counts calls for which both costs differ by more than one percent", async () => {
  await chat("router", false, { cost: 0.000_393 });
  const scrape = () => fetch(`${gateway.url}/metrics`).then((response) => response.text());
  const count = (text: string): number =>
    Number(/sluice_vendor_cost_mismatches_total\{[^}]*model="router"[^}]*\} (\d+)/.exec(text)?.[1] ?? 0);
  const before = count(await scrape());
  await chat("router", false, { cost: 0.000_394 });
  expect(count(await scrape())).toBe(before);
  await chat("router", false, { cost: 0.000_5 });
  expect(count(await scrape())).toBe(before + 1);
});

test("the ledger is verified with both costs", async () => {
  await gateway.entries();
  expect((await gateway.control.ledgerStore.check()).faults).toEqual([]);
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { startVendor, type Vendor, waitForBudgets } from "./vendor.ts";

const budgetKey = "sk-poor-0123456789abcdefghij";
const usage = { prompt_tokens: 100_000, completion_tokens: 20_000, total_tokens: 120_000 };
/** In nano-USD: 100,000 input tokens at 1.25 USD and 20,000 output tokens at 10 USD per million. */
const standardCost = 325_000_000;

let vendor: Vendor;
let gateway: StartedGateway;
beforeAll(async () => {
  vendor = await startVendor();
  const grants = ["own"];
  gateway = await startGateway({
    providers: () => [
      {
        id: "own",
        kind: "openai",
        base_url: vendor.url,
        api_key: "sk-upstream",
        allow_private_network: true,
        settings: { pass_through: { price_per_call: 0.001 } },
      },
    ],
    models: [
      { name: "gpt", deployments: [{ provider: "own", upstream_model: "gpt-up" }], price: { input: 1.25, output: 10 } },
    ],
    workspace: {
      pass_through: grants,
      groups: [{ name: "default", pass_through: grants }],
      keys: [
        { name: "alice", secret: aliceKey, pass_through: grants },
        { name: "poor", secret: budgetKey, pass_through: grants, budget: { usd: 100, period: "month" } },
      ],
    },
  });
  await waitForBudgets(gateway);
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

const compressors = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync } as const;
type Encoding = keyof typeof compressors;

/** Makes the vendor answer every request, valid or not, and returns the answer's body. */
function respondWith(more: { tier?: string; stream?: boolean; encoding?: Encoding; type?: string } = {}): Uint8Array {
  const head = { id: "c", service_tier: more.tier ?? "default" };
  const chunks = [
    { ...head, choices: [{ index: 0, delta: { content: "x" } }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { ...head, choices: [], usage },
  ];
  const text =
    more.stream === true
      ? `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`
      : JSON.stringify({ ...head, choices: [{ index: 0, message: { role: "assistant", content: "x" } }], usage });
  const body = more.encoding === undefined ? Buffer.from(text) : compressors[more.encoding](text);
  vendor.answer = (_, response) => {
    response.setHeader("content-type", more.type ?? (more.stream === true ? "text/event-stream" : "application/json"));
    if (more.encoding !== undefined) response.setHeader("content-encoding", more.encoding);
    response.end(body);
  };
  return body;
}

const request = { model: "gpt-up", messages: [{ role: "user", content: "x" }] };
const json = JSON.stringify(request);

interface Call {
  readonly path?: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Record<string, string>;
  readonly key?: string;
}

async function send({ path = "/chat/completions", body = json, headers = {}, key = aliceKey }: Call) {
  const response = await fetch(`${gateway.url}/v1/providers/own${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body,
    decompress: false,
  } as RequestInit);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const [entry] = await gateway.entries();
  return { status: response.status, bytes, entry };
}

const variants: readonly (readonly [string, Call])[] = [
  ["unchanged", {}],
  ["with a byte order mark", { body: `\ufeff${json}` }],
  ["compressed with gzip", { body: gzipSync(json), headers: { "content-encoding": "gzip" } }],
  ["compressed with br", { body: brotliCompressSync(json), headers: { "content-encoding": "br" } }],
  ["compressed with zstd", { body: zstdCompressSync(json), headers: { "content-encoding": "zstd" } }],
  ["as text/plain", { headers: { "content-type": "text/plain" } }],
  ["with a second model", { body: json.replace("{", '{"model":"cheap",') }],
  ["with a slash at the end of its path", { path: "/chat/completions/" }],
  ["with another capitalization in its path", { path: "/Chat/completions" }],
  ["with a parameter in its path", { path: "/chat;a/completions" }],
  ["with an encoded parameter in its path", { path: "/chat/completions%3Ba" }],
  ["with full-width characters in its path", { path: "/%EF%BD%83hat/completions" }],
  ["in UTF-16", { body: Buffer.from(`\ufeff${json}`, "utf16le") }],
];

describe.each(variants)("a passed-through call %s", (_, sent) => {
  test.each([false, true])("is charged by its answer, streamed: %p", async (stream) => {
    respondWith({ stream });
    const { status, entry } = await send(sent);
    expect(status).toBe(200);
    expect(entry?.costNanoUsd).toBe(standardCost);
  });

  test("is reserved or rejected under a budget", async () => {
    respondWith();
    const { status, entry } = await send({ ...sent, key: budgetKey });
    if (status !== 200) expect([status, entry?.costNanoUsd]).toEqual([403, 0]);
    else expect([entry?.costNanoUsd, (entry?.reservedNanoUsd ?? 0) > 1_000_000]).toEqual([standardCost, true]);
  });
});

test("charges a more expensive tier, with and without streaming, and reserves its highest price", async () => {
  const body = JSON.stringify({ ...request, service_tier: "priority" });
  for (const stream of [false, true]) {
    respondWith({ tier: "priority", stream });
    expect((await send({ body })).entry).toMatchObject({ costNanoUsd: 2 * standardCost, served: "priority" });
  }
  const { entry } = await send({ body, key: budgetKey });
  respondWith();
  const { entry: standard } = await send({ key: budgetKey });
  expect(entry?.reservedNanoUsd).toBeGreaterThan(5 * (standard?.reservedNanoUsd ?? 0));
});

test.each(["gzip", "br", "zstd"] as const)(
  "charges an answer compressed with %s and passes it unchanged",
  async (encoding) => {
    for (const stream of [false, true]) {
      const sent = respondWith({ encoding, stream });
      const { bytes, entry } = await send({});
      expect(Buffer.from(bytes).equals(sent)).toBe(true);
      expect(entry).toMatchObject({ costNanoUsd: standardCost, usageSource: "upstream" });
    }
  },
);

test("charges an answer that is declared as text", async () => {
  respondWith({ type: "text/plain" });
  expect((await send({})).entry?.costNanoUsd).toBe(standardCost);
});

test("charges the price per call for an unreadable body, and rejects it under a budget", async () => {
  vendor.answer = (_, response) => void response.end("{}");
  expect((await send({ body: "not JSON" })).entry).toMatchObject({
    costNanoUsd: 1_000_000,
    priceVersion: "call:1000000",
  });
  expect((await send({ body: "not JSON", key: budgetKey })).status).toBe(403);
});

test("passes the ledger check", async () => {
  await gateway.entries();
  expect((await gateway.control.ledgerStore.check()).faults).toEqual([]);
});

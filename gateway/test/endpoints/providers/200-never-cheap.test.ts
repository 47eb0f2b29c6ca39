import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { budgetsRead, startVendor, type Vendor } from "./vendor.ts";

const poorKey = "sk-poor-0123456789abcdefghij";
const usage = { prompt_tokens: 100_000, completion_tokens: 20_000, total_tokens: 120_000 };
/** Nano-USD: 100,000 at 1.25 and 20,000 at 10 USD a million. */
const plain = 325_000_000;

let vendor: Vendor;
let gateway: StartedGateway;
beforeAll(async () => {
  vendor = await startVendor();
  const provided = ["own"];
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
      pass_through: provided,
      groups: [{ name: "default", pass_through: provided }],
      keys: [
        { name: "alice", secret: aliceKey, pass_through: provided },
        { name: "poor", secret: poorKey, pass_through: provided, budget: { usd: 100, period: "month" } },
      ],
    },
  });
  await budgetsRead(gateway);
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

const packers = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync } as const;
type Packing = keyof typeof packers;

/** The vendor takes whatever it gets, and answers so. */
function answers(more: { tier?: string; stream?: boolean; packed?: Packing; type?: string } = {}): Uint8Array {
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
  const body = more.packed === undefined ? Buffer.from(text) : packers[more.packed](text);
  vendor.answer = (_, response) => {
    response.setHeader("content-type", more.type ?? (more.stream === true ? "text/event-stream" : "application/json"));
    if (more.packed !== undefined) response.setHeader("content-encoding", more.packed);
    response.end(body);
  };
  return body;
}

const ask = { model: "gpt-up", messages: [{ role: "user", content: "x" }] };
const json = JSON.stringify(ask);

interface Passed {
  readonly path?: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Record<string, string>;
  readonly key?: string;
}

async function pass({ path = "/chat/completions", body = json, headers = {}, key = aliceKey }: Passed) {
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

const variants: readonly (readonly [string, Passed])[] = [
  ["as it is", {}],
  ["with a byte order mark", { body: `\ufeff${json}` }],
  ["packed with gzip", { body: gzipSync(json), headers: { "content-encoding": "gzip" } }],
  ["packed with br", { body: brotliCompressSync(json), headers: { "content-encoding": "br" } }],
  ["packed with zstd", { body: zstdCompressSync(json), headers: { "content-encoding": "zstd" } }],
  ["as text/plain", { headers: { "content-type": "text/plain" } }],
  ["with a second model", { body: json.replace("{", '{"model":"cheap",') }],
  ["with a slash at the end of its path", { path: "/chat/completions/" }],
  ["with a path in other letters", { path: "/Chat/completions" }],
  ["with a parameter in its path", { path: "/chat;a/completions" }],
  ["with an encoded parameter in its path", { path: "/chat/completions%3Ba" }],
  ["with a path in full-width letters", { path: "/%EF%BD%83hat/completions" }],
  ["in UTF-16", { body: Buffer.from(`\ufeff${json}`, "utf16le") }],
];

describe.each(variants)("a call that is passed through %s", (_, passed) => {
  test.each([false, true])("costs what its answer says, streamed: %p", async (stream) => {
    answers({ stream });
    const { status, entry } = await pass(passed);
    expect(status).toBe(200);
    expect(entry?.costNanoUsd).toBe(plain);
  });

  test("is held before it, or refused, where a budget stands", async () => {
    answers();
    const { status, entry } = await pass({ ...passed, key: poorKey });
    if (status !== 200) expect([status, entry?.costNanoUsd]).toEqual([403, 0]);
    else expect([entry?.costNanoUsd, (entry?.reservedNanoUsd ?? 0) > 1_000_000]).toEqual([plain, true]);
  });
});

test("a dearer tier is charged as what it is, whole and streamed, and held at its ceiling", async () => {
  const body = JSON.stringify({ ...ask, service_tier: "priority" });
  for (const stream of [false, true]) {
    answers({ tier: "priority", stream });
    expect((await pass({ body })).entry).toMatchObject({ costNanoUsd: 2 * plain, served: "priority" });
  }
  const { entry } = await pass({ body, key: poorKey });
  answers();
  const { entry: usual } = await pass({ key: poorKey });
  expect(entry?.reservedNanoUsd).toBeGreaterThan(5 * (usual?.reservedNanoUsd ?? 0));
});

test.each(["gzip", "br", "zstd"] as const)(
  "an answer packed with %s is listened to and passed as it is",
  async (packed) => {
    for (const stream of [false, true]) {
      const sent = answers({ packed, stream });
      const { bytes, entry } = await pass({});
      expect(Buffer.from(bytes).equals(sent)).toBe(true);
      expect(entry).toMatchObject({ costNanoUsd: plain, usageSource: "upstream" });
    }
  },
);

test("an answer that says it is text is listened to all the same", async () => {
  answers({ type: "text/plain" });
  expect((await pass({})).entry?.costNanoUsd).toBe(plain);
});

test("what nobody can read costs the price per call at least, and is refused where a budget stands", async () => {
  vendor.answer = (_, response) => void response.end("{}");
  expect((await pass({ body: "not JSON" })).entry).toMatchObject({
    costNanoUsd: 1_000_000,
    priceVersion: "call:1000000",
  });
  expect((await pass({ body: "not JSON", key: poorKey })).status).toBe(403);
});

test("the ledger is verified", async () => {
  await gateway.entries();
  expect((await gateway.control.ledgerStore.check()).faults).toEqual([]);
});

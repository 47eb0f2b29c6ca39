import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ProviderConfig } from "@sluice/contract";
import { inputTokensOf, type LedgerEntry, nanoToUsd, outputClasses } from "#core/index.ts";
import { exportEntries } from "#ledger/index.ts";
import { until } from "../../../test/until.ts";
import { PastSums } from "../../src/storage/reports/past-sums.ts";
import { answerReport } from "../../src/storage/reports/report-answers.ts";
import { Deadline } from "../../src/storage/reports/report-context.ts";
import { arkAccount } from "../endpoints/video-tasks/video-gateway.ts";
import { aliceKey, type ChatOptions, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

/** A mix of calls for which the ledger, reports, exports and metrics must all agree. */
let gateway: StartedGateway;
let entries: readonly LedgerEntry[];

const price = {
  input: 3,
  output: 15,
  cache_read: 0.3,
  cache_write_5m: 3.75,
  cache_write_1h: 6,
  audio_input: 10,
  audio_output: 20,
  web_search: 10,
  long_context: { above: 5_000, input: 6, output: 22.5, cache_read: 0.6 },
  variants: [{ tier: "flex", multiplier: 0.5 }],
};
const provided = ["gpt", "claude", "google"];

beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator): ProviderConfig[] => [
      upstream("gpt", simulator, { kind: "openai" }),
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("google", simulator, { kind: "gemini", base_url: simulator.url.replace(/\/v1$/, "/v1beta") }),
      upstream("router", simulator, { kind: "openrouter" }),
      arkAccount(simulator),
    ],
    models: [
      ...(["gpt", "claude", "google", "router"] as const).map((name) => ({
        name,
        deployments: [{ provider: name, upstream_model: `up-${name}` }],
        price,
      })),
      { name: "vectors", type: "embedding", deployments: [{ provider: "gpt" }], price: { input: 0.1 } },
      { name: "paint", type: "image", deployments: [{ provider: "volc" }], price: { image: 0.04 } },
      { name: "first", deployments: [{ provider: "router" }], fallbacks: ["claude"], price },
      { name: "free", deployments: [{ provider: "gpt" }], unpriced: "allow" },
    ],
    workspace: {
      pass_through: provided,
      groups: [{ name: "default", pass_through: provided }],
      keys: [{ name: "alice", secret: aliceKey, pass_through: provided }],
    },
  });
  await makeCalls();
  // A request that its caller aborted ends a moment later.
  await until(() => gateway.gateway.outstanding() === 0);
  entries = await allEntries();
});
afterAll(() => gateway.stop());

const user = [{ role: "user", content: "Say hello to everyone" }];
const scripts: readonly NonNullable<ChatOptions["script"]>[] = [
  { tokens: 7, prompt_tokens: 40 },
  { tokens: 3, prompt_tokens: 900, cached_tokens: 700 },
  { tokens: 3, prompt_tokens: 900, cache_write_tokens: 300 },
  { tokens: 5, prompt_tokens: 9_000, cached_tokens: 1_000 },
  { tokens: 2, prompt_tokens: 60, reasoning_tokens: 30 },
  { status: 500 },
  { status: 429 },
  { tokens: 9, cut_after_events: 4 },
  { tokens: 9, error_event_after: 3 },
  { tokens: 5, no_usage: true },
];

/**
 * Whole answers of a chat with their cost in nano-USD. A thousand input tokens cost 3,000,000 and a thousand output
 * tokens 15,000,000.
 */
const used = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 };
const answers: readonly (readonly [model: string, more: object, costNanoUsd: number])[] = [
  ["gpt", { usage: used }, 18_000_000],
  ["gpt", { usage: used, service_tier: "flex" }, 9_000_000],
  ["gpt", { usage: used, service_tier: "priority" }, 36_000_000],
  ["gpt", { usage: { ...used, prompt_tokens_details: { audio_tokens: 400 } } }, 20_800_000],
  ["gpt", { usage: { ...used, completion_tokens_details: { audio_tokens: 400 } } }, 20_000_000],
  ["router", { usage: { ...used, cost: 0.5 } }, 500_000_000],
  ["router", { usage: { ...used, cost: 0.01, server_tool_use: { web_search_requests: 2 } } }, 10_000_000],
  ["router", { usage: { ...used, server_tool_use: { web_search_requests: 2 } } }, 38_000_000],
];

async function makeCalls(): Promise<void> {
  const calls: (() => Promise<Response>)[] = [];
  for (const script of scripts) {
    for (const stream of [false, true]) {
      const headers = { "anthropic-version": "2023-06-01" };
      for (const model of ["gpt", "claude", "google", "router", "first", "free"]) {
        calls.push(() => gateway.chat({ model, messages: user, stream, service_tier: "auto" }, { script }));
        calls.push(() =>
          gateway.post("/v1/messages", { model, max_tokens: 50, messages: user, stream }, { script, headers }),
        );
        calls.push(() => gateway.post("/v1/responses", { model, input: "hi", stream }, { script }));
      }
      const contents = [{ role: "user", parts: [{ text: "hi" }] }];
      const verb = stream ? "streamGenerateContent?alt=sse" : "generateContent";
      calls.push(() => gateway.post(`/v1beta/models/google:${verb}`, { contents }, { script }));
      calls.push(() => gateway.post(`/v1/providers/google/v1beta/models/up-google:${verb}`, { contents }, { script }));
      calls.push(() =>
        gateway.post("/v1/providers/gpt/v1/responses", { model: "up-gpt", input: "hi", stream }, { script }),
      );
      calls.push(() =>
        gateway.post(
          "/v1/providers/claude/v1/messages",
          { model: "up-claude", max_tokens: 9, messages: user, stream },
          { script, headers },
        ),
      );
    }
    for (const [model, more, cost] of answers) {
      const choices = [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }];
      const body = JSON.stringify({ id: "c", object: "chat.completion", model: `up-${model}`, choices, ...more });
      const headers = { "x-sluice-tags": `cost=${cost}` };
      calls.push(() => gateway.chat({ model, messages: user }, { script: { body }, headers }));
    }
    calls.push(() => gateway.post("/v1/embeddings", { model: "vectors", input: ["a", "b"] }, { script }));
    calls.push(() => gateway.post("/v1/images/generations", { model: "paint", prompt: "x", n: 2 }, { script }));
    calls.push(() => gateway.chat({ model: "nobody", messages: user }));
    // A caller that disconnects after the first chunk.
    calls.push(async () => {
      const response = await gateway.chat({ model: "gpt", messages: user, stream: true }, { script });
      const reader = response.body?.getReader();
      await reader?.read();
      await reader?.cancel();
      return new Response();
    });
  }
  // Eight calls at once.
  await Promise.all(
    Array.from({ length: 8 }, async (_, lane) => {
      for (let n = lane; n < calls.length; n += 8) {
        try {
          await (await calls[n]?.())?.text();
        } catch {
          // A truncated stream is an error to its reader too.
        }
      }
    }),
  );
}

async function allEntries(): Promise<readonly LedgerEntry[]> {
  await gateway.entries();
  const found: LedgerEntry[] = [];
  let cursor: string | null = null;
  do {
    const page = await gateway.control.ledgerStore.page({}, cursor, 200);
    found.push(...page.entries);
    cursor = page.next;
  } while (cursor !== null);
  return found;
}

const truths = () => gateway.simulator.simulator.truth.list({ limit: 10_000 }).data;
const sumOf = (of: (entry: LedgerEntry) => number) => entries.reduce((all, entry) => all + of(entry), 0);

test("each attempt has one entry with the usage that the upstream reported and its cost", () => {
  const seen = new Map(truths().map((each) => [each.attempt_id, each]));
  expect(new Set(entries.map(({ attemptId }) => attemptId)).size).toBe(entries.length);
  expect([...seen.keys()].filter((id) => !entries.some(({ attemptId }) => attemptId === id))).toEqual([]);
  const reported = entries.filter(
    ({ outcome, usageSource, endpoint, tags }) =>
      outcome === "succeeded" && usageSource === "upstream" && !/images|embeddings/.test(endpoint) && !("cost" in tags),
  );
  expect(reported.length).toBeGreaterThan(100);
  const wrong = reported.flatMap((entry) => {
    const truth = seen.get(entry.attemptId);
    if (truth === undefined) return [`${entry.attemptId} was not sent`];
    // Gemini's own usage has no field for cache writes.
    const written = entry.rawUsage?.includes("promptTokenCount") === true ? 0 : truth.cache_write_tokens;
    const truthTokens = [truth.prompt_tokens, truth.cached_tokens, written, truth.output_tokens_emitted] as const;
    const { usage } = entry;
    const booked = [
      inputTokensOf(usage),
      usage.cacheRead,
      usage.cacheWrite5m + usage.cacheWrite1h,
      outputClasses.reduce((all, name) => all + usage[name], 0),
    ];
    const cost = entry.priceVersion === null ? 0 : costOfTruth(...truthTokens);
    const same = booked.join() === truthTokens.join() && cost === entry.costNanoUsd;
    return same ? [] : [`${entry.endpoint} ${entry.model}: ${booked} ${entry.costNanoUsd} for ${truthTokens} ${cost}`];
  });
  expect(wrong).toEqual([]);
});

/** The cost by the price above, computed by hand, in nano-USD. */
function costOfTruth(prompt: number, cached: number, written: number, output: number): number {
  const isLong = prompt > 5_000;
  const fresh = (prompt - cached - written) * (isLong ? 6_000 : 3_000);
  return fresh + cached * (isLong ? 600 : 300) + written * 3_750 + output * (isLong ? 22_500 : 15_000);
}

test("charges tiers, audio, searches and vendor-reported costs as the answers state them", () => {
  const booked = entries.filter(({ tags }) => "cost" in tags);
  expect(booked.length).toBe(answers.length * scripts.length);
  for (const { tags, costNanoUsd } of booked) expect(costNanoUsd).toBe(Number(tags["cost"]));
});

test("entries, reports, the caller's usage, the export and the metric agree", async () => {
  const cost = nanoToUsd(sumOf(({ costNanoUsd }) => costNanoUsd));
  expect(cost).toBeGreaterThan(0);
  const { kysely: connection, flavour } = gateway.control.database;
  const context = {
    connection,
    flavour,
    price: async () => null,
    deadline: new Deadline(60_000),
    pastSums: new PastSums(),
  };
  const time = { workspaceId: null, from: 0, to: Date.now() + 86_400_000 };
  const vendor = nanoToUsd(sumOf(({ vendorCostNanoUsd }) => vendorCostNanoUsd ?? 0));
  const own = nanoToUsd(
    sumOf((entry) => (entry.vendorCostNanoUsd === undefined ? 0 : (entry.ownCostNanoUsd ?? entry.costNanoUsd))),
  );
  const costs = { cost_usd: cost, vendor_cost_usd: vendor, own_cost_usd: own };
  const saved = nanoToUsd(sumOf(({ cacheSavedNanoUsd }) => cacheSavedNanoUsd ?? 0));
  expect(saved).toBeGreaterThan(0);
  for (const by of ["none", "model", "provider", "key"] as const) {
    const { totals } = await answerReport(context, "usage", [{ ...time, by, stepMs: 86_400_000 }]);
    expect(totals).toMatchObject({ ...costs, cache_saved_usd: saved });
  }
  const pairs = await answerReport(context, "costs", [time]);
  for (const [name, sum] of Object.entries(costs)) {
    const total = pairs.reduce((all, pair) => all + Math.round((pair[name as keyof typeof costs] ?? 0) * 1e9), 0);
    expect([name, nanoToUsd(total)]).toEqual([name, sum]);
  }
  const usage = (await (await gateway.get("/v1/usage")).json()) as { totals: Record<string, number> };
  expect(usage.totals).toMatchObject(costs);
  expect(usage.totals["input_tokens"]).toBe(sumOf((entry) => inputTokensOf(entry.usage)));
  let exported = 0;
  let lines = 0;
  for await (const line of exportEntries({ store: gateway.control.ledgerStore, filter: {}, format: "jsonl" })) {
    exported += (JSON.parse(line) as { cost_nano_usd: number }).cost_nano_usd;
    lines++;
  }
  expect([lines, nanoToUsd(exported)]).toEqual([entries.length, cost]);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  const counted = [...metrics.matchAll(/^sluice_cost_usd_total\{[^}]*\} (\S+)/gm)].reduce(
    (all, [, n]) => all + Number(n),
    0,
  );
  expect(counted).toBeCloseTo(cost, 9);
  expect((await gateway.control.ledgerStore.check()).faults).toEqual([]);
});

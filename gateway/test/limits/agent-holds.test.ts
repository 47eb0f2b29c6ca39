import { afterEach, expect, test } from "bun:test";
import { aliceKey, type Overrides, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
afterEach(() => gateway.stop());

/** Claude Opus, in USD per million tokens. */
const price = { input: 5, cache_read: 0.5, cache_write_5m: 6.25, cache_write_1h: 10, output: 25 };
const words = "The quick brown fox jumps over the lazy dog, and then some. ";
const prompt = words.repeat(10_000);
const ask = (more: object = {}) => ({
  model: "opus",
  max_tokens: 2_000,
  stream: true,
  system: [{ type: "text", text: prompt, cache_control: { type: "ephemeral" } }],
  messages: [{ role: "user", content: "Go on." }],
  ...more,
});
/** 125,000 tokens, 124,000 of them read from the cache: 0.072 USD with the output. */
const cached = { prompt_tokens: 125_000, cached_tokens: 124_000, tokens: 200 } as const;

const withBudget = async (usd: number, more: Overrides = {}): Promise<void> => {
  gateway = await startGateway({
    providers: (simulator) => [upstream("claude", simulator, { kind: "anthropic" })],
    models: [{ name: "opus", deployments: [{ provider: "claude", upstream_model: "claude-opus-5" }], price }],
    keys: [{ name: "alice", secret: aliceKey, budget: { usd, period: "day" } }],
    ...more,
  });
};
const send = (body: object = ask(), script: object = cached) =>
  gateway.post("/v1/messages", body, { script, headers: { "anthropic-version": "2023-06-01" } });
const costs = async (): Promise<number[]> => (await gateway.entries()).map(({ costNanoUsd }) => costNanoUsd / 1e9);

test("an agent's cached prompt of 600 KB fits a fresh budget of 5 USD", async () => {
  expect(prompt.length).toBe(600_000);
  await withBudget(5);
  const answer = await send();
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain("message_stop");
  const [cost] = await costs();
  expect(cost).toBeGreaterThan(0.06);
  expect(cost).toBeLessThan(0.08);
});

test("five of them at once fit 20 USD, and 1 USD once their cost is learned", async () => {
  await withBudget(20);
  const slow = { ...cached, latency_ms: 300 };
  const five = async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(ask(), slow)));
    await Promise.all(answers.map((answer) => answer.text()));
    return answers.map(({ status }) => status);
  };
  expect(await five()).toEqual([200, 200, 200, 200, 200]);
  await gateway.stop();

  await withBudget(1.3);
  await (await send()).text();
  expect(await five()).toEqual([200, 200, 200, 200, 200]);
  expect((await costs()).reduce((sum, cost) => sum + cost, 0)).toBeLessThan(0.5);
});

test("the learned cost of one key does not lower another workspace's holds", async () => {
  const carol = "sk-carol-0123456789abcdefghij";
  await withBudget(5, {
    moreWorkspaces: [
      {
        slug: "other",
        groups: [{ name: "default" }],
        keys: [{ name: "carol", secret: carol, budget: { usd: 0.5, period: "day" } }],
      },
    ],
  });
  for (let call = 0; call < 3; call++) await (await send()).text();
  const refused = await gateway.post("/v1/messages", ask(), {
    key: carol,
    script: cached,
    headers: { "anthropic-version": "2023-06-01" },
  });
  expect(refused.status).toBe(402);
});

test("a key with a low learned cost cannot overspend by more than eight calls at once", async () => {
  await withBudget(8);
  for (let call = 0; call < 6; call++) await (await send()).text();
  // Nothing is read from a cache: 0.94 USD each, held at an eighth of that.
  const dear = { prompt_tokens: 150_000, tokens: 20, latency_ms: 300 };
  const answers = await Promise.all(Array.from({ length: 40 }, () => send(ask(), dear)));
  await Promise.all(answers.map((answer) => answer.text()));
  const spent = (await costs()).reduce((sum, cost) => sum + cost, 0);
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(8);
  expect(spent).toBeLessThan(8 + 8 * 0.94 * 0.9);
});

test("a stream with more expensive input than expected holds the rest at its first usage, or is ended", async () => {
  await withBudget(5);
  for (let call = 0; call < 6; call++) await (await send()).text();
  const dear = { prompt_tokens: 150_000, tokens: 200, event_ms: 5 };
  const first = await (await send(ask(), dear)).text();
  expect(first).toContain("message_stop");
  await gateway.stop();

  await withBudget(1.6);
  for (let call = 0; call < 6; call++) await (await send()).text();
  expect(await (await send(ask(), dear)).text()).toContain("message_stop");
  const ended = await (await send(ask(), dear)).text();
  expect(ended).toContain("budget");
  expect(ended).not.toContain("message_stop");
});

test("a learned estimate never exceeds the context window", async () => {
  const deployments = [{ provider: "claude", upstream_model: "claude-opus-5" }];
  await withBudget(100, { models: [{ name: "opus", deployments, price, context_window: 150_000 }] });
  for (let call = 0; call < 3; call++) await (await send(ask(), { prompt_tokens: 150_000, tokens: 1 })).text();
  const [entry] = await gateway.entries();
  expect((entry?.reservedNanoUsd ?? 0) / 1e9).toBeCloseTo(
    (150_000 * price.cache_write_5m + 2_000 * price.output) / 1e6,
    2,
  );
});

test("holds non-ASCII text and pictures by their content", async () => {
  await withBudget(0.5);
  const status = async (content: unknown) =>
    (await send({ model: "opus", max_tokens: 10, messages: [{ role: "user", content }] }, { tokens: 2 })).status;
  // About 0.4 tokens per byte: 90,000 Chinese characters are about 110,000 tokens, 0.55 USD.
  expect(await status("汉字".repeat(45_000))).toBe(402);
  expect(await status(words.repeat(4_000))).toBe(200);
  const png = Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    Buffer.alloc(1_500_000, 7),
  ]);
  const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: png.toString("base64") } };
  expect(await status([picture])).toBe(200);
});

test("holds long-context prices only for a long estimate", async () => {
  const long = { ...price, long_context: { above: 200_000, input: 10, output: 37.5 } };
  const models = [
    { name: "opus", deployments: [{ provider: "claude", upstream_model: "claude-opus-5" }], price: long },
  ];
  // 600 KB are more bytes than the threshold has tokens.
  await withBudget(1.3, { models });
  expect((await send()).status).toBe(200);
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

const contextWindow = 20_000;
/** USD per million tokens; cached tokens cost a tenth. */
const price = { input: 10, cache_read: 1, cache_write_5m: 10, output: 10 };
const usdOf = (tokens: number): number => tokens / 1e5;
const cap = 10;
/** The budget of the key with a low learned cost: ten first estimates, in addition to what teaching cost. */
const trustedUsd = 2.5;
const headers = { "anthropic-version": "2023-06-01" };
const text = "The quick brown fox jumps over the lazy dog, and then some more. ".repeat(985);
const keyOf = (name: string): string => `sk-${name}-0123456789abcdefghij`;

interface Row {
  readonly path: string;
  readonly body: object;
  /** Tokens that one call is held at. */
  readonly held: number;
  /** Tokens that the upstream counts. */
  readonly used: number;
}
/** A stored response is created at the first gateway and continued at both. */
const continued = "continued";
const rows: Readonly<Record<string, Row>> = {
  chat: {
    ...{ path: "/v1/chat/completions", held: contextWindow, used: 16_000 },
    body: { model: "openai", max_tokens: cap, messages: [{ role: "user", content: text }] },
  },
  document: {
    ...{ path: "/v1/messages", held: contextWindow + 100, used: 19_000 },
    body: {
      ...{ model: "claude", max_tokens: cap },
      messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: "file_1" } }] }],
    },
  },
  [continued]: {
    ...{ path: "/v1/responses", held: 15_100, used: 15_010 },
    body: { model: "openai", max_output_tokens: cap, input: "Go on." },
  },
  passThrough: {
    ...{ path: "/v1/providers/openai/chat/completions", held: contextWindow, used: 16_000 },
    body: { model: "upstream-openai", max_tokens: cap, messages: [{ role: "user", content: text }] },
  },
};
/** Redis counts a budget for one with each call; a larger budget is leased to the processes in shares. */
const counted = { direct: 1, leased: 25 } as const;

await onPostgres("two gateways with Redis counters", () => {
  if (noRedis !== null) {
    test.skip(`(${noRedis})`, () => {});
    return;
  }
  let fixture: PostgresFixture;
  let redis: RedisServer;
  let gateways: readonly StartedGateway[] = [];
  beforeAll(async () => {
    fixture = await openPostgresFixture();
    redis = await RedisServer.start();
    const granted = { pass_through: ["openai", "claude"] };
    const key = (name: string, usd: number) => ({
      ...{ name, secret: keyOf(name), ...granted },
      budget: { usd, period: "total" as const },
    });
    const start = () =>
      startGateway({
        environment: {
          databaseUrl: new Secret(fixture.url),
          redisUrl: new Secret(redis.url),
          masterKey: new Secret("a-master-key-of-the-installation-0123456789"),
        },
        providers: (simulator) => [
          upstream("openai", simulator, { kind: "openai" }),
          upstream("claude", simulator, { kind: "anthropic" }),
        ],
        models: ["openai", "claude"].map((provider) => ({
          ...{ name: provider, price, context_window: contextWindow },
          deployments: [{ provider, upstream_model: provider === "claude" ? "claude-sim-4-5" : "upstream-openai" }],
        })),
        workspace: { ...granted, groups: [{ name: "default", ...granted }] },
        keys: [
          { name: "maker", secret: keyOf("maker"), ...granted },
          ...Object.entries(rows).flatMap(([name, { held }]) =>
            Object.entries(counted).map(([how, times]) => key(`${name}-${how}`, usdOf(held * 1.04 * times))),
          ),
          key("taught", trustedUsd),
        ],
      });
    gateways = [await start(), await start()];
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.stop();
    await redis?.stop();
    await fixture?.[Symbol.asyncDispose]();
  });

  /** Sends this many calls to each gateway at once. Returns how many were served. */
  async function atOnce(key: string, { path, body, used }: Row, calls: number, more: object = {}): Promise<number> {
    const script = { prompt_tokens: used, tokens: 5, latency_ms: 300 };
    const statuses = await Promise.all(
      gateways.flatMap((gateway) =>
        Array.from({ length: calls }, async () => {
          const answer = await gateway.post(path, { ...body, ...more }, { key: keyOf(key), script, headers });
          const text = await answer.text();
          if (answer.status !== 200) expect(`${answer.status} ${text}`).toMatch(/^(?:402|429) /);
          return answer.status;
        }),
      ),
    );
    await until(() => gateways.every(({ gateway }) => gateway.outstanding() === 0));
    return statuses.filter((status) => status === 200).length;
  }

  const seen = new Set<string>();
  /** From the entries since the last read, once every process has written its entries. */
  async function spentUsd(): Promise<number> {
    const all = (await Promise.all(gateways.map((gateway) => gateway.entries()))).flat();
    const news = new Map(all.filter(({ attemptId }) => !seen.has(attemptId)).map((entry) => [entry.attemptId, entry]));
    for (const attemptId of news.keys()) seen.add(attemptId);
    return [...news.values()].reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0) / 1e9;
  }

  for (const [name, row] of Object.entries(rows)) {
    for (const [how, times] of Object.entries(counted)) {
      test(`${name}: calls at both gateways stay within a budget for ${times} (${how})`, async () => {
        const key = `${name}-${how}`;
        const budget = usdOf(row.held * 1.04 * times);
        const more = name === continued ? { previous_response_id: await storedResponse() } : {};
        await spentUsd();
        const calls = times === 1 ? 4 : 20;
        const served = await atOnce(key, row, calls, more);
        expect(served).toBeGreaterThan(0);
        const spent = await spentUsd();
        expect(spent).toBeGreaterThan(usdOf(served * row.used * 0.75));
        expect(spent).toBeLessThanOrEqual(budget);
      });
    }
  }

  async function storedResponse(): Promise<string> {
    const script = { prompt_tokens: 15_000, tokens: 5 };
    const body = { ...rows[continued]?.body, input: "Begin." };
    const [first] = gateways;
    if (first === undefined) throw new Error("no gateway");
    const made = await first.post("/v1/responses", body, { key: keyOf("maker"), script });
    return ((await made.json()) as { id: string }).id;
  }

  test("a key with a low learned cost overspends by at most eight calls per process", async () => {
    const taught: Row = { ...(rows["chat"] as Row), used: 16_000 };
    const cheap = { prompt_tokens: 16_000, cached_tokens: 15_900, tokens: 1 };
    await spentUsd();
    for (let call = 0; call < 6; call++) {
      for (const gateway of gateways) {
        const answer = await gateway.post(taught.path, taught.body, { key: keyOf("taught"), script: cheap });
        expect(answer.status).toBe(200);
        await answer.text();
      }
    }
    const before = await spentUsd();
    const served = await atOnce("taught", taught, 30);
    expect(served).toBeGreaterThan(16);
    const spent = await spentUsd();
    const first = usdOf(contextWindow);
    expect(spent).toBeLessThanOrEqual(trustedUsd - before + (gateways.length * 8 * 7 * first) / 8);
    // The excess would be larger if every call were held at the learned cost.
    expect(served).toBeLessThan(60);
  });
});

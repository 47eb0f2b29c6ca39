import { expect, test } from "bun:test";
import { postgresServer } from "../../gateway/test/postgres-server.ts";
import { noRedis } from "../redis-server.ts";
import { until } from "../until.ts";
import { exportLedger } from "./ledger-rows.ts";
import { startReplicas } from "./replicas.ts";
import type { Gateway } from "./start-gateway.ts";
import { keys, model, testConfig, upstreamKey } from "./test-config.ts";

const postgres = await postgresServer();
const why = noRedis ?? postgres.why;
/** Output tokens at 10 USD per million: 0.07 USD of a budget of 0.10. */
const tokens = 7_000;

const headers = { authorization: `Bearer ${keys.main}`, "content-type": "application/json" };

const create = (gateway: Gateway, script: object): Promise<Response> =>
  fetch(`${gateway.url}/v1/responses`, {
    method: "POST",
    headers,
    body: JSON.stringify({
      model: "gpt-test",
      input: `a tale [[sim ${JSON.stringify(script)}]]`,
      background: true,
      max_output_tokens: tokens,
    }),
  });

async function usedUsd(gateway: Gateway): Promise<number | null> {
  const answer = await fetch(`${gateway.url}/v1/usage`, { headers });
  const { limits } = (await answer.json()) as { readonly limits?: readonly { kind: string; used: number | null }[] };
  return limits?.find(({ kind }) => kind === "budget")?.used ?? null;
}

/** Waits until the cost is reserved. While the ledger is read, usage is unknown, and the share that a dead process leased stays reserved for a while. */
const isReserved = (gateway: Gateway): Promise<boolean> => until(async () => ((await usedUsd(gateway)) ?? 0) > 0.069);

const isSpent = (gateway: Gateway, usd: number): Promise<boolean> =>
  until(async () => Math.abs(((await usedUsd(gateway)) ?? Number.NaN) - usd) < 1e-9);

test.skipIf(why !== null)(
  `keeps a background response reserved after its gateway is killed and Redis is emptied, and charges it once${why === null ? "" : ` (${why})`}`,
  async () => {
    const replicas = await startReplicas({
      postgresUrl: postgres.url ?? "",
      count: 2,
      config: (base_url) => ({
        ...testConfig(base_url),
        providers: [{ id: "openai", kind: "openai", base_url, api_key: upstreamKey, allow_private_network: true }],
        models: [model("gpt-test", [{ provider: "openai", upstream_model: "up-test" }], { price: { output: 10 } })],
        workspaces: [
          { slug: "acme", keys: [{ name: "main", secret: keys.main, budget: { usd: 0.1, period: "total" } }] },
        ],
      }),
    });
    try {
      const [first, other] = replicas.gateways;
      if (first === undefined || other === undefined) throw new Error("two gateways must be started");
      const created = await create(first, { tokens: 3, reasoning_tokens: tokens - 3, background_ms: 4_000 });
      const { id } = (await created.json()) as { readonly id: string };
      expect(created.status).toBe(200);
      await first.kill9();
      await isReserved(other);
      expect((await create(other, { tokens: 1 })).status).not.toBe(200);
      // The gateway may have been killed before its journal reached the database.
      await first.restart();
      const redis = new Bun.RedisClient(replicas.redis.url);
      await redis.send("FLUSHALL", []);
      redis.close();
      await isReserved(other);
      expect((await create(other, { tokens: 1 })).status).not.toBe(200);
      const rows = await until(async () => {
        const all = await exportLedger(other);
        const matching = all.filter((row) => "upstream_id" in row && row.upstream_id === id);
        return matching.length > 0 ? matching : null;
      });
      expect(rows).toMatchObject([{ outcome: "succeeded", usage_source: "upstream", output: tokens }]);
      for (const gateway of [first, other]) await isSpent(gateway, (rows[0]?.cost_nano_usd ?? 0) / 1e9);
    } finally {
      await replicas.close();
    }
  },
);

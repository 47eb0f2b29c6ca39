import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "#core/index.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { chatRow, clientOf, createBatch, ended } from "../endpoints/batches/batch-client.ts";
import { rowCost } from "../endpoints/batches/batch-gateway.ts";
import { BatchVendor } from "../endpoints/batches/batch-vendor.ts";
import { arkAccount, settledTask, taskRequest, videoGateway } from "../endpoints/video-tasks/video-gateway.ts";
import { aliceKey, errorOf, type Overrides, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway | null = null;
let server: RedisServer | null = null;
afterEach(async () => {
  await gateway?.stop();
  gateway = null;
  await server?.stop();
  server = null;
});

async function environmentOf(redis: boolean): Promise<NonNullable<Overrides["environment"]>> {
  if (redis) server = await RedisServer.start();
  return server === null ? {} : { redisUrl: new Secret(server.url) };
}

/** The expected cost of `taskRequest`. */
const oneVideoUsd = 0.648;
const path = "/v1/video/tasks";
const model = { name: "clip-test", type: "video", price: { output: 6 } } as const;
const at = (provider: string, priority: number) => ({
  ...{ provider, priority },
  upstream_model: "doubao-seedance-2-0-260128",
});
const running = (script: object) => ({ ...taskRequest, prompt: `a boat [[sim ${JSON.stringify(script)}]]` });
const vendorBudget = (usd: number) => ({
  ...({ name: "vendor", period: "total" } as const),
  ...{ usd, match: { providers: ["volc"] } },
});

/** Two accounts, of which the first has a budget. */
const twoAccounts: Overrides = {
  providers: (simulator) => [arkAccount(simulator), { ...arkAccount(simulator), id: "second" }],
  models: [{ ...model, deployments: [at("volc", 0), at("second", 1)] }],
};

const places = [
  { name: "in memory", redis: false },
  { name: "in Redis", redis: true },
];

describe.each(places)("budgets of providers $name", ({ redis }) => {
  const isSkipped = redis && noRedis !== null;

  test.skipIf(isSkipped)("a running video holds its money, and the next one goes to another account", async () => {
    gateway = await startGateway({
      ...{ ...videoGateway, ...twoAccounts, environment: await environmentOf(redis) },
      budgets: [vendorBudget(1.5 * oneVideoUsd)],
    });
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      const answer = await gateway.post(path, running({ running_ms: 100 }));
      expect(answer.status).toBe(200);
      ids.push(((await answer.json()) as { id: string }).id);
    }
    for (const id of ids) expect(await settledTask(gateway, id)).toMatchObject({ status: "succeeded" });
    const entries = await gateway.entries();
    const providerOf = new Map(entries.map(({ requestId, provider }) => [requestId, provider]));
    expect([...providerOf.values()].sort()).toEqual(["second", "second", "volc"]);
    await until(() => gateway?.gateway.outstanding() === 0);
  });

  test.skipIf(isSkipped)("a video is refused by name if no other account is left", async () => {
    gateway = await startGateway({
      ...{ ...videoGateway, environment: await environmentOf(redis) },
      budgets: [vendorBudget(1.5 * oneVideoUsd)],
    });
    const first = (await (await gateway.post(path, running({ running_ms: 300 }))).json()) as { id: string };
    const held = await errorOf(await gateway.post(path, taskRequest));
    expect(held).toMatchObject({ status: 429, code: "budget_held" });
    expect(held.message).toContain("on policy vendor");
    expect(await settledTask(gateway, first.id)).toMatchObject({ status: "succeeded" });
    const refused = await errorOf(await gateway.post(path, taskRequest));
    expect(refused).toMatchObject({ status: 402, code: "budget_exceeded" });
    expect(refused.message).toContain("on policy vendor");
    // Nothing was sent for a refused video.
    expect(gateway.simulator.simulator.tasks.list().total).toBe(1);
    await until(() => gateway?.gateway.outstanding() === 0);
  });

  test.skipIf(isSkipped)("a failed video gives its money back", async () => {
    gateway = await startGateway({
      ...{ ...videoGateway, environment: await environmentOf(redis) },
      budgets: [vendorBudget(oneVideoUsd)],
    });
    const { id } = (await (await gateway.post(path, running({ running_ms: 10, ends: "failed" }))).json()) as {
      id: string;
    };
    expect(await settledTask(gateway, id)).toMatchObject({ status: "failed" });
    await until(async () => (await gateway?.post(path, taskRequest))?.status === 200);
  });

  const matches = [{ providers: ["main"] }, { models: ["gpt-*"] }, { tags: { team: "search" } }];
  test.skipIf(isSkipped).each(redis ? matches.slice(0, 1) : matches)(
    "a vendor's batch holds its money on %p",
    async (match) => {
      const vendor = new BatchVendor();
      try {
        gateway = await startGateway({
          providers: (simulator) => [
            upstream("main", simulator, { kind: "openai", base_url: vendor.url, settings: { batches: true } }),
          ],
          models: [
            {
              name: "gpt-test",
              price: { input: 1, output: 10 },
              deployments: [{ provider: "main", upstream_model: "vendor-model" }],
            },
          ],
          keys: [{ name: "alice", secret: aliceKey, tags: { team: "search" } }],
          budgets: [{ name: "batches", usd: (15 * rowCost) / 1e9, period: "total", match }],
          environment: await environmentOf(redis),
        });
        const client = clientOf(gateway);
        const rows = Array.from({ length: 20 }, (_, n) => chatRow(`row ${n}`));
        const batch = await createBatch(client, rows);
        await until(() => vendor.batches.length === 1);
        await expect(createBatch(client, rows)).rejects.toMatchObject({ status: 429, code: "budget_held" });
        vendor.end();
        expect((await ended(client, batch.id)).request_counts).toMatchObject({ completed: 20 });
        await until(() => gateway?.gateway.outstanding() === 0);
        await expect(createBatch(client, rows)).rejects.toMatchObject({ status: 402, code: "budget_exceeded" });
        expect(vendor.batches).toHaveLength(1);
      } finally {
        vendor.stop();
      }
    },
  );
});

test("after a restart, running videos hold their money on the budget of their provider", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-videos-"));
  try {
    const config: Overrides = {
      ...{ ...videoGateway, ...twoAccounts, environment: { dataDir } },
      budgets: [vendorBudget(1.5 * oneVideoUsd)],
    };
    gateway = await startGateway(config);
    await gateway.post(path, running({ running_ms: 60_000 }));
    expect(gateway.gateway.outstanding()).toBeGreaterThan(0);
    await gateway.stop();
    gateway = await startGateway(config);
    const { id } = (await (await gateway.post(path, running({ running_ms: 10 }))).json()) as { id: string };
    expect(await settledTask(gateway, id)).toMatchObject({ status: "succeeded" });
    expect((await gateway.entries()).map(({ provider }) => provider)).toEqual(["second"]);
  } finally {
    await gateway?.stop();
    gateway = null;
    rmSync(dataDir, { recursive: true, force: true });
  }
});

import { afterEach, describe, expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { aliceKey, hello, type Overrides, type StartedGateway, startGateway } from "../started-gateway.ts";

let gateway: StartedGateway;
let server: RedisServer | null = null;
afterEach(async () => {
  await gateway.stop();
  await server?.stop();
  server = null;
});

const models = [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 0, output: 1_000 } }];
/** A call of five tokens costs half a cent. */
const call = () => gateway.chat({ ...hello, max_tokens: 5 }, { script: { tokens: 5 } });

const budget = { usd: 0.01, period: "month", enforce: false } as const;
const overBudget = "would have been refused: budget of 0.01 USD per month on key acme/alice";

const places = [
  { name: "in memory", open: async (): Promise<Overrides> => ({}) },
  {
    name: "in Redis",
    open: async (): Promise<Overrides> => {
      server = await RedisServer.start();
      return { environment: { redisUrl: new Secret(server.url) } };
    },
  },
];

describe.each(places)("shadow limits $name", ({ name, open }) => {
  test.skipIf(name === "in Redis" && noRedis !== null)(
    "serve every call, and mark calls that they would refuse",
    async () => {
      const keys = [{ name: "alice", secret: aliceKey, budget, limits: { rpm: 100 } }];
      gateway = await startGateway({ ...(await open()), models, keys, reportThreads: true });
      const marked = async () => (await gateway.entries()).filter(({ warnings }) => warnings?.includes(overBudget));
      // The first calls begin to read what was spent before.
      await until(async () => {
        const response = await call();
        expect([response.status, response.headers.get("x-sluice-warnings")]).toEqual([200, null]);
        await response.text();
        await until(() => gateway.gateway.outstanding() === 0);
        return (await marked()).length > 0;
      });
      const entries = await gateway.entries();
      expect(entries.length).toBeGreaterThan(2);
      expect(await marked()).toEqual(entries.slice(0, 1));
      const metrics = await (await gateway.get("/metrics", {})).text();
      expect(metrics).toMatch(/sluice_shadow_refusals_total\{kind="budget",scope="key"\} [1-9]/);
      const { limits } = (await (await gateway.get("/v1/usage")).json()) as { limits: { kind: string }[] };
      expect(limits.map(({ kind }) => kind)).toEqual(["rpm"]);
    },
  );
});

test.skipIf(noRedis !== null)("shadow limits serve calls while Redis is down, even if they fail closed", async () => {
  server = await RedisServer.start();
  await server.end();
  const limits = { rpm: 1, fail: "closed", enforce: false } as const;
  const keys = [{ name: "alice", secret: aliceKey, limits, budget: { ...budget, usd: 0 } }];
  gateway = await startGateway({ models, keys, environment: { redisUrl: new Secret(server.url) } });
  expect([(await call()).status, (await call()).status, (await call()).status]).toEqual([200, 200, 200]);
});

test("a budget in shadow mode does not block models without a price", async () => {
  const unpriced = [{ name: "gpt-test", deployments: [{ provider: "main" }] }];
  gateway = await startGateway({ models: unpriced, keys: [{ name: "alice", secret: aliceKey, budget }] });
  expect((await gateway.chat(hello)).status).toBe(200);
});

import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BudgetPolicyConfig } from "@sluice/contract/config-file";
import { Secret } from "#core/index.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import {
  aliceKey,
  type ChatOptions,
  errorOf,
  hello,
  type Overrides,
  type StartedGateway,
  startGateway,
  upstream,
} from "../started-gateway.ts";

let gateway: StartedGateway;
let server: RedisServer | null = null;
afterEach(async () => {
  await gateway.stop();
  await server?.stop();
  server = null;
});

const bobKey = "sk-bob-00123456789abcdefghij";
const price = { input: 0, output: 1_000 };
/** A call of five tokens costs half a cent, of a cheap model a twentieth of that. */
const models = [
  { name: "gpt-test", deployments: [{ provider: "main" }], price },
  { name: "gpt-cheap", deployments: [{ provider: "main" }], price: { input: 0, output: 50 } },
];
const month = { period: "month" } as const;

const places = [
  { name: "in memory", redis: false },
  { name: "in Redis", redis: true },
];

async function start(redis: boolean, budgets: readonly BudgetPolicyConfig[], more: Overrides = {}): Promise<void> {
  if (redis) server = await RedisServer.start();
  const environment = server === null ? {} : { environment: { redisUrl: new Secret(server.url) } };
  gateway = await startGateway({
    ...{ models, budgets: [...budgets], reportThreads: true },
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "bob", secret: bobKey },
    ],
    ...environment,
    ...more,
  });
}

/** One call after the other, each settled before the next. */
async function call(options: ChatOptions = {}, model = "gpt-test"): Promise<Response> {
  const response = await gateway.chat({ ...hello, model, max_tokens: 5 }, { script: { tokens: 5 }, ...options });
  await until(() => gateway.gateway.outstanding() === 0);
  return response;
}

const statuses = async (count: number, options?: ChatOptions, model?: string): Promise<number[]> => {
  const found = [];
  for (let n = 0; n < count; n++) {
    const response = await call(options, model);
    await response.text();
    found.push(response.status);
  }
  return found;
};

describe.each(places)("budget policies $name", ({ redis }) => {
  const isSkipped = redis && noRedis !== null;

  test.skipIf(isSkipped)("one budget is shared by all keys that it matches, and the refusal names it", async () => {
    await start(redis, [{ name: "shared", usd: 0.01, ...month, match: { workspaces: ["acme"] } }]);
    expect(await statuses(1)).toEqual([200]);
    expect(await statuses(2, { key: bobKey })).toEqual([200, 402]);
    const refused = await errorOf(await call());
    expect(refused).toMatchObject({ status: 402, code: "budget_exceeded" });
    expect(refused.message).toStartWith("The budget of 0.01 USD per month on policy shared is used up");
    const { limits } = (await (await gateway.get("/v1/usage")).json()) as { limits: object[] };
    expect(limits).toEqual([expect.objectContaining({ scope: "policy shared", limit: 0.01, used: 0.01 })]);
  });

  test.skipIf(isSkipped)("a split budget counts each value of a tag, key or model separately", async () => {
    await start(redis, [
      { name: "teams", usd: 0.005, ...month, split_by: "tag:team" },
      { name: "keys", usd: 0.015, ...month, split_by: "key" },
    ]);
    const team = (name: string) => ({ headers: { "x-sluice-tags": `team=${name}` } });
    expect(await statuses(2, team("search"))).toEqual([200, 402]);
    expect(await statuses(2, team("ads"))).toEqual([200, 402]);
    const refused = await errorOf(await call(team("ads")));
    expect(refused.message).toContain("on policy teams (tag:team ads)");
    // Without the tag: the third call of the key, and then the key's own amount.
    expect(await statuses(1)).toEqual([200]);
    expect((await errorOf(await call(team("new")))).message).toContain("on policy keys (key acme/alice)");
    expect(await statuses(1, { ...team("new"), key: bobKey })).toEqual([200]);
  });

  test.skipIf(isSkipped)("a budget of models and tags refuses only what it matches", async () => {
    await start(redis, [
      { name: "costly", usd: 0.005, ...month, match: { models: ["gpt-t*"], tags: { team: ["search", "ads"] } } },
    ]);
    const tagged = { headers: { "x-sluice-tags": "team=search" } };
    expect(await statuses(2, tagged)).toEqual([200, 402]);
    expect(await statuses(2)).toEqual([200, 200]);
    expect(await statuses(1, tagged, "gpt-cheap")).toEqual([200]);
    expect(await statuses(1, { headers: { "x-sluice-tags": "team=ads" } })).toEqual([402]);
    expect(gateway.gateway.outstanding()).toBe(0);
  });

  test.skipIf(isSkipped)("a provider over its budget is skipped, and refused only when none is left", async () => {
    await start(redis, [{ name: "vendor", usd: 0.01, ...month, match: { providers: ["main"] } }], {
      providers: (simulator) => [upstream("main", simulator), upstream("other", simulator)],
      models: [
        {
          name: "gpt-test",
          price,
          deployments: [
            { provider: "main", priority: 0 },
            { provider: "other", priority: 1 },
          ],
        },
        { name: "gpt-main", price, deployments: [{ provider: "main" }] },
      ],
    });
    expect(await statuses(4)).toEqual([200, 200, 200, 200]);
    const entries = await gateway.entries();
    expect(entries.map(({ provider }) => provider).toReversed()).toEqual(["main", "main", "other", "other"]);
    const refused = await errorOf(await call({}, "gpt-main"));
    expect(refused).toMatchObject({ status: 402, code: "budget_exceeded" });
    expect(refused.message).toContain("on policy vendor");
    expect(gateway.gateway.outstanding()).toBe(0);
  });

  test.skipIf(isSkipped)("over budget, a call runs with the fallback model, which answer and ledger name", async () => {
    await start(
      redis,
      [{ name: "costly", usd: 0.005, ...month, match: { models: ["gpt-test"] }, over: { fallback: "gpt-cheap" } }],
      {
        keys: [
          { name: "alice", secret: aliceKey },
          { name: "bob", secret: bobKey, models: ["gpt-test"] },
          { name: "own", secret: ownKey, budget: { usd: 0.005, ...month, over: { fallback: "gpt-cheap" } } },
        ],
      },
    );
    expect(await statuses(1)).toEqual([200]);
    const served = await call();
    expect([served.status, served.headers.get("x-sluice-warnings")]).toEqual([
      200,
      "model: gpt-test is over its budget, served by gpt-cheap",
    ]);
    const [entry] = await gateway.entries();
    expect(entry).toMatchObject({ model: "gpt-cheap", requestedModel: "gpt-test", costNanoUsd: 250_000 });
    expect(entry?.warnings).toEqual(["model: gpt-test is over its budget, served by gpt-cheap"]);
    // This key may not use the fallback.
    expect((await errorOf(await call({ key: bobKey }))).code).toBe("budget_exceeded");
    // A key's own budget, at first within it.
    expect(await statuses(1, { key: ownKey }, "gpt-cheap")).toEqual([200]);
    expect((await call({ key: ownKey })).headers.get("x-sluice-warnings")).toContain("served by gpt-cheap");
    expect(await statuses(20, { key: ownKey }, "gpt-cheap")).toEqual(Array.from({ length: 20 }, () => 200));
  });

  test.skipIf(isSkipped)("after a restart, policies count what was spent before", async () => {
    const budgets: BudgetPolicyConfig[] = [
      { name: "teams", usd: 0.01, period: "day", rolling: true, split_by: "tag:team" },
      { name: "model", usd: 0.02, ...month, time_zone: "Asia/Kolkata", match: { models: ["gpt-*"] } },
    ];
    using dataDir = new TemporaryDirectory();
    if (redis) server = await RedisServer.start();
    const environment = { dataDir: dataDir.path, ...(server === null ? {} : { redisUrl: new Secret(server.url) }) };
    await start(false, budgets, { environment });
    const tagged = { headers: { "x-sluice-tags": "team=search" } };
    expect(await statuses(2, tagged)).toEqual([200, 200]);
    expect(await statuses(1)).toEqual([200]);
    await gateway.stop();
    await start(false, budgets, { environment });
    expect(await statuses(1, tagged)).toEqual([402]);
    expect(await statuses(2)).toEqual([200, 402]);
    await gateway.stop();
  });

  test.skipIf(isSkipped)("in shadow mode a policy refuses nothing and marks the call", async () => {
    await start(redis, [{ name: "trial", usd: 0.005, ...month, enforce: false, match: { models: ["gpt-test"] } }]);
    await until(async () => {
      expect(await statuses(1)).toEqual([200]);
      const entries = await gateway.entries();
      return entries.some(({ warnings }) =>
        warnings?.includes("would have been refused: budget of 0.005 USD per month on policy trial"),
      );
    });
  });
});

const ownKey = "sk-own-00123456789abcdefghij";

class TemporaryDirectory {
  readonly path = mkdtempSync(join(tmpdir(), "sluice-budgets-"));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

test("a fallback model without a limit leads to no other model of its plan", async () => {
  const fallback = { usd: 0.005, ...month, over: { fallback: "gpt-cheap" } } as const;
  await start(false, [], {
    keys: [{ name: "alice", secret: aliceKey, budget: fallback }],
    providers: (simulator) => [
      upstream("main", simulator),
      { ...upstream("down", simulator), base_url: "http://127.0.0.1:9" },
    ],
    models: [
      { name: "gpt-test", price, deployments: [{ provider: "main" }] },
      { name: "gpt-cheap", price, deployments: [{ provider: "down" }], fallbacks: ["gpt-test"] },
    ],
  });
  // Within the budget, its fallback may serve the call.
  expect(await statuses(1, {}, "gpt-cheap")).toEqual([200]);
  const over = await call({}, "gpt-cheap");
  expect([over.status >= 500, over.headers.get("x-sluice-warnings")]).toEqual([true, null]);
  const served = (await gateway.entries()).filter(({ costNanoUsd }) => costNanoUsd > 0);
  expect(served.map(({ model }) => model)).toEqual(["gpt-test"]);
});

test("a large body is read if its model has a fallback over budget", async () => {
  await start(false, [], {
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 0.005, ...month, over: { fallback: "gpt-cheap" } } }],
  });
  expect(await statuses(1)).toEqual([200]);
  const messages = [{ role: "user", content: "a".repeat(2_000_000) }];
  const served = await gateway.chat({ messages, model: "gpt-test", max_tokens: 5 }, { script: { tokens: 5 } });
  expect([served.status, served.headers.get("x-sluice-warnings")]).toEqual([
    200,
    "model: gpt-test is over its budget, served by gpt-cheap",
  ]);
});

test("fallback models that are over budget, too, are followed to their end and named", async () => {
  const costly = { name: "costly", usd: 0.005, ...month, match: { models: ["gpt-test"] } };
  const cheap = { name: "cheap", usd: 0.0004, ...month, match: { models: ["gpt-cheap"] } };
  await start(
    false,
    [
      { ...costly, over: { fallback: "gpt-cheap" } },
      { ...cheap, over: { fallback: "gpt-mini" } },
      {
        name: "circle",
        usd: 0.0001,
        ...month,
        match: { models: ["gpt-mini"], tags: { circle: ["1"] } },
        over: { fallback: "gpt-test" },
      },
    ],
    { models: [...models, { name: "gpt-mini", deployments: [{ provider: "main" }], price: { input: 0, output: 50 } }] },
  );
  expect(await statuses(2)).toEqual([200, 200]);
  const served = await call();
  expect([served.status, served.headers.get("x-sluice-warnings")]).toEqual([
    200,
    "model: gpt-test is over its budget, served by gpt-mini",
  ]);
  expect((await errorOf(await call({ headers: { "x-sluice-tags": "circle=1" } }))).code).toBe("budget_exceeded");
  expect(gateway.gateway.outstanding()).toBe(0);
});

test("after a restart, calls with the tag - count with those without it", async () => {
  using dataDir = new TemporaryDirectory();
  const environment = { dataDir: dataDir.path };
  const budgets = [{ name: "teams", usd: 0.005, ...month, split_by: "tag:team" } as const];
  await start(false, budgets, { environment });
  expect(await statuses(1, { headers: { "x-sluice-tags": "team=-" } })).toEqual([200]);
  expect(await statuses(1)).toEqual([402]);
  await gateway.stop();
  await start(false, budgets, { environment });
  expect(await statuses(1)).toEqual([402]);
  await gateway.stop();
});

test("a temporary increase admits more until it ends", async () => {
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const past = new Date(Date.now() - 1_000).toISOString();
  const increase = { usd: 0.005, reason: "launch" };
  await start(false, [
    { name: "one", usd: 0.005, ...month, match: { keys: ["acme/alice"] }, increase: { ...increase, until } },
    { name: "two", usd: 0.005, ...month, match: { keys: ["acme/bob"] }, increase: { ...increase, until: past } },
  ]);
  expect(await statuses(3)).toEqual([200, 200, 402]);
  expect(await statuses(2, { key: bobKey })).toEqual([200, 402]);
});

test("a stream holds and tops up money on the policies of its model, and ends when they are used up", async () => {
  await start(false, [{ name: "model", usd: 0.6, ...month, match: { models: ["gpt-test"] } }]);
  const response = await gateway.chat({ ...hello, stream: true }, { script: { tokens: 2_000, event_ms: 1 } });
  const text = await response.text();
  expect(response.status).toBe(200);
  expect(text.includes("budget_exceeded")).toBe(true);
  await until(() => gateway.gateway.outstanding() === 0);
  const [entry] = await gateway.entries();
  // At most one chunk more than the budget.
  expect(entry?.costNanoUsd).toBeGreaterThan(500_000_000);
  expect(entry?.costNanoUsd).toBeLessThan(700_000_000);
});

test("all attempts are charged to the policies of their model and provider", async () => {
  await start(false, [{ name: "each", usd: 1, ...month, split_by: "provider" }]);
  expect(await statuses(2)).toEqual([200, 200]);
  const first = await gateway.chat({ ...hello, max_tokens: 5 }, { script: { status: 500 } });
  await first.text();
  expect(first.status).toBeGreaterThan(499);
  await until(() => gateway.gateway.outstanding() === 0);
  const sum = (await gateway.entries()).reduce((all, { costNanoUsd }) => all + costNanoUsd, 0);
  expect(sum).toBe(10_000_000);
});

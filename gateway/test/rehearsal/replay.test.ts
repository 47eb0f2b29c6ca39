import { describe, expect, test } from "bun:test";
import type { ConfigFile, RehearsedChange } from "@sluice/contract";
import { type LedgerEntry, noUsage } from "#core/index.ts";
import { ledgerEntry } from "../conformance/store-fixture.ts";
import { openRehearsalFixture, type RehearsalFixture } from "./rehearsal-fixture.ts";

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 4, 20, 12);
const span = { from: startMs, to: startMs + hourMs };

const config: ConfigFile = {
  providers: ["up", "spare"].map((id) => ({ id, kind: "openai-compatible", base_url: `https://${id}.example/v1` })),
  models: [
    {
      ...{ name: "large", price: { input: 2, output: 20 }, fallbacks: ["small"] },
      deployments: [
        { provider: "up", weight: 50 },
        { provider: "spare", weight: 50 },
      ],
    },
    { name: "small", price: { input: 1, output: 4 }, deployments: [{ provider: "up" }] },
  ],
  workspaces: [{ slug: "acme", keys: [{ name: "ci", secret: "sk-ci-0123456789abcdefghijkl" }] }],
};

interface Fixture extends RehearsalFixture {
  /** An entry of the key `ci`, a number of milliseconds after the start. */
  entry(name: string, afterMs: number, changes?: Partial<LedgerEntry>): LedgerEntry;
  readonly deployments: Readonly<Record<string, string>>;
}

async function openFixture(kind: "sqlite" | "postgres" = "sqlite"): Promise<Fixture> {
  const fixture = await openRehearsalFixture(kind);
  const { models } = await fixture.apply(config);
  const key = await fixture.database.kysely.selectFrom("api_keys").selectAll().executeTakeFirstOrThrow();
  const own = [...models.values()].flatMap((model) =>
    model.deployments.map((deployment) => [`${model.name} ${deployment.provider.id}`, deployment.id]),
  );
  const deployments: Readonly<Record<string, string>> = Object.fromEntries(own);
  const place = { workspaceId: key.workspace_id, groupId: key.group_id, keyId: key.id };
  return {
    ...fixture,
    deployments,
    entry(name, afterMs, changes = {}) {
      const at = startMs + afterMs;
      const large = { model: "large", requestedModel: "large", provider: "up", upstreamModel: "large" };
      const deployment = deployments["large up"] as string;
      const money = {
        costNanoUsd: 22_000_000,
        reservedNanoUsd: 22_000_000,
        priceVersion: models.get("large")?.price?.id,
      };
      const usage = { ...noUsage, inputUncached: 1_000, output: 1_000 };
      const entry = ledgerEntry(name, { at, endedAt: at + 1_000, ...place, ...large, deployment, usage, ...changes });
      return { ...entry, ...money, priceVersion: money.priceVersion ?? null, stream: false, ...changes };
    },
  };
}

const ofKey = (fields: object): RehearsedChange => ({
  workspaces: [{ slug: "acme", keys: [{ name: "ci", ...fields }] }],
});

test("the attempts of a request are one call, also in the cost", async () => {
  await using fixture = await openFixture();
  const failed = { outcome: "failed", costNanoUsd: 0, usage: noUsage, endedAt: startMs + 500 } as const;
  await fixture.insert([
    fixture.entry("a1", 0, { requestId: "req_a", ...failed }),
    fixture.entry("a2", 5_000, { requestId: "req_a", retryIndex: 1 }),
    fixture.entry("b1", 20_000, { requestId: "req_b" }),
  ]);
  const two = await fixture.rehearse(ofKey({ limits: { rpm: 2 } }), span);
  expect(two).toMatchObject({ calls: 2, refused: 0, recorded_nano_usd: "44000000", rehearsed_nano_usd: "44000000" });
  const one = await fixture.rehearse(ofKey({ limits: { rpm: 1 } }), span);
  expect(one).toMatchObject({ calls: 2, refused: 1, rehearsed_nano_usd: "22000000" });
  expect(one.requests.map(({ request_id }) => request_id)).toEqual(["req_b"]);
});

test("money without a call is charged, but no limit counts or refuses it", async () => {
  await using fixture = await openFixture();
  const adjusted: Partial<LedgerEntry> = {
    ...({ endpoint: "adjustment", adjustment: "reconciliation", adjusts: "output", calls: 0 } as const),
    ...({ usage: noUsage, usageSource: "none", priceVersion: null, costSource: "adjustment" } as const),
    ...{ requestId: "adj_1", requestedModel: "gone" },
  };
  await fixture.insert([
    fixture.entry("a", 0, { requestId: "req_a" }),
    fixture.entry("b", 500, { requestId: "req_a", calls: 0, costNanoUsd: 22_000_000 }),
    fixture.entry("c", 5_000, { ...adjusted, costNanoUsd: 1_000 }),
    fixture.entry("d", 5_000, { ...adjusted, costNanoUsd: -3_000, tags: { team: "x" } }),
  ]);
  const result = await fixture.rehearse(ofKey({ limits: { rpm: 1 }, models: ["large"] }), span);
  expect(result).toMatchObject({ calls: 1, refused: 0, recorded_nano_usd: "43998000", rehearsed_nano_usd: "43998000" });
});

test("calls overlap as they did", async () => {
  await using fixture = await openFixture();
  await fixture.insert([
    fixture.entry("long", 0, { endedAt: startMs + 600_000 }),
    fixture.entry("during", 300_000),
    fixture.entry("at_the_end", 600_000),
    fixture.entry("after", 700_000),
  ]);
  const { requests, rules } = await fixture.rehearse(ofKey({ limits: { concurrency: 1 } }), span);
  expect(requests.map(({ request_id }) => request_id)).toEqual(["req_during"]);
  expect(rules).toMatchObject([{ limit: "concurrency", scope: "key", label: "key acme/ci", changed: true, calls: 1 }]);
});

test("calls before the period count for rates and running calls, but not in the result", async () => {
  await using fixture = await openFixture();
  await fixture.insert([
    fixture.entry("before", -30_000, { endedAt: startMs + 120_000 }),
    fixture.entry("within", 1_000),
    fixture.entry("later", 180_000),
  ]);
  const rate = await fixture.rehearse(ofKey({ limits: { rpm: 1 } }), span);
  expect(rate).toMatchObject({ calls: 2, refused: 1, first: { request_id: "req_within" } });
  const running = await fixture.rehearse(ofKey({ limits: { concurrency: 1 } }), span);
  expect(running).toMatchObject({ calls: 2, refused: 1, first: { request_id: "req_within" } });
});

describe.each(["sqlite", "postgres"] as const)("budgets on %s", (kind) => {
  test("count earlier spending of their period", async () => {
    await using fixture = await openFixture(kind);
    await fixture.insert([
      fixture.entry("last_month", -25 * 24 * hourMs),
      fixture.entry("yesterday", -24 * hourMs),
      fixture.entry("this_hour", -10 * 60_000),
      fixture.entry("first", 0),
      fixture.entry("second", 60_000),
    ]);
    const refused = async (period: "day" | "month" | "total", calls: number, rolling?: boolean) => {
      const budget = { usd: 0.022 * calls, period, ...(rolling === true ? { rolling } : {}) };
      return (await fixture.rehearse(ofKey({ budget }), span)).refused;
    };
    expect([await refused("day", 2), await refused("day", 3)]).toEqual([1, 0]);
    expect([await refused("month", 2), await refused("month", 3), await refused("month", 4)]).toEqual([2, 1, 0]);
    expect([await refused("total", 3), await refused("total", 5)]).toEqual([2, 0]);
    expect([await refused("day", 3, true), await refused("month", 4, true)]).toEqual([1, 1]);
  });
});

test.each(["sqlite", "postgres"] as const)("only calls of changed workspaces are read from %s", async (kind) => {
  await using fixture = await openFixture(kind);
  const slugs = ["acme", "beta", "gamma"];
  await fixture.apply({ ...config, workspaces: slugs.map((slug) => ({ ...config.workspaces?.[0], slug, keys: [] })) });
  const rows = await fixture.database.kysely.selectFrom("workspaces").selectAll().execute();
  await fixture.insert(
    rows.flatMap(({ id, slug }, n) =>
      Array.from({ length: n + 1 }, (_, call) => fixture.entry(`${slug}_${call}`, call, { workspaceId: id })),
    ),
  );
  const change = (names: readonly string[]) => ({ workspaces: names.map((slug) => ({ slug, limits: { rpm: 100 } })) });
  const counts = new Map(rows.map(({ slug }, n) => [slug, n + 1]));
  for (const names of [["beta"], ["acme", "gamma"], slugs]) {
    const calls = names.reduce((sum, slug) => sum + (counts.get(slug) ?? 0), 0);
    expect(await fixture.rehearse(change(names), span)).toMatchObject({ calls });
  }
});

test("deleted keys count for their workspace, and calls that were refused then are named", async () => {
  await using fixture = await openFixture();
  const refusal = { outcome: "rejected", errorCode: "rate_limit_exceeded", costNanoUsd: 0, provider: "" } as const;
  await fixture.insert([
    fixture.entry("kept", 0),
    fixture.entry("deleted", 1_000, { keyId: "key_gone" }),
    fixture.entry("refused", 2_000, { ...refusal, usage: noUsage, usageSource: "none", reservedNanoUsd: 0, calls: 3 }),
  ]);
  const { calls, refused, unknown } = await fixture.rehearse(
    { workspaces: [{ slug: "acme", limits: { rpm: 1 } }] },
    span,
  );
  expect([calls, refused]).toEqual([2, 1]);
  expect(unknown).toEqual([
    { code: "refused_then", calls: 3 },
    { code: "keys_deleted", calls: 1 },
    { code: "callers_react", calls: 1 },
  ]);
});

test("weights move only the calls that have to move", async () => {
  await using fixture = await openFixture();
  const entries = Array.from({ length: 400 }, (_, n) => {
    const provider = n % 2 === 0 ? "up" : "spare";
    return fixture.entry(`n${n}`, n * 1_000, {
      provider,
      deployment: fixture.deployments[`large ${provider}`] as string,
    });
  });
  await fixture.insert(entries);
  const routed = async (up: number) => {
    const deployments = [
      { provider: "up", weight: up },
      { provider: "spare", weight: 100 - up },
    ];
    return (await fixture.rehearse({ models: [{ name: "large", deployments }] }, span)).moved;
  };
  expect(await routed(50)).toEqual([]);
  const moved = await routed(80);
  expect(moved).toMatchObject([{ from: { provider: "spare" }, to: { model: "large", provider: "up" } }]);
  // Three of ten calls, give or take.
  expect(moved[0]?.calls).toBeGreaterThan(85);
  expect(moved[0]?.calls).toBeLessThan(155);
  expect(moved[0]?.rehearsed_nano_usd).toBe(String((moved[0]?.calls ?? 0) * 22_000_000));
});

test("a fallback that is taken away refuses its calls, and a fallback model costs its own price", async () => {
  await using fixture = await openFixture();
  const failed = { outcome: "failed", costNanoUsd: 0, usage: noUsage, endedAt: startMs + 500 } as const;
  const small = { model: "small", deployment: fixture.deployments["small up"] as string, retryIndex: 1 };
  await fixture.insert([
    fixture.entry("a1", 0, { requestId: "req_a", ...failed }),
    fixture.entry("a2", 1_000, { requestId: "req_a", ...small }),
    fixture.entry("b1", 60_000, { requestId: "req_b" }),
  ]);
  const without = await fixture.rehearse({ models: [{ name: "large", fallbacks: [] }] }, span);
  expect(without).toMatchObject({
    ...{ calls: 2, refused: 1, moved: [], rehearsed_nano_usd: "22000000" },
    rules: [{ limit: "deployments", scope: "model", scope_id: "large", changed: true, calls: 1 }],
  });
  const off = [{ provider: "up", enabled: false }];
  const onlySmall = await fixture.rehearse({ models: [{ name: "large", deployments: off }] }, span);
  expect(onlySmall.moved).toMatchObject([
    { from: { model: "large", provider: "up" }, to: { model: "small", provider: "up" }, calls: 2 },
  ]);
  const none = [{ name: "large", deployments: off, fallbacks: [] }];
  expect(await fixture.rehearse({ models: none }, span)).toMatchObject({ refused: 2, rehearsed_nano_usd: "0" });
});

test("another price applies to calls in a service tier, and not to a vendor's own cost", async () => {
  await using fixture = await openFixture();
  const tier = { served: "priority", costNanoUsd: 44_000_000 };
  const vendor = { costSource: "vendor", costNanoUsd: 7, vendorCostNanoUsd: 7 } as const;
  await fixture.insert([
    fixture.entry("plain", 0),
    fixture.entry("tier", 1_000, tier),
    fixture.entry("told", 2_000, vendor),
  ]);
  const variants = [{ tier: "priority", input: 10, output: 100 }];
  const change = { models: [{ name: "large", price: { input: 4, output: 40, variants } }] };
  expect(await fixture.rehearse(change, span)).toMatchObject({
    ...{ recorded_nano_usd: "66000007", rehearsed_nano_usd: String(44_000_000 + 110_000_000 + 7), refused: 0 },
    unknown: [{ code: "vendor_costs", calls: 1 }],
  });
});

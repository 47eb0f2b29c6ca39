import { expect, test } from "bun:test";
import type { ConfigFile, RehearsedChange } from "@sluice/contract";
import { type LedgerEntry, noUsage } from "#core/index.ts";
import { ledgerEntry } from "../conformance/store-fixture.ts";
import { seededChance } from "../simulation/seeded-chance.ts";
import { openRehearsalFixture } from "./rehearsal-fixture.ts";

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 4, 20, 20);
const span = { from: startMs, to: startMs + 8 * hourMs };
const groups = ["default", "batch"];
const keyNames = ["ci", "nightly", "tests", "laptop"];

const config: ConfigFile = {
  providers: [{ id: "up", kind: "openai-compatible", base_url: "https://up.example/v1" }],
  models: ["large", "small"].map((name) => ({
    ...{ name, price: { input: 1, output: 10 }, deployments: [{ provider: "up" }] },
  })),
  workspaces: [
    {
      slug: "acme",
      groups: groups.map((name) => ({ name })),
      keys: keyNames.map((name, n) => ({
        ...{ name, group: groups[n % 2] as string, secret: `sk-${name}-0123456789abcdefghijkl` },
      })),
    },
  ],
};

function changeOf(seed: number): RehearsedChange {
  const chance = seededChance(seed);
  const count = (min: number, max: number) => min + Math.floor(chance.unit() * (max - min));
  const some = <Change>(change: Change) => (chance.unit() < 0.7 ? change : {});
  const limits = () => ({
    limits: {
      ...some({ rpm: count(2, 20) }),
      ...some({ tpm: count(500, 20_000) }),
      ...some({ concurrency: count(1, 5) }),
      ...(chance.unit() < 0.2 ? { enforce: false } : {}),
    },
  });
  const budget = () => ({
    budget: {
      usd: 0.02 + chance.unit() * 0.4,
      period: (["hour", "day", "week", "total"] as const)[count(0, 4)] ?? "day",
      ...(chance.unit() < 0.3 ? { over: { fallback: "small" } } : {}),
    },
  });
  const rolling = () => ({ budget: { usd: 0.1 + chance.unit() * 0.2, period: "hour" as const, rolling: true } });
  const own = () => ({ ...some(limits()), ...(chance.unit() < 0.3 ? rolling() : some(budget())) });
  return {
    budgets: [{ name: "per-key", usd: 0.2 + chance.unit(), period: "day", time_zone: "Asia/Tokyo", split_by: "key" }],
    workspaces: [
      {
        slug: "acme",
        ...own(),
        groups: groups.map((name) => ({ name, ...own() })),
        keys: keyNames.map((name) => ({ name, ...own(), ...(name === "tests" ? { models: ["small"] } : {}) })),
      },
    ],
  };
}

async function openFixture(seed: number) {
  const chance = seededChance(seed + 500);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(chance.unit() * items.length)] as Item;
  const fixture = await openRehearsalFixture("sqlite");
  const { models } = await fixture.apply(config);
  const keys = await fixture.database.kysely.selectFrom("api_keys").selectAll().execute();
  let at = startMs - 2 * hourMs;
  const entries: LedgerEntry[] = [];
  for (let call = 0; call < 900; call++) {
    at += Math.floor(chance.unit() * (chance.unit() < 0.1 ? 300_000 : 8_000));
    const key = pick(keys);
    const isDeleted = chance.unit() < 0.05;
    const model = pick(["large", "small"]);
    const base = {
      ...{ requestId: `req_${seed}_${call}`, workspaceId: key.workspace_id, groupId: key.group_id, provider: "up" },
      ...{ keyId: isDeleted ? "key_gone" : key.id, model, requestedModel: model, upstreamModel: model },
      deployment: models.get(model)?.deployments[0]?.id ?? "",
      endpoint: chance.unit() < 0.05 ? ("count-tokens" as const) : ("chat" as const),
    };
    const attempts = chance.unit() < 0.15 ? 2 : 1;
    let attemptAt = at;
    for (let retryIndex = 0; retryIndex < attempts; retryIndex++) {
      const isLast = retryIndex === attempts - 1;
      const endedAt = attemptAt + Math.floor(chance.unit() * (chance.unit() < 0.05 ? hourMs : 20_000));
      const output = isLast ? Math.floor(chance.unit() * 3_000) : 0;
      const isFree = base.endpoint === "count-tokens";
      entries.push({
        ...ledgerEntry(`${seed}_${call}_${retryIndex}`, { at: attemptAt, endedAt, ...base }),
        ...{ retryIndex, stream: chance.unit() < 0.4, inputEstimate: 200, outcome: isLast ? "succeeded" : "failed" },
        usage: { ...noUsage, inputUncached: isLast ? 200 : 0, output },
        costNanoUsd: isFree ? 0 : output * 10_000 + (isLast ? 200_000 : 0),
        reservedNanoUsd: chance.unit() < 0.8 ? 12_000_000 : 0,
        priceVersion: chance.unit() < 0.1 ? null : (models.get(model)?.price?.id ?? null),
      });
      attemptAt = endedAt + Math.floor(chance.unit() * 2_000);
    }
  }
  await fixture.insert(entries);
  return fixture;
}

/** A policy by provider is checked before each attempt, by the admission of live calls, which then decides about all limits. */
const byAttempt: NonNullable<RehearsedChange["budgets"]>[number] = {
  ...{ name: "never-reached", usd: 1_000_000, period: "month", match: { providers: ["up"] } },
};

test.each([1, 2, 3, 4, 5, 6])(
  "seed %d: limits that are bound to callers decide as the admission of live calls",
  async (seed) => {
    await using fixture = await openFixture(seed);
    const change = changeOf(seed);
    const bound = await fixture.rehearse(change, span);
    const live = await fixture.rehearse({ ...change, budgets: [...(change.budgets ?? []), byAttempt] }, span);
    expect(bound.refused).toBeGreaterThan(0);
    expect(bound).toEqual(live);
  },
);

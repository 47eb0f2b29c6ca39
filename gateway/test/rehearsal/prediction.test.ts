import { describe, expect, test } from "bun:test";
import type { ConfigFile, RehearsedChange } from "@sluice/contract";
import type { ConfigSnapshot, LedgerEntry } from "#core/index.ts";
import { seededChance } from "../simulation/seeded-chance.ts";
import { openRehearsalFixture } from "./rehearsal-fixture.ts";
import { requestIdOf, runTraffic, type TrafficCall } from "./traffic-run.ts";

/**
 * A rehearsal's prediction equals what the same calls do after the change. This holds where the ledger has all facts: whole answers,
 * callers that do not react to refusals, calls that reserved money under a budget, no refusals then. Tokens per minute are left out:
 * the forecast that a call reserves is not recorded.
 */
const startMs = Date.UTC(2026, 2, 30, 22);
const hourMs = 3_600_000;
const wide = { usd: 1_000_000, period: "month" } as const;

const groups = ["default", "batch"];
const keys = ["ada-laptop", "ci", "nightly", "tests", "narrow"].map((name, index) => ({
  name,
  group: groups[index % 2] as string,
  secret: `sk-${name}-0123456789abcdefghijkl`,
  budget: wide,
  // It may not use the fallback of its model.
  ...(name === "narrow" ? { models: ["large"] } : {}),
}));

const config: ConfigFile = {
  providers: ["up", "spare", "vectors"].map((id) => ({
    ...{ id, kind: "openai-compatible", base_url: `https://${id}.example/v1` },
    ...(id === "vectors" ? { endpoints: ["embeddings"] } : {}),
  })),
  models: [
    ...["large", "small"].map((name, index) => ({
      name,
      deployments: [{ provider: "up" }],
      fallbacks: index === 0 ? ["vectors", "small"] : [],
      // In proportion, so that the reservation of a call at the other model is exact.
      price: index === 0 ? { input: 2, output: 20 } : { input: 0.5, output: 5 },
    })),
    // Its provider has no chat endpoint, so it never answers these calls.
    { name: "vectors", deployments: [{ provider: "vectors" }], price: { input: 0.1, output: 0.1 } },
  ],
  // Wide enough before the price of its model doubles.
  budgets: [{ name: "small-models", usd: 0.55, period: "week", match: { models: ["small"] } }],
  workspaces: [{ slug: "acme", budget: wide, groups: groups.map((name) => ({ name, budget: wide })), keys }],
};

function trafficOf(seed: number, calls: number): readonly TrafficCall[] {
  const chance = seededChance(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(chance.unit() * items.length)] as Item;
  const ends = new Set<number>();
  let at = startMs + hourMs / 2;
  return Array.from({ length: calls }, (_, number) => {
    // Bursts, and pauses that together pass midnight.
    at += 2 * (1 + Math.floor(chance.unit() * (chance.unit() < 0.1 ? 300_000 : 1_500)));
    let durationMs = 1 + 2 * Math.floor(chance.unit() * 6_000);
    while (ends.has(at + durationMs)) durationMs += 2;
    ends.add(at + durationMs);
    const output = 1 + Math.floor(chance.unit() * 900);
    const model = pick(["large", "small"]);
    return {
      number,
      at,
      durationMs,
      key: model === "large" ? pick(keys).name : pick(keys.slice(0, -1)).name,
      model,
      team: number % 3 === 0 ? "ads" : "search",
      output,
      outputMax: output + Math.floor(chance.unit() * 400),
    };
  });
}

function changeOf(seed: number): RehearsedChange {
  const chance = seededChance(seed + 1_000);
  const chosen = <Change>(change: Change): Change | Record<string, never> => (chance.unit() < 0.6 ? change : {});
  const count = (min: number, max: number) => min + Math.floor(chance.unit() * (max - min));
  const budget = () => ({
    budget: { usd: 0.05 + chance.unit() * 0.4, period: chance.unit() < 0.5 ? "day" : "week" } as const,
  });
  const more = seededChance(seed + 2_000);
  const amount = (min: number, max: number) => min + more.unit() * (max - min);
  const some = <Change>(changes: readonly Change[]): readonly Change[] => changes.filter(() => more.unit() < 0.6);
  return {
    budgets: [
      ...some([{ name: "small-models", ...(more.unit() < 0.5 ? { usd: amount(0.2, 0.6) } : { enabled: false }) }]),
      ...some([
        {
          ...({ name: "large-by-key", usd: amount(0.1, 0.4), period: "hour", rolling: true, split_by: "key" } as const),
          ...{ match: { models: ["lar*"] }, over: { fallback: "small" } },
        },
        { ...({ name: "vendor", usd: amount(0.2, 0.7), period: "day" } as const), match: { providers: ["up"] } },
      ]),
    ],
    models: [
      // At twice the price, a reservation is exactly twice as much.
      { name: "small", ...chosen({ price: { input: 1, output: 10 } }) },
      { name: "large", ...chosen(routesOf(chance.unit())) },
    ],
    workspaces: [
      {
        slug: "acme",
        ...chosen({ limits: { rpm: count(20, 60) } }),
        budgets: [
          ...some([
            { ...({ name: "per-team", usd: amount(0.1, 0.5), period: "day", split_by: "tag:team" } as const) },
            {
              ...({ name: "batch-here", usd: amount(0.1, 0.3), period: "day", time_zone: "Asia/Tokyo" } as const),
              match: { groups: ["batch"], tags: { team: "ads" } },
            },
          ]),
        ],
        groups: [
          { name: "default", ...chosen({ limits: { concurrency: count(1, 4) } }) },
          { name: "batch", ...chosen(budget()) },
        ],
        keys: [
          { name: "ci", ...chosen({ limits: { rpm: count(3, 12), concurrency: count(1, 3) } }) },
          { name: "tests", ...chosen(budget()) },
          { name: "ada-laptop", ...chosen({ budget: { ...budget().budget, over: { fallback: "small" } } }) },
          { name: "nightly", ...chosen({ models: ["small"] }) },
          {
            name: "narrow",
            budget: { ...budget().budget, over: { fallback: more.unit() < 0.5 ? "vectors" : "small" } },
          },
        ],
      },
    ],
  };
}

/** Another provider first; or none at all, so that the fallback answers. */
function routesOf(unit: number) {
  const up = { provider: "up", priority: 2 };
  // Second, for calls over the budget of the first.
  if (unit < 0.3) return { deployments: [{ provider: "up" }, { provider: "spare", priority: 2 }] };
  if (unit < 0.6) return { deployments: [up, { provider: "spare", priority: 1 }] };
  return { deployments: [{ ...up, enabled: false }] };
}

function changed(change: RehearsedChange): ConfigFile {
  const [workspace] = change.workspaces ?? [];
  const merged = <Item extends { readonly name: string }>(items: readonly Item[], changes: readonly object[] = []) =>
    items.map((item) => ({ ...item, ...changes.find((each) => "name" in each && each.name === item.name) }));
  const existing = config.budgets ?? [];
  const added = (change.budgets ?? []).filter(({ name }) => existing.every((each) => each.name !== name));
  return {
    ...config,
    budgets: [...merged(existing, change.budgets), ...(added as NonNullable<ConfigFile["budgets"]>)],
    models: merged(config.models ?? [], change.models),
    workspaces: (config.workspaces ?? []).map((own) => ({
      ...own,
      ...workspace,
      groups: merged(own.groups ?? [], workspace?.groups),
      keys: merged(own.keys ?? [], workspace?.keys),
    })) as ConfigFile["workspaces"],
  };
}

describe.each(["sqlite", "postgres"] as const)("a rehearsal on %s", (kind) => {
  test.each(kind === "sqlite" ? [1, 2, 3, 4, 5, 6, 7, 8] : [1, 2])(
    "seed %d: predicts each refusal and the money of the same traffic after the change",
    async (seed) => {
      await using fixture = await openRehearsalFixture(kind);
      const traffic = trafficOf(seed, 260);
      const before = await runTraffic(traffic, await fixture.apply(config), fixture.database, startMs);
      expect([...before.refusals]).toEqual([]);
      expect(before.entries.every(({ reservedNanoUsd }) => reservedNanoUsd > 0)).toBe(true);
      await fixture.insert(before.entries);
      const span = { from: startMs, to: startMs + 48 * hourMs };
      const change = changeOf(seed);
      const predicted = await fixture.rehearse(change, span);

      const later = await fixture.apply(changed(change));
      const after = await runTraffic(traffic, later, fixture.database, startMs);
      expect(predicted.calls).toBe(traffic.length);
      const named = (rule: string) => withPolicyName(rule, later);
      const isChanged = change.budgets?.some(({ name }) => name === "small-models") === true;
      const byChange = [...after.refusals].filter(([, rule]) => isChanged || !named(rule).includes("small-models"));
      expect([predicted.refused, predicted.refused_anyway]).toEqual([
        byChange.length,
        after.refusals.size - byChange.length,
      ]);
      expect(predicted.refused).toBeGreaterThan(0);
      const first = byChange
        .map(([number]) => number)
        .toSorted((one, other) => one - other)
        .slice(0, 50);
      expect(predicted.requests.map(({ request_id }) => request_id)).toEqual(first.map(requestIdOf));
      expect(rulesOf(predicted.rules, named)).toEqual(countsOf([...after.refusals.values()].map(named)));
      const sum = (entries: typeof before.entries) =>
        entries.reduce((total, { costNanoUsd }) => total + costNanoUsd, 0);
      expect(predicted.recorded_nano_usd).toBe(String(sum(before.entries)));
      expect(predicted.rehearsed_nano_usd).toBe(String(sum(after.entries)));
      const moved = predicted.moved.map(({ from, to, calls }) => [`${from.model} ${from.provider}`, to, calls]);
      expect(moved).toEqual(movedBetween(before.entries, after.entries));
    },
  );
});

function rulesOf(
  rules: readonly { limit: string; scope: string; scope_id: string; calls: number }[],
  named: (rule: string) => string,
) {
  const texts = rules.map(({ limit, scope, scope_id, calls }): [string, number] => {
    return [limit === "models" || limit === "deployments" ? limit : named(`${limit} ${scope} ${scope_id}`), calls];
  });
  return Object.fromEntries(texts);
}

/** A new policy has another id in a rehearsal. */
function withPolicyName(rule: string, { budgetPolicies }: ConfigSnapshot): string {
  const [, id = ""] = /^budget policy (.*)~/.exec(rule) ?? [];
  const name = budgetPolicies.find((policy) => policy.id === id)?.name ?? id.slice(id.lastIndexOf("/") + 1);
  return rule.replace(id, name);
}

/** Answered calls that differ in model or provider. */
function movedBetween(before: readonly LedgerEntry[], after: readonly LedgerEntry[]) {
  const later = new Map(after.map((entry) => [entry.requestId, entry]));
  const counts: Record<string, number> = {};
  for (const { requestId, model, provider } of before) {
    const now = later.get(requestId);
    if (now === undefined || (now.model === model && now.provider === provider)) continue;
    const name = JSON.stringify([`${model} ${provider}`, { model: now.model, provider: now.provider }]);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return Object.entries(counts).map(([name, count]) => [...JSON.parse(name), count]);
}

function countsOf(names: Iterable<string>): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

import { describe, expect, test } from "bun:test";
import type { ConfigFile, RehearsedChange } from "@sluice/contract";
import { type LedgerEntry, noUsage } from "#core/index.ts";
import { ledgerEntry } from "../conformance/store-fixture.ts";
import { openRehearsalFixture } from "./rehearsal-fixture.ts";

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 4, 20, 12);
const span = { from: startMs, to: startMs + hourMs };
/** What each call cost. */
const callUsd = 0.022;

const config: ConfigFile = {
  providers: ["up", "spare"].map((id) => ({ id, kind: "openai-compatible", base_url: `https://${id}.example/v1` })),
  models: [
    {
      ...{ name: "large", price: { input: 2, output: 20 } },
      deployments: [{ provider: "up" }, { provider: "spare", priority: 2 }],
    },
    { name: "small", price: { input: 1, output: 10 }, deployments: [{ provider: "spare" }] },
  ],
  budgets: [{ name: "all", usd: 100, period: "day", time_zone: "Asia/Tokyo" }],
  workspaces: ["acme", "labs"].map((slug) => ({
    slug,
    keys: [{ name: "ci", secret: `sk-${slug}-0123456789abcdefghijkl` }],
  })),
};

/** Calls of `acme/ci`: two of each team before the period, and four of each within, in turn. */
async function openFixture(kind: "sqlite" | "postgres" = "sqlite") {
  const fixture = await openRehearsalFixture(kind);
  const { models, workspaces } = await fixture.apply(config);
  const acme = [...workspaces.values()].find(({ slug }) => slug === "acme")?.id ?? "";
  const keys = fixture.database.kysely.selectFrom("api_keys").selectAll().where("workspace_id", "=", acme);
  const key = await keys.executeTakeFirstOrThrow();
  const large = models.get("large");
  const place = {
    ...{ workspaceId: key.workspace_id, groupId: key.group_id, keyId: key.id, provider: "up" },
    ...{ model: "large", requestedModel: "large", upstreamModel: "large" },
    deployment: large?.deployments[0]?.id ?? "",
  };
  const entry = (name: string, at: number, team: string): LedgerEntry => ({
    ...ledgerEntry(name, { at, endedAt: at + 500, ...place, tags: { team } }),
    ...{ costNanoUsd: callUsd * 1e9, reservedNanoUsd: callUsd * 1e9, priceVersion: large?.price?.id ?? null },
    ...{ stream: false, usage: { ...noUsage, inputUncached: 1_000, output: 1_000 } },
  });
  const earlier = Array.from({ length: 4 }, (_, n) =>
    entry(`e${n}`, startMs - 2 * hourMs + n * 1_000, n % 2 === 0 ? "ads" : "search"),
  );
  const calls = Array.from({ length: 8 }, (_, n) =>
    entry(`c${n}`, startMs + n * 60_000, n % 2 === 0 ? "ads" : "search"),
  );
  await fixture.insert([...earlier, ...calls]);
  return fixture;
}

async function keyOf({ database }: Awaited<ReturnType<typeof openFixture>>, slug: string) {
  const keys = database.kysely.selectFrom("api_keys").innerJoin("workspaces", "workspaces.id", "workspace_id");
  return await keys.selectAll("api_keys").where("slug", "=", slug).executeTakeFirstOrThrow();
}

/** The cost of this number of calls, and a bit more. */
const usdFor = (calls: number) => callUsd * calls + 0.001;

describe.each(["sqlite", "postgres"] as const)("budget policies in a change on %s", (kind) => {
  test("a new one counts each value that it is split by, with the spending before the period", async () => {
    await using fixture = await openFixture(kind);
    const day = { name: "per-team", usd: usdFor(3), period: "day", split_by: "tag:team" } as const;
    const { refused, rules } = await fixture.rehearse({ budgets: [day] }, span);
    expect(refused).toBe(6);
    const labels = rules.map(({ label, calls, scope, changed }) => [label, calls, scope, changed]);
    expect(labels.toSorted()).toEqual([
      ["policy per-team (tag:team ads)", 3, "policy", true],
      ["policy per-team (tag:team search)", 3, "policy", true],
    ]);
    const hour = await fixture.rehearse({ budgets: [{ ...day, period: "hour" }] }, span);
    expect(hour.refused).toBe(2);
    const rolling = { ...day, period: "hour", rolling: true } as const;
    expect((await fixture.rehearse({ budgets: [rolling] }, span)).refused).toBe(2);
  });

  test("match tags, models, keys and providers", async () => {
    await using fixture = await openFixture(kind);
    const refused = async (match: NonNullable<NonNullable<RehearsedChange["budgets"]>[number]["match"]>) => {
      const budgets = [{ name: "one", usd: usdFor(1), period: "hour" as const, match }];
      return (await fixture.rehearse({ budgets }, span)).refused;
    };
    expect(await refused({ tags: { team: "ads" } })).toBe(3);
    expect(await refused({ models: ["lar*"] })).toBe(7);
    expect(await refused({ models: ["small"] })).toBe(0);
    expect(await refused({ workspaces: ["acme"], keys: ["acme/ci"] })).toBe(7);
    expect(await refused({ workspaces: ["labs"] })).toBe(0);
    const { id, workspace_id: workspace, group_id: group } = await keyOf(fixture, "acme");
    expect(await refused({ workspaces: [workspace], groups: [group], keys: [id] })).toBe(7);
    expect(await refused({ keys: [(await keyOf(fixture, "labs")).id] })).toBe(0);
    // The other provider serves the rest.
    expect(await refused({ providers: ["up"] })).toBe(0);
    expect(await refused({ providers: ["up", "spare"] })).toBe(7);
  });
});

test("calls over a budget go to its fallback model or to another provider, at the price there", async () => {
  await using fixture = await openFixture();
  const one = { name: "one", usd: usdFor(1), period: "hour" } as const;
  const fallback = await fixture.rehearse({ budgets: [{ ...one, over: { fallback: "small" } }] }, span);
  expect(fallback).toMatchObject({
    ...{ refused: 0, recorded_nano_usd: "176000000", rehearsed_nano_usd: String(22_000_000 + 7 * 11_000_000) },
    moved: [{ from: { model: "large", provider: "up" }, to: { model: "small", provider: "spare" }, calls: 7 }],
  });
  const vendor = await fixture.rehearse({ budgets: [{ ...one, match: { providers: ["up"] } }] }, span);
  expect(vendor.moved).toMatchObject([{ to: { model: "large", provider: "spare" }, calls: 7 }]);
  const shadow = await fixture.rehearse({ budgets: [{ ...one, enforce: false }] }, span);
  expect(shadow).toMatchObject({ refused: 0, moved: [] });
});

test("a budget that names the requested model serves calls by it alone, which hold less money", async () => {
  await using fixture = await openFixture();
  const one = { name: "one", usd: usdFor(1), period: "hour", over: { fallback: "large" } } as const;
  const key = { name: "ci", budget: { usd: callUsd * 8.5, period: "hour" as const } };
  const workspaces = [{ slug: "acme", keys: [key] }];
  // With this fallback, a call holds more than the budget of its key.
  const models = [
    { name: "large", fallbacks: ["small"] },
    { name: "small", price: { input: 20, output: 200 } },
  ];
  expect((await fixture.rehearse({ workspaces, models }, span)).refused).toBe(8);
  const own = { refused: 0, moved: [], rehearsed_nano_usd: "176000000" };
  expect(await fixture.rehearse({ budgets: [one], workspaces, models }, span)).toMatchObject(own);
});

test("one is changed by its name, member by member, and removed", async () => {
  await using fixture = await openFixture();
  const refused = async (fields: object, own: object = {}) => {
    const change = { budgets: [{ name: "all", ...fields }], ...own };
    return (await fixture.rehearse(change as RehearsedChange, span)).refused;
  };
  expect(await refused({ usd: usdFor(5) })).toBe(7);
  const until = new Date(startMs + 4.5 * 60_000).toISOString();
  const increase = { usd: callUsd * 3, until, reason: "launch" };
  // The increase ends before the sixth call.
  expect(await refused({ usd: usdFor(6), increase })).toBe(3);
  // In Tokyo, the day began at 15:00 UTC of the day before.
  expect(await refused({ usd: usdFor(5), time_zone: null, match: { tags: { team: ["ads"] } } })).toBe(1);
  const perTeam = { name: "mine", usd: usdFor(1), period: "hour" };
  expect(await refused({ enabled: false }, { workspaces: [{ slug: "acme", budgets: [perTeam] }] })).toBe(7);
  expect(await refused({ enabled: false })).toBe(0);
});

test("the budget of a key in a change follows a time zone, rolls, names a fallback and is increased", async () => {
  await using fixture = await openFixture();
  const rehearse = (budget: object) => {
    const keys = [{ name: "ci", budget: { usd: usdFor(5), period: "day", ...budget } }];
    return fixture.rehearse({ workspaces: [{ slug: "acme", keys }] } as RehearsedChange, span);
  };
  expect((await rehearse({})).refused).toBe(7);
  // There, the day begins between the earlier calls and the period.
  expect((await rehearse({ time_zone: "Pacific/Auckland" })).refused).toBe(3);
  expect((await rehearse({ period: "hour", rolling: true })).refused).toBe(3);
  expect((await rehearse({ over: { fallback: "small" } })).moved).toMatchObject([{ calls: 7 }]);
  const increase = { usd: callUsd * 3, until: new Date(startMs + hourMs).toISOString(), reason: "launch" };
  expect((await rehearse({ increase })).refused).toBe(4);
});

test("wrong names and members are refused with their path", async () => {
  await using fixture = await openFixture();
  const problem = async (change: object): Promise<string> => {
    const { message } = await fixture.rehearse(change as RehearsedChange, span).then(
      () => ({ message: "" }),
      (thrown: Error) => thrown,
    );
    return message;
  };
  const day = { name: "new", usd: 1, period: "day" };
  expect(await problem({ budgets: [{ name: "new", usd: 1 }] })).toBe(
    '`change.budgets[0].name`: there is no enabled budget "new"; a new one needs `usd` and `period`.',
  );
  expect(await problem({ budgets: [{ name: "new", enabled: false }] })).toContain('no enabled budget "new"');
  expect(await problem({ budgets: [day, day] })).toContain("`change.budgets[1].name`");
  expect(await problem({ budgets: [{ name: "all", rolling: true }] })).toContain("`change.budgets[0].time_zone`");
  expect(await problem({ budgets: [{ ...day, over: { fallback: "none" } }] })).toContain('no model "none"');
  expect(await problem({ budgets: [{ ...day, match: { keys: ["acme/cj"] } }] })).toContain("match.keys[0]`");
  const own = (fields: object) => ({ workspaces: [{ slug: "acme", budgets: [{ ...day, ...fields }] }] });
  expect(await problem(own({ match: { workspaces: ["acme"] } }))).toContain("budgets[0].match.workspaces`");
  expect(await problem(own({ match: { people: ["ada@example.com"] } }))).toContain('no user "ada@example.com"');
  // Ids of another workspace are unknown.
  const { id, group_id: group } = await keyOf(fixture, "labs");
  expect(await problem(own({ match: { keys: [id] } }))).toContain(`no key "${id}"`);
  expect(await problem(own({ match: { groups: [group] } }))).toContain(`no group "${group}"`);
  const key = { name: "ci", budget: { usd: 1, period: "day", over: { fallback: "none" } } };
  const fallback = await problem({ workspaces: [{ slug: "acme", keys: [key] }] });
  expect(fallback).toContain("keys[0].budget.over.fallback`");
});

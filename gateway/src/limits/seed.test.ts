import { expect, test } from "bun:test";
import { createMemoryCounter } from "#coordination/index.ts";
import type { Group, Workspace } from "#core/index.ts";
import type { RecentRow } from "#ports/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { governedPrincipal } from "../../test/simulation/governed-principal.ts";
import { Admission } from "./admit.ts";
import { seedRates } from "./seed.ts";

const ids = { workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1" };

/** The limit usages after a restart with these rows in the ledger. */
async function restarted(rows: readonly RecentRow[]) {
  const clock = new FakeClock();
  const counter = createMemoryCounter({ clock });
  const { group, workspace, scopes } = governedPrincipal({
    group: { limits: { rpm: 10 } },
    key: { limits: { tpm: 1_000 } },
  });
  const configSnapshot = {
    workspaces: new Map<string, Workspace>([[workspace.id, workspace]]),
    groups: new Map<string, Group>([[group.id, group]]),
  };
  const ledgerStore = {
    recent: async (sinceMs: number, untilMs: number) =>
      rows.map((row) => ({ ...row, at: clock.now() + row.at })).filter(({ at }) => at >= sinceMs && at <= untilMs),
  };
  await seedRates({ counter, ledgerStore, clock, configSnapshot });
  const admission = new Admission({ counter, clock });
  const limitUsages = await admission.limitUsages(scopes);
  return { used: limitUsages.map(({ name, used }) => [name, used]), size: counter.size };
}

test("rates after a restart are those of the ledger", async () => {
  const { used } = await restarted([
    { ...ids, at: -30_000, requests: 1, tokens: 200 },
    { ...ids, at: -10_000, requests: 1, tokens: 300 },
    { ...ids, at: -90_000, requests: 9, tokens: 500 },
  ]);
  expect(used).toEqual([
    ["rpm", 2],
    ["tpm", 500],
  ]);
});

test("entries in the future of a clock that was set back do not count", async () => {
  const { used } = await restarted([{ ...ids, at: 2 * 86_400_000, requests: 500, tokens: 900_000 }]);
  expect(used).toEqual([
    ["rpm", 0],
    ["tpm", 0],
  ]);
});

test("rates of a person after a restart include all their keys", async () => {
  const clock = new FakeClock();
  const counter = createMemoryCounter({ clock });
  const principal = governedPrincipal({ person: { limits: { rpm: 10, tpm: 1_000 } } });
  const of = (keyId: string) => ({ ...ids, keyId, personId: "usr_ada", at: clock.now() - 5_000 });
  const rows = [
    { ...of("key_1"), requests: 2, tokens: 30 },
    { ...of("key_2"), requests: 3, tokens: 70 },
    { ...ids, keyId: "key_3", at: clock.now() - 5_000, requests: 50, tokens: 900 },
  ];
  const configSnapshot = { workspaces: new Map(), groups: new Map() };
  await seedRates({ counter, ledgerStore: { recent: async () => rows }, clock, configSnapshot });
  const limitUsages = await new Admission({ counter, clock }).limitUsages(principal.scopes);
  expect(limitUsages.map(({ scope, name, used }) => [scope, name, used])).toEqual([
    ["person", "rpm", 5],
    ["person", "tpm", 100],
  ]);
});

test("of workspaces and groups only those are counted that have a rate", async () => {
  expect((await restarted([{ ...ids, at: -1_000, requests: 1, tokens: 5 }])).size).toBe(4);
});

test("a call counts until its minute is over, although the ledger has only its second", async () => {
  const clock = new FakeClock(Date.UTC(2026, 0, 1) + 600);
  const second = Date.UTC(2026, 0, 1) + 5_000;
  const counter = createMemoryCounter({ clock });
  const { scopes } = governedPrincipal({ key: { limits: { rpm: 10 } } });
  clock.advance(second + 1_000 - clock.now());
  const rows = [{ ...ids, at: second, requests: 1, tokens: 0 }];
  const configSnapshot = { workspaces: new Map(), groups: new Map() };
  await seedRates({ counter, ledgerStore: { recent: async () => rows }, clock, configSnapshot });
  // It may have come at the very end of its second.
  clock.advance(59_990);
  const limitUsages = await new Admission({ counter, clock }).limitUsages(scopes);
  expect(limitUsages.map(({ used }) => used)).toEqual([1]);
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { inputTokensOf, type LedgerEntry, noUsage, outputTokensOf } from "#core/index.ts";
import { ledgerEntry, newYear, refusedEntry, type StoreFixture, type StoreFixtureFactory } from "./store-fixture.ts";

const hour = 3_600_000;
const day = 24 * hour;

/** An entry of session `s` unless `changes` names another one. */
function inSession(name: string, changes: Partial<LedgerEntry> = {}): LedgerEntry {
  return ledgerEntry(name, { session: "s", sessionSource: "agent", ...changes });
}

async function sessionsOf({ database }: StoreFixture) {
  return await database.kysely
    .selectFrom("sessions")
    .selectAll()
    .orderBy("workspace_id")
    .orderBy("key_id")
    .orderBy("session")
    .execute();
}

async function faultsOf({ ledgerStore }: StoreFixture): Promise<readonly string[]> {
  const { faults } = await ledgerStore.check();
  return faults.filter(({ rule }) => rule === "a session is the sum of its entries").map(({ detail }) => detail);
}

/** Guarantees of the sums of sessions, which the ledger store writes with its entries. */
export function sessionSumsSuite(name: string, make: StoreFixtureFactory): void {
  describe(`session sums: ${name}`, () => {
    test("add up the session's entries, over several batches", async () => {
      await using fixture = await make();
      const usage = { ...noUsage, inputUncached: 10, cacheRead: 70, cacheReadAudio: 10, cacheWrite5m: 10, output: 5 };
      const first = inSession("a", { usage, userAgent: "claude-cli/2.1.330 (external, cli)", personId: "usr_ada" });
      await fixture.ledgerStore.insert([
        first,
        inSession("b", { at: newYear + hour, endpoint: "count-tokens", usage: noUsage, personId: "usr_ada" }),
        ledgerEntry("other"),
      ]);
      await fixture.ledgerStore.insert([
        inSession("c", { at: newYear + 2 * hour, model: "gpt-5-mini", outcome: "failed", personId: "usr_ada" }),
        inSession("d", { at: newYear + 2 * hour, retryIndex: 1, requestId: "req_c", personId: "usr_ada" }),
        refusedEntry("e", { session: "s", sessionSource: "agent", calls: 3, personId: "usr_ada" }),
      ]);
      const [row, ...others] = await sessionsOf(fixture);
      expect(others).toEqual([]);
      expect({ ...row, models: (JSON.parse(row?.models ?? "[]") as string[]).toSorted() }).toMatchObject({
        ...{ key_id: "key_1", session: "s", workspace_id: "ws_1", person_id: "usr_ada", source: "agent" },
        ...{ first_at: newYear, last_at: newYear + 2 * hour, requests: 6, turns: 5, errors: 4, listed: 1 },
        ...{ cache_read_tokens: 120, cache_write_tokens: 10 },
        input_tokens: 100 + 240,
        output_tokens: 5 + 60,
        cost_nano_usd: 4 * 427_500,
        models: ["gpt-5", "gpt-5-mini"],
      });
      expect(await faultsOf(fixture)).toEqual([]);
    });

    test("count an attempt once, in any number and composition of batches", async () => {
      await using fixture = await make();
      let round = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(fc.nat(40), { maxLength: 60 }), { maxLength: 4 }), async (batches) => {
          round++;
          const keyId = `key_${round}`;
          const entryOf = (n: number) =>
            inSession(`${round}_${n}`, { keyId, at: newYear + n * 1_000, session: `s${n % 5}`, model: `m${n % 20}` });
          for (const batch of batches) await fixture.ledgerStore.insert(batch.map(entryOf));
          const entries = [...new Set(batches.flat())].map(entryOf);
          const sums = [...Map.groupBy(entries, ({ session = "" }) => session)].map(([session, of]) => ({
            session,
            requests: of.length,
            input_tokens: of.reduce((sum, { usage }) => sum + inputTokensOf(usage), 0),
            output_tokens: of.reduce((sum, { usage }) => sum + outputTokensOf(usage), 0),
            cost_nano_usd: of.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0),
          }));
          const rows = (await sessionsOf(fixture)).filter((row) => row.key_id === keyId);
          expect(rows).toMatchObject(sums.toSorted((a, b) => (a.session < b.session ? -1 : 1)));
          for (const row of rows) expect((JSON.parse(row.models) as string[]).length).toBeLessThanOrEqual(16);
        }),
        { numRuns: 15 },
      );
      expect(await faultsOf(fixture)).toEqual([]);
    });

    test("stay exact when concurrent writers insert the same sessions and attempts", async () => {
      await using fixture = await make();
      const entries = Array.from({ length: 120 }, (_, n) => inSession(`c${n}`, { session: `s${n % 30}` }));
      await Promise.all([
        fixture.ledgerStore.insert(entries.slice(0, 80)),
        fixture.ledgerStore.insert(entries.slice(40).toReversed()),
      ]);
      const rows = await sessionsOf(fixture);
      expect(rows.map(({ requests }) => requests)).toEqual(rows.map(() => 4));
      expect(rows).toHaveLength(30);
      expect(await faultsOf(fixture)).toEqual([]);
    });

    test("are not changed by a batch that the database refuses", async () => {
      await using fixture = await make();
      await fixture.ledgerStore.insert([inSession("a")]);
      const broken = inSession("b", { totalMs: null as unknown as number });
      await expect(fixture.ledgerStore.insert([inSession("c"), broken])).rejects.toThrow();
      expect((await sessionsOf(fixture)).map(({ requests }) => requests)).toEqual([1]);
      await fixture.ledgerStore.insert([inSession("c")]);
      expect((await sessionsOf(fixture)).map(({ requests }) => requests)).toEqual([2]);
      expect(await faultsOf(fixture)).toEqual([]);
    });

    test("keep the same session id of two keys apart", async () => {
      await using fixture = await make();
      await fixture.ledgerStore.insert([
        inSession("a", { costNanoUsd: 1 }),
        inSession("b", { keyId: "key_2", workspaceId: "ws_2", costNanoUsd: 2 }),
      ]);
      expect((await sessionsOf(fixture)).map((row) => [row.workspace_id, row.key_id, row.cost_nano_usd])).toEqual([
        ["ws_1", "key_1", 1],
        ["ws_2", "key_2", 2],
      ]);
    });

    test("accept costs as large as a number can be", async () => {
      await using fixture = await make();
      const costNanoUsd = Number.MAX_SAFE_INTEGER;
      for (let batch = 0; batch < 3; batch++) {
        const entries = Array.from({ length: 500 }, (_, n) => inSession(`${batch}_${n}`, { costNanoUsd }));
        expect(await fixture.ledgerStore.insert(entries)).toBe(500);
      }
      expect((await sessionsOf(fixture)).map(({ requests }) => requests)).toEqual([1_500]);
    });

    test("are removed with the last entry, and a single call without a second turn after a day", async () => {
      await using fixture = await make();
      const at = newYear + 10 * day;
      await fixture.ledgerStore.insert([
        inSession("old", { session: "old" }),
        inSession("long1", { session: "long" }),
        inSession("long2", { session: "long", at }),
        inSession("single", { session: "single", sessionSource: "prefix", at: at - 2 * day }),
        inSession("pair1", { session: "pair", sessionSource: "prefix", at: at - 2 * day }),
        inSession("pair2", { session: "pair", sessionSource: "prefix", at: at - 2 * day }),
        inSession("fresh", { session: "fresh", sessionSource: "chain", at }),
      ]);
      await fixture.ledgerStore.prune(newYear + day);
      expect((await sessionsOf(fixture)).map(({ session, listed }) => [session, listed])).toEqual([
        ["fresh", 0],
        ["long", 1],
        ["pair", 1],
      ]);
      await fixture.ledgerStore.insert([
        inSession("again", { session: "single", sessionSource: "prefix", at: at + hour }),
      ]);
      expect(await faultsOf(fixture)).toEqual([]);
    });

    test("are checked: a wrong sum and a missing session are found", async () => {
      await using fixture = await make();
      await fixture.ledgerStore.insert([inSession("a"), inSession("b", { session: "gone" })]);
      await fixture.database.kysely.updateTable("sessions").set({ turns: 7 }).where("session", "=", "s").execute();
      await fixture.database.kysely.deleteFrom("sessions").where("session", "=", "gone").execute();
      expect(await faultsOf(fixture)).toEqual([
        "session gone of key key_1 is missing",
        "session s of key key_1: off in turns by 6",
      ]);
    });
  });
}

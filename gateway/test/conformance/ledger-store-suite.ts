import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cacheSavingsOf, costOf, type LedgerEntry, noUsage } from "#core/index.ts";
import type { LedgerFilter } from "#ports/index.ts";
import { recordMaker } from "../../src/storage/journal/record-text.ts";
import { indexColumns } from "../../src/storage/ledger/ledger-index-columns.ts";
import { ledgerUsageTests } from "./ledger-usage-tests.ts";
import {
  acmeConfig,
  ledgerEntry,
  newYear,
  refusedEntry,
  type StoreFixture,
  type StoreFixtureFactory,
} from "./store-fixture.ts";

/** Guarantees of every implementation of the port `LedgerStore`. */
export function ledgerStoreSuite(name: string, make: StoreFixtureFactory): void {
  describe(`ledger store: ${name}`, () => {
    insertTests(make);
    pageTests(make);
    sumTests(make);
    ledgerUsageTests(make);
    checkTests(make);
    pruneTests(make);
  });
}

const hour = 3_600_000;

async function everyEntry(fixture: StoreFixture, filter: LedgerFilter = {}, size = 7): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  let cursor: string | null = null;
  do {
    const page = await fixture.ledgerStore.page(filter, cursor, size);
    entries.push(...page.entries);
    cursor = page.next;
  } while (cursor !== null);
  return entries;
}

/** An entry without rarely used columns, which takes another path into the database. */
function plainEntry(name: string, changes: Partial<LedgerEntry> = {}): LedgerEntry {
  const { warnings: _, ...entry } = ledgerEntry(name, changes);
  return entry;
}

function insertTests(make: StoreFixtureFactory): void {
  test("returns an entry unchanged", async () => {
    await using fixture = await make();
    // PostgreSQL has no zero character.
    const zero = fixture.database.flavour.name === "postgres" ? "\uFFFD" : "\u0000";
    const tagged = (character: string) => ({ tags: { team: `ä${character}\n'"`, [`run${character}`]: "7" } });
    const entries = [
      ledgerEntry("a", { ...tagged("\u0000"), userAgent: "", model: "x\ny z", stream: false }),
      refusedEntry("b"),
      ledgerEntry("c", { costNanoUsd: Number.MAX_SAFE_INTEGER, usage: { ...noUsage, videoSeconds: 2 ** 40 } }),
      ledgerEntry("d", { personId: "usr_ada" }),
    ];
    expect(await fixture.ledgerStore.insert(entries)).toBe(4);
    const back = await everyEntry(fixture);
    const [first, ...others] = entries;
    expect(back.toSorted((a, b) => a.attemptId.localeCompare(b.attemptId))).toEqual([
      { ...(first as LedgerEntry), ...tagged(zero) },
      ...others,
    ]);
  });

  test("lets two concurrent writers insert the same hours in opposite orders", async () => {
    await using fixture = await make();
    const keys = Array.from({ length: 60 }, (_, n) => `key_${String(n).padStart(2, "0")}`);
    const batch = (writer: string, round: number, order: readonly string[]) =>
      order.map((keyId) => ledgerEntry(`${writer}_${round}_${keyId}`, { keyId }));
    for (let round = 0; round < 10; round++) {
      const inserted = await Promise.all([
        fixture.ledgerStore.insert(batch("up", round, keys)),
        fixture.ledgerStore.insert(batch("down", round, keys.toReversed())),
      ]);
      expect(inserted).toEqual([60, 60]);
    }
    expect((await fixture.ledgerStore.check()).faults).toEqual([]);
  });

  test("counts an attempt once, in any number and composition of batches", async () => {
    await using fixture = await make();
    const anyBatches = fc.array(fc.array(fc.nat(40), { maxLength: 150 }), { maxLength: 4 });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(anyBatches, async (batches) => {
        round++;
        const entry = (n: number) => {
          const change = { at: newYear + n * 600_000, keyId: `key_${n % 3}` };
          return n % 2 === 0 ? plainEntry(`${round}_${n}`, change) : ledgerEntry(`${round}_${n}`, change);
        };
        let inserted = 0;
        for (const batch of batches) inserted += await fixture.ledgerStore.insert(batch.map(entry));
        expect(inserted).toBe(new Set(batches.flat()).size);
      }),
      { numRuns: 25 },
    );
    expect((await fixture.ledgerStore.check()).faults).toEqual([]);
  });

  test("keeps the first record of an attempt that occurs twice in a batch, and counts it once", async () => {
    await using fixture = await make();
    const [first, second] = [plainEntry("a", { costNanoUsd: 1 }), plainEntry("a", { costNanoUsd: 2 })];
    expect(await fixture.ledgerStore.insert([plainEntry("b"), first, second])).toBe(2);
    expect((await everyEntry(fixture)).find(({ attemptId }) => attemptId === first.attemptId)?.costNanoUsd).toBe(1);
    expect((await fixture.ledgerStore.check()).faults).toEqual([]);
  });

  test("inserts nothing of a batch with an entry that cannot be stored", async () => {
    await using fixture = await make();
    for (const make of [ledgerEntry, plainEntry]) {
      const broken = make("broken", { endedAt: Number.NaN });
      const good = Array.from({ length: 100 }, (_, n) => make(`${make.name}_${n}`));
      for (const batch of [
        [...good, broken],
        [broken, ...good],
      ]) {
        await expect(fixture.ledgerStore.insert(batch)).rejects.toThrow();
        expect((await everyEntry(fixture)).filter(({ attemptId }) => attemptId.includes(make.name))).toEqual([]);
      }
      expect(await fixture.ledgerStore.insert(good)).toBe(100);
    }
    expect((await fixture.ledgerStore.check()).faults).toEqual([]);
  });

  test("keeps concurrent batches separate", async () => {
    await using fixture = await make();
    const batches = Array.from({ length: 8 }, (_, b) =>
      Array.from({ length: 60 }, (_, n) => ledgerEntry(`${(b + n) % 90}`)),
    );
    const counts = await Promise.all(batches.map((batch) => fixture.ledgerStore.insert(batch)));
    expect(counts.reduce((a, b) => a + b)).toBe(67);
    expect((await fixture.ledgerStore.check()).faults).toEqual([]);
  });
}

function pageTests(make: StoreFixtureFactory): void {
  test("lists every entry once, newest first, while new ones arrive", async () => {
    await using fixture = await make();
    const entries = Array.from({ length: 50 }, (_, n) => ledgerEntry(`e${n}`, { at: newYear + Math.floor(n / 8) }));
    await fixture.ledgerStore.insert(entries);
    const listed: LedgerEntry[] = [];
    let cursor: string | null = null;
    let late = 0;
    do {
      const page = await fixture.ledgerStore.page({}, cursor, 7);
      listed.push(...page.entries);
      cursor = page.next;
      await fixture.ledgerStore.insert([ledgerEntry(`late${late++}`, { at: newYear + hour })]);
    } while (cursor !== null);
    const expected = entries.toSorted((a, b) => b.at - a.at || (a.attemptId < b.attemptId ? 1 : -1));
    expect(listed.map((e) => e.attemptId)).toEqual(expected.map((e) => e.attemptId));
  });

  test("lists exactly the entries that match a filter", async () => {
    await using fixture = await make();
    const entries = Array.from({ length: 24 }, (_, n) =>
      ledgerEntry(`e${n}`, {
        at: newYear + n,
        workspaceId: `ws_${n % 2}`,
        groupId: `grp_${n % 3}`,
        keyId: `key_${n % 4}`,
        model: `m${n % 5}`,
        provider: `p${n % 2}`,
        outcome: n % 3 === 0 ? "failed" : "succeeded",
        requestId: `req_${n >> 1}`,
      }),
    );
    await fixture.ledgerStore.insert(entries);
    const cases: [LedgerFilter, (entry: LedgerEntry) => boolean][] = [
      [{ workspaceId: "ws_1" }, (e) => e.workspaceId === "ws_1"],
      [{ groupId: "grp_2" }, (e) => e.groupId === "grp_2"],
      [{ keyId: "key_3" }, (e) => e.keyId === "key_3"],
      [{ model: "m4", provider: "p0" }, (e) => e.model === "m4" && e.provider === "p0"],
      [{ outcome: "failed" }, (e) => e.outcome === "failed"],
      [{ requestId: "req_5" }, (e) => e.requestId === "req_5"],
      [{ from: newYear + 3, to: newYear + 9 }, (e) => e.at >= newYear + 3 && e.at < newYear + 9],
      [{ keyId: "' or 1=1 --" }, () => false],
    ];
    for (const [filter, matches] of cases) {
      const expected = entries.filter(matches).map((e) => e.attemptId);
      const found = (await everyEntry(fixture, filter, 4)).map((e) => e.attemptId);
      expect(found.toSorted()).toEqual(expected.toSorted());
    }
  });

  test("rejects an invalid cursor as the caller's error", async () => {
    await using fixture = await make();
    for (const cursor of ["", "x", "1.", Buffer.from("-1.att").toString("base64url")]) {
      await expect(fixture.ledgerStore.page({}, cursor, 10)).rejects.toMatchObject({
        code: "invalid_request",
        param: "cursor",
      });
    }
  });
}

function sumTests(make: StoreFixtureFactory): void {
  test("returns recent entries as one row per key and second, and counts a request with retries once", async () => {
    await using fixture = await make();
    const at = newYear + hour;
    await fixture.ledgerStore.insert([
      ledgerEntry("first", { at: at + 10, endedAt: at + 20 }),
      ledgerEntry("again", { at: at + 30, endedAt: at + 40, retryIndex: 1 }),
      ledgerEntry("later", { at: at + 1_000, endedAt: at + 1_040 }),
      ledgerEntry("other", { at: at + 1_000, endedAt: at + 1_040, keyId: "key_2" }),
    ]);
    const rows = await fixture.ledgerStore.recent(at, at + 60_000);
    expect(rows.map(({ keyId, at: second, requests, tokens }) => [keyId, second - at, requests, tokens])).toEqual([
      ["key_1", 0, 1, 300],
      ["key_1", 1_000, 1, 150],
      ["key_2", 1_000, 1, 150],
    ]);
  });

  test("returns entries that ended since a time, without rejected calls and without counting reasoning twice", async () => {
    await using fixture = await make();
    const since = newYear + hour;
    await fixture.ledgerStore.insert([
      ledgerEntry("long", { at: newYear, endedAt: since }),
      ledgerEntry("old", { at: newYear, endedAt: since - 1 }),
      refusedEntry("refused", { at: since, endedAt: since }),
      ledgerEntry("future", { at: newYear, endedAt: since + 1 }),
    ]);
    expect(await fixture.ledgerStore.recent(since, since)).toEqual([
      { workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1", at: newYear, requests: 1, tokens: 150 },
    ]);
  });
}

function checkTests(make: StoreFixtureFactory): void {
  test("sums costs exactly beyond the range of a number", async () => {
    await using fixture = await make();
    const big = Number.MAX_SAFE_INTEGER;
    await fixture.ledgerStore.insert(
      [0, 1, 2].map((n) => ledgerEntry(`b${n}`, { costNanoUsd: big, keyId: `key_${n}` })),
    );
    expect(await fixture.ledgerStore.check()).toEqual({
      entries: 3,
      costNanoUsd: String(3n * BigInt(big)),
      faults: [],
    });
  });

  test("finds no faults in a valid ledger", async () => {
    await using fixture = await make();
    expect(await fixture.ledgerStore.check()).toEqual({ entries: 0, costNanoUsd: "0", faults: [] });
    await fixture.ledgerStore.insert([await pricedEntry(fixture), refusedEntry("r")]);
    expect(await fixture.ledgerStore.check()).toEqual({ entries: 2, costNanoUsd: "427500", faults: [] });
  });

  test("sums calls of one key by hour, person, client and tags in any order", async () => {
    await using fixture = await make();
    const agents = ["curl/8", "claude-cli/1", "curl\\", 'curl"8', ""];
    const tags = [{}, { team: "ads" }, { team: 'a"d' }];
    const entries = Array.from({ length: 120 }, (_, n) =>
      ledgerEntry(`o${n}`, {
        at: newYear + (n % 2) * hour,
        userAgent: agents[n % 5] ?? "",
        tags: tags[n % 3] ?? {},
        ...(n % 7 === 0 ? { personId: "usr_ada" } : {}),
      }),
    );
    expect(await fixture.ledgerStore.insert(entries)).toBe(120);
    expect((await fixture.ledgerStore.check()).faults).toEqual([]);
    const rollups = fixture.database.kysely.selectFrom("usage_rollups");
    const { sum } = await rollups.select((eb) => eb.fn.sum("attempts").as("sum")).executeTakeFirstOrThrow();
    expect(Number(sum)).toBe(120);
  });

  const corruptions: [string, Partial<LedgerEntry>, string][] = [
    [
      "a cost that differs from its price times its usage",
      { costNanoUsd: 427_501 },
      "a cost is its price version times its usage",
    ],
    [
      "savings of a cache that differ from its price and its usage",
      { cacheSavedNanoUsd: 22_501 },
      "savings of a cache follow from price version and usage",
    ],
    ["a negative count", { usage: { ...ledgerEntry("p").usage, images: -1 } }, "no count and no amount is negative"],
    ["a rejected call with usage", { outcome: "rejected" }, "a refused call used nothing"],
    ["usage without a source", { usageSource: "none" }, "usage has a source"],
    ["a cost without a price", { priceVersion: null }, "an entry without a price costs nothing"],
    [
      "an unknown outcome",
      { outcome: "lost" as LedgerEntry["outcome"] },
      "outcome, usage source and cost source have valid values",
    ],
    ["a row that was moved to another key", { keyId: "key_2" }, "a rollup is the sum of its entries"],
  ];
  test.each(corruptions)("finds %s", async (_what, corruption, rule) => {
    await using fixture = await make();
    const entry = await pricedEntry(fixture);
    await fixture.ledgerStore.insert([entry]);
    const broken = recordMaker()({ ...entry, ...corruption });
    const columns = Object.fromEntries(indexColumns.map(({ column, read }) => [column, read(broken)]));
    await fixture.database.kysely
      .updateTable("ledger_entries")
      .set({ ...columns, record: broken.json })
      .execute();
    expect((await fixture.ledgerStore.check()).faults.map((fault) => fault.rule)).toContain(rule);
  });

  test("finds a rollup that is wrong, missing or superfluous", async () => {
    await using fixture = await make();
    const faults = async () => (await fixture.ledgerStore.check()).faults.map((fault) => fault.detail);
    await fixture.ledgerStore.insert([ledgerEntry("a")]);
    await fixture.database.kysely.updateTable("usage_rollups").set({ output: 31 }).execute();
    expect(await faults()).toEqual([
      "2026-01-01T00:00:00.000Z ws_1 / grp_1 / key_1 /  / gpt-5 / openai-main / openai-python / chat: off in output by 1",
    ]);
    await fixture.database.kysely.deleteFrom("usage_rollups").execute();
    expect((await faults()).length).toBe(1);
    await fixture.ledgerStore.insert([ledgerEntry("b", { at: newYear + hour })]);
    await fixture.database.kysely.deleteFrom("ledger_entries").execute();
    expect(await faults()).toEqual([expect.stringContaining("off in attempts by 1")]);
  });

  test("finds a rollup with sketches that do not match its entries", async () => {
    await using fixture = await make();
    const sketches = () => fixture.database.kysely.selectFrom("usage_rollups").selectAll().executeTakeFirstOrThrow();
    await fixture.ledgerStore.insert([ledgerEntry("a", { totalMs: 100, startedAfterMs: 0, firstTokenMs: 900 })]);
    const { attempt_first_token_ms_sketch: other } = await sketches();
    for (const sketch of [other, "", `${(await sketches()).call_ms_sketch}${other}`]) {
      await fixture.database.kysely.updateTable("usage_rollups").set({ call_ms_sketch: sketch }).execute();
      expect((await fixture.ledgerStore.check()).faults).toEqual([
        {
          rule: "a rollup's sketches count its entries",
          detail:
            "2026-01-01T00:00:00.000Z ws_1 / grp_1 / key_1 /  / gpt-5 / openai-main / openai-python / chat: off in call_ms_sketch",
        },
      ]);
    }
  });

  test("keeps the sketches of an hour short and complete for any number of batches", async () => {
    await using fixture = await make();
    const entries = Array.from({ length: 1_500 }, (_, n) =>
      ledgerEntry(`s${n}`, { at: newYear + n, totalMs: 300 + ((n * 37) % 900), firstTokenMs: 50 + ((n * 11) % 90) }),
    );
    for (let start = 0; start < entries.length; start += 5) {
      await fixture.ledgerStore.insert(entries.slice(start, start + 5));
    }
    const row = await fixture.database.kysely.selectFrom("usage_rollups").selectAll().executeTakeFirstOrThrow();
    const lengths = [row.call_ms_sketch, row.attempt_ms_sketch, row.attempt_first_token_ms_sketch].map(
      (sketch) => sketch.length,
    );
    expect(Math.max(...lengths)).toBeLessThan(1_100);
    expect((await fixture.ledgerStore.check()).faults).toEqual([]);
  });
}

/** An entry with an existing price version. */
async function pricedEntry(fixture: StoreFixture): Promise<LedgerEntry> {
  await fixture.controlStore.apply(acmeConfig, "test");
  const price = (await fixture.controlStore.configSnapshot()).models.get("gpt-5")?.price ?? null;
  if (price === null) throw new Error("the file has no price for gpt-5");
  const { usage } = ledgerEntry("p");
  const costNanoUsd = costOf(price.table, usage);
  const cacheSavedNanoUsd = cacheSavingsOf(price.table, usage, costNanoUsd);
  return ledgerEntry("p", { priceVersion: price.id, usage, costNanoUsd, cacheSavedNanoUsd });
}

function pruneTests(make: StoreFixtureFactory): void {
  test("deletes the sums of rejected calls with their entries, and keeps those of other calls", async () => {
    await using fixture = await make();
    const later = { at: newYear + 30 * hour, endedAt: newYear + 30 * hour };
    await fixture.ledgerStore.insert([
      refusedEntry("r", { model: "(unknown)", calls: 600 }),
      ledgerEntry("failed", { model: "failed", outcome: "failed", costNanoUsd: 0 }),
      ledgerEntry("served", { model: "served" }),
      refusedEntry("kept", { model: "kept", ...later }),
    ]);
    const requests = async () =>
      (await fixture.ledgerStore.usage({})).map(({ model, requests: count }) => [model, count]);
    expect(await requests()).toContainEqual(["(unknown)", 600]);
    for (let round = 0; round < 2; round++) await fixture.ledgerStore.prune(newYear + 26 * hour);
    expect(await requests()).toEqual([
      ["failed", 1],
      ["kept", 1],
      ["served", 1],
    ]);
    expect((await fixture.ledgerStore.check()).faults).toEqual([]);
  });

  test("prunes old entries, keeps their sums and passes the check", async () => {
    await using fixture = await make();
    const entries = Array.from({ length: 2_500 }, (_, n) => ledgerEntry(`p${n}`, { at: newYear + n * 10_000 }));
    for (let start = 0; start < entries.length; start += 500) {
      await fixture.ledgerStore.insert(entries.slice(start, start + 500));
    }
    const usage = await fixture.ledgerStore.usage({});
    const before = newYear + 2_100 * 10_000;
    let turns = 0;
    let over = false;
    const count = (): void => {
      turns++;
      if (!over) setImmediate(count);
    };
    setImmediate(count);
    expect(await fixture.ledgerStore.prune(before)).toBe(2_100);
    over = true;
    // Other work ran after every few rows.
    expect(turns).toBeGreaterThan(2_100 / 100);
    expect(await fixture.ledgerStore.prune(before)).toBe(0);
    const check = await fixture.ledgerStore.check();
    expect([check.entries, check.faults]).toEqual([400, []]);
    expect(await fixture.ledgerStore.usage({})).toEqual(usage);
    await fixture.ledgerStore.prune(newYear);
    expect((await fixture.ledgerStore.check()).faults).toEqual([]);
    await fixture.database.kysely.deleteFrom("ledger_entries").where("attempt_id", "=", "att_p2499").execute();
    expect((await fixture.ledgerStore.check()).faults.map(({ rule }) => rule)).toEqual([
      "a rollup is the sum of its entries",
    ]);
  });
}

import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { focusDelayMs } from "@sluice/contract/words";
import {
  costOf,
  type LedgerEntry,
  noUsage,
  type PriceTable,
  type PriceVersion,
  pricesOf,
  usageClasses,
} from "#core/index.ts";
import { focusCsv, focusEnd, focusRange } from "#ledger/index.ts";
import { copyFocusDays, nextFocusDay } from "#main/focus-copies.ts";
import type { FocusCatalogue, FocusStore } from "#ports/index.ts";
import { createExportedHours, createFocusStore } from "#storage/index.ts";
import { closeFocusDay } from "../../src/storage/focus/close-day.ts";
import { billedNano, type FocusRow, focusProblems, readFocus } from "../focus-rules.ts";
import { acmeConfig, ledgerEntry, newYear, type StoreFixture, type StoreFixtureFactory } from "./store-fixture.ts";

const dayMs = 86_400_000;
const catalogue: FocusCatalogue = {
  vendors: { "openai-main": "OpenAI", spare: "=HYPERLINK(1)" },
  publishers: { "gpt-5": "OpenAI" },
  listPrices: { "openai-main gpt-5-2026": pricesOf({ input: 2.5, cache_read: 0.25, output: 20 }).table },
};

/** Prices of every kind: by the token, long context, searches, images; and one of a price list. */
const prices: readonly (Omit<PriceVersion, "table"> & { readonly table: PriceTable })[] = [
  { id: "prc_plain", table: { input: 1.25, cache_read: 0.125, output: 10, web_search: 10 } },
  {
    id: "prc_odd",
    table: { input: 0.0333, cache_write_1h: 0.123457, output: 0.7, image: 0.0421, audio_second: 0.0001 },
  },
  { id: "prc_long", table: { input: 2, output: 8, long_context: { above: 1_000, input: 4, output: 12 } } },
].map(({ id, table }) => ({ id, model: "gpt-5", effectiveFrom: 0, ...pricesOf(table) }));

async function openLedger(fixture: StoreFixture) {
  const { database, clock, controlStore } = fixture;
  await controlStore.apply(acmeConfig, "file");
  for (const { id, model, table } of prices) {
    const price_table = JSON.stringify(table);
    await database.kysely.insertInto("prices").values({ id, model, price_table, effective_from: 0 }).execute();
  }
  let runs = 0;
  const focus = createFocusStore({ database, clock, newRun: () => `run_${++runs}` });
  return {
    focus,
    /** The file of a day. */
    async file(day: number, workspaceId: string | null = null): Promise<string> {
      return await fileOf(focus, day, workspaceId);
    },
  };
}

async function fileOf(store: FocusStore, day: number, workspaceId: string | null = null): Promise<string> {
  const pieces: string[] = [];
  const range = { from: day, to: day + dayMs };
  for await (const piece of focusCsv({ store, range, workspaceId, catalogue: async () => catalogue }))
    pieces.push(piece);
  return pieces.join("");
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function randomEntries(seed: number, count: number, day: number, prefix = ""): readonly LedgerEntry[] {
  const random = randomNumbers(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  return Array.from({ length: count }, (_, n) => {
    const at = day + Math.floor(random() * dayMs);
    const name = `${prefix}${seed}_${n}`;
    const workspaceId = pick(["ws_1", "ws_2"]);
    const owner = {
      workspaceId,
      keyId: `key_${pick([1, 2])}_of_${workspaceId}`,
      ...(random() < 0.5 ? { personId: "usr_1" } : {}),
    };
    if (random() < 0.02) {
      const whole = {
        keyId: "",
        groupId: "",
        provider: "",
        adjustment: "opening_balance",
        adjusts: "=import",
      } as const;
      return adjustment(name, { at, workspaceId, ...whole, costNanoUsd: 1_000_000_001 });
    }
    if (random() < 0.05) return adjustment(name, { at, ...owner, costNanoUsd: Math.floor((random() - 0.5) * 1e9) });
    const price = random() < 0.1 ? null : pick(prices);
    const usage = { ...noUsage };
    for (const name of usageClasses) {
      if (random() < 0.3 && name !== "reasoning" && name !== "unexplained") usage[name] = Math.floor(random() * 2_000);
    }
    const own = price === null ? 0 : costOf(price.table, usage);
    const isVendors = random() < 0.1;
    return ledgerEntry(name, {
      ...{ at, ...owner, usage, priceVersion: price?.id ?? null, costNanoUsd: isVendors ? 12_345_678 : own },
      ...(isVendors ? { costSource: "vendor", vendorCostNanoUsd: 12_345_678 } : {}),
      ...(random() < 0.2 ? { served: "batch" } : {}),
      provider: pick(["openai-main", "spare"]),
      tags: pick([{}, { team: "+SUM(1)" }, { team: 'a,"b"\r\n', feature: "x" }]),
      usageSource: pick(["upstream", "estimated"]),
    });
  });
}

function adjustment(name: string, changes: Partial<LedgerEntry>): LedgerEntry {
  return ledgerEntry(name, {
    ...{ usage: noUsage, usageSource: "none", priceVersion: null, endpoint: "adjustment", calls: 0, upstreamModel: "" },
    ...{ adjustment: "reconciliation", adjusts: "output", costSource: "adjustment", deployment: "" },
    ...changes,
  });
}

function costsOf(entries: readonly LedgerEntry[]): bigint {
  return entries.reduce((sum, { costNanoUsd }) => sum + BigInt(costNanoUsd), 0n);
}

const of = (rows: readonly FocusRow[], day: number) =>
  rows.filter(({ ChargePeriodStart }) => Date.parse(ChargePeriodStart ?? "") === day);

export function focusSuite(name: string, make: StoreFixtureFactory): void {
  describe(`${name}: FOCUS export`, () => {
    test("follows the rules of FOCUS, and adds up to the cost of the ledger, for random ledgers", async () => {
      await using fixture = await make();
      const { file } = await openLedger(fixture);
      fixture.clock.advance(30 * dayMs);
      for (const seed of [1, 2, 3, 4]) {
        const day = newYear + seed * dayMs;
        const entries = randomEntries(seed, 300, day);
        await fixture.ledgerStore.insert(entries);
        const rows = readFocus(await file(day));
        expect(focusProblems(rows)).toEqual([]);
        expect(billedNano(rows)).toBe(costsOf(entries));
        const ofOne = readFocus(await file(day, "ws_1"));
        expect(billedNano(ofOne)).toBe(costsOf(entries.filter(({ workspaceId }) => workspaceId === "ws_1")));
        expect(new Set(ofOne.map(({ SubAccountId }) => SubAccountId))).toEqual(new Set(["ws_1"]));
      }
    });

    test("has a row for each usage class, with exact prices, quantities and names", async () => {
      await using fixture = await make();
      const { file } = await openLedger(fixture);
      fixture.clock.advance(3 * dayMs);
      const tags = { team: "build" };
      await fixture.ledgerStore.insert([
        ledgerEntry("a", { priceVersion: "prc_plain", costNanoUsd: 427_500, tags: { ...tags, run: "1" } }),
        ledgerEntry("b", { priceVersion: "prc_plain", costNanoUsd: 427_500, tags: { ...tags, run: "2" } }),
      ]);
      const rows = readFocus(await file(newYear));
      expect(
        rows.map((row) => [row.x_UsageClass, row.PricingQuantity, row.PricingUnit, row.BilledCost, row.ListCost]),
      ).toEqual([
        ["input_uncached", "0.0002", "1000000 Tokens", "0.00025", "0.0005"],
        ["cache_read", "0.00004", "1000000 Tokens", "0.000005", "0.00001"],
        ["output", "0.00006", "1000000 Tokens", "0.0006", "0.0012"],
      ]);
      expect(rows[2]).toMatchObject({
        ...{ ConsumedQuantity: "60.0", ConsumedUnit: "Tokens", ListUnitPrice: "20.0", ContractedUnitPrice: "10.0" },
        ...{
          ProviderName: "OpenAI",
          SkuId: "gpt-5/output",
          SkuPriceId: "prc_plain/gpt-5/output",
          Tags: '{"team":"build"}',
        },
        ...{ ChargePeriodStart: "2026-01-01T00:00:00Z", ChargePeriodEnd: "2026-01-02T00:00:00Z", x_KeyId: "key_1" },
      });
    });

    test("never changes a closed day: late entries and adjustments are rows of a later day", async () => {
      await using fixture = await make();
      const { file } = await openLedger(fixture);
      const january = newYear + 30 * dayMs;
      const february = january + dayMs;
      const entries = [...randomEntries(5, 50, january), ...randomEntries(6, 50, february)];
      fixture.clock.advance(34 * dayMs);
      await fixture.ledgerStore.insert(entries);
      const closed = await file(january);
      const late = randomEntries(7, 20, january, "late");
      await fixture.ledgerStore.insert([...late, adjustment("more", { at: january, costNanoUsd: -5 })]);
      const next = readFocus(await file(february));
      expect(await file(january)).toBe(closed);
      expect(focusProblems(next)).toEqual([]);
      expect(billedNano(of(next, january))).toBe(costsOf(late) - 5n);
      expect(billedNano(of(next, february))).toBe(costsOf(entries.slice(50)));
      expect(new Set(of(next, january).map((row) => [row.ChargeClass, row.BillingPeriodStart].join()))).toEqual(
        new Set(["Correction,2026-02-01T00:00:00Z"]),
      );
      // Changes of days are counted once they are summed.
      while (await fixture.ledgerStore.sumDay(fixture.clock.now()));
      expect((await fixture.database.kysely.selectFrom("summed_days").selectAll().execute()).length).toBeGreaterThan(1);
      // Nothing is exported twice.
      expect(of(readFocus(await file(february + dayMs)), january)).toEqual([]);
      await fixture.ledgerStore.insert([ledgerEntry("again", { at: january, costNanoUsd: 7, priceVersion: null })]);
      await fixture.ledgerStore.fold(10_000);
      const third = of(readFocus(await file(february + 2 * dayMs)), january);
      expect([billedNano(third), third.every(({ x_KeyId }) => x_KeyId === "key_1")]).toEqual([7n, true]);
      const checks = await fixture.database.kysely.selectFrom("focus_checks").select("day").execute();
      expect(checks.map(({ day }) => day)).toContain(january);
    });

    test("has late adjustments that add up to nothing, because each has its own owner", async () => {
      await using fixture = await make();
      const { file } = await openLedger(fixture);
      const day = newYear + 3 * dayMs;
      await fixture.ledgerStore.insert(randomEntries(8, 10, day));
      fixture.clock.advance(10 * dayMs);
      await file(day);
      const at = day + dayMs / 2;
      await fixture.ledgerStore.insert([
        adjustment("charge", { at, keyId: "key_1", costNanoUsd: 500 }),
        adjustment("return", { at, keyId: "key_2", costNanoUsd: -500 }),
      ]);
      const late = of(readFocus(await file(day + dayMs)), day);
      expect(late.map((row) => [row.x_KeyId, billedNano([row])])).toEqual([
        ["key_1", 500n],
        ["key_2", -500n],
      ]);
      expect(of(readFocus(await file(day + 2 * dayMs)), day)).toEqual([]);
    });

    test("keeps names as they were, also of keys and workspaces that are renamed or deleted later", async () => {
      await using fixture = await make();
      const { file } = await openLedger(fixture);
      const { database, ledgerStore, clock } = fixture;
      const {
        id: keyId,
        workspace_id,
        group_id,
      } = await database.kysely.selectFrom("api_keys").selectAll().where("name", "=", "ci").executeTakeFirstOrThrow();
      await database.kysely.updateTable("api_keys").set({ name: "@SUM(1)" }).where("id", "=", keyId).execute();
      const owner = { keyId, workspaceId: workspace_id, groupId: group_id };
      await ledgerStore.insert([
        ledgerEntry("a", { ...owner, priceVersion: "prc_plain" }),
        ledgerEntry("b", { ...owner, priceVersion: "prc_plain", at: newYear + dayMs }),
      ]);
      clock.advance(4 * dayMs);
      const before = await file(newYear);
      expect(readFocus(before)[0]).toMatchObject({
        x_KeyName: "'@SUM(1)",
        x_Workspace: "acme",
        SubAccountName: "Acme",
        x_Group: "default",
      });
      await database.kysely.deleteFrom("api_keys").execute();
      await database.kysely.deleteFrom("groups").execute();
      await database.kysely.deleteFrom("workspaces").execute();
      expect(await file(newYear)).toBe(before);
      expect(readFocus(await file(newYear + dayMs))[0]).toMatchObject({ x_KeyName: keyId, x_Workspace: workspace_id });
    });

    test("closes a day once among several processes, and replaces what an interrupted one left", async () => {
      await using fixture = await make();
      const { focus } = await openLedger(fixture);
      const { database, ledgerStore, clock } = fixture;
      await ledgerStore.insert([...randomEntries(8, 200, newYear), ...randomEntries(9, 200, newYear + dayMs)]);
      clock.advance(5 * dayMs);
      const left = { day: newYear, run: "run_dead", seq: 1, charge_day: newYear, workspace_id: "ws_1" };
      const counts = { row_count: 1, attempts: 1, cost_nano_usd: 5, digest: "", csv: "", sums: "" };
      await database.kysely
        .insertInto("focus_parts")
        .values({ ...left, ...counts })
        .execute();
      const close = (day: number, run: string, small = false) =>
        closeFocusDay(
          database,
          { day, run, catalogue, now: clock.now() },
          small ? { sums: 7, partRows: 3 } : undefined,
        );
      const [one, other] = await Promise.all([
        close(newYear, "run_a"),
        close(newYear, "run_b"),
        close(newYear + dayMs, "run_c"),
      ]);
      expect(one).toEqual(other);
      const runs = await database.kysely
        .selectFrom("focus_parts")
        .select("run")
        .distinct()
        .where("day", "=", newYear)
        .execute();
      expect(runs).toHaveLength(1);
      const late = randomEntries(10, 30, newYear, "late");
      await ledgerStore.insert(late);
      await Promise.all([close(newYear + 2 * dayMs, "run_d", true), close(newYear + 3 * dayMs, "run_e", true)]);
      const files = await Promise.all([2, 3].map((days) => fileOf(focus, newYear + days * dayMs)));
      expect(billedNano(files.flatMap(readFocus))).toBe(costsOf(late));
    });

    test("keeps its sums when memory holds few of them", async () => {
      await using fixture = await make();
      await openLedger(fixture);
      const { database, ledgerStore, clock } = fixture;
      const entries = randomEntries(11, 3_000, newYear);
      await ledgerStore.insert(entries);
      clock.advance(5 * dayMs);
      const order = { day: newYear, run: "run_a", catalogue, now: clock.now() };
      const closed = await closeFocusDay(database, order, { sums: 50, partRows: 10 });
      expect(closed.costNanoUsd).toBe(costsOf(entries));
    });

    test("refuses days that are not closed, and days with deleted entries", async () => {
      await using fixture = await make();
      const { focus, file } = await openLedger(fixture);
      const { ledgerStore, clock } = fixture;
      await ledgerStore.insert([ledgerEntry("a"), ledgerEntry("b", { at: newYear + dayMs })]);
      clock.advance(2 * dayMs - 1);
      const range = (from: string, to?: string) => focusRange({ from, to }, focus, clock.now());
      await expect(range("2026-01-01")).rejects.toThrow(
        "2026-01-01 is not closed yet: it closes at 2026-01-03T00:00:00.000Z",
      );
      clock.advance(1);
      expect(await range("2026-01-01")).toEqual({ from: newYear, to: newYear + dayMs });
      await expect(range("2026-01-01", "2026-01-03")).rejects.toThrow("2026-01-02 is not closed yet");
      await expect(range("2026-01-01", "2026-01-01")).rejects.toThrow("must be later than `from`");
      const first = await file(newYear);
      clock.advance(5 * dayMs);
      await ledgerStore.prune(newYear + 1.5 * dayMs);
      expect(await file(newYear)).toBe(first);
      await expect(range("2026-01-01", "2026-01-03")).rejects.toThrow("The entries of 2026-01-02 were deleted");
      await expect(focus.close(newYear + dayMs, catalogue)).rejects.toThrow("were deleted");
    });

    test("copies closed days to a bucket, each once, and again after a failure", async () => {
      await using fixture = await make();
      const { focus, file } = await openLedger(fixture);
      const { database, ledgerStore, clock } = fixture;
      const entries = randomEntries(12, 100, newYear);
      await ledgerStore.insert([...entries, ledgerEntry("last", { at: newYear + 2 * dayMs })]);
      const objects = new Map<string, Uint8Array>();
      let failures = 0;
      const store = {
        async put(name: string, bytes: Uint8Array) {
          if (failures-- > 0) throw new Error("the bucket answered 503 SlowDown");
          objects.set(name, bytes);
        },
      };
      const copies = { focus, catalogue: async () => catalogue, hours: createExportedHours(database), clock };
      const target = { destination: "eu books/", store, signal: new AbortController().signal };
      const copy = () => copyFocusDays(copies, target);
      clock.advance(2 * dayMs - 1);
      expect(await nextFocusDay(copies, target.destination)).toBeNull();
      clock.advance(1);
      failures = 1;
      await expect(copy()).rejects.toThrow("503");
      expect(await nextFocusDay(copies, target.destination)).toBe(newYear);
      await copy();
      const manifest = JSON.parse(new TextDecoder().decode(objects.get("focus/date=2026-01-01/_manifest.json")));
      const bytes = objects.get("focus/date=2026-01-01/part-00000.csv.gz") ?? new Uint8Array();
      expect(gunzipSync(bytes).toString()).toBe(await file(newYear));
      expect(manifest).toMatchObject({
        ...{ day: "2026-01-01", focus_version: "1.2", billed_cost_nano_usd: String(costsOf(entries)) },
        parts: [{ object: "part-00000.csv.gz", sha256: createHash("sha256").update(bytes).digest("hex") }],
      });
      const before = new Map(objects);
      objects.clear();
      await copy();
      expect(objects.size).toBe(0);
      clock.advance(dayMs);
      await copy();
      expect([...objects.keys()]).toEqual(
        ["part-00000.csv.gz", "_manifest.json"].map((file) => `focus/date=2026-01-02/${file}`),
      );
      expect(readFocus(gunzipSync(objects.get("focus/date=2026-01-02/part-00000.csv.gz") ?? bytes).toString())).toEqual(
        [],
      );
      await copyFocusDays(copies, { ...target, destination: "eu other/" });
      for (const [name, copied] of before) expect(objects.get(name)).toEqual(copied);
      // Days with deleted entries are left out, unless they were closed before.
      await ledgerStore.insert([ledgerEntry("much later", { at: newYear + 9 * dayMs })]);
      await ledgerStore.prune(newYear + 7.5 * dayMs);
      clock.advance(8 * dayMs);
      expect(await nextFocusDay(copies, target.destination)).toBe(newYear + 8 * dayMs);
      expect(await nextFocusDay(copies, "eu third/")).toBe(newYear);
      expect(focusEnd(clock.now())).toBe(clock.now() - focusDelayMs);
    });
  });
}

import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { bounds, exportedRow, type LedgerEntry, type LedgerExportPlace } from "#core/index.ts";
import { LedgerExport, ledgerExportFacts } from "#main/ledger-export.ts";
import type { ActiveLease } from "#ports/index.ts";
import { createExportedHours, createFocusStore } from "#storage/index.ts";
import { exportCheckMs, exportCheckOldMs, exportYoungMs } from "#storage/ledger-export/exported-hours.ts";
import { countHours, readPart } from "../../src/storage/ledger-export/export-reading.ts";
import { ledgerEntry, newYear, type StoreFixture, type StoreFixtureFactory, silentObserver } from "./store-fixture.ts";

const hourMs = 3_600_000;
const place: LedgerExportPlace = {
  bucket: "books",
  prefix: "",
  region: "eu-test-1",
  endpoint: null,
  formats: ["jsonl"],
};

/** Exports the ledger's hours into objects of two entries, in a bucket of the test. */
function openExport({ database, clock }: StoreFixture, retentionDays = 30) {
  const objects = new Map<string, Uint8Array>();
  let failuresLeft = 0;
  let at: LedgerExportPlace | null = place;
  const hours = createExportedHours(database);
  const ledgerExport = new LedgerExport({
    place: () => at,
    retentionDays: () => retentionDays,
    storeOf: () => ({
      async put(name, bytes, sha256) {
        if (failuresLeft-- > 0) throw new Error("the bucket answered 503 SlowDown");
        expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
        objects.set(name, bytes);
      },
    }),
    hours,
    focus: { focus: createFocusStore({ database, clock, newRun: () => "run_1" }), catalogue: async () => noCatalogue },
    reader: {
      counted: (query) => countHours(database, query),
      part: (hour, from) => readPart(database, hour, from, { entries: 2, bytes: 1_000_000 }),
      rest: async () => {},
    },
    leadership: { once: async (_, work) => ({ result: await work(lease) }) },
    clock,
    observer: silentObserver,
  });
  return {
    ledgerExport,
    objects,
    refuse: (times: number) => {
      failuresLeft = times;
    },
    moveTo: (other: LedgerExportPlace | null) => {
      at = other;
    },
    /** Reads the copy of an hour like a consumer would. */
    readCopy(folder: string): readonly unknown[] {
      const { parts, entries } = manifestIn(objects, folder);
      const lines = parts.flatMap(({ object, sha256 }) => {
        const bytes = objects.get(`${folder}/${object}`) ?? new Uint8Array(0);
        expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
        return gunzipSync(bytes).toString("utf8").trimEnd().split("\n");
      });
      expect(lines).toHaveLength(entries);
      return lines.map((line) => JSON.parse(line));
    },
  };
}

const noCatalogue = { vendors: {}, publishers: {}, listPrices: {} };

const lease = {
  ...{ name: "ledger-export", owner: "proc_1", fence: 1, isHeld: true },
  signal: new AbortController().signal,
} as ActiveLease;

interface Manifest {
  readonly hour: string;
  readonly entries: number;
  readonly cost_nano_usd: string;
  readonly parts: readonly { readonly object: string; readonly entries: number; readonly sha256: string }[];
}

function manifestIn(objects: ReadonlyMap<string, Uint8Array>, folder: string): Manifest {
  return JSON.parse(new TextDecoder().decode(objects.get(`${folder}/_manifest.json`)));
}

const folder = (hour: number): string => `date=2026-01-01/hour=${String(hour).padStart(2, "0")}`;
const rows = (entries: readonly LedgerEntry[]) =>
  entries.map((entry) => JSON.parse(JSON.stringify(exportedRow(entry))));
const fiveEntries = ["e", "a", "c", "b", "d"].map((name, place) => ledgerEntry(name, { at: newYear + place * 60_000 }));

export function ledgerExportSuite(name: string, make: StoreFixtureFactory): void {
  describe(`${name}: ledger export`, () => {
    test("copies an hour some time after its end, oldest entry first, with all columns", async () => {
      await using fixture = await make();
      const { ledgerExport, objects, readCopy } = openExport(fixture);
      await fixture.ledgerStore.insert(fiveEntries);
      fixture.clock.advance(hourMs + bounds.exportSettleMs - 1);
      await ledgerExport.copy();
      expect([objects.size, ledgerExport.lagSeconds > 4_000]).toEqual([0, true]);
      fixture.clock.advance(1);
      await ledgerExport.copy();
      expect(readCopy(folder(0))).toEqual(rows(fiveEntries));
      expect(manifestIn(objects, folder(0))).toMatchObject({
        hour: "2026-01-01T00:00:00.000Z",
        entries: 5,
        cost_nano_usd: String(5 * 427_500),
        parts: [{ entries: 2 }, { entries: 2 }, { entries: 1 }],
      });
      expect(ledgerExport.lagSeconds).toBe(bounds.exportSettleMs / 1_000);
      expect(ledgerExport.counts).toEqual({ hours: 1, entries: 5, failures: 0 });
    });

    test("copies entries before they are deleted after a retention of one day", async () => {
      await using fixture = await make();
      const { ledgerExport, readCopy } = openExport(fixture, 1);
      await fixture.ledgerStore.insert(fiveEntries);
      fixture.clock.advance(hourMs + bounds.exportSettleMs);
      await ledgerExport.copy();
      expect(readCopy(folder(0))).toEqual(rows(fiveEntries));
    });

    test("copies all hours in order, including hours without entries, each once", async () => {
      await using fixture = await make();
      const { ledgerExport, objects, readCopy } = openExport(fixture);
      const facts = ledgerExportFacts({ ledgerExportKeys: null, bucket: null }, fixture, () => place);
      const later = ledgerEntry("later", { at: newYear + 2 * hourMs });
      await fixture.ledgerStore.insert([...fiveEntries, later]);
      fixture.clock.advance(4 * hourMs);
      expect([facts.keys, await facts.copiedUntil()]).toEqual([null, null]);
      await ledgerExport.copy();
      expect(await facts.copiedUntil()).toBe(newYear + 3 * hourMs);
      expect([readCopy(folder(0)).length, readCopy(folder(1)), readCopy(folder(2))]).toEqual([5, [], rows([later])]);
      const before = new Map(objects);
      objects.clear();
      await ledgerExport.copy();
      expect([objects.size, before.has(`${folder(3)}/_manifest.json`)]).toEqual([0, false]);
    });

    test("retries an hour after the bucket fails, and skips none", async () => {
      await using fixture = await make();
      const { ledgerExport, refuse, readCopy } = openExport(fixture);
      const later = ledgerEntry("later", { at: newYear + hourMs });
      await fixture.ledgerStore.insert([...fiveEntries, later]);
      fixture.clock.advance(3 * hourMs);
      for (let failures = 1; failures <= 4; failures++) {
        refuse(1);
        await ledgerExport.copy();
        expect(ledgerExport.counts).toEqual({ hours: 0, entries: 0, failures: failures });
      }
      expect(ledgerExport.lagSeconds).toBe((3 * hourMs) / 1_000);
      await ledgerExport.copy();
      expect([readCopy(folder(0)), readCopy(folder(1))]).toEqual([rows(fiveEntries), rows([later])]);
    });

    test("copies hours again that were copied while the clock was ahead", async () => {
      await using fixture = await make();
      const { ledgerExport, readCopy } = openExport(fixture);
      const facts = ledgerExportFacts({ ledgerExportKeys: null, bucket: null }, fixture, () => place);
      await fixture.ledgerStore.insert(fiveEntries);
      fixture.clock.advance(hourMs + bounds.exportSettleMs);
      fixture.clock.jump(24 * hourMs);
      await ledgerExport.copy();
      fixture.clock.jump(-24 * hourMs);
      expect(await facts.copiedUntil()).toBe(newYear + hourMs);
      const later = ledgerEntry("later", { at: newYear + hourMs });
      await fixture.ledgerStore.insert([later]);
      fixture.clock.advance(hourMs);
      await ledgerExport.copy();
      expect(readCopy(folder(1))).toEqual(rows([later]));
      expect(ledgerExport.lagSeconds).toBe(bounds.exportSettleMs / 1_000);
    });

    test("copies no empty hours for the time whose entries were already deleted", async () => {
      await using fixture = await make();
      const { ledgerExport, objects, readCopy } = openExport(fixture, 1);
      await fixture.ledgerStore.insert(fiveEntries);
      fixture.clock.advance(hourMs + bounds.exportSettleMs);
      await ledgerExport.copy();
      const late = ledgerEntry("late", { at: newYear + 6 * 24 * hourMs + 20 * hourMs });
      await fixture.ledgerStore.insert([late]);
      fixture.clock.advance(7 * 24 * hourMs);
      await ledgerExport.copy();
      expect(objects.has(`${folder(1)}/_manifest.json`)).toBe(false);
      expect(readCopy("date=2026-01-07/hour=20")).toEqual(rows([late]));
      expect(readCopy("date=2026-01-07/hour=19")).toEqual([]);
    });

    test("continues in another process where the first one ended", async () => {
      await using fixture = await make();
      await fixture.ledgerStore.insert([...fiveEntries, ledgerEntry("later", { at: newYear + hourMs })]);
      fixture.clock.advance(hourMs + bounds.exportSettleMs);
      await openExport(fixture).ledgerExport.copy();
      fixture.clock.advance(hourMs);
      const next = openExport(fixture);
      await next.ledgerExport.copy();
      expect([...next.objects.keys()]).toEqual([`${folder(1)}/part-00000.jsonl.gz`, `${folder(1)}/_manifest.json`]);
    });

    test("copies an hour again, with the same names, after a late entry", async () => {
      await using fixture = await make();
      const { ledgerExport, objects, readCopy } = openExport(fixture);
      await fixture.ledgerStore.insert(fiveEntries);
      fixture.clock.advance(hourMs + bounds.exportSettleMs);
      await ledgerExport.copy();
      const names = [...objects.keys()];
      const late = ledgerEntry("late", { at: newYear + 1 });
      await fixture.ledgerStore.insert([late]);
      await ledgerExport.copy();
      expect(readCopy(folder(0))).toHaveLength(5);
      fixture.clock.advance(exportCheckMs + 1);
      await ledgerExport.copy();
      const [first, ...others] = fiveEntries;
      expect(readCopy(folder(0))).toEqual(rows([first as LedgerEntry, late, ...others]));
      expect([...objects.keys()].filter((name) => name.startsWith(folder(0)))).toEqual(names);
    });

    test("finds a late entry days later, and keeps the copy of deleted entries", async () => {
      await using fixture = await make();
      const { ledgerExport, readCopy } = openExport(fixture);
      await fixture.ledgerStore.insert(fiveEntries);
      fixture.clock.advance(exportYoungMs * 2);
      await ledgerExport.copy();
      await fixture.ledgerStore.insert([ledgerEntry("late", { at: newYear + 1 })]);
      fixture.clock.advance(exportCheckOldMs + 1);
      await ledgerExport.copy();
      expect(readCopy(folder(0))).toHaveLength(6);
      await fixture.ledgerStore.prune(newYear + hourMs);
      fixture.clock.advance(exportCheckOldMs + 1);
      await ledgerExport.copy();
      expect(readCopy(folder(0))).toHaveLength(6);
    });

    test("copies FOCUS rows of closed days if the format asks for them, with or without entries", async () => {
      await using fixture = await make();
      const { ledgerExport, objects, moveTo, refuse } = openExport(fixture);
      await fixture.ledgerStore.insert(fiveEntries);
      moveTo({ ...place, formats: ["focus"] });
      fixture.clock.advance(48 * hourMs - 1);
      await ledgerExport.copy();
      expect([objects.size, ledgerExport.lagSeconds]).toEqual([0, 0]);
      fixture.clock.advance(1);
      refuse(1);
      await ledgerExport.copy();
      expect([objects.size, ledgerExport.counts.failures]).toEqual([0, 1]);
      await ledgerExport.copy();
      const names = ["part-00000.csv.gz", "_manifest.json"].map((name) => `focus/date=2026-01-01/${name}`);
      expect([...objects.keys()]).toEqual(names);
      expect(manifestIn(objects, "focus/date=2026-01-01")).toMatchObject({ billed_cost_nano_usd: String(5 * 427_500) });
      moveTo({ ...place, formats: ["jsonl", "focus"] });
      await ledgerExport.copy();
      expect([...objects.keys()]).toContain(`${folder(0)}/_manifest.json`);
    });

    test("copies everything to a new bucket, and nothing without a bucket", async () => {
      await using fixture = await make();
      const { ledgerExport, objects, moveTo, readCopy } = openExport(fixture);
      await fixture.ledgerStore.insert(fiveEntries);
      moveTo(null);
      fixture.clock.advance(2 * hourMs);
      await ledgerExport.copy();
      expect([objects.size, ledgerExport.lagSeconds]).toEqual([0, 0]);
      moveTo(place);
      await ledgerExport.copy();
      objects.clear();
      moveTo({ ...place, bucket: "other" });
      await ledgerExport.copy();
      expect(readCopy(folder(0))).toEqual(rows(fiveEntries));
    });
  });
}

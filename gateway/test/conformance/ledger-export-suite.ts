import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { bounds, exportedRow, type LedgerEntry, type LedgerExportPlace } from "#core/index.ts";
import { LedgerExport, ledgerExportFacts } from "#main/ledger-export.ts";
import type { HeldLease } from "#ports/index.ts";
import { createExportedHours } from "#storage/index.ts";
import { exportCheckMs, exportCheckOldMs, exportYoungMs } from "#storage/ledger-export/exported-hours.ts";
import { countHours, readPart } from "../../src/storage/ledger-export/export-reading.ts";
import { ledgerEntry, newYear, type StoreGround, type StoreGroundFactory, silentObserver } from "./store-ground.ts";

const hourMs = 3_600_000;
const place: LedgerExportPlace = { bucket: "books", prefix: "", region: "eu-test-1", endpoint: null };

/** Copies of a ledger's hours in a bucket of the test's own, in objects of two entries. */
function openExport({ database, clock }: StoreGround, retentionDays = 30) {
  const objects = new Map<string, Uint8Array>();
  let refused = 0;
  let at: LedgerExportPlace | null = place;
  const hours = createExportedHours(database);
  const exported = new LedgerExport({
    place: () => at,
    retentionDays: () => retentionDays,
    storeOf: () => ({
      async put(name, bytes, sha256) {
        if (refused-- > 0) throw new Error("the bucket answered 503 SlowDown");
        expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
        objects.set(name, bytes);
      },
    }),
    hours,
    reader: {
      counted: (asked) => countHours(database, asked),
      part: (hour, from) => readPart(database, hour, from, { entries: 2, bytes: 1_000_000 }),
      rest: async () => {},
    },
    leadership: { once: async (_, work) => ({ result: await work(lease) }) },
    clock,
    observer: silentObserver,
  });
  return {
    exported,
    objects,
    refuse: (times: number) => {
      refused = times;
    },
    moveTo: (other: LedgerExportPlace | null) => {
      at = other;
    },
    /** What the copy of an hour tells, put together as a reader would. */
    copied(folder: string): readonly unknown[] {
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

const lease = {
  ...{ name: "ledger-export", owner: "proc_1", fence: 1, isHeld: true },
  signal: new AbortController().signal,
} as HeldLease;

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
const five = ["e", "a", "c", "b", "d"].map((name, place) => ledgerEntry(name, { at: newYear + place * 60_000 }));

export function ledgerExportSuite(name: string, make: StoreGroundFactory): void {
  describe(`${name}: copies of the ledger`, () => {
    test("an hour is copied when it has been over for a while, oldest entry first, with the columns of the export", async () => {
      await using ground = await make();
      const { exported, objects, copied } = openExport(ground);
      await ground.ledgerStore.insert(five);
      ground.clock.advance(hourMs + bounds.exportSettleMs - 1);
      await exported.copy();
      expect([objects.size, exported.lagSeconds > 4_000]).toEqual([0, true]);
      ground.clock.advance(1);
      await exported.copy();
      expect(copied(folder(0))).toEqual(rows(five));
      expect(manifestIn(objects, folder(0))).toMatchObject({
        hour: "2026-01-01T00:00:00.000Z",
        entries: 5,
        cost_nano_usd: String(5 * 427_500),
        parts: [{ entries: 2 }, { entries: 2 }, { entries: 1 }],
      });
      expect(exported.lagSeconds).toBe(bounds.exportSettleMs / 1_000);
      expect(exported.counts).toEqual({ hours: 1, entries: 5, failures: 0 });
    });

    test("where entries are kept for a single day, they are copied before they go", async () => {
      await using ground = await make();
      const { exported, copied } = openExport(ground, 1);
      await ground.ledgerStore.insert(five);
      ground.clock.advance(hourMs + bounds.exportSettleMs);
      await exported.copy();
      expect(copied(folder(0))).toEqual(rows(five));
    });

    test("hours are copied in their order, also those without an entry, and each once", async () => {
      await using ground = await make();
      const { exported, objects, copied } = openExport(ground);
      const told = ledgerExportFacts({ ledgerExportKeys: null, bucket: null }, ground, () => place);
      const later = ledgerEntry("later", { at: newYear + 2 * hourMs });
      await ground.ledgerStore.insert([...five, later]);
      ground.clock.advance(4 * hourMs);
      expect([told.keys, await told.copiedUntil()]).toEqual([null, null]);
      await exported.copy();
      expect(await told.copiedUntil()).toBe(newYear + 3 * hourMs);
      expect([copied(folder(0)).length, copied(folder(1)), copied(folder(2))]).toEqual([5, [], rows([later])]);
      const before = new Map(objects);
      objects.clear();
      await exported.copy();
      expect([objects.size, before.has(`${folder(3)}/_manifest.json`)]).toEqual([0, false]);
    });

    test("a bucket that refuses delays hours and loses none: the one that was broken off is copied again", async () => {
      await using ground = await make();
      const { exported, refuse, copied } = openExport(ground);
      const later = ledgerEntry("later", { at: newYear + hourMs });
      await ground.ledgerStore.insert([...five, later]);
      ground.clock.advance(3 * hourMs);
      for (let broken = 1; broken <= 4; broken++) {
        refuse(1);
        await exported.copy();
        expect(exported.counts).toEqual({ hours: 0, entries: 0, failures: broken });
      }
      expect(exported.lagSeconds).toBe((3 * hourMs) / 1_000);
      await exported.copy();
      expect([copied(folder(0)), copied(folder(1))]).toEqual([rows(five), rows([later])]);
    });

    test("hours that were copied while the clock was ahead are copied again when they are over", async () => {
      await using ground = await make();
      const { exported, copied } = openExport(ground);
      const told = ledgerExportFacts({ ledgerExportKeys: null, bucket: null }, ground, () => place);
      await ground.ledgerStore.insert(five);
      ground.clock.advance(hourMs + bounds.exportSettleMs);
      ground.clock.jump(24 * hourMs);
      await exported.copy();
      ground.clock.jump(-24 * hourMs);
      expect(await told.copiedUntil()).toBe(newYear + hourMs);
      const later = ledgerEntry("later", { at: newYear + hourMs });
      await ground.ledgerStore.insert([later]);
      ground.clock.advance(hourMs);
      await exported.copy();
      expect(copied(folder(1))).toEqual(rows([later]));
      expect(exported.lagSeconds).toBe(bounds.exportSettleMs / 1_000);
    });

    test("where nothing was copied for longer than entries are kept, no hour is said to have been without calls of which nobody knows", async () => {
      await using ground = await make();
      const { exported, objects, copied } = openExport(ground, 1);
      await ground.ledgerStore.insert(five);
      ground.clock.advance(hourMs + bounds.exportSettleMs);
      await exported.copy();
      const late = ledgerEntry("late", { at: newYear + 6 * 24 * hourMs + 20 * hourMs });
      await ground.ledgerStore.insert([late]);
      ground.clock.advance(7 * 24 * hourMs);
      await exported.copy();
      expect(objects.has(`${folder(1)}/_manifest.json`)).toBe(false);
      expect(copied("date=2026-01-07/hour=20")).toEqual(rows([late]));
      expect(copied("date=2026-01-07/hour=19")).toEqual([]);
    });

    test("another process goes on where one ended", async () => {
      await using ground = await make();
      await ground.ledgerStore.insert([...five, ledgerEntry("later", { at: newYear + hourMs })]);
      ground.clock.advance(hourMs + bounds.exportSettleMs);
      await openExport(ground).exported.copy();
      ground.clock.advance(hourMs);
      const next = openExport(ground);
      await next.exported.copy();
      expect([...next.objects.keys()]).toEqual([`${folder(1)}/part-00000.jsonl.gz`, `${folder(1)}/_manifest.json`]);
    });

    test("an hour to which an entry came late is copied again, under the same names", async () => {
      await using ground = await make();
      const { exported, objects, copied } = openExport(ground);
      await ground.ledgerStore.insert(five);
      ground.clock.advance(hourMs + bounds.exportSettleMs);
      await exported.copy();
      const names = [...objects.keys()];
      const late = ledgerEntry("late", { at: newYear + 1 });
      await ground.ledgerStore.insert([late]);
      await exported.copy();
      expect(copied(folder(0))).toHaveLength(5);
      ground.clock.advance(exportCheckMs + 1);
      await exported.copy();
      const [first, ...others] = five;
      expect(copied(folder(0))).toEqual(rows([first as LedgerEntry, late, ...others]));
      expect([...objects.keys()].filter((name) => name.startsWith(folder(0)))).toEqual(names);
    });

    test("days later it is still found, and what was pruned since does not undo a copy", async () => {
      await using ground = await make();
      const { exported, copied } = openExport(ground);
      await ground.ledgerStore.insert(five);
      ground.clock.advance(exportYoungMs * 2);
      await exported.copy();
      await ground.ledgerStore.insert([ledgerEntry("late", { at: newYear + 1 })]);
      ground.clock.advance(exportCheckOldMs + 1);
      await exported.copy();
      expect(copied(folder(0))).toHaveLength(6);
      await ground.ledgerStore.prune(newYear + hourMs);
      ground.clock.advance(exportCheckOldMs + 1);
      await exported.copy();
      expect(copied(folder(0))).toHaveLength(6);
    });

    test("another bucket gets everything that is kept, and without one nothing is done", async () => {
      await using ground = await make();
      const { exported, objects, moveTo, copied } = openExport(ground);
      await ground.ledgerStore.insert(five);
      moveTo(null);
      ground.clock.advance(2 * hourMs);
      await exported.copy();
      expect([objects.size, exported.lagSeconds]).toEqual([0, 0]);
      moveTo(place);
      await exported.copy();
      objects.clear();
      moveTo({ ...place, bucket: "other" });
      await exported.copy();
      expect(copied(folder(0))).toEqual(rows(five));
    });
  });
}

import { describe, expect, test } from "bun:test";
import { BatchHolds } from "#batches/holds.ts";
import { createBatchStore } from "#batches/index.ts";
import { createMemoryCounter } from "#coordination/index.ts";
import {
  type Batch,
  type BatchRow,
  type BudgetPolicy,
  batchPieceRows,
  batchRequestId,
  noUsage,
  policyScope,
} from "#core/index.ts";
import { Admission } from "#limits/index.ts";
import type { LedgerStore } from "#ports/index.ts";
import type { Database } from "#storage/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { ledgerEntry, newYear } from "./store-fixture.ts";

interface BatchFixture extends AsyncDisposable {
  readonly database: Database;
  readonly ledgerStore: LedgerStore;
}

const minute = 60_000;
const me = "proc_me";
const dead = "proc_dead";

function batchOf(name: string, more: Partial<Batch> = {}): Batch {
  return {
    ...{ id: `batch_${name}`, workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1", api: "openai", endpoint: "chat" },
    ...{
      model: "gpt",
      state: "in_progress",
      displayName: "",
      metadata: { team: "search" },
      headers: {},
      userAgent: "",
      tags: {},
    },
    ...{ inputFileId: null, inputHash: "aa", outputHash: null, outputBytes: 0, outputFileId: null, errorFileId: null },
    ...{ outputLifeMs: null, errors: [], total: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0, costNanoUsd: 0 },
    ...{
      inputTokens: 0,
      cachedTokens: 0,
      outputTokens: 0,
      reasoningTokens: 0,
      budgets: ["key key_1 total"],
      progressAt: null,
    },
    ...{ holds: [1, 2], provider: null, deployment: null, upstreamModel: null, priceVersion: null, uploadId: null },
    ...{ submittedAt: null, upstreamId: null, vendorHash: null, vendorBytes: 0, vendorLines: 0, createdAt: newYear },
    ...{ startedAt: newYear, finalizingAt: null, endedAt: null, cancelAt: null, expiresAt: newYear + minute },
    ...{ deleteAt: newYear + minute, dueAt: newYear, hintAt: null },
    ...more,
  };
}

function rowsOf(batchId: string, count: number): BatchRow[] {
  return Array.from({ length: count }, (_, position) => ({
    ...{ batchId, position, customId: `c${position}`, start: position, bytes: 1, state: "pending" as const },
    ...{ owner: null, httpStatus: null, result: null },
  }));
}

const ended = ({ position, customId, start, bytes }: BatchRow, costNanoUsd = 7) => ({
  ...{ position, customId, start, bytes, state: "succeeded" as const, httpStatus: 200, result: "{}", costNanoUsd },
  usage: { ...noUsage, inputUncached: 3, cacheRead: 2, output: 4, reasoning: 1 },
});

/** The store of batches, on any database. */
export function batchStoreSuite(name: string, open: () => Promise<BatchFixture>): void {
  describe(`batches on ${name}`, () => {
    test("policies of models, providers and tags read the costs of a vendor's batch from the ledger", async () => {
      await using fixture = await open();
      const clock = new FakeClock(newYear + minute);
      const tags = { team: "search" };
      const match = { models: ["gpt"], providers: ["main"], tags: { team: ["search"] } };
      const budget = { nanoUsd: 1_000, period: "day" } as const;
      const policy: BudgetPolicy = { id: "bgt_1", name: "p", workspaceId: null, budget, match, splitBy: null };
      let amount = 0;
      const reports = { spending: async () => ({ spent: [{ amount, later: 0 }], recent: [] }) };
      const admission = new Admission({
        ...{ counter: createMemoryCounter({ clock }), clock, policies: () => [policy] },
        spending: { reports, settled: async () => undefined, observer: { log: () => undefined } },
      });
      const usedUsd = async () => (await admission.limitUsages([policyScope({ policy, value: null })]))[0]?.used;
      const store = createBatchStore(fixture);
      const holds = new BatchHolds({ admission, store, principalOf: async () => null, clock });
      expect(await usedUsd()).toBe(0);
      amount = 700;
      holds.readCosts(batchOf("a", { provider: "main", tags, costNanoUsd: 700 }));
      await Promise.resolve();
      expect(await usedUsd()).toBe(0.0000007);
      admission.close();
    });

    test("one process has a batch at a time, until its lease ends", async () => {
      await using fixture = await open();
      const store = createBatchStore(fixture);
      await store.step(await store.create(batchOf("a"), me, newYear + minute), {}, true);
      const [leased] = await store.lease(me, newYear, minute, 10);
      expect(leased?.batch).toEqual(batchOf("a"));
      if (leased === undefined) throw new Error("not leased");
      expect(await store.lease(dead, newYear, minute, 10)).toEqual([]);
      const [second] = await store.lease(dead, newYear + minute, minute, 10);
      expect(second?.batch.id).toBe("batch_a");
      expect(await store.renew(leased, newYear + 9 * minute)).toBeNull();
      expect(await store.step(leased, { state: "completed" }, true)).toBe(false);
      // Its rows decide about the rest; without any, only the lease ends.
      await store.resolveRows(dead, true, newYear);
      expect(await store.lease(me, newYear + minute, minute, 10)).toHaveLength(1);
    });

    test("takes each row once, in order, and counts its end once", async () => {
      await using fixture = await open();
      const store = createBatchStore(fixture);
      await store.create(batchOf("a", { total: 250 }), me, newYear);
      await store.addRows(rowsOf("batch_a", 250));
      const rows = [];
      for (;;) {
        const some = await store.takeRows("batch_a", me, 100);
        if (some.length === 0) break;
        rows.push(...some);
      }
      expect(rows.map(({ position }) => position)).toEqual(rowsOf("x", 250).map(({ position }) => position));
      await store.returnRows("batch_a", me, [3, 4]);
      expect((await store.takeRows("batch_a", me, 100)).map(({ position }) => position)).toEqual([3, 4]);
      const ends = rows.slice(0, 130).map((row) => ended(row));
      await store.endRows("batch_a", me, ends, newYear);
      await store.endRows("batch_a", me, ends, newYear);
      await store.endRows(
        "batch_a",
        dead,
        rows.slice(130).map((row) => ended(row)),
        newYear,
      );
      expect(await store.findById("batch_a")).toMatchObject({ succeeded: 130, errored: 0, costNanoUsd: 130 * 7 });
      expect(await store.findById("batch_a")).toMatchObject({
        ...{
          inputTokens: 130 * 5,
          cachedTokens: 130 * 2,
          outputTokens: 130 * 4,
          reasoningTokens: 130,
          progressAt: newYear,
        },
      });
      expect(await store.openPieces("batch_a")).toEqual([{ piece: 0, rows: 120 }]);
    });

    test("ends rows that have not begun, and reads and deletes all rows in order", async () => {
      await using fixture = await open();
      const store = createBatchStore(fixture);
      const count = batchPieceRows + 300;
      await store.create(batchOf("a", { total: count }), me, newYear);
      await store.addRows(rowsOf("batch_a", count));
      const [first] = await store.takeRows("batch_a", me, 1);
      if (first === undefined) throw new Error("no row");
      expect(await store.openPieces("batch_a")).toEqual([
        { piece: 0, rows: batchPieceRows },
        { piece: 1, rows: 300 },
      ]);
      expect(await store.endPending("batch_a", "canceled", newYear)).toBe(count - 1);
      expect(await store.findById("batch_a")).toMatchObject({ canceled: count - 1 });
      const page = await store.rows("batch_a", 1_000, 50);
      expect(page.map(({ position }) => position)).toEqual(Array.from({ length: 50 }, (_, n) => 1_001 + n));
      await store.deleteRows("batch_a");
      expect(await store.rows("batch_a", -1, 10)).toEqual([]);
    });

    test("decides by the ledger about rows of a dead process", async () => {
      await using fixture = await open();
      const store = createBatchStore(fixture);
      await store.create(batchOf("a", { total: 6 }), dead, newYear + minute);
      await store.addRows(rowsOf("batch_a", 6));
      await store.takeRows("batch_a", dead, 5);
      const entry = (position: number, more: object) =>
        ledgerEntry(`e${position}`, {
          requestId: batchRequestId("batch_a", position),
          batchId: "batch_a",
          customId: `c${position}`,
          ...more,
        });
      await fixture.ledgerStore.insert([
        entry(0, { outcome: "succeeded", costNanoUsd: 11 }),
        entry(1, { outcome: "interrupted", costNanoUsd: 5 }),
        entry(2, { outcome: "failed", httpStatus: 429, costNanoUsd: 0 }),
        entry(3, { outcome: "failed", httpStatus: 504, costNanoUsd: 0 }),
      ]);
      await store.resolveRows(dead, true, newYear);
      const states = (await store.rows("batch_a", -1, 10)).map(({ state }) => state);
      expect(states).toEqual(["errored", "errored", "pending", "errored", "pending", "pending"]);
      expect(await store.findById("batch_a")).toMatchObject({ errored: 3, succeeded: 0, costNanoUsd: 16 });
      await store.takeRows("batch_a", dead, 100);
      await store.resolveRows(dead, false, newYear);
      expect(await store.findById("batch_a")).toMatchObject({ errored: 6, costNanoUsd: 16 });
      expect(await store.owners()).toEqual([]);
    });

    test("settles rows of a vendor's batch once, with their entries and the number of lines", async () => {
      await using fixture = await open();
      const store = createBatchStore(fixture);
      const leased = await store.create(batchOf("a", { total: 3 }), me, newYear + minute);
      const rows = rowsOf("batch_a", 3);
      await store.addRows(rows);
      const settled = rows.slice(0, 2).map((row) => ({
        ...ended(row, 9),
        entry: ledgerEntry(`e${row.position}`, {
          requestId: `req_${row.position}`,
          costNanoUsd: 9,
          batchId: "batch_a",
          customId: row.customId,
        }),
      }));
      expect(await store.settleRows(leased, settled, 2, newYear)).toHaveLength(2);
      expect(await store.settleRows(leased, settled, 2, newYear)).toHaveLength(0);
      expect(await store.settleRows({ ...leased, lease: "other" }, settled, 9, newYear)).toBeNull();
      expect(await store.findById("batch_a")).toMatchObject({ succeeded: 2, costNanoUsd: 18, vendorLines: 2 });
      const { entries } = await fixture.ledgerStore.page({}, null, 10);
      expect(entries.map(({ batchId, customId }) => `${batchId} ${customId}`).sort()).toEqual([
        "batch_a c0",
        "batch_a c1",
      ]);
    });

    test("makes a vendor's batch due at a hint, also while it is leased, but not twice in five seconds or for a replay", async () => {
      await using fixture = await open();
      const store = createBatchStore(fixture);
      const far = newYear + minute;
      const batch = batchOf("a", { provider: "main", upstreamId: "up_1", dueAt: newYear });
      await store.step(await store.create(batch, me, far), {}, true);
      const dueAt = async () => (await store.findById("batch_a"))?.dueAt;
      const lease = async (now: number) => {
        const [leased] = await store.lease(me, now, minute, 10);
        if (leased === undefined) throw new Error("not leased");
        return leased;
      };
      await store.release(await lease(newYear), far);
      expect(await dueAt()).toBe(far);
      expect(await store.hint("other", "up_1", newYear + 1_000, newYear + 1_000)).toBe(false);
      expect(await store.hint("main", "up_2", newYear + 1_000, newYear + 1_000)).toBe(false);
      expect(await store.hint("main", "up_1", newYear + 1_000, newYear + 1_000)).toBe(true);
      expect(await dueAt()).toBe(newYear + 1_000);
      await store.release(await lease(newYear + 1_000), far);
      expect(await dueAt()).toBe(far);
      expect(await store.hint("main", "up_1", newYear + 3_000, newYear + 3_000)).toBe(false);
      expect(await store.hint("main", "up_1", newYear + 1_000 - 1, newYear + 9_000)).toBe(false);
      expect(await dueAt()).toBe(far);
      const polled = await lease(far);
      expect(await store.hint("main", "up_1", far + 1_000, far + 1_000)).toBe(true);
      await store.release(polled, far + 9_000);
      expect(await dueAt()).toBe(far + 1_000);
      await store.step(await lease(far + 1_000), { state: "completed" }, true);
      expect(await store.hint("main", "up_1", far + minute, far + minute)).toBe(false);
      expect(await dueAt()).toBeNull();
    });

    test("pages batches of one workspace and API in both directions, and hides batches that are being created", async () => {
      await using fixture = await open();
      const store = createBatchStore(fixture);
      for (let n = 0; n < 5; n++) await store.create(batchOf(`${n}`, { createdAt: newYear + n }), me, newYear);
      await store.create(batchOf("other", { workspaceId: "ws_2" }), me, newYear);
      await store.create(batchOf("new", { state: "validating" }), me, newYear);
      const filter = { workspaceId: "ws_1", api: "openai" } as const;
      const idsOf = ({ batches }: { readonly batches: readonly Batch[] }) => batches.map(({ id }) => id);
      const first = await store.page(filter, {}, 2);
      expect(idsOf(first)).toEqual(["batch_4", "batch_3"]);
      expect(idsOf(await store.page(filter, { after: first.next }, 2))).toEqual(["batch_2", "batch_1"]);
      expect(idsOf(await store.page(filter, { before: { at: newYear + 1, id: "batch_1" } }, 2))).toEqual([
        "batch_3",
        "batch_2",
      ]);
      expect(await store.find("ws_1", "batch_new")).toBeNull();
      expect(await store.find("ws_2", "batch_0")).toBeNull();
      expect(await store.openCount("ws_1")).toBe(6);
    });
  });
}

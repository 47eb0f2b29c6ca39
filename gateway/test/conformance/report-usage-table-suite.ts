import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type UsageDimension, type UsageSort, usageDimensions, usageSorts } from "@sluice/contract";
import fc from "fast-check";
import type { LedgerEntry } from "#core/index.ts";
import type { UsageRow, UsageRowsFilter } from "#ports/index.ts";
import { type ReportFixture, runsOn } from "./report-fixture.ts";
import { columnOf, day, expectFigures, hour, matching } from "./report-store-suite.ts";
import { ledgerEntry, newYear } from "./store-fixture.ts";

type RowDimension = UsageRowsFilter["by"];
const dimensions = usageDimensions.filter((each): each is RowDimension => each !== "none");

/** Guarantees of lists of usage by any dimension, of chargeback reports, and of tags, on every database. */
export function reportUsageTableSuite(name: string, open: (count: number) => Promise<ReportFixture>): void {
  describe(`usage tables: ${name}`, () => {
    let fixture: ReportFixture;
    beforeAll(async () => {
      fixture = await open(900);
    });
    afterAll(() => fixture[Symbol.asyncDispose]());

    test("lists every value of every dimension, in any order and page size, with the sums of the ledger", async () => {
      const { entries, acme } = fixture;
      const query = fc.record({
        by: fc.constantFrom<UsageDimension>(...dimensions),
        sort: fc.constantFrom<UsageSort>(...usageSorts),
        limit: fc.constantFrom(2, 7, 200),
        workspaceId: fc.constantFrom(null, acme.id),
        fromHour: fc.integer({ min: 0, max: 60 }),
        hours: fc.integer({ min: 1, max: 80 }),
        filters: fc.record(
          {
            model: fc.constantFrom("m1", "m2"),
            userAgent: fc.constantFrom("claude-code", "other", ""),
            endpoint: fc.constantFrom("messages", "chat"),
            personId: fc.constantFrom("usr_1", ""),
            tagValue: fc.constantFrom("t0", "t2", ""),
          },
          { requiredKeys: [] },
        ),
      });
      await fc.assert(
        fc.asyncProperty(query, async ({ by, sort, limit, workspaceId, fromHour, hours, filters }) => {
          const from = newYear + fromHour * hour;
          const time = { from, to: from + hours * hour };
          const compared = { from: newYear, to: newYear + 30 * hour };
          const filter = { ...filters, tag: "team", workspaceId, ...time, by, sort, compared } as UsageRowsFilter;
          const inTime = matchingAll(entries, filter);
          const { rows, first } = await everyPage(fixture, filter, limit);
          const expected = Map.groupBy(inTime, (entry) => columnOf[by as RowDimension](entry) || "-");
          expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(expected.keys()));
          expect([rows.length, first.count]).toEqual([expected.size, expected.size]);
          const before = matchingAll(entries, { ...filter, ...compared });
          for (const { id, figures, costNanoUsd, previous } of rows) {
            const own = expected.get(id) ?? [];
            expectFigures(figures, own);
            expect(costNanoUsd).toBe(costOf(own));
            if (previous === null) throw new Error("the compared time is missing");
            expectFigures(
              previous,
              before.filter((entry) => (columnOf[by as RowDimension](entry) || "-") === id),
            );
          }
          expectFigures(first.totals, inTime);
          expect(rows.reduce((sum, row) => sum + row.costNanoUsd, 0)).toBe(costOf(inTime));
          expect(first.costNanoUsd).toBe(costOf(inTime));
          expectOrder(rows, sort);
        }),
        { numRuns: runsOn(name, 60) },
      );
    });

    test("finds rows by part of their label, with the totals of everything", async () => {
      const { reports, entries } = fixture;
      const time = { workspaceId: null, from: newYear, to: newYear + 3 * day };
      const found = await reports.usageRows({ ...time, by: "key", sort: "-cost_usd", search: "A/C" }, null, 50);
      expect(found.data.map(({ label }) => label).toSorted()).toEqual(["beta/ci"]);
      expect(found.count).toBe(1);
      expectFigures(found.totals, entries);
      const none = await reports.usageRows({ ...time, by: "model", sort: "label", search: "nothing" }, null, 50);
      expect([none.data.length, none.count, none.next]).toEqual([0, 0, null]);
    });

    test("shows a person only their own row by person, with the totals of everyone", async () => {
      const { reports, entries } = fixture;
      const time = { workspaceId: null, from: newYear, to: newYear + 3 * day };
      const filter = { ...time, by: "person", sort: "-cost_usd", visiblePerson: "usr_1" } as const;
      const found = await reports.usageRows(filter, null, 50);
      expect(new Set(found.data.map(({ id }) => id))).toEqual(new Set(["usr_1", "-"]));
      expectFigures(found.totals, entries);
    });

    test("refuses a cursor of another order", async () => {
      const { reports } = fixture;
      const filter = { workspaceId: null, from: newYear, to: newYear + day, by: "model" } as const;
      const { next } = await reports.usageRows({ ...filter, sort: "-cost_usd" }, null, 1);
      for (const cursor of [next, "nonsense"]) {
        const refused = await reports
          .usageRows({ ...filter, sort: "requests" }, cursor, 1)
          .catch((thrown: unknown) => thrown);
        expect(refused).toMatchObject({ code: "invalid_request", param: "cursor" });
      }
    });

    test("charges each nano-dollar of a month to one group, workspace or tag value", async () => {
      const { reports, entries, acme } = fixture;
      const months = [0, 1, 2].map((n) => ({
        from: newYear + n * day + n * hour,
        to: newYear + (n + 1) * (day + hour),
      }));
      for (const by of ["group", "workspace", "tag"] as const) {
        for (const workspaceId of [null, acme.id]) {
          const { data, totals } = await reports.chargeback({ workspaceId, by, tag: "team", months });
          const sums = months.map((month) => {
            const inMonth = matchingAll(entries, { workspaceId, ...month });
            return { all: costOf(inMonth), rows: Map.groupBy(inMonth, (entry) => columnOf[by](entry) || "-") };
          });
          expect(totals).toEqual(sums.map(({ all }) => all));
          for (const { id, costNanoUsd } of data) {
            expect(costNanoUsd).toEqual(sums.map(({ rows }) => costOf(rows.get(id) ?? [])));
          }
          expect(totals).toEqual(months.map((_, n) => data.reduce((sum, row) => sum + (row.costNanoUsd[n] ?? 0), 0)));
          const costs = data.map((row) => row.costNanoUsd.reduce((sum, cost) => sum + cost, 0));
          expect(costs).toEqual(costs.toSorted((a, b) => b - a));
        }
      }
    });

    test("sums days of a time zone, in which daylight saving time begins, and whole hours of half-hour zones", async () => {
      await using own = await open(0);
      const { ledgerStore, reports } = own;
      const start = Date.UTC(2026, 2, 27, 22);
      const entries = Array.from({ length: 96 }, (_, n) =>
        ledgerEntry(`dst_${n}`, { at: start + n * hour + 60_000, costNanoUsd: 1 + n }),
      );
      await ledgerStore.insert(entries);
      const change = Date.UTC(2026, 2, 29, 1);
      const zone = [
        { until: change, offsetMs: hour },
        { until: Number.MAX_SAFE_INTEGER, offsetMs: 2 * hour },
      ];
      const time = { from: Date.UTC(2026, 2, 27, 23), to: Date.UTC(2026, 2, 30, 22) };
      const { lines, totals } = await reports.usage({ workspaceId: null, by: "none", ...time, stepMs: day, zone });
      const points = lines.flatMap((line) => line.points);
      // Points are named by the local midnight. The 29th of March has 23 hours in Berlin.
      expect(points.map(({ at }) => new Date(at).toISOString().slice(0, 10))).toEqual([
        "2026-03-28",
        "2026-03-29",
        "2026-03-30",
      ]);
      expect(points.map(({ figures }) => figures.requests)).toEqual([24, 23, 24]);
      expect(totals.requests).toBe(71);
      const byModel = await reports.usage({ workspaceId: null, by: "model", ...time, stepMs: day, zone });
      expect(byModel.lines[0]?.points.map(({ figures }) => figures.requests)).toEqual([24, 23, 24]);
      const india = [{ until: Number.MAX_SAFE_INTEGER, offsetMs: 5.5 * hour }];
      const whole = { from: Date.UTC(2026, 2, 28, 19), to: Date.UTC(2026, 2, 30, 19) };
      const half = await reports.usage({ workspaceId: null, by: "none", ...whole, stepMs: day, zone: india });
      expect(half.lines.flatMap((line) => line.points).map(({ figures }) => figures.requests)).toEqual([24, 24]);
    });

    test("bounds the tags of an hour and workspace, and still counts every call once", async () => {
      await using own = await open(0);
      const { ledgerStore, reports, database } = own;
      const entries = Array.from({ length: 1_500 }, (_, n) =>
        ledgerEntry(`tagged_${n}`, {
          at: newYear + n,
          workspaceId: n % 3 === 0 ? "ws_quiet" : "ws_loud",
          costNanoUsd: 1,
          tags:
            n % 3 === 0
              ? { team: "quiet" }
              : { team: `t${n % 2}`, run: `run ${n}`, [`name${n}`]: "x", long: "é".repeat(128) },
        }),
      );
      await ledgerStore.insert(entries);
      const sets = await database.kysely
        .selectFrom("usage_rollups")
        .select(["workspace_id", "tags"])
        .distinct()
        .execute();
      expect(sets.filter(({ workspace_id }) => workspace_id === "ws_loud").length).toBeLessThanOrEqual(501);
      const time = { from: newYear, to: newYear + hour };
      const ofTeam = { ...time, by: "tag", tag: "team", sort: "-cost_usd" } as const;
      const quiet = await reports.usageRows({ ...ofTeam, workspaceId: "ws_quiet" }, null, 9);
      expect(quiet.data.map(({ id, costNanoUsd }) => [id, costNanoUsd])).toEqual([["quiet", 500]]);
      const loud = await reports.usageRows({ ...ofTeam, workspaceId: "ws_loud" }, null, 9);
      expect(loud.costNanoUsd).toBe(1_000);
      expect(loud.data.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0)).toBe(1_000);
      expect((await ledgerStore.check()).faults).toEqual([]);
      expect(await reports.usageTags({ workspaceId: "ws_quiet", ...time })).toEqual(["team"]);
    });

    test("counts tags with any characters, and calls without a tag as a separate row", async () => {
      await using own = await open(0);
      const { ledgerStore, reports } = own;
      const values = ["a.b", "ünï", "🙂", "x\u0000y", "\ud800", "'; drop", "[1]", "$.team"];
      const entries = values.map((value, n) =>
        ledgerEntry(`odd_${n}`, { at: newYear + n, costNanoUsd: n + 1, tags: { "a.b": value } }),
      );
      await ledgerStore.insert([...entries, ledgerEntry("plain", { at: newYear, costNanoUsd: 100 })]);
      const filter = { workspaceId: null, from: newYear, to: newYear + hour, by: "tag", sort: "cost_usd" } as const;
      const { data } = await reports.usageRows({ ...filter, tag: "a.b" }, null, 50);
      expect(data.map(({ id, costNanoUsd }) => [id, costNanoUsd])).toEqual([
        ...values.map((value, n) => [value.toWellFormed().replace("\u0000", "\ufffd"), n + 1]),
        ["-", 100],
      ]);
      const other = await reports.usageRows({ ...filter, tag: "a" }, null, 50);
      expect(other.data.map(({ id }) => id)).toEqual(["-"]);
      expect(await reports.usageTags(filter)).toEqual(["a.b"]);
      expect((await ledgerStore.check()).faults).toEqual([]);
    });
  });
}

function costOf(entries: readonly LedgerEntry[]): number {
  return entries.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
}

function matchingAll(
  entries: readonly LedgerEntry[],
  filter: Pick<UsageRowsFilter, "workspaceId" | "from" | "to" | "personId">,
): readonly LedgerEntry[] {
  const { personId, ...rest } = filter;
  return matching(entries, { ...rest, by: "none", stepMs: hour }).filter(
    (entry) => personId === undefined || (entry.personId ?? "") === personId,
  );
}

async function everyPage({ reports }: ReportFixture, filter: UsageRowsFilter, limit: number) {
  const first = await reports.usageRows(filter, null, limit);
  const rows: UsageRow[] = [...first.data];
  for (let { next } = first; next !== null; ) {
    const page = await reports.usageRows(filter, next, limit);
    rows.push(...page.data);
    next = page.next;
  }
  return { rows, first };
}

function expectOrder(rows: readonly UsageRow[], sort: UsageSort): void {
  const name = sort.replace(/^-/, "");
  const value = ({ label, figures }: UsageRow): number | string | null => {
    if (name === "label") return label.toLowerCase();
    if (name === "tokens") return figures.input_tokens + figures.output_tokens;
    if (name === "error_rate") return figures.requests === 0 ? null : figures.failed_requests / figures.requests;
    return figures[name as keyof typeof figures];
  };
  const values = rows.map(value);
  const present = values.filter((each) => each !== null);
  // Rows without a value come last.
  expect(values.slice(0, present.length)).toEqual(present);
  const ascending = present.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  expect(present).toEqual(sort.startsWith("-") ? ascending.toReversed() : ascending);
}

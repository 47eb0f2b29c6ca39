import { afterAll, beforeAll, expect, test } from "bun:test";
import type { UsageDimension } from "@sluice/contract";
import fc from "fast-check";
import type { UsageFilter, UsageReport } from "#ports/index.ts";
import { openReportFixture, type ReportFixture } from "../../../test/conformance/report-fixture.ts";
import { newYear } from "../../../test/conformance/store-fixture.ts";
import { PastSums } from "./past-sums.ts";
import { Deadline } from "./report-context.ts";
import { usageReport } from "./report-usage.ts";

const minute = 60_000;
const hour = 60 * minute;
const begin = newYear + 100 * hour;

let fixture: ReportFixture;

/** Entries in two hours, including at their exact boundaries. */
beforeAll(async () => {
  fixture = await openReportFixture(900);
  const busy = fixture.entries.map((entry, n) => {
    const at = begin + (n % 50 === 0 ? Math.floor(n / 300) * hour : (n * 7_919_317) % (2 * hour));
    return { ...entry, attemptId: `att_b${n}`, requestId: `req_b${n}`, at, endedAt: at + Math.round(entry.totalMs) };
  });
  await fixture.ledgerStore.insert(busy);
});
afterAll(() => fixture[Symbol.asyncDispose]());

function read(filter: UsageFilter, entriesMax?: number): Promise<UsageReport> {
  const { kysely: connection, flavour } = fixture.database;
  const context = {
    connection,
    flavour,
    price: async () => null,
    deadline: new Deadline(60_000),
    pastSums: new PastSums(),
  };
  return usageReport(context, filter, entriesMax === undefined ? {} : { entriesMax });
}

const wholeHour = { workspaceId: null, by: "model", from: begin + hour, to: begin + 2 * hour } as const;

const withoutPoints = ({ stepMs, lines, previousPoints: _, ...reading }: UsageReport) => ({
  ...reading,
  lines: lines.map(({ points, ...line }) => line),
});

test("returns the same figures from entries and rollups for whole hours, with any filter", async () => {
  const { acme, beta } = fixture;
  const one = <Value>(...values: Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
  const questions = fc.record({
    workspaceId: fc.constantFrom(null, acme.id, beta.id),
    by: fc.constantFrom<UsageDimension>("none", "model", "provider", "key", "group", "workspace"),
    model: one("m1", "m12"),
    provider: one("p0", "p2"),
    keyId: one(...acme.keys, ...beta.keys),
    groupId: one(...acme.groups, ...beta.groups),
    stepMs: fc.constantFrom(minute, 2 * minute, 5 * minute),
    fromHour: fc.constantFrom(0, 1),
  });
  await fc.assert(
    fc.asyncProperty(questions, async ({ fromHour, ...wanted }) => {
      const chosen = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
      const from = begin + fromHour * hour;
      const filter = { ...chosen, from, to: from + hour } as UsageFilter;
      const fine = await read(filter);
      const coarse = await read({ ...filter, stepMs: hour });
      expect([fine.stepMs, coarse.stepMs]).toEqual([filter.stepMs, hour]);
      expect(withoutPoints(fine)).toEqual(withoutPoints(coarse));
      for (const { totals, points } of fine.lines) {
        expect(points.every(({ at }) => at % filter.stepMs === 0 && at >= from && at < from + hour)).toBe(true);
        expect(points.reduce((sum, { figures }) => sum + figures.attempts, 0)).toBe(totals.attempts);
      }
    }),
    { numRuns: 150 },
  );
  // The comparison proves nothing if both hours are empty.
  const { totals, previous } = await read({ ...wholeHour, stepMs: minute });
  expect(Math.min(totals.attempts, previous.attempts, totals.latency_p95_ms ?? 0)).toBeGreaterThan(300);
});

test("ranges that are not whole hours are exact, and so is the preceding range", async () => {
  const filter = { ...wholeHour, by: "none", stepMs: minute } as const;
  const parts = await Promise.all(
    [0, 20, 40].map((offset) =>
      read({ ...filter, from: begin + hour + offset * minute, to: begin + hour + (offset + 20) * minute }),
    ),
  );
  const whole = await read(filter);
  expect(parts.reduce((sum, { totals }) => sum + totals.attempts, 0)).toBe(whole.totals.attempts);
  expect(parts[1]?.previous).toEqual(parts[0]?.totals as never);
  expect(parts[2]?.previous).toEqual(parts[1]?.totals as never);
});

test("reports by hour when there are too many entries", async () => {
  const filter = { ...wholeHour, from: begin + hour + 7 * minute, to: begin + hour + 9 * minute, stepMs: minute };
  const entries = (await read(filter)).totals.attempts + (await read(filter)).previous.attempts;
  expect((await read(filter, entries)).stepMs).toBe(minute);
  expect(await read(filter, entries - 1)).toEqual(await read({ ...wholeHour, stepMs: hour }));
});

test("reports by hour where retention removed entries", async () => {
  const filter = { ...wholeHour, stepMs: minute };
  const before = await read({ ...filter, stepMs: hour });
  await fixture.ledgerStore.prune(begin);
  expect((await read(filter)).stepMs).toBe(minute);
  await fixture.ledgerStore.prune(begin + 1);
  expect(await read(filter)).toEqual(before);
});

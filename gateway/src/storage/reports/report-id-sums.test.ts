import { expect, test } from "bun:test";
import fc from "fast-check";
import { openReportFixture } from "../../../test/conformance/report-fixture.ts";
import { ledgerEntry, newYear } from "../../../test/conformance/store-fixture.ts";
import { PastSums } from "./past-sums.ts";
import { Deadline } from "./report-context.ts";
import { usageReport } from "./report-usage.ts";

const hour = 3_600_000;
const day = 24 * hour;
const days = 4;
const keys = 40;

test("finds the most expensive keys from cached days and hours, however cost is spread over keys and days", async () => {
  await using fixture = await openReportFixture(0);
  const { database, ledgerStore } = fixture;
  const { kysely: connection, flavour } = database;
  const month = { workspaceId: null, by: "key", stepMs: day, from: newYear, to: newYear + days * day } as const;
  let attempts = 0;
  const read = async (pastSums: PastSums) => {
    const context = { connection, flavour, price: async () => null, deadline: new Deadline(60_000), pastSums };
    return await usageReport(context, month);
  };
  const costs = (reading: Awaited<ReturnType<typeof read>>) =>
    reading.lines.filter(({ id }) => id !== "").map(({ totals }) => [totals.cost_usd, totals.attempts]);
  const made = fc.record({
    key: fc.nat(keys - 1),
    day: fc.nat(days - 1),
    // Mostly similar costs, so that the last day and small differences decide the order.
    cost: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 60 })),
  });
  let [asked, known] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.array(made, { minLength: 30, maxLength: 60 }),
      // 0: the numbers of ids start anew with every question.
      fc.constantFrom(0, 1_000_000),
      async (calls, idBytesMax) => {
        for (const table of ["usage_rollups", "summed_days", "summed_hours"] as const) {
          await connection.deleteFrom(table).execute();
        }
        await ledgerStore.insert(
          calls.map(({ key, day: of, cost }) => {
            const name = `d${++attempts}`;
            return ledgerEntry(name, {
              at: newYear + of * day + (attempts % 20) * hour,
              keyId: `key_${key}`,
              costNanoUsd: cost * 1_000_000_000,
            });
          }),
        );
        const hours = await read(new PastSums());
        // The last day is not over yet.
        while ((await ledgerStore.sumDay(newYear + days * day)) > 0);
        while ((await ledgerStore.sumHours(newYear + days * day - 6 * hour)) > 0);
        const pastSums = new PastSums(undefined, idBytesMax);
        const [cold, warm] = [await read(pastSums), await read(pastSums)];
        expect(costs(cold)).toEqual(costs(hours));
        expect(warm).toEqual(cold);
        expect({ ...warm.totals }).toEqual({ ...hours.totals });
        asked += 1;
        known += pastSums.bytes > 0 ? 1 : 0;
      },
    ),
    { numRuns: 25 },
  );
  expect(known).toBe(asked);
});

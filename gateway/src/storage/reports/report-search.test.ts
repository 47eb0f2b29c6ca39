import { expect, test } from "bun:test";
import fc from "fast-check";
import { Deadline } from "./report-context.ts";
import { type SlicedList, slicedPage } from "./report-search.ts";

const noHurry = () => new Deadline(60_000);

/** Numbers in descending order, filtered by `matches`. */
function downwards(highest: number, matches: (n: number) => boolean): SlicedList<number, number> {
  return {
    positionAfter: async (after, entries) => (after - entries >= 1 ? after - entries : null),
    matching: async (after, end, limit) => {
      const found: number[] = [];
      for (let n = Math.min(after - 1, highest); n >= (end ?? 1) && found.length < limit; n--) {
        if (matches(n)) found.push(n);
      }
      return found;
    },
    placeOf: (n) => n,
  };
}

type Page = { readonly rows: readonly number[]; readonly next: number | null };

test("pages contain every match once and in order, however early they end", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.integer({ min: 1, max: 60_000 }), { maxLength: 40 }),
      fc.integer({ min: 1, max: 7 }),
      fc.boolean(),
      async (wanted, size, hurried) => {
        const list = downwards(60_000, (n) => wanted.includes(n));
        const seen: number[] = [];
        let place: number | null = 60_001;
        while (place !== null) {
          const { rows, next }: Page = await slicedPage(list, place, size, noHurry(), hurried ? 0 : 60_000);
          expect(rows.length).toBeLessThanOrEqual(size);
          if (!hurried && next !== null) expect(rows.length).toBe(size);
          seen.push(...rows);
          place = next;
        }
        expect(seen).toEqual(wanted.toSorted((a, b) => b - a));
      },
    ),
    { numRuns: 60 },
  );
});

test("a slow search returns a short page with a cursor", async () => {
  const { rows, next } = await slicedPage(
    downwards(1_000_000, (n) => n === 5),
    1_000_001,
    10,
    noHurry(),
    0,
  );
  expect(rows).toEqual([]);
  expect(next).toBeLessThan(1_000_000);
  expect(next).toBeGreaterThan(5);
});

test("a search that times out stops between two statements", async () => {
  const list = downwards(10, () => true);
  await expect(slicedPage(list, 11, 3, new Deadline(0))).rejects.toMatchObject({ code: "request_timeout" });
});

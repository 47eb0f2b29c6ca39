import { expect, test } from "bun:test";
import fc from "fast-check";
import { Deadline, timeSlices } from "./report-context.ts";

test("a report that times out stops between two statements", async () => {
  const read = async () => undefined;
  await expect(timeSlices({ from: 0, to: 10 }, 1, new Deadline(0), read)).rejects.toMatchObject({
    code: "request_timeout",
  });
});

test("slices cover a time once, without gaps", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(5_000), fc.nat(5_000), fc.integer({ min: 1, max: 700 }), async (from, length, first) => {
      let reached = from;
      await timeSlices({ from, to: from + length }, first, new Deadline(60_000), async (slice) => {
        expect(slice.from).toBe(reached);
        expect(slice.to).toBeGreaterThan(slice.from);
        reached = slice.to;
      });
      expect(reached).toBe(from + length);
    }),
  );
});

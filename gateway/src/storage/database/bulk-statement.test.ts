import { expect, test } from "bun:test";
import fc from "fast-check";
import { CompiledQuery } from "kysely";
import { BulkStatement } from "./bulk-statement.ts";

test("every row is bound once and in order, whatever their number, with few different statements", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(700), fc.integer({ min: 1, max: 60 }), async (count, columns) => {
      const compiled: number[] = [];
      const statement = new BulkStatement<unknown>(columns, 1_000, (rows) => {
        compiled.push(rows);
        return CompiledQuery.raw(`rows ${rows}`);
      });
      const bound: unknown[] = [];
      await statement.run(
        Array.from({ length: count }, (_, n) => n),
        (row, into) => into.push(...Array.from({ length: columns }, () => row)),
        async (query) => {
          expect(query.parameters.length).toBeLessThanOrEqual(1_000);
          expect(query.sql).toBe(`rows ${query.parameters.length / columns}`);
          bound.push(...query.parameters.filter((_, at) => at % columns === 0));
        },
      );
      expect(bound).toEqual(Array.from({ length: count }, (_, n) => n));
      expect(compiled.length).toBeLessThanOrEqual(7);
      expect(new Set(compiled).size).toBe(compiled.length);
    }),
    { numRuns: 60 },
  );
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { readFields } from "./fields.ts";

const name = fc.constantFrom("accept", "content-type", "x-one", "x-two", "idempotency-key", "forwarded");
// A value may be spelled as a name is.
const value = fc.oneof(
  name,
  fc.stringMatching(/^[a-z0-9=;/, ]{0,20}$/).map((text) => text.trim()),
);

test("reads fields as the runtime's Headers do", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 8 }), (fields) => {
      const own = readFields(fields.map(([one, sent]) => `${one}: ${sent}\r\n`).join(""), 0, fields.length);
      const runtime = new Headers();
      for (const [one, sent] of fields) runtime.append(one, sent);
      const byName = (pairs: Iterable<[string, string]>) => [...pairs].sort(([a], [b]) => (a < b ? -1 : 1));
      expect(byName({ [Symbol.iterator]: () => own[Symbol.iterator]() as IterableIterator<[string, string]> })).toEqual(
        byName(runtime),
      );
      for (const one of ["accept", "content-type", "x-one", "x-two", "never-sent"]) {
        expect([own.get(one), own.has(one)]).toEqual([runtime.get(one), runtime.has(one)]);
      }
    }),
  );
});

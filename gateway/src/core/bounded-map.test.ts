import { expect, test } from "bun:test";
import fc from "fast-check";
import { BoundedMap } from "./bounded-map.ts";

const fakeClock = () => ({
  ms: 0,
  monotonic(): number {
    return this.ms;
  },
});

test("never exceeds its bound, and keeps the most recently used entries", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.tuple(fc.constantFrom("get", "set", "delete"), fc.integer({ min: 0, max: 12 })), { maxLength: 200 }),
      (max, calls) => {
        const map = new BoundedMap<number, string>(max);
        const inside = new Map<number, string>();
        for (const [call, key] of calls) {
          if (call === "get") expect(map.get(key)).toBe(inside.get(key));
          if (call === "set") map.set(key, `value ${key}`);
          if (call === "set") inside.set(key, `value ${key}`);
          if (call === "delete") map.delete(key);
          if (call === "delete") inside.delete(key);
          // Evicted keys are no longer found; the last used key is never evicted.
          for (const known of [...inside.keys()]) if (!map.has(known)) inside.delete(known);
          expect(map.size).toBe(inside.size);
          expect(map.size).toBeLessThanOrEqual(max);
          if (call === "set") expect(map.has(key)).toBe(true);
        }
      },
    ),
  );
});

test("a full map removes the least recently used entry", () => {
  const map = new BoundedMap<string, number>(3);
  map.set("a", 1);
  map.set("b", 2);
  map.set("c", 3);
  expect(map.get("a")).toBe(1);
  map.set("d", 4);
  expect(["a", "b", "c", "d"].filter((key) => map.has(key))).toEqual(["a", "c", "d"]);
  map.set("c", 5);
  map.set("e", 6);
  expect(["a", "b", "c", "d", "e"].filter((key) => map.has(key))).toEqual(["c", "d", "e"]);
});

test("`has` does not count as a use", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 2);
  expect(map.has("a")).toBe(true);
  map.set("c", 3);
  expect(map.has("a")).toBe(false);
});

test("an entry expires however often it is used; setting it again renews it", () => {
  const clock = fakeClock();
  const map = new BoundedMap<string, number>(10, { life: { clock, ms: 100 } });
  map.set("a", 1);
  clock.ms += 99;
  expect([map.get("a"), map.has("a")]).toEqual([1, true]);
  clock.ms += 1;
  expect([map.has("a"), map.get("a"), map.size]).toEqual([false, undefined, 0]);
  map.set("a", 2);
  clock.ms += 60;
  map.set("a", 3);
  clock.ms += 60;
  expect(map.get("a")).toBe(3);
});

test("reports each removal once: by the bound, expiry, replacement, deletion or clearing", () => {
  const clock = fakeClock();
  const left: string[] = [];
  const map = new BoundedMap<string, string>(2, { life: { clock, ms: 100 }, onLeave: (value) => left.push(value) });
  for (const name of ["a", "b", "c"]) map.set(name, name);
  expect(left).toEqual(["a"]);
  map.set("b", "b again");
  map.delete("c");
  map.delete("c");
  expect(left).toEqual(["a", "b", "c"]);
  clock.ms += 100;
  expect(map.get("b")).toBeUndefined();
  map.set("d", "d");
  map.clear();
  expect(left).toEqual(["a", "b", "c", "b again", "d"]);
  expect(map.size).toBe(0);
});

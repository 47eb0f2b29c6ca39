import { expect, test } from "bun:test";
import { TenantMap } from "./bounded-map.ts";

test("a tenant that fills the map displaces its own least recently used entries, no other tenant's", () => {
  const map = new TenantMap<number>(100);
  for (let n = 0; n < 10; n++) map.set("small", `s${n}`, n);
  for (let n = 0; n < 10_000; n++) map.set("large", `l${n}`, n);
  for (let n = 0; n < 10; n++) expect(map.get("small", `s${n}`)).toBe(n);
  expect(map.get("large", "l9999")).toBe(9_999);
  expect(map.get("large", "l9000")).toBeUndefined();
});

test("a new tenant finds room in a full map", () => {
  const map = new TenantMap<number>(10);
  for (let n = 0; n < 10; n++) map.set("first", `f${n}`, n);
  map.get("first", "f0");
  map.set("second", "s", 1);
  expect([map.get("second", "s"), map.get("first", "f0"), map.get("first", "f1")]).toEqual([1, 0, undefined]);
});

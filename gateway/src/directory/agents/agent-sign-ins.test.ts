import { expect, test } from "bun:test";
import fc from "fast-check";
import { networksOf } from "#core/index.ts";
import { oldestOfLargestNetworks } from "./agent-sign-ins.ts";

const from = (...addresses: string[]) => addresses.map((ip, age) => ({ ip, age, networks: networksOf(ip) }));
const dropped = (count: number, ...addresses: string[]) =>
  oldestOfLargestNetworks(from(...addresses), count).map(({ ip, age }) => `${age} ${ip}`);

test("picks the oldest item of the address with the most items", () => {
  expect(dropped(1, "192.0.2.1", "198.51.100.1", "198.51.100.1")).toEqual(["1 198.51.100.1"]);
});

test("counts the addresses of one network together", () => {
  expect(dropped(1, "192.0.2.1", "192.0.2.1", "198.51.100.1", "198.51.100.2", "198.51.100.3")).toEqual([
    "2 198.51.100.1",
  ]);
  expect(dropped(1, "2001:db8:2::", "2001:db8:2::", "2001:db8:1:1::", "2001:db8:1:101::", "2001:db8:1:201::")).toEqual([
    "2 2001:db8:1:1::",
  ]);
});

test("picks from the largest part of the largest network and keeps its neighbors", () => {
  const neighbor = "2001:db8:1:ff00::1";
  expect(dropped(1, neighbor, "2001:db8:1:1::", "2001:db8:1:2::", "2001:db8:1:3::")).toEqual(["1 2001:db8:1:1::"]);
});

test("picks the oldest items if all networks are equally large", () => {
  expect(dropped(2, "192.0.2.1", "198.51.100.1", "203.0.113.1")).toEqual(["0 192.0.2.1", "1 198.51.100.1"]);
});

test("picks exactly the requested number, and none from a network smaller than another remains", () => {
  const address = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 3 }));
  fc.assert(
    fc.property(fc.array(address, { minLength: 1, maxLength: 60 }), fc.nat(60), (addresses, wanted) => {
      const waiting = from(...addresses.map(([network, host]) => `10.0.${network}.${host}`));
      const count = Math.min(wanted, waiting.length);
      const gone = new Set(oldestOfLargestNetworks(waiting, count));
      expect(gone.size).toBe(count);
      const sizes = (items: Iterable<(typeof waiting)[number]>) =>
        [...Map.groupBy(items, ({ networks }) => networks[0]).entries()].map(([key, { length }]) => ({ key, length }));
      const left = sizes(waiting.filter((one) => !gone.has(one)));
      const most = Math.max(0, ...left.map(({ length }) => length));
      for (const { key } of sizes(gone)) {
        const keeps = left.find((one) => one.key === key)?.length ?? 0;
        expect(keeps).toBeGreaterThanOrEqual(most - 1);
      }
    }),
  );
});

import { expect, test } from "bun:test";
import { bounds, Failure } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { addressKey, Tries } from "./tries.ts";

const minute = 60_000;

/** How many of `count` tries go through, and how long the first refused one has to wait. */
function use(tries: Tries, key: string, count: number): { taken: number; waitMs: number } {
  for (let taken = 0; taken < count; taken++) {
    try {
      tries.take([key]);
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.code !== "rate_limit_exceeded") throw thrown;
      return { taken, waitMs: thrown.retryAfterMs ?? 0 };
    }
  }
  return { taken: count, waitMs: 0 };
}

test("a window that is used up is followed by one twice as long, up to a day", () => {
  const clock = new FakeClock();
  const tries = new Tries({ max: 10, clock });
  const waits: number[] = [];
  for (let round = 0; round < 9; round++) {
    const { taken, waitMs } = use(tries, "a", 11);
    expect(taken).toBe(10);
    waits.push(waitMs / minute);
    clock.advance(waitMs);
  }
  expect(waits).toEqual([15, 30, 60, 120, 240, 480, 960, 1_440, 1_440]);
});

test("after a window that was not used up, or as much quiet again, the next is a short one", () => {
  const clock = new FakeClock();
  const tries = new Tries({ max: 10, clock });
  use(tries, "a", 10);
  clock.advance(15 * minute);
  expect(use(tries, "a", 3).taken).toBe(3);
  clock.advance(30 * minute);
  expect(use(tries, "a", 11)).toEqual({ taken: 10, waitMs: 15 * minute });
  clock.advance(30 * minute);
  expect(use(tries, "a", 11)).toEqual({ taken: 10, waitMs: 15 * minute });
});

test("a refused try counts against none of its keys", () => {
  const tries = new Tries({ max: 2, clock: new FakeClock() });
  use(tries, "account", 2);
  expect(() => tries.take(["address", "account"])).toThrow("Too many tries");
  expect(use(tries, "address", 3).taken).toBe(2);
});

test("what turned out well is given back, and what was right is forgotten", () => {
  const tries = new Tries({ max: 2, clock: new FakeClock() });
  tries.take(["account", "address"]);
  tries.take(["account", "address"]);
  expect(tries.usedUp("account")).toBe(true);
  tries.giveBack(["address"]);
  tries.forget("account");
  expect(use(tries, "address", 3).taken).toBe(1);
  expect(use(tries, "account", 3).taken).toBe(2);
});

test("a bounded number is remembered, and one that is used up is not pushed out by new ones", () => {
  const tries = new Tries({ max: 2, clock: new FakeClock() });
  use(tries, "guesser", 2);
  for (let index = 0; index < bounds.signInTriersMax + 100; index++) tries.take([`address-${index}`]);
  expect(tries.size).toBe(bounds.signInTriersMax);
  expect(use(tries, "guesser", 1).taken).toBe(0);
});

test("an address of IPv6 stands for its /64, one of IPv4 for itself in either spelling", () => {
  expect(addressKey("2001:db8:1:2::1")).toBe(addressKey("2001:db8:1:2:ffff:ffff:ffff:ffff"));
  expect(addressKey("2001:db8:1:2::1")).not.toBe(addressKey("2001:db8:1:3::1"));
  expect(addressKey("::ffff:192.0.2.1")).toBe(addressKey("192.0.2.1"));
  expect(addressKey("192.0.2.1")).not.toBe(addressKey("192.0.2.2"));
  expect(addressKey("")).toBe(addressKey("not an address"));
});

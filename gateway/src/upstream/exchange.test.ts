import { expect, test } from "bun:test";
import type { Clock } from "#ports/index.ts";
import { Deadlines, OutboundExchange } from "./exchange.ts";

/** A clock with timers that the test fires, perhaps late. */
function handClock() {
  let nowMs = 0;
  let next: { dueMs: number; act: () => void } | null = null;
  const clock: Clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    after: (ms, act) => {
      const mine = { dueMs: nowMs + ms, act };
      next = mine;
      return () => {
        if (next === mine) next = null;
      };
    },
  };
  /** The nearest timer runs, `lateMs` after its time. False: none is set. */
  const ring = (lateMs: number): boolean => {
    if (next === null) return false;
    const { dueMs, act } = next;
    next = null;
    nowMs = dueMs + lateMs;
    act();
    return true;
  };
  return { clock, ring, at: () => nowMs };
}

const open = () => {
  const hand = handClock();
  const deadlines = new Deadlines(hand.clock);
  return {
    ...hand,
    deadlines,
    exchange: new OutboundExchange(deadlines, new AbortController().signal, 60_000, hand.at()),
  };
};

test("a deadline counts if its timer is on time", () => {
  const { exchange, ring } = open();
  exchange.begin("headers", 5_000);
  ring(3);
  expect(exchange.failure?.code).toBe("upstream_timeout");
});

test("after a standstill, arrived bytes are read before a timeout counts", () => {
  const { exchange, ring, at } = open();
  exchange.begin("headers", 5_000);
  ring(7_000);
  expect(exchange.failure).toBeNull();
  // The answer that had arrived long ago is read now, and its body is waited for.
  exchange.begin("idle", 5_000);
  ring(0);
  expect([exchange.failure, at()]).toEqual([null, 13_000]);
  ring(0);
  expect(exchange.failure?.message).toContain("idle");
});

test("a standstill counts anew when the exchanges of an earlier one have ended", () => {
  const { deadlines, exchange, ring, at } = open();
  exchange.begin("headers", 5_000);
  ring(7_000);
  exchange.end();
  const next = new OutboundExchange(deadlines, new AbortController().signal, 60_000, at());
  next.begin("headers", 5_000);
  ring(7_000);
  expect(next.failure).toBeNull();
});

test("a process that never keeps up still times out", () => {
  const { exchange, ring } = open();
  exchange.begin("headers", 5_000);
  ring(7_000);
  ring(7_000);
  expect(exchange.failure?.code).toBe("upstream_timeout");
  expect(ring(0)).toBe(false);
});

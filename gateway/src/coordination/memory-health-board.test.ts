import { expect, test } from "bun:test";
import { FakeClock } from "../../test/fake-clock.ts";
import { createMemoryHealthBoard } from "./memory-health-board.ts";

test("a deployment cools exactly as long as requested, and not at all once cleared", () => {
  const clock = new FakeClock();
  const board = createMemoryHealthBoard(clock);
  board.cool("dep", 5_000, "429");
  expect(board.coolingUntil("dep")).toBe(5_000);
  expect(board.coolingUntil("other")).toBe(0);
  clock.advance(4_999);
  expect(board.coolingUntil("dep")).toBe(5_000);
  clock.advance(1);
  expect(board.coolingUntil("dep")).toBe(0);
  board.cool("dep", 9_000, "429");
  board.clear("dep");
  expect(board.coolingUntil("dep")).toBe(0);
});

test("a shorter cooldown does not end a longer one", () => {
  const board = createMemoryHealthBoard(new FakeClock());
  board.cool("dep", 30_000, "5 failures in a row");
  board.cool("dep", 2_000, "429");
  expect(board.coolingUntil("dep")).toBe(30_000);
});

test("is quiet while nothing cools, also after cooldowns that nobody queried have ended", () => {
  const clock = new FakeClock();
  const board = createMemoryHealthBoard(clock);
  expect(board.quiet).toBe(true);
  board.cool("dep", 5_000, "429");
  expect(board.quiet).toBe(false);
  clock.advance(4_999);
  expect(board.quiet).toBe(false);
  clock.advance(1_001);
  expect(board.quiet).toBe(true);
});

import { expect, test } from "bun:test";
import { FakeClock } from "../../test/fake-clock.ts";
import { createMemoryHealthBoard } from "./memory-health-board.ts";

test("a deployment cools exactly as long as it was told to, and not at all once it is cleared", () => {
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

test("a shorter wait does not end a longer one", () => {
  const board = createMemoryHealthBoard(new FakeClock());
  board.cool("dep", 30_000, "5 failures in a row");
  board.cool("dep", 2_000, "429");
  expect(board.coolingUntil("dep")).toBe(30_000);
});

test("it is quiet while nothing cools, and again when what nobody asks after has ended", () => {
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

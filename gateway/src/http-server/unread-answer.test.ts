import { expect, test } from "bun:test";
import { MessageWriter } from "#http1/index.ts";
import { callerMemory } from "../../test/caller-memory.ts";
import { Pace } from "./held-bytes.ts";
import { UnreadAnswer } from "./unread-answer.ts";

test("detects a caller that reads less than a kilobyte per second on average, and only while bytes wait", () => {
  let takes = 0;
  const watch = new UnreadAnswer(callerMemory(), "192.0.2.1", new Pace(120_000, 1_000));
  const writer = new MessageWriter({ writeBytes: (_, length) => Math.min(takes, length) }, watch);
  /** Ticks of one second until the caller is too slow, at most `turns`. */
  const turnsUntilSlow = (turns: number): number => {
    for (let turn = 1; turn <= turns; turn++) {
      writer.drain();
      if (watch.isSlow()) return turn;
    }
    return turns;
  };
  expect(turnsUntilSlow(1_000)).toBe(1_000);
  writer.raw(new Uint8Array(10_000_000));
  takes = 1;
  expect(turnsUntilSlow(1_000)).toBe(121);
  writer.clear();
  writer.raw(new Uint8Array(10_000_000));
  takes = 1_024;
  expect(turnsUntilSlow(3_000)).toBe(3_000);
  // Reading fast earns no more than the usual patience.
  takes = 1_000_000;
  writer.drain();
  takes = 0;
  expect(turnsUntilSlow(1_000)).toBe(121);
});

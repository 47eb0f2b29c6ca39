import { expect, test } from "bun:test";
import { bounds, type Failure } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";
import { LargeMemory } from "./large-memory.ts";

/** Answers that grow to their size and are read no further until told. */
function answerOf(bytes: number, read: Promise<void>): OutboundAnswer {
  const readAll: OutboundAnswer["body"]["readAll"] = async (_bytesMax, _clock, _limitMs, grown) => {
    grown?.(bytes / 2);
    grown?.(bytes);
    await read;
    return new Uint8Array(1);
  };
  return { body: { readAll } } as Partial<OutboundAnswer> as OutboundAnswer;
}

test("whole answers of a usual size take no room, larger ones what they need, and all together no more than there is", async () => {
  const memory = new LargeMemory("large answers", bounds.largeRepliesBytesMax, bounds.replyInPlaceBytesMax);
  const { promise, resolve } = Promise.withResolvers<void>();
  const used: number[] = [];
  const read = (bytes: number): Promise<unknown> =>
    memory.reading(answerOf(bytes, promise), 1, async () => used.push(memory.bytes));
  const reads = [read(bounds.replyInPlaceBytesMax)];
  expect(memory.bytes).toBe(0);
  const fit = bounds.largeRepliesBytesMax / (2 * bounds.replyBytesMax);
  for (let count = 0; count < fit; count++) reads.push(read(bounds.replyBytesMax));
  expect(memory.bytes).toBe(bounds.largeRepliesBytesMax);
  let refused: Failure | null = null;
  await read(bounds.replyBytesMax).catch((thrown: Failure) => (refused = thrown));
  expect(refused).toMatchObject({ code: "overloaded", retry: "never", arrival: "unknown" });
  expect(memory.bytes).toBe(bounds.largeRepliesBytesMax);
  resolve();
  await Promise.all(reads);
  // Each is held until it has been used.
  expect(used).toHaveLength(fit + 1);
  expect(Math.min(...used)).toBeGreaterThan(0);
  expect(memory.bytes).toBe(0);
});

test("events of a usual size take no room, larger ones what they need, and all together no more than there is", () => {
  const memory = new LargeMemory("large events of streams", bounds.largeEventsBytesMax, bounds.eventBytesMax);
  const usual = memory.open();
  usual.hold(bounds.eventBytesMax);
  expect(memory.bytes).toBe(0);
  const places: ReturnType<LargeMemory["open"]>[] = [];
  const refused = (): boolean => {
    const place = memory.open();
    places.push(place);
    try {
      place.hold(bounds.imageEventBytesMax);
      return false;
    } catch {
      return true;
    }
  };
  while (!refused());
  expect(places.length).toBeGreaterThan(2);
  expect(memory.bytes).toBeLessThanOrEqual(bounds.largeEventsBytesMax);
  expect(() => places.at(-1)?.hold(bounds.imageEventBytesMax)).toThrow("too many large events");
  usual.hold(100);
  for (const place of places) place.release();
  expect(memory.bytes).toBe(0);
});

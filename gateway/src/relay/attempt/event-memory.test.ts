import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { EventMemory } from "./event-memory.ts";

test("events of a usual size take no room, larger ones what they need, and all together no more than there is", () => {
  const memory = new EventMemory();
  const usual = memory.open();
  usual.hold(bounds.eventBytesMax);
  expect(memory.bytes).toBe(0);
  const places: ReturnType<EventMemory["open"]>[] = [];
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

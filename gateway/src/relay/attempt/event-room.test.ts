import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { EventRoom } from "./event-room.ts";

test("events of a usual size take no room, larger ones what they need, and all together no more than there is", () => {
  const room = new EventRoom();
  const usual = room.open();
  usual.hold(bounds.eventBytesMax);
  expect(room.bytes).toBe(0);
  const places: ReturnType<EventRoom["open"]>[] = [];
  const refused = (): boolean => {
    const place = room.open();
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
  expect(room.bytes).toBeLessThanOrEqual(bounds.largeEventsBytesMax);
  expect(() => places.at(-1)?.hold(bounds.imageEventBytesMax)).toThrow("too many large events");
  usual.hold(100);
  for (const place of places) place.release();
  expect(room.bytes).toBe(0);
});

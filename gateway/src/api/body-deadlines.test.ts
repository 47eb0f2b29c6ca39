import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { BodyDeadlines } from "./body-deadlines.ts";

test("a body that arrives in time is given on, and leaves no timer running for long", async () => {
  const clock = new FakeClock();
  const deadlines = new BodyDeadlines(clock);
  expect(await deadlines.within(Promise.resolve("body"))).toBe("body");
});

test("a body that does not arrive is refused as request_timeout, soon after its time is over", async () => {
  const clock = new FakeClock();
  const deadlines = new BodyDeadlines(clock);
  const reading = deadlines.within(new Promise(() => {})).catch((thrown: unknown) => thrown);
  clock.advance(bounds.requestBodyTotalMs + 1_500);
  expect(await reading).toMatchObject({ code: "request_timeout", status: 408 });
});

test("a caller that goes away in the middle is told apart by its own error", async () => {
  const deadlines = new BodyDeadlines(new FakeClock());
  expect(await deadlines.within(Promise.reject(new Error("gone"))).catch((thrown: Error) => thrown.message)).toBe(
    "gone",
  );
});

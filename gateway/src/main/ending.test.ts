import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { Ending } from "./ending.ts";

function openEnding() {
  const clock = new FakeClock();
  const lines: (readonly [level: string, message: string, part: unknown])[] = [];
  const log = (level: string, message: string, fields: { part?: unknown; parts?: unknown } = {}): void =>
    void lines.push([level, message, fields.part ?? fields.parts]);
  return { clock, lines, ending: new Ending({ clock, observer: { log } }) };
}

const never = (): Promise<void> => new Promise(() => undefined);

/** Checks that the step ends exactly when its maximum duration has passed. */
async function late(clock: FakeClock, step: Promise<void>, ms: number): Promise<void> {
  clock.advance(ms - 1);
  expect(await Promise.race([step.then(() => "over"), Promise.resolve("waiting")])).toBe("waiting");
  clock.advance(1);
  await step;
}

test("names and abandons a part that does not close, and closes the others", async () => {
  const { clock, lines, ending } = openEnding();
  await late(clock, ending.step("pool", never), bounds.endStepMs);
  let done = false;
  await ending.step("journal", () => {
    done = true;
  });
  ending.logResult();
  ending.check();
  expect(done).toBe(true);
  expect(lines).toEqual([
    ["warn", "a part did not close in time", "pool"],
    ["warn", "shutdown complete, but some parts did not close", ["pool"]],
  ]);
  expect(clock.pending).toBe(0);
});

test("keeps time for the journal and ends within the limit, however many parts hang", async () => {
  const { clock, ending } = openEnding();
  const parts = 16;
  let leftMs = bounds.endWorkMs;
  for (let part = 0; part < parts; part++) {
    const ms = Math.max(bounds.endStepMsMin, Math.min(bounds.endStepMs, leftMs));
    await late(clock, ending.step(`part ${part}`, never), ms);
    leftMs -= ms;
  }
  let given = 0;
  await ending.lastStep("journal", (ms) => {
    given = ms;
  });
  expect(given).toBeGreaterThan(bounds.flushMs / 5);
  expect(clock.monotonic()).toBeLessThan(bounds.flushMs);
});

test("logs a failing part, closes the others, and throws at the end", async () => {
  const { lines, ending } = openEnding();
  await ending.step("reports", () => Promise.reject(new Error("no")));
  await ending.step("counter", () => undefined);
  ending.logResult();
  expect(lines.map(([level, , part]) => [level, part])).toEqual([
    ["error", "reports"],
    ["info", undefined],
  ]);
  expect(() => ending.check()).toThrow("no");
});

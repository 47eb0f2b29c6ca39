import { expect, test } from "bun:test";
import { bounds, type ConfigSnapshot } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { quietConfigSnapshot } from "../../test/quiet-config-snapshot.ts";
import { ConfigSnapshotHolder } from "./config-snapshot-holder.ts";

/** A store whose first readings fail. */
function holder(failures: number) {
  const clock = new FakeClock();
  const logged: string[] = [];
  const [before, after] = [quietConfigSnapshot(), quietConfigSnapshot()];
  let reads = 0;
  const configSnapshot = async (): Promise<ConfigSnapshot> => {
    if (reads++ < failures) throw new Error("The connection to the database was lost.");
    return after;
  };
  const observer = { log: (level: string) => void logged.push(level) };
  const held = new ConfigSnapshotHolder(configSnapshot, clock, before);
  held.follow({ observer });
  return { clock, held, logged, before, after, reads: () => reads };
}

test("retries a failed reload until the database can be read, without a further notification", async () => {
  const { clock, held, logged, before, after } = holder(2);
  await held.refresh();
  expect(held.current).toBe(before);
  for (let turn = 0; turn < 2; turn++) {
    clock.advance(bounds.changePollMs);
    await held.settled();
  }
  expect(held.current).toBe(after);
  expect([logged, clock.pending]).toEqual([["error", "info"], 0]);
});

test("does not reload after close", async () => {
  const { clock, held, reads } = holder(9);
  await held.refresh();
  held.close();
  clock.advance(10 * bounds.changePollMs);
  expect([reads(), clock.pending]).toEqual([1, 0]);
});

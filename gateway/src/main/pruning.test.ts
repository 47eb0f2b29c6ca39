import { expect, test } from "bun:test";
import { bounds, type ConfigSnapshot, type Settings } from "#core/index.ts";
import type { ActiveLease } from "#ports/index.ts";
import { silentObserver } from "../../test/conformance/store-fixture.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { pruneDaily } from "./upkeep.ts";

const day = 86_400_000;

const settings = {
  "ledger.retention_days": 30,
  "explanations.retention_days": 30,
  "captures.retention_days": 7,
  "audit.retention_days": 90,
} as Settings;

test("does not prune entries that are old only by a clock that jumped ahead, until the clock stays there", async () => {
  const clock = new FakeClock();
  const asked: number[] = [];
  const stop = pruneDaily({
    clock,
    configSnapshot: { current: { settings } as ConfigSnapshot },
    observer: silentObserver,
    leadership: {
      once: async (_, work) => ({ result: await work({ signal: new AbortController().signal } as ActiveLease) }),
    },
    objectStore: { prune: async () => 0 },
    ledgerStore: { prune: async (beforeMs: number) => asked.push(beforeMs) } as never,
    explainer: { prune: async () => 0 },
    pruneAudit: async (beforeMs) => asked.push(beforeMs),
  });
  const nextLook = async () => {
    asked.length = 0;
    clock.advance(bounds.pruneMs);
    // The look is over when the next one is booked.
    for (let turn = 0; clock.pending === 0 && turn < 1_000; turn++)
      await new Promise<void>((resolve) => setImmediate(resolve));
    return [...asked];
  };
  expect(await nextLook()).toEqual([clock.now() - 30 * day, clock.now() - 90 * day]);
  clock.jump(80 * 365 * day);
  expect(await nextLook()).toEqual([]);
  clock.jump(-80 * 365 * day);
  expect(await nextLook()).toEqual([clock.now() - 30 * day, clock.now() - 90 * day]);
  // A machine that was off for months, or asleep, is right all the same.
  clock.jump(90 * day);
  expect(await nextLook()).toEqual([]);
  expect(await nextLook()).toEqual([clock.now() - 30 * day, clock.now() - 90 * day]);
  stop();
});

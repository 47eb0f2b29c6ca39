import { describe, expect, test } from "bun:test";
import { type Crossing, createNoticeStore } from "#directory/index.ts";
import { createIds } from "#system/index.ts";
import { acmeConfig, by, type StoreFixture, type StoreFixtureFactory } from "./store-fixture.ts";

const dayMs = 86_400_000;

/** Two notices of a workspace, and a function that records a crossing and its message. */
async function openNotices(fixture: StoreFixture) {
  await fixture.controlStore.apply(acmeConfig, "test");
  const [workspace] = [...(await fixture.controlStore.configSnapshot()).workspaces.values()];
  const store = createNoticeStore({ ...fixture, ids: createIds(fixture.clock) });
  const make = async (name: string) => {
    const channel = { kind: "webhook", url: "https://chat.example.com/hook" } as const;
    const fields = { name, percent: [50], scope: null, scope_id: null, channel, enabled: true };
    return (await store.create(workspace?.id ?? "", fields, by("ada"))).id;
  };
  const crossing = (noticeId: string, periodStart: number): Crossing & { readonly silent: boolean } => {
    const share = { percent: 50, label: "acme, per day", usedUsd: 5, limitUsd: 10, silent: false };
    return { noticeId, budget: "workspace ws_1 day 10", periodStart, ...share };
  };
  const notify = async (noticeId: string, periodStart: number, percent = 50): Promise<void> => {
    const now = fixture.clock.now();
    await store.recordCrossings([{ ...crossing(noticeId, periodStart), percent }], now);
    for (const due of await store.leaseDue(now, 60_000, 10))
      await store.recordSend(due, { tries: 1, dueAt: null, sentAt: now, problem: null });
  };
  return { store, notify, one: await make("one"), other: await make("other") };
}

export function noticeStoreSuite(name: string, make: StoreFixtureFactory): void {
  describe(`${name}: notices`, () => {
    test("lists each notice with its last message, and prunes messages about old periods", async () => {
      await using fixture = await make();
      const { store, notify, one, other } = await openNotices(fixture);
      const startMs = fixture.clock.now();
      await notify(other, startMs, 80);
      // A total budget starts at 0 and has no end.
      await notify(one, 0, 90);
      for (let day = 0; day < 3; day++) {
        fixture.clock.advance(dayMs);
        await notify(one, fixture.clock.now());
      }
      const lastNotices = async () => (await store.list(null)).map(({ id, last }) => [id, last?.percent, last?.at]);
      expect(await lastNotices()).toEqual([
        [one, 50, startMs + 3 * dayMs],
        [other, 80, startMs],
      ]);
      expect(await store.prune(startMs + 2 * dayMs)).toBe(2);
      expect(await lastNotices()).toEqual([
        [one, 50, startMs + 3 * dayMs],
        [other, undefined, undefined],
      ]);
      expect(await store.prune(startMs + 9 * dayMs)).toBe(2);
      // The message about the total budget is kept.
      await notify(one, 0, 90);
      expect(await lastNotices()).toEqual([
        [one, 90, startMs],
        [other, undefined, undefined],
      ]);
    });
  });
}

import { describe, expect, test } from "bun:test";
import type { PollAsk } from "#tasks/index.ts";
import { newYear } from "./store-fixture.ts";
import type { TaskFixtureFactory } from "./task-fixture.ts";

const pollRequest = (changes: Partial<PollAsk> = {}): PollAsk => ({
  account: "ark-main\nhttps://ark.example",
  now: newYear,
  stepMs: 200,
  nearMs: 1_000,
  kind: "new",
  ...changes,
});

/** How every implementation of the port `TaskStore` paces the polls of vendors' accounts. */
export function accountPollsSuite(name: string, make: TaskFixtureFactory): void {
  describe(`polls of accounts: ${name}`, () => {
    test("spaces the polls of one account evenly, without delaying another account", async () => {
      await using fixture = await make();
      const { taskStore } = fixture;
      const times = await Promise.all(Array.from({ length: 40 }, () => taskStore.reservePoll(pollRequest())));
      const offsets = times.map((at) => (at ?? 0) - newYear).sort((a, b) => a - b);
      expect(offsets).toEqual(Array.from({ length: 40 }, (_, n) => n * 200));
      expect(await taskStore.reservePoll(pollRequest({ account: "another" }))).toBe(newYear);
      // An interval that is not a whole number is rounded up.
      expect(await taskStore.reservePoll(pollRequest({ account: "thirds", stepMs: 1_000 / 3 }))).toBe(newYear);
      expect(await taskStore.reservePoll(pollRequest({ account: "thirds", stepMs: 1_000 / 3 }))).toBe(newYear + 334);
    });

    test("polls at once when a reserved time has passed, and spaces the polls after it", async () => {
      await using fixture = await make();
      const { taskStore } = fixture;
      // Six of the ten polls take place; four reservations are still ahead.
      for (let n = 0; n < 10; n++) expect(await taskStore.reservePoll(pollRequest())).toBe(newYear + n * 200);
      // These four come an hour late, together with two new polls.
      const now = newYear + 3_600_000;
      const late = { now, kind: "placed" } as const;
      const times: (number | null)[] = [];
      for (const kind of ["placed", "placed", "new", "placed", "placed", "new"] as const) {
        times.push(await taskStore.reservePoll(pollRequest({ ...late, kind })));
      }
      expect(times.map((at) => (at ?? 0) - now)).toEqual([0, 200, 400, 600, 800, 1_000]);
      // More late polls than fit into the next second get new times, one after the other.
      const next = [await taskStore.reservePoll(pollRequest(late)), await taskStore.reservePoll(pollRequest(late))];
      expect(next.map((at) => (at ?? 0) - now)).toEqual([1_200, 1_400]);
    });

    test("makes a spare poll at once or not at all, without taking another poll's time", async () => {
      await using fixture = await make();
      const { taskStore } = fixture;
      const spare = pollRequest({ kind: "spare", nearMs: 0 });
      expect(await taskStore.reservePoll(spare)).toBe(newYear);
      expect(await taskStore.reservePoll(spare)).toBeNull();
      expect(await taskStore.reservePoll(pollRequest())).toBe(newYear + 200);
      expect(await taskStore.reservePoll({ ...spare, now: newYear + 399 })).toBeNull();
      expect(await taskStore.reservePoll({ ...spare, now: newYear + 400 })).toBe(newYear + 400);
    });

    test("deletes accounts without future polls, and keeps the others", async () => {
      await using fixture = await make();
      const { taskStore } = fixture;
      await taskStore.reservePoll(pollRequest());
      await taskStore.reservePoll(pollRequest({ account: "busy", now: newYear + 5_000 }));
      await taskStore.deletePolls(newYear + 5_000);
      const rows = await fixture.database.kysely.selectFrom("account_polls").select("account").execute();
      expect(rows).toEqual([{ account: "busy" }]);
    });
  });
}

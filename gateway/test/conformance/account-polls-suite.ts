import { describe, expect, test } from "bun:test";
import type { PollAsk } from "#tasks/index.ts";
import { newYear } from "./store-ground.ts";
import type { TaskGroundFactory } from "./task-ground.ts";

const ask = (changes: Partial<PollAsk> = {}): PollAsk => ({
  account: "ark-main\nhttps://ark.example",
  now: newYear,
  stepMs: 200,
  nearMs: 1_000,
  kind: "new",
  ...changes,
});

/** The pace of polls of vendors' accounts, as every implementation of the port `TaskStore` keeps it. */
export function accountPollsSuite(name: string, make: TaskGroundFactory): void {
  describe(`polls of accounts: ${name}`, () => {
    test("polls of one account stand in a row with equal distances, and another account has a row of its own", async () => {
      await using ground = await make();
      const { taskStore } = ground;
      const given = await Promise.all(Array.from({ length: 40 }, () => taskStore.reservePoll(ask())));
      const ats = given.map((at) => (at ?? 0) - newYear).sort((a, b) => a - b);
      expect(ats).toEqual(Array.from({ length: 40 }, (_, n) => n * 200));
      expect(await taskStore.reservePoll(ask({ account: "another" }))).toBe(newYear);
      // Distances are never shorter than asked for.
      expect(await taskStore.reservePoll(ask({ account: "thirds", stepMs: 1_000 / 3 }))).toBe(newYear);
      expect(await taskStore.reservePoll(ask({ account: "thirds", stepMs: 1_000 / 3 }))).toBe(newYear + 334);
    });

    test("who comes late to a place polls at once, and everybody after keeps the distance", async () => {
      await using ground = await make();
      const { taskStore } = ground;
      // Six are waited for, four have places further ahead.
      for (let n = 0; n < 10; n++) expect(await taskStore.reservePoll(ask())).toBe(newYear + n * 200);
      // All four come only an hour later, and together with two others.
      const now = newYear + 3_600_000;
      const late = { now, kind: "placed" } as const;
      const given: (number | null)[] = [];
      for (const kind of ["placed", "placed", "new", "placed", "placed", "new"] as const) {
        given.push(await taskStore.reservePoll(ask({ ...late, kind })));
      }
      expect(given.map((at) => (at ?? 0) - now)).toEqual([0, 200, 400, 600, 800, 1_000]);
      // Where too many come late for the next second they get new places, one behind the other.
      const behind = [await taskStore.reservePoll(ask(late)), await taskStore.reservePoll(ask(late))];
      expect(behind.map((at) => (at ?? 0) - now)).toEqual([1_200, 1_400]);
    });

    test("a spare poll is made at once or not at all, and takes nobody's place", async () => {
      await using ground = await make();
      const { taskStore } = ground;
      const spare = ask({ kind: "spare", nearMs: 0 });
      expect(await taskStore.reservePoll(spare)).toBe(newYear);
      expect(await taskStore.reservePoll(spare)).toBeNull();
      expect(await taskStore.reservePoll(ask())).toBe(newYear + 200);
      expect(await taskStore.reservePoll({ ...spare, now: newYear + 399 })).toBeNull();
      expect(await taskStore.reservePoll({ ...spare, now: newYear + 400 })).toBe(newYear + 400);
    });

    test("accounts that nobody polls are forgotten, those with places ahead are not", async () => {
      await using ground = await make();
      const { taskStore } = ground;
      await taskStore.reservePoll(ask());
      await taskStore.reservePoll(ask({ account: "busy", now: newYear + 5_000 }));
      await taskStore.deletePolls(newYear + 5_000);
      const rows = await ground.database.kysely.selectFrom("account_polls").select("account").execute();
      expect(rows).toEqual([{ account: "busy" }]);
    });
  });
}

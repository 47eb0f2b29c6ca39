import { describe, expect, test } from "bun:test";
import { sql } from "kysely";
import { bounds } from "#core/index.ts";
import type { Change } from "#ports/index.ts";
import { until } from "../../../test/until.ts";
import {
  acmeConfig,
  acmeWith,
  by,
  ciSecret,
  newYear,
  type StoreFixture,
  type StoreFixtureFactory,
} from "./store-fixture.ts";

/** Guarantees of every implementation of the change feed. */
export function changeFeedSuite(name: string, make: StoreFixtureFactory): void {
  describe(`change feed: ${name}`, () => {
    test("reports an applied file within one poll, the config snapshot before the keys", async () => {
      await using fixture = await make();
      const changes: Change[] = [];
      const stop = fixture.changeFeed.subscribe((change) => changes.push(change));
      await waitForTimer(fixture);
      await fixture.controlStore.apply(acmeConfig, "test");
      expect(changes).toEqual([]);
      await poll(fixture);
      expect(changes).toEqual([{ kind: "config" }, { kind: "key", digest: fixture.vault.digest(ciSecret) }]);
      stop();
    });

    test("reports a changed key by its old and its new digest", async () => {
      await using fixture = await make();
      await fixture.controlStore.apply(acmeConfig, "test");
      const changes: Change[] = [];
      const stop = fixture.changeFeed.subscribe((change) => changes.push(change));
      await waitForTimer(fixture);
      await fixture.controlStore.apply(acmeWith({ keys: [{ name: "ci", secret: `${ciSecret}2` }] }), "test");
      await poll(fixture);
      const digests = [ciSecret, `${ciSecret}2`].map((secret) => ({
        kind: "key",
        digest: fixture.vault.digest(secret),
      }));
      expect(new Set(changes.map((change) => JSON.stringify(change)))).toEqual(
        new Set(digests.map((change) => JSON.stringify(change))),
      );
      stop();
    });

    test("reports a key that was removed from the file", async () => {
      await using fixture = await make();
      await fixture.controlStore.apply(acmeConfig, "test");
      const changes: Change[] = [];
      const stop = fixture.changeFeed.subscribe((change) => changes.push(change));
      await waitForTimer(fixture);
      await fixture.controlStore.apply(acmeWith({ keys: [] }), "test");
      await poll(fixture);
      expect(changes).toEqual([{ kind: "key", digest: fixture.vault.digest(ciSecret) }]);
      stop();
    });

    test("reports neither changes before a subscription nor changes after its end", async () => {
      await using fixture = await make();
      await fixture.controlStore.addWorkspace({ slug: "before", name: "Before" }, by("test"));
      const changes: Change[] = [];
      const stop = fixture.changeFeed.subscribe((change) => changes.push(change));
      await poll(fixture);
      expect(changes).toEqual([]);
      stop();
      await fixture.controlStore.addWorkspace({ slug: "after", name: "After" }, by("test"));
      fixture.clock.advance(bounds.changePollMs);
      await fixture.changeFeed.catchUp();
      expect(changes).toEqual([]);
      expect(fixture.clock.pending).toBe(0);
    });

    test("reports all earlier changes when it catches up, once and in order", async () => {
      await using fixture = await make();
      const changes: Change[] = [];
      await fixture.changeFeed.catchUp();
      const stop = fixture.changeFeed.subscribe((change) => changes.push(change));
      await fixture.changeFeed.catchUp();
      expect(changes).toEqual([]);
      const keys = Array.from({ length: 1_200 }, (_, n) => ({ name: `k${n}`, secret: `${ciSecret}-${n}` }));
      await fixture.controlStore.apply(acmeWith({ keys }), "test");
      await Promise.all([fixture.changeFeed.catchUp(), fixture.changeFeed.catchUp()]);
      const reported = changes.map((change) => (change.kind === "key" ? change.digest : change.kind));
      expect(reported).toEqual(["config", ...keys.map((key) => fixture.vault.digest(key.secret))]);
      await poll(fixture);
      expect(changes.length).toBe(1_201);
      stop();
    });

    test("calls the other listeners when one throws, also for the next change", async () => {
      await using fixture = await make();
      const changes: Change[] = [];
      const stopOne = fixture.changeFeed.subscribe(() => {
        throw new Error("broken listener");
      });
      const stopTwo = fixture.changeFeed.subscribe((change) => changes.push(change));
      await waitForTimer(fixture);
      for (const slug of ["one", "two"]) {
        await fixture.controlStore.addWorkspace({ slug: slug, name: slug }, by("test"));
        await poll(fixture);
      }
      expect(changes.length).toBe(2);
      stopOne();
      stopTwo();
    });

    test("reports a write that began before another one and ended after it", async () => {
      await using fixture = await make();
      const changes: string[] = [];
      const stop = fixture.changeFeed.subscribe((change) =>
        changes.push(change.kind === "key" ? change.digest : "config"),
      );
      await waitForTimer(fixture);
      const [started, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const first = fixture.database.kysely.transaction().execute(async (transaction) => {
        await transaction.insertInto("changes").values({ at: newYear, kind: "key", digest: "first" }).execute();
        started.resolve();
        await mayEnd.promise;
      });
      await started.promise;
      let ended = false;
      const second = fixture.controlStore
        .addWorkspace({ slug: "second", name: "Second" }, by("test"))
        .finally(() => (ended = true));
      await until(async () => ended || (await hasWaitingWrite(fixture)));
      await poll(fixture);
      mayEnd.resolve();
      await Promise.all([first, second]);
      await poll(fixture);
      expect(changes.toSorted()).toEqual(["config", "first"]);
      stop();
    });

    test("reports more changes than one read returns, in order", async () => {
      await using fixture = await make();
      const changes: string[] = [];
      const stop = fixture.changeFeed.subscribe((change) =>
        changes.push(change.kind === "key" ? change.digest : "config"),
      );
      await waitForTimer(fixture);
      const digests = Array.from({ length: 2_500 }, (_, n) => `digest-${n}`);
      for (let start = 0; start < digests.length; start += 500) {
        const rows = digests.slice(start, start + 500).map((digest) => ({ at: 0, kind: "key", digest }));
        await fixture.database.kysely.insertInto("changes").values(rows).execute();
      }
      for (let turn = 0; turn < 3; turn++) await poll(fixture);
      expect(changes).toEqual(digests);
      stop();
    });
  });
}

/** Whether a write waits for another one. On SQLite it waits for the connection. */
async function hasWaitingWrite({ database }: StoreFixture): Promise<boolean> {
  if (database.flavour.name === "sqlite") return true;
  const { rows } = await sql<{ n: number }>`select count(*) as n from pg_locks where not granted`.execute(
    database.reading,
  );
  return Number(rows[0]?.n) > 0;
}

/** Waits for the end of the running read, after which only the timer for the next one is pending. */
async function waitForTimer(fixture: StoreFixture): Promise<void> {
  await until(() => fixture.clock.pending > 0);
}

async function poll(fixture: StoreFixture): Promise<void> {
  fixture.clock.advance(bounds.changePollMs);
  await waitForTimer(fixture);
}

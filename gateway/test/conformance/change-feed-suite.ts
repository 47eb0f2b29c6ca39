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
  type StoreGround,
  type StoreGroundFactory,
} from "./store-ground.ts";

/** What every implementation of the change feed guarantees. */
export function changeFeedSuite(name: string, make: StoreGroundFactory): void {
  describe(`change feed: ${name}`, () => {
    test("an apply is told within one poll, the config snapshot before the keys", async () => {
      await using ground = await make();
      const seen: Change[] = [];
      const stop = ground.changeFeed.subscribe((change) => seen.push(change));
      await quiet(ground);
      await ground.controlStore.apply(acmeConfig, "test");
      expect(seen).toEqual([]);
      await poll(ground);
      expect(seen).toEqual([{ kind: "config" }, { kind: "key", digest: ground.vault.digest(ciSecret) }]);
      stop();
    });

    test("a key that changes is told by every digest it had", async () => {
      await using ground = await make();
      await ground.controlStore.apply(acmeConfig, "test");
      const seen: Change[] = [];
      const stop = ground.changeFeed.subscribe((change) => seen.push(change));
      await quiet(ground);
      await ground.controlStore.apply(acmeWith({ keys: [{ name: "ci", secret: `${ciSecret}2` }] }), "test");
      await poll(ground);
      const digests = [ciSecret, `${ciSecret}2`].map((secret) => ({
        kind: "key",
        digest: ground.vault.digest(secret),
      }));
      expect(new Set(seen.map((change) => JSON.stringify(change)))).toEqual(
        new Set(digests.map((change) => JSON.stringify(change))),
      );
      stop();
    });

    test("a key that vanishes from the file is told", async () => {
      await using ground = await make();
      await ground.controlStore.apply(acmeConfig, "test");
      const seen: Change[] = [];
      const stop = ground.changeFeed.subscribe((change) => seen.push(change));
      await quiet(ground);
      await ground.controlStore.apply(acmeWith({ keys: [] }), "test");
      await poll(ground);
      expect(seen).toEqual([{ kind: "key", digest: ground.vault.digest(ciSecret) }]);
      stop();
    });

    test("what happened before the subscription is not told, and nothing is told after its end", async () => {
      await using ground = await make();
      await ground.controlStore.addWorkspace({ slug: "before", name: "Before" }, by("test"));
      const seen: Change[] = [];
      const stop = ground.changeFeed.subscribe((change) => seen.push(change));
      await poll(ground);
      expect(seen).toEqual([]);
      stop();
      await ground.controlStore.addWorkspace({ slug: "after", name: "After" }, by("test"));
      ground.clock.advance(bounds.changePollMs);
      await ground.changeFeed.catchUp();
      expect(seen).toEqual([]);
      expect(ground.clock.pending).toBe(0);
    });

    test("whoever catches up hears at once of everything written until then, once and in order", async () => {
      await using ground = await make();
      const seen: Change[] = [];
      await ground.changeFeed.catchUp();
      const stop = ground.changeFeed.subscribe((change) => seen.push(change));
      await ground.changeFeed.catchUp();
      expect(seen).toEqual([]);
      const keys = Array.from({ length: 1_200 }, (_, n) => ({ name: `k${n}`, secret: `${ciSecret}-${n}` }));
      await ground.controlStore.apply(acmeWith({ keys }), "test");
      await Promise.all([ground.changeFeed.catchUp(), ground.changeFeed.catchUp()]);
      const told = seen.map((change) => (change.kind === "key" ? change.digest : change.kind));
      expect(told).toEqual(["config", ...keys.map((key) => ground.vault.digest(key.secret))]);
      await poll(ground);
      expect(seen.length).toBe(1_201);
      stop();
    });

    test("a listener that throws does not keep the others from hearing, nor the next change", async () => {
      await using ground = await make();
      const seen: Change[] = [];
      const stopOne = ground.changeFeed.subscribe(() => {
        throw new Error("broken listener");
      });
      const stopTwo = ground.changeFeed.subscribe((change) => seen.push(change));
      await quiet(ground);
      for (const slug of ["one", "two"]) {
        await ground.controlStore.addWorkspace({ slug: slug, name: slug }, by("test"));
        await poll(ground);
      }
      expect(seen.length).toBe(2);
      stopOne();
      stopTwo();
    });

    test("of two writes under way at once, the one that began first and ends last is told like the other", async () => {
      await using ground = await make();
      const seen: string[] = [];
      const stop = ground.changeFeed.subscribe((change) => seen.push(change.kind === "key" ? change.digest : "config"));
      await quiet(ground);
      const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const first = ground.database.kysely.transaction().execute(async (transaction) => {
        await transaction.insertInto("changes").values({ at: newYear, kind: "key", digest: "first" }).execute();
        begun.resolve();
        await mayEnd.promise;
      });
      await begun.promise;
      let ended = false;
      const second = ground.controlStore
        .addWorkspace({ slug: "second", name: "Second" }, by("test"))
        .finally(() => (ended = true));
      await until(async () => ended || (await somebodyWaits(ground)));
      await poll(ground);
      mayEnd.resolve();
      await Promise.all([first, second]);
      await poll(ground);
      expect(seen.toSorted()).toEqual(["config", "first"]);
      stop();
    });

    test("more changes than one read takes are all told, in order", async () => {
      await using ground = await make();
      const seen: string[] = [];
      const stop = ground.changeFeed.subscribe((change) => seen.push(change.kind === "key" ? change.digest : "config"));
      await quiet(ground);
      const digests = Array.from({ length: 2_500 }, (_, n) => `digest-${n}`);
      for (let start = 0; start < digests.length; start += 500) {
        const rows = digests.slice(start, start + 500).map((digest) => ({ at: 0, kind: "key", digest }));
        await ground.database.kysely.insertInto("changes").values(rows).execute();
      }
      for (let turn = 0; turn < 3; turn++) await poll(ground);
      expect(seen).toEqual(digests);
      stop();
    });
  });
}

/** Whether a write waits for the end of another one. On SQLite it does not even get the connection. */
async function somebodyWaits({ database }: StoreGround): Promise<boolean> {
  if (database.flavour.name === "sqlite") return true;
  const { rows } = await sql<{ n: number }>`select count(*) as n from pg_locks where not granted`.execute(
    database.reading,
  );
  return Number(rows[0]?.n) > 0;
}

/** Until the read that runs has ended: then exactly the timer of the next one is booked. */
async function quiet(ground: StoreGround): Promise<void> {
  await until(() => ground.clock.pending > 0);
}

async function poll(ground: StoreGround): Promise<void> {
  ground.clock.advance(bounds.changePollMs);
  await quiet(ground);
}

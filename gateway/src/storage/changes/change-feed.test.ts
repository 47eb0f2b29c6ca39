import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import type { Change } from "#ports/index.ts";
import { until } from "../../../../test/until.ts";
import { silentObserver } from "../../../test/conformance/store-fixture.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { openMigrated } from "../../../test/migrated.ts";
import type { Database } from "../database/database.ts";
import { createChangeFeed } from "./change-feed.ts";

test("reports one configuration change if the database was unavailable at the start", async () => {
  const database = await openMigrated(":memory:");
  let answers = false;
  const deaf: Database = {
    ...database,
    get kysely() {
      if (!answers) throw new Error("the database does not answer");
      return database.kysely;
    },
    reading: database.reading,
  };
  const clock = new FakeClock();
  const received: Change[] = [];
  const feed = createChangeFeed({ database: deaf, clock, observer: silentObserver });
  const stop = feed.subscribe((change) => void received.push(change));
  await feed.catchUp();
  await until(() => clock.pending > 0);
  await database.kysely.insertInto("changes").values({ at: 0, kind: "key", digest: "missed" }).execute();
  answers = true;
  clock.advance(bounds.changePollMs);
  await feed.catchUp();
  expect(received).toEqual([{ kind: "config" }]);
  await database.kysely.insertInto("changes").values({ at: 0, kind: "key", digest: "later" }).execute();
  await feed.catchUp();
  expect(received).toEqual([{ kind: "config" }, { kind: "key", digest: "later" }]);
  stop();
  await database.close();
});

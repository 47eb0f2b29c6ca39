import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { noRedis } from "../../../test/redis-server.ts";
import { RedisFixture } from "./redis-fixture.ts";
import { ShareWorld } from "./share-world.ts";

/**
 * `SLUICE_SHARE_SEED` replays worlds: 25 is a plain one, r25 a rough one (1,48: the first world also loads the scripts);
 * `SLUICE_SHARE_SEEDS` also runs that number of rough worlds.
 */
const only = process.env["SLUICE_SHARE_SEED"];
const rough = Number(process.env["SLUICE_SHARE_SEEDS"] ?? 0);
/** Each of the worlds named here once found a bug. */
const usual = [
  "1",
  "25",
  "64",
  "113",
  ...Array.from({ length: rough }, (_, index) => `r${index + 1}`),
  "r17",
  "r21",
  "r39",
];
const seeds = only?.split(",") ?? usual;
const steps = 700;

describe.skipIf(noRedis !== null)(`share simulation${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  let fixture: RedisFixture;
  beforeAll(async () => {
    fixture = await RedisFixture.open();
  });
  afterAll(() => fixture.close());

  const seen = { servedLocally: 0, refusals: 0, judged: 0 };
  // One test per world: together they would exceed the time limit of a test on a busy machine.
  test.each(seeds)(
    "world %s: admits no more than a limit and finally all of it, in any order of messages, disconnections and crashes",
    async (seed) => {
      const world = new ShareWorld(fixture, Number(seed.replace("r", "")), !seed.startsWith("r"));
      try {
        await world.start(3);
        await world.storm(steps);
        await world.calm();
        expect(await world.demand()).toEqual([...world.calls.expectedDemand]);
      } catch (thrown) {
        const message = thrown instanceof Error ? thrown.message : String(thrown);
        throw new Error(`SLUICE_SHARE_SEED=${seed} (${world.description}): ${message}`);
      } finally {
        world.close();
      }
      seen.servedLocally += world.calls.servedLocally;
      seen.refusals += world.calls.refusals;
      seen.judged += world.judge.judged;
    },
  );

  test("simulated worlds contain refusals and local admissions, so that the checks apply", () => {
    expect(seen.servedLocally).toBeGreaterThan(seeds.length);
    expect(seen.refusals).toBeGreaterThan(seeds.length);
    if (only === undefined) expect(seen.judged).toBeGreaterThan(seeds.length);
  });
});

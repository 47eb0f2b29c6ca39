import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { noRedis } from "../../../test/redis-server.ts";
import { RedisGround } from "./redis-ground.ts";
import { ShareWorld } from "./share-world.ts";

/**
 * `SLUICE_SHARE_SEED` plays worlds again: 25 is a plain one, r25 a rough one (1,48: scripts are new to the server in the first world);
 * `SLUICE_SHARE_SEEDS` plays so many rough ones.
 */
const only = process.env["SLUICE_SHARE_SEED"];
const rough = Number(process.env["SLUICE_SHARE_SEEDS"] ?? 4);
/** Each of these plain ones has found a fault once. */
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

describe.skipIf(noRedis !== null)(`shares, simulated${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  let ground: RedisGround;
  beforeAll(async () => {
    ground = await RedisGround.open();
  });
  afterAll(() => ground.close());

  const seen = { unasked: 0, refusals: 0, judged: 0 };
  // A test for each world: together they would take longer than one test may, on a machine with other work.
  test.each(seeds)(
    "world %s, whatever order messages go in, whoever is cut off or dies: never more than the limit is admitted, and all of it when it is asked for",
    async (seed) => {
      const world = new ShareWorld(ground, Number(seed.replace("r", "")), !seed.startsWith("r"));
      try {
        await world.start(3);
        await world.storm(steps);
        await world.calm();
        expect(await world.demand()).toEqual([...world.calls.due]);
      } catch (thrown) {
        const said = thrown instanceof Error ? thrown.message : String(thrown);
        throw new Error(`SLUICE_SHARE_SEED=${seed} (${world.story}): ${said}`);
      } finally {
        world.close();
      }
      seen.unasked += world.calls.unasked;
      seen.refusals += world.calls.refusals;
      seen.judged += world.judge.judged;
    },
  );

  test("the worlds refuse calls, admit what is not asked for, and are judged", () => {
    expect(seen.unasked).toBeGreaterThan(seeds.length);
    expect(seen.refusals).toBeGreaterThan(seeds.length);
    if (only === undefined) expect(seen.judged).toBeGreaterThan(seeds.length);
  });
});

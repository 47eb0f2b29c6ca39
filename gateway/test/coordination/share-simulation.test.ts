import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { noRedis } from "../../../test/redis-server.ts";
import { RedisGround } from "./redis-ground.ts";
import { ShareWorld } from "./share-world.ts";

/** `SLUICE_SHARE_SEED` plays seeds again (1,48: scripts are new to the server in the first world); `SLUICE_SHARE_SEEDS` plays so many. */
const only = process.env["SLUICE_SHARE_SEED"];
const count = Number(process.env["SLUICE_SHARE_SEEDS"] ?? 5);
const seeds = only === undefined ? Array.from({ length: count }, (_, index) => index + 1) : only.split(",").map(Number);

describe.skipIf(noRedis !== null)(`shares, simulated${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  let ground: RedisGround;
  beforeAll(async () => {
    ground = await RedisGround.open();
  });
  afterAll(() => ground.close());

  test("whatever order messages go in, whoever is cut off or dies: never more than the limit is admitted, and all of it when it is asked for", async () => {
    let [unasked, refusals] = [0, 0];
    for (const seed of seeds) {
      const world = new ShareWorld(ground, seed);
      try {
        await world.start(3);
        await world.storm(700);
        await world.calm();
        expect(await world.demand()).toEqual([60, 60, 60]);
      } catch (thrown) {
        throw new Error(`SLUICE_SHARE_SEED=${seed}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
      } finally {
        world.close();
      }
      unasked += world.unasked;
      refusals += world.refusals;
    }
    expect(unasked).toBeGreaterThan(seeds.length);
    expect(refusals).toBeGreaterThan(seeds.length);
  });
});

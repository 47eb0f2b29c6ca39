import { expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { until } from "../../../../test/until.ts";
import {
  catOnRoof,
  createCall,
  failureOf,
  openTaskSetup,
  openTaskWorld,
  passTime,
} from "../../../test/simulation/task-setup.ts";

test("keeps a video while its copy cannot be removed, and deletes it on the next request", async () => {
  await using world = await openTaskWorld();
  let isUnavailable = true;
  const unusedBlobs = {
    async drop(hash: string): Promise<void> {
      if (isUnavailable) throw new Failure("storage_unavailable", "The bucket is unavailable.");
      await world.blobs.remove(hash);
    },
  };
  const { videos } = openTaskSetup(world, { blobs: world.blobs, copyResults: () => true, unusedBlobs });
  videos.start();
  const { id } = await videos.create(createCall(world, catOnRoof));
  await passTime(world.clock, 60_000);
  await until(() => videos.busy === 0);
  const hash = (await videos.find("ws_1", id)).output?.blobHash ?? "";
  expect(await world.blobs.stat(hash)).not.toBeNull();
  expect((await failureOf(videos.remove("ws_1", id))).code).toBe("storage_unavailable");
  expect((await videos.find("ws_1", id)).state).toBe("succeeded");
  isUnavailable = false;
  await videos.remove("ws_1", id);
  expect((await failureOf(videos.find("ws_1", id))).code).toBe("task_not_found");
  expect([await world.blobs.stat(hash), world.ark.state("cgt-000001")]).toEqual([null, "deleted"]);
  await videos.stop();
});

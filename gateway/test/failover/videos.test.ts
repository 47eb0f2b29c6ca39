import { expect, test } from "bun:test";
import {
  arkDeployment,
  createCall,
  openTaskSetup,
  openTaskWorld,
  passTime,
  resolved,
  seedance,
} from "../simulation/task-setup.ts";

const five = { ...seedance, deployments: ["a", "b", "c", "d", "e"].map((id, at) => arkDeployment(id, at + 1)) };
const spare = { ...seedance, name: "spare", deployments: [arkDeployment("f")] };

test.each([
  { status: 429, code: "RateLimitExceeded" },
  { status: 403, code: "AccessDenied" },
  { status: 404, code: "ModelNotOpen" },
])("tries all accounts and fallbacks until one accepts the video task: $status", async (fault) => {
  await using world = await openTaskWorld(1);
  let refusalsLeft = 5;
  world.ark.behavior = { create: () => (refusalsLeft-- > 0 ? fault : null) };
  const { videos } = openTaskSetup(world, { models: [five, spare] });
  videos.start();
  const call = createCall(world, { prompt: "a sea" }, { models: [five, spare] });
  const { id } = await resolved(world.clock, videos.create(call));
  await passTime(world.clock, 60_000);
  expect((await world.taskStore.findById(id))?.state).toBe("succeeded");
  const sent = world.ark.sent.filter(({ method, url }) => method === "POST" && url.includes("/contents/"));
  expect(sent.map(({ headers }) => headers["authorization"])).toEqual(
    ["a", "b", "c", "d", "e", "f"].map((account) => `Bearer key of ${account}`),
  );
  expect(world.ark.tasks.size).toBe(1);
  await videos.stop();
});

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
])("a video task goes on through all accounts and fallbacks to the one that takes it: $status", async (fault) => {
  await using town = await openTaskWorld(1);
  let left = 5;
  town.ark.behavior = { create: () => (left-- > 0 ? fault : null) };
  const { videos } = openTaskSetup(town, { models: [five, spare] });
  videos.start();
  const call = createCall(town, { prompt: "a sea" }, { models: [five, spare] });
  const { id } = await resolved(town.clock, videos.create(call));
  await passTime(town.clock, 60_000);
  expect((await town.taskStore.findById(id))?.state).toBe("succeeded");
  const sent = town.ark.sent.filter(({ method, url }) => method === "POST" && url.includes("/contents/"));
  expect(sent.map(({ headers }) => headers["authorization"])).toEqual(
    ["a", "b", "c", "d", "e", "f"].map((account) => `Bearer key of ${account}`),
  );
  expect(town.ark.tasks.size).toBe(1);
  await videos.stop();
});

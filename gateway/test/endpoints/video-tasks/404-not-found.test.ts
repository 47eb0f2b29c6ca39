import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { ask, videoGateway } from "./video-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    ...videoGateway,
    keys: [{ name: "alice", secret: aliceKey, models: ["clip-test"] }],
    models: [
      ...(videoGateway.models ?? []),
      { name: "clip-secret", type: "video", deployments: [{ provider: "volc", upstream_model: "ep-2" }] },
    ],
  });
});
afterAll(() => gateway.stop());

const path = "/v1/video/tasks";

test("a model that does not exist and one that is not granted look alike", async () => {
  const [missing, secret] = [
    await errorOf(await gateway.post(path, { ...ask, model: "clip-nobody" })),
    await errorOf(await gateway.post(path, { ...ask, model: "clip-secret" })),
  ];
  expect(missing).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
  expect(secret).toEqual({ ...missing, message: missing.message.replace("clip-nobody", "clip-secret") });
});

test.each(["vt_0", "task_1", "vt_..", "VT_01", `vt_${"0".repeat(65)}`])("%s is no task", async (id) => {
  for (const at of [`${path}/${id}`, `${path}/${id}/content`]) {
    expect(await errorOf(await gateway.get(at))).toMatchObject({ status: 404, code: "task_not_found" });
  }
});

test("a path below a task that is not there is not found", async () => {
  for (const at of [`${path}/vt_01/`, `${path}/vt_01/frames`, `${path}/vt_01/content/1`, `${path}/`]) {
    expect(await errorOf(await gateway.get(at))).toMatchObject({ status: 404 });
  }
});

test("a task that has no result yet, and one that failed, has no content, and says why", async () => {
  const prompt = `a boat [[sim ${JSON.stringify({ running_ms: 60_000 })}]]`;
  const { id } = (await (await gateway.post(path, { ...ask, prompt })).json()) as { id: string };
  const told = await errorOf(await gateway.get(`${path}/${id}/content`));
  expect(told).toMatchObject({ status: 404, code: "not_found" });
  expect(told.message).toContain("not finished");
});

test("nobody is heard who calls back with a wrong token, or about a task that is not there", async () => {
  const { id } = (await (await gateway.post(path, ask)).json()) as { id: string };
  const looks = () => gateway.simulator.simulator.tasks.list().data.at(-1)?.polls;
  const before = looks();
  for (const at of [`${id}/wrong`, `${id}/%C3%A9`, "vt_00/wrong"]) {
    const answer = await gateway.post(`/v1/video/callbacks/${at}`, { id: "cgt-1", status: "succeeded" }, { key: null });
    expect(await errorOf(answer)).toMatchObject({ status: 404, code: "task_not_found" });
  }
  expect(looks()).toBe(before ?? 0);
});

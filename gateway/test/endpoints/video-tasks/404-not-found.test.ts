import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { taskRequest, videoGateway } from "./video-gateway.ts";

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

test("answers the same for a missing model and for one that the key may not use", async () => {
  const [missing, secret] = [
    await errorOf(await gateway.post(path, { ...taskRequest, model: "clip-missing" })),
    await errorOf(await gateway.post(path, { ...taskRequest, model: "clip-secret" })),
  ];
  expect(missing).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
  expect(secret).toEqual({ ...missing, message: missing.message.replace("clip-missing", "clip-secret") });
});

test.each(["vt_0", "task_1", "vt_..", "VT_01", `vt_${"0".repeat(65)}`])(
  "returns 404 for the invalid task id %s",
  async (id) => {
    for (const at of [`${path}/${id}`, `${path}/${id}/content`]) {
      expect(await errorOf(await gateway.get(at))).toMatchObject({ status: 404, code: "task_not_found" });
    }
  },
);

test("returns 404 for unknown paths below a task", async () => {
  for (const at of [`${path}/vt_01/`, `${path}/vt_01/frames`, `${path}/vt_01/content/1`, `${path}/`]) {
    expect(await errorOf(await gateway.get(at))).toMatchObject({ status: 404 });
  }
});

test("returns 404 with the reason for the content of an unfinished task", async () => {
  const prompt = `a boat [[sim ${JSON.stringify({ running_ms: 60_000 })}]]`;
  const { id } = (await (await gateway.post(path, { ...taskRequest, prompt })).json()) as { id: string };
  const error = await errorOf(await gateway.get(`${path}/${id}/content`));
  expect(error).toMatchObject({ status: 404, code: "not_found" });
  expect(error.message).toContain("not finished");
});

test("rejects a callback with a wrong token or for a missing task, without polling", async () => {
  const { id } = (await (await gateway.post(path, taskRequest)).json()) as { id: string };
  const pollCount = () => gateway.simulator.simulator.tasks.list().data.at(-1)?.polls;
  const before = pollCount();
  for (const at of [`${id}/wrong`, `${id}/%C3%A9`, "vt_00/wrong"]) {
    const answer = await gateway.post(`/v1/video/callbacks/${at}`, { id: "cgt-1", status: "succeeded" }, { key: null });
    expect(await errorOf(answer)).toMatchObject({ status: 404, code: "task_not_found" });
  }
  expect(pollCount()).toBe(before ?? 0);
});

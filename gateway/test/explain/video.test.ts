import { expect, test } from "bun:test";
import { settledTask, taskRequest, videoGateway } from "../endpoints/video-tasks/video-gateway.ts";
import { aliceKey, type Overrides, startGateway, upstream } from "../started-gateway.ts";
import { captureOf, explanationOf, headersIn, rowsIn } from "./fixture.ts";

const path = "/v1/video/tasks";
const model = "doubao-seedance-2-0-260128";

const twoAccounts: Overrides = {
  ...videoGateway,
  providers: (simulator) => [
    upstream("volc", simulator, { kind: "ark" }),
    upstream("spare", simulator, { kind: "ark", settings: { mark_tasks: true } }),
  ],
  models: [
    {
      name: "clip-test",
      type: "video",
      deployments: [
        { provider: "volc", upstream_model: model, priority: 1 },
        { provider: "spare", upstream_model: model, priority: 2 },
      ],
      price: { output: 6 },
    },
  ],
};

test("explains a task that one account refused and another accepted as one attempt", async () => {
  const gateway = await startGateway(twoAccounts);
  try {
    gateway.simulator.simulator.addPreset({ script: { status: 429, error_message: "no room" }, count: 1, model });
    const response = await gateway.post(path, taskRequest);
    const { id } = (await response.clone().json()) as { id: string };
    const explanation = await explanationOf(gateway, response);
    await settledTask(gateway, id);
    const [entry] = await gateway.entries();
    expect(explanation?.plan.map(({ provider }) => provider)).toEqual(["volc", "spare"]);
    expect(explanation?.failures).toMatchObject([{ attempt_id: entry?.attemptId, code: "upstream_error" }]);
    expect(explanation?.failures[0]?.message).toStartWith("volc: ");
    expect(explanation?.walk).toHaveLength(3);
  } finally {
    await gateway.stop();
  }
});

test("explains a task that a budget refuses with the budget", async () => {
  const gateway = await startGateway({
    ...videoGateway,
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 0.01, period: "day" } }],
  });
  try {
    const explanation = await explanationOf(gateway, await gateway.post(path, taskRequest));
    expect(explanation?.refusal).toMatchObject({ code: "budget_exceeded", limit: 0.01, used: 0 });
    expect(explanation?.refusal?.scope).toContain("key acme/alice");
  } finally {
    await gateway.stop();
  }
});

test("stores nothing for a task that its only account accepted", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    expect((await gateway.post(path, taskRequest)).status).toBe(200);
    expect(await rowsIn(gateway)).toEqual({ explanations: 0, captures: 0 });
  } finally {
    await gateway.stop();
  }
});

test("captures the request and the answer of a capturing key, refused or not", async () => {
  const gateway = await startGateway({
    ...videoGateway,
    keys: [{ name: "alice", secret: aliceKey, capture: "bodies" }],
  });
  try {
    const body = JSON.stringify(taskRequest, null, 1);
    const created = await gateway.post(path, body);
    const capture = await captureOf(gateway, created);
    expect(capture).toMatchObject({ request_body: body, response_body: await created.text(), truncated: false });
    expect(headersIn(capture?.response_headers)).toMatchObject({ "content-type": "application/json" });
    const refused = await gateway.post(path, { ...taskRequest, duration: -7 });
    expect(refused.status).toBe(400);
    expect((await captureOf(gateway, refused))?.response_body).toBe(await refused.text());
  } finally {
    await gateway.stop();
  }
});

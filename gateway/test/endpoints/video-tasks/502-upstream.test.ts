import { expect, test } from "bun:test";
import { errorOf, type Overrides, startGateway, upstream } from "../../started-gateway.ts";
import { settledTask, taskRequest, videoGateway } from "./video-gateway.ts";

const path = "/v1/video/tasks";
const model = "doubao-seedance-2-0-260128";

/** One model at two accounts. */
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

test("fails a task that every account refuses, with one entry for the last refusal", async () => {
  const gateway = await startGateway(twoAccounts);
  try {
    gateway.simulator.simulator.addPreset({ script: { status: 503 }, count: null, model });
    expect(await errorOf(await gateway.post(path, taskRequest))).toMatchObject({
      status: 503,
      code: "overloaded",
      message: "The upstream is overloaded.",
    });
    const { data } = (await (await gateway.get(path)).json()) as { data: object[] };
    expect(data).toMatchObject([{ status: "failed", error: { code: expect.any(String) }, cost: { amount_usd: 0 } }]);
    expect(await gateway.entries()).toMatchObject([{ outcome: "failed", provider: "spare", costNanoUsd: 0 }]);
    expect(gateway.gateway.outstanding()).toBe(0);
  } finally {
    await gateway.stop();
  }
});

test("creates a task once at the next account after the first one refused it", async () => {
  const gateway = await startGateway(twoAccounts);
  try {
    gateway.simulator.simulator.addPreset({ script: { status: 503 }, count: 1, model });
    const { id } = (await (await gateway.post(path, taskRequest)).json()) as { id: string };
    expect(await settledTask(gateway, id)).toMatchObject({ status: "succeeded" });
    expect(gateway.simulator.simulator.tasks.list().total).toBe(1);
    expect(await gateway.entries()).toMatchObject([{ outcome: "succeeded", provider: "spare" }]);
  } finally {
    await gateway.stop();
  }
});

test("does not repeat the account's key in the error after the vendor rejects it", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    gateway.simulator.simulator.addPreset({ script: { status: 401 }, count: null, model });
    const error = await errorOf(await gateway.post(path, taskRequest));
    expect(error).toMatchObject({ status: 502, code: "upstream_error" });
    expect(error.message).not.toContain("sk-upstream");
  } finally {
    await gateway.stop();
  }
});

test.each([
  [{ answer_lost: "cut" }, 1],
  [{ answer_lost: "reset" }, 1],
  [{ status: 500 }, 0],
  [{ status: 503, body: "upstream connect error or disconnect/reset before headers" }, 0],
  [{ status: 408 }, 0],
  [{ status: 504 }, 0],
  [{ status: 502 }, 0],
] as const)(
  "keeps a task queued and sends it to no other account when the outcome is unknown: %j",
  async (script, tasksAtVendor) => {
    const gateway = await startGateway(twoAccounts);
    try {
      gateway.simulator.simulator.addPreset({ script, count: 1, model });
      const answer = await gateway.post(path, taskRequest);
      expect([answer.status, await answer.json()]).toMatchObject([
        200,
        { status: "queued", error: null, output: null },
      ]);
      const creates = gateway.simulator.simulator.truth.list().data.filter(({ method }) => method === "POST");
      expect([creates.length, gateway.simulator.simulator.tasks.list().total]).toEqual([1, tasksAtVendor]);
      // Its cost stays reserved, without a ledger entry, until the outcome is known.
      expect(await gateway.entries()).toEqual([]);
    } finally {
      await gateway.stop();
    }
  },
);

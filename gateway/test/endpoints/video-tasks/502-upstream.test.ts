import { expect, test } from "bun:test";
import { errorOf, type Overrides, startGateway, upstream } from "../../started-gateway.ts";
import { ask, settledTask, videoGateway } from "./video-gateway.ts";

const path = "/v1/video/tasks";
const model = "doubao-seedance-2-0-260128";

/** The same model at two accounts. */
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

test("a task that every account refuses has failed, with the last refusal as its one entry", async () => {
  const gateway = await startGateway(twoAccounts);
  try {
    gateway.simulator.simulator.addPreset({ script: { status: 503 }, count: null, model });
    expect(await errorOf(await gateway.post(path, ask))).toMatchObject({
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

test("a refusal of one account sends the task to the next, once", async () => {
  const gateway = await startGateway(twoAccounts);
  try {
    gateway.simulator.simulator.addPreset({ script: { status: 503 }, count: 1, model });
    const { id } = (await (await gateway.post(path, ask)).json()) as { id: string };
    expect(await settledTask(gateway, id)).toMatchObject({ status: "succeeded" });
    expect(gateway.simulator.simulator.tasks.list().total).toBe(1);
    expect(await gateway.entries()).toMatchObject([{ outcome: "succeeded", provider: "spare" }]);
  } finally {
    await gateway.stop();
  }
});

test("an account whose key is refused is not named to the caller with its key", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    gateway.simulator.simulator.addPreset({ script: { status: 401 }, count: null, model });
    const told = await errorOf(await gateway.post(path, ask));
    expect(told).toMatchObject({ status: 502, code: "upstream_error" });
    expect(told.message).not.toContain("sk-upstream");
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
  "an answer that leaves it open whether the task was made is no failure: %j stays queued and is sent to nobody else",
  async (script, made) => {
    const gateway = await startGateway(twoAccounts);
    try {
      gateway.simulator.simulator.addPreset({ script, count: 1, model });
      const answer = await gateway.post(path, ask);
      expect([answer.status, await answer.json()]).toMatchObject([
        200,
        { status: "queued", error: null, output: null },
      ]);
      const creates = gateway.simulator.simulator.truth.list().data.filter(({ method }) => method === "POST");
      expect([creates.length, gateway.simulator.simulator.tasks.list().total]).toEqual([1, made]);
      // Its money stays set aside, and nothing is entered, until it is known.
      expect(await gateway.entries()).toEqual([]);
    } finally {
      await gateway.stop();
    }
  },
);

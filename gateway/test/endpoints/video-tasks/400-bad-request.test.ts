import { afterAll, beforeAll, expect, test } from "bun:test";
import { idempotencyKeyBytesMax } from "#tasks/accept/create.ts";
import { taskMetadataBytesMax } from "#tasks/accept/validate-video.ts";
import { errorOf, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { ask, videoGateway } from "./video-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    ...videoGateway,
    providers: (simulator) => [...(videoGateway.providers?.(simulator) ?? []), upstream("talks", simulator)],
    models: [...(videoGateway.models ?? []), { name: "talker", type: "chat", deployments: [{ provider: "talks" }] }],
  });
});
afterAll(() => gateway.stop());

const path = "/v1/video/tasks";

test.each(["", "{", "[]", '"a boat"', "null"])("a body that is no JSON object is told to be so: %j", async (body) => {
  expect(await errorOf(await gateway.post(path, body))).toMatchObject({ status: 400, code: "invalid_json" });
});

test("a model that makes no videos is refused by its name", async () => {
  const told = await errorOf(await gateway.post(path, { ...ask, model: "talker", prompt: "hello" }));
  expect(told).toMatchObject({ status: 400, code: "unsupported_by_model", param: "model" });
  expect(told.message).toContain("talker");
});

test("an Idempotency-Key has a length, and is not needed", async () => {
  const headers = { "idempotency-key": "k".repeat(idempotencyKeyBytesMax + 1) };
  const told = await errorOf(await gateway.post(path, ask, { headers }));
  expect(told).toMatchObject({ status: 400, code: "invalid_request", param: "Idempotency-Key" });
  expect(told.message).toContain(String(idempotencyKeyBytesMax));
});

test("metadata has a size", async () => {
  const metadata = { note: "n".repeat(taskMetadataBytesMax) };
  const told = await errorOf(await gateway.post(path, { ...ask, metadata }));
  expect(told).toMatchObject({ status: 400, param: "metadata" });
  expect(told.message).toContain(String(taskMetadataBytesMax));
});

test("a page that no list gave out is told by the name of its parameter", async () => {
  for (const after of ["x", "vt_1", "%00"]) {
    expect(await errorOf(await gateway.get(`${path}?after=${after}`))).toMatchObject({ status: 400, param: "after" });
  }
});

test("what the vendor says of the request reaches the caller in our shape, and the task has failed with it", async () => {
  gateway.simulator.simulator.addPreset({
    script: { status: 400, error_code: "InputTextSensitiveContentDetected", error_message: "Not this text." },
    count: 1,
    model: "doubao-seedance-2-0-260128",
  });
  const answer = await gateway.post(path, ask);
  expect(answer.headers.get("content-type")).toBe("application/json");
  const told = await errorOf(answer);
  expect(told).toMatchObject({ status: 400, code: "InputTextSensitiveContentDetected" });
  expect(told.message).toStartWith("Not this text.");
  const { data } = (await (await gateway.get(`${path}?status=failed`)).json()) as { data: object[] };
  expect(data).toMatchObject([
    { status: "failed", error: { code: "InputTextSensitiveContentDetected" }, cost: { amount_usd: 0 } },
  ]);
  const failed = (await gateway.entries()).filter(({ outcome }) => outcome === "failed");
  expect(failed).toMatchObject([{ httpStatus: 400, costNanoUsd: 0, provider: "volc" }]);
  expect(gateway.gateway.outstanding()).toBe(0);
});

test("a vendor that does not cancel a running task says so", async () => {
  const prompt = `a boat [[sim ${JSON.stringify({ queued_ms: 0, running_ms: 60_000 })}]]`;
  const { id } = (await (await gateway.post(path, { ...ask, prompt })).json()) as { id: string };
  const cancelled = await gateway.post(`${path}/${id}`, {}, {});
  expect(cancelled.status).toBe(405);
  const refused = await fetch(`${gateway.url}${path}/${id}`, {
    method: "DELETE",
    headers: { authorization: "Bearer sk-alice-0123456789abcdefghij" },
  });
  expect(await errorOf(refused)).toMatchObject({ status: 400, code: "invalid_request", param: "task_id" });
});

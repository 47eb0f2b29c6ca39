import { afterAll, beforeAll, expect, test } from "bun:test";
import { idempotencyKeyBytesMax } from "#tasks/accept/create.ts";
import { taskMetadataBytesMax } from "#tasks/accept/validate-video.ts";
import { errorOf, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { taskRequest, videoGateway } from "./video-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    ...videoGateway,
    providers: (simulator) => [...(videoGateway.providers?.(simulator) ?? []), upstream("chat", simulator)],
    models: [...(videoGateway.models ?? []), { name: "chat-model", type: "chat", deployments: [{ provider: "chat" }] }],
  });
});
afterAll(() => gateway.stop());

const path = "/v1/video/tasks";

test.each(["", "{", "[]", '"a boat"', "null"])("returns 400 for a body that is not a JSON object: %j", async (body) => {
  expect(await errorOf(await gateway.post(path, body))).toMatchObject({ status: 400, code: "invalid_json" });
});

test("names a model that creates no videos", async () => {
  const error = await errorOf(await gateway.post(path, { ...taskRequest, model: "chat-model", prompt: "hello" }));
  expect(error).toMatchObject({ status: 400, code: "unsupported_by_model", param: "model" });
  expect(error.message).toContain("chat-model");
});

test("limits the length of an Idempotency-Key", async () => {
  const headers = { "idempotency-key": "k".repeat(idempotencyKeyBytesMax + 1) };
  const error = await errorOf(await gateway.post(path, taskRequest, { headers }));
  expect(error).toMatchObject({ status: 400, code: "invalid_request", param: "Idempotency-Key" });
  expect(error.message).toContain(String(idempotencyKeyBytesMax));
});

test("limits the size of metadata", async () => {
  const metadata = { note: "n".repeat(taskMetadataBytesMax) };
  const error = await errorOf(await gateway.post(path, { ...taskRequest, metadata }));
  expect(error).toMatchObject({ status: 400, param: "metadata" });
  expect(error.message).toContain(String(taskMetadataBytesMax));
});

test("names the parameter when a page cursor is invalid", async () => {
  for (const after of ["x", "vt_1", "%00"]) {
    expect(await errorOf(await gateway.get(`${path}?after=${after}`))).toMatchObject({ status: 400, param: "after" });
  }
});

test("returns the vendor's error in the gateway's shape, and the task has failed", async () => {
  gateway.simulator.simulator.addPreset({
    script: { status: 400, error_code: "InputTextSensitiveContentDetected", error_message: "Not this text." },
    count: 1,
    model: "doubao-seedance-2-0-260128",
  });
  const answer = await gateway.post(path, taskRequest);
  expect(answer.headers.get("content-type")).toBe("application/json");
  const error = await errorOf(answer);
  expect(error).toMatchObject({ status: 400, code: "InputTextSensitiveContentDetected" });
  expect(error.message).toStartWith("Not this text.");
  const { data } = (await (await gateway.get(`${path}?status=failed`)).json()) as { data: object[] };
  expect(data).toMatchObject([
    { status: "failed", error: { code: "InputTextSensitiveContentDetected" }, cost: { amount_usd: 0 } },
  ]);
  const failed = (await gateway.entries()).filter(({ outcome }) => outcome === "failed");
  expect(failed).toMatchObject([{ httpStatus: 400, costNanoUsd: 0, provider: "volc" }]);
  expect(gateway.gateway.outstanding()).toBe(0);
});

test("returns an error when the vendor cannot cancel a running task", async () => {
  const prompt = `a boat [[sim ${JSON.stringify({ queued_ms: 0, running_ms: 60_000 })}]]`;
  const { id } = (await (await gateway.post(path, { ...taskRequest, prompt })).json()) as { id: string };
  const wrongMethod = await gateway.post(`${path}/${id}`, {}, {});
  expect(wrongMethod.status).toBe(405);
  const refused = await fetch(`${gateway.url}${path}/${id}`, {
    method: "DELETE",
    headers: { authorization: "Bearer sk-alice-0123456789abcdefghij" },
  });
  expect(await errorOf(refused)).toMatchObject({ status: 400, code: "invalid_request", param: "task_id" });
});

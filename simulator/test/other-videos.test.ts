import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { until } from "../../test/until.ts";
import { type RunningSimulator, type Script, serveSimulator } from "../src/index.ts";
import { type Json, stuck, type TaskAnswer, type TaskCall, taskCall, truthOf } from "./task-call.ts";

let running: RunningSimulator;
beforeAll(() => {
  running = serveSimulator();
});
afterAll(() => running.stop());

/** Returns a function that adds these headers to its calls. */
function callerWith(headers: Record<string, string>): (path: string, call?: TaskCall) => Promise<TaskAnswer> {
  return (path, call = {}) => taskCall(running, path, { ...call, headers: { ...headers, ...call.headers } });
}

async function isVideo(url: string): Promise<boolean> {
  return Buffer.from(await (await fetch(url)).arrayBuffer()).toString("latin1", 4, 8) === "ftyp";
}

describe("Wan on DashScope", () => {
  const call = callerWith({ authorization: "Bearer sk-ds", "x-dashscope-async": "enable" });
  const path = "/api/v1/services/aigc/video-generation/video-synthesis";
  const body = { model: "wan2.5-t2v", input: { prompt: "a cat" }, parameters: { size: "1280*720", duration: 5 } };
  const create = async (script: Script) => (await call(path, { body, script })).body.text("output", "task_id");
  const poll = async (id: string) => (await call(`/api/v1/tasks/${id}`)).body;

  test("refuses synchronous calls", async () => {
    const { status, body: answer } = await call(path, { body, headers: { "x-dashscope-async": "disable" } });
    expect([status, answer.at("code")]).toEqual([403, "AccessDenied"]);
  });

  test("goes from PENDING to SUCCEEDED, and reports seconds as usage", async () => {
    const id = await create(stuck.done);
    const done = await poll(id);
    expect(done.value).toMatchObject({
      output: { task_id: id, task_status: "SUCCEEDED", orig_prompt: "a cat" },
      usage: { video_duration: 5, video_count: 1, SR: 720 },
    });
    expect(done.text("output", "end_time")).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/);
    expect(await isVideo(done.text("output", "video_url"))).toBe(true);
    expect((await poll(await create(stuck.queued))).at("output", "task_status")).toBe("PENDING");
    expect((await poll(await create(stuck.running))).at("output", "task_status")).toBe("RUNNING");
  });

  test("reports a failure in the output, and an unknown task as a state", async () => {
    const failed = await poll(await create(stuck.failed));
    expect(failed.at("output")).toMatchObject({ task_status: "FAILED", code: "DataInspectionFailed" });
    expect((await poll("nobody")).at("output", "task_status")).toBe("UNKNOWN");
  });

  test("cancels a task only while it is pending", async () => {
    const [pending, busy] = [await create(stuck.queued), await create(stuck.running)];
    expect((await call(`/api/v1/tasks/${pending}/cancel`, { method: "POST" })).status).toBe(200);
    expect((await poll(pending)).at("output", "task_status")).toBe("CANCELED");
    expect((await call(`/api/v1/tasks/${busy}/cancel`, { method: "POST" })).body.at("code")).toBe(
      "UnsupportedOperation",
    );
    expect((await call("/api/v1/tasks?status=CANCELED")).body.at("data", 0, "task_id")).toBe(pending);
  });

  test.each([
    ["without a model", { ...body, model: "" }],
    ["without a prompt", { ...body, input: {} }],
    ["with a size that has no asterisk", { ...body, parameters: { size: "1280x720" } }],
  ])("refuses a task %s", async (_what, invalid) => {
    const { status, body: answer } = await call(path, { body: invalid });
    expect([status, answer.at("code")]).toEqual([400, "InvalidParameter"]);
  });
});

describe("Kling", () => {
  const path = "/v1/videos/text2video";
  const body = { model_name: "kling-v2-6", prompt: "a cat", duration: "5", external_task_id: "vt_kling" };

  function token(claims: object = {}, secret = "kling-secret-example"): Record<string, string> {
    const now = Math.floor(Date.now() / 1000);
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const payload = { iss: "AKKLINGEXAMPLE", exp: now + 1800, nbf: now - 5, ...claims };
    const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(payload)}`;
    return { authorization: `Bearer ${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}` };
  }

  test.each<[string, Record<string, string>, number]>([
    ["no token", {}, 1001],
    ["a plain key", { authorization: "Bearer kling-secret-example" }, 1002],
    ["an unknown issuer", token({ iss: "AKNOBODY" }), 1002],
    ["another secret", token({}, "wrong"), 1000],
    ["a token that is not yet valid", token({ nbf: 9_999_999_999 }), 1003],
    ["an expired token", token({ exp: 1 }), 1004],
  ])("refuses %s", async (_what, headers, code) => {
    const answer = await taskCall(running, path, { body, headers });
    expect([answer.status, answer.body.at("code")]).toEqual([401, code]);
  });

  test("completes a task, which the client's own id also finds", async () => {
    const created = await taskCall(running, path, { body, headers: token(), script: stuck.done });
    expect(created.body.value).toMatchObject({
      code: 0,
      message: "SUCCEED",
      data: { task_info: { external_task_id: "vt_kling" } },
    });
    const id = created.body.text("data", "task_id");
    for (const name of [id, "vt_kling"]) {
      const { body: answer } = await taskCall(running, `${path}/${name}`, { headers: token() });
      expect(answer.at("data")).toMatchObject({ task_id: id, task_status: "succeed", updated_at: expect.any(Number) });
      expect(answer.at("data", "task_result", "videos", 0, "duration")).toBe("5.041");
      expect(await isVideo(answer.text("data", "task_result", "videos", 0, "url"))).toBe(true);
    }
    expect(truthOf(running, id)).toMatchObject({ client_task_id: "vt_kling", creates_of_client_task: 1 });
    const { body: listed } = await taskCall(running, `${path}?pageNum=1&pageSize=30`, { headers: token() });
    expect(listed.at("data", 0, "task_id")).toBe(id);
    expect((await taskCall(running, `/v1/videos/image2video/${id}`, { headers: token() })).status).toBe(404);
  });

  test("returns 200 for a task that failed", async () => {
    const { body: created } = await taskCall(running, path, { body, headers: token(), script: stuck.failed });
    const { status, body: answer } = await taskCall(running, `${path}/${created.text("data", "task_id")}`, {
      headers: token(),
    });
    expect([status, answer.at("code"), answer.at("data", "task_status")]).toEqual([200, 0, "failed"]);
    expect(answer.text("data", "task_status_msg")).not.toBe("");
  });

  test("refuses a length that is a number, and reports when too many tasks run", async () => {
    const wrong = await taskCall(running, path, { body: { ...body, duration: 5 }, headers: token() });
    expect([wrong.status, wrong.body.at("code")]).toEqual([400, 1201]);
    const script = { status: 429, error_code: "1303" };
    const tooMany = await taskCall(running, path, { body, headers: token(), script });
    expect([tooMany.status, tooMany.body.at("code")]).toEqual([429, 1303]);
  });
});

describe("MiniMax", () => {
  const call = callerWith({ authorization: "Bearer mm-key" });
  const body = { model: "MiniMax-Hailuo-02", prompt: "a cat", duration: 6, resolution: "768P" };
  const create = async (script: Script) => (await call("/v1/video_generation", { body, script })).body.text("task_id");
  const poll = async (id: string) => (await call(`/v1/query/video_generation?task_id=${id}`)).body;

  test("returns a file id, and the file's URL in a second call", async () => {
    const id = await create(stuck.done);
    const done = await poll(id);
    expect(done.value).toMatchObject({ task_id: id, status: "Success", base_resp: { status_code: 0 } });
    expect(done.at("file_id")).not.toBe(id);
    const { body: answer } = await call(`/v1/files/retrieve?file_id=${done.text("file_id")}`);
    expect(await isVideo(answer.text("file", "download_url"))).toBe(true);
    expect((await poll(await create(stuck.queued))).value).toMatchObject({ status: "Queueing", file_id: "" });
    expect((await poll(await create(stuck.running))).at("status")).toBe("Processing");
  });

  test.each<[string, () => Promise<TaskAnswer>, number]>([
    ["a bad field", () => call("/v1/video_generation", { body: { ...body, duration: 7 } }), 2013],
    ["a limit", () => call("/v1/video_generation", { body, script: { status: 429 } }), 1002],
    ["no credit", () => call("/v1/video_generation", { body, script: { status: 402 } }), 1008],
    ["no key", () => call("/v1/video_generation", { body, headers: { authorization: "" } }), 1004],
    ["an unknown task", () => call("/v1/query/video_generation?task_id=1"), 2013],
  ])("reports %s inside a 200 response", async (_what, act, code) => {
    const { status, body: answer } = await act();
    expect([status, answer.at("base_resp", "status_code")]).toEqual([200, code]);
  });

  test("reports a failed task as sensitive output, and an outage as an HTTP error", async () => {
    const failed = await poll(await create(stuck.failed));
    expect(failed.value).toMatchObject({ status: "Fail", base_resp: { status_code: 1027 } });
    expect((await call("/v1/video_generation", { body, script: { status: 503 } })).status).toBe(503);
  });
});

describe("Vidu", () => {
  const call = callerWith({ authorization: "Token vda_1" });
  const create = (method: string, fields: object, script: Script) =>
    call(`/ent/v2/${method}`, { body: { model: "viduq1", prompt: "a cat", duration: 5, ...fields }, script });

  test("accepts a Token, and returns creations", async () => {
    const { body: created } = await create("text2video", { payload: "vt_vidu" }, stuck.done);
    expect(created.value).toMatchObject({ state: "created", model: "viduq1", payload: "vt_vidu", credits: 50 });
    const { body: done } = await call(`/ent/v2/tasks/${created.text("task_id")}/creations`);
    expect(done.value).toMatchObject({ state: "success", credits: 50, payload: "vt_vidu", err_code: "" });
    expect(await isVideo(done.text("creations", 0, "url"))).toBe(true);
    expect(truthOf(running, created.text("task_id"))?.client_task_id).toBe("vt_vidu");
    const bearer = await call("/ent/v2/text2video", { body: {}, headers: { authorization: "Bearer vda_1" } });
    expect(bearer.status).toBe(401);
  });

  test("reports a canceled task as failed, and lists it", async () => {
    const id = (await create("text2video", {}, stuck.running)).body.text("task_id");
    expect((await call(`/ent/v2/tasks/${id}/cancel`, { method: "POST" })).status).toBe(200);
    const { body } = await call(`/ent/v2/tasks/${id}/creations`);
    expect(body.value).toMatchObject({ state: "failed", creations: [] });
    expect((await call("/ent/v2/tasks")).body.at("tasks", 0, "id")).toBe(id);
    expect((await call(`/ent/v2/tasks/${id}/cancel`, { method: "POST" })).status).toBe(400);
  });

  test.each([
    ["img2video", 0],
    ["start-end2video", 1],
    ["reference2video", 8],
    ["text2video", 1],
  ])("refuses %s with %i images", async (method, count) => {
    const images = Array.from({ length: count }, () => "https://x/a.png");
    expect((await create(method, { images }, {})).body.at("reason")).toBe("FieldInvalid");
  });
});

describe("Runway", () => {
  const call = callerWith({ authorization: "Bearer key_1", "x-runway-version": "2024-11-06" });
  const body = {
    model: "gen4_turbo",
    promptImage: "https://x/a.png",
    promptText: "a cat",
    ratio: "1280:720",
    duration: 5,
  };
  const create = async (script: Script) => (await call("/v1/image_to_video", { body, script })).body.text("id");
  const poll = async (id: string) => (await call(`/v1/tasks/${id}`)).body;

  test("requires its version on every call", async () => {
    const id = await create(stuck.queued);
    const unversioned = callerWith({ authorization: "Bearer key_1" });
    expect((await unversioned("/v1/image_to_video", { body })).status).toBe(400);
    expect((await unversioned(`/v1/tasks/${id}`)).status).toBe(400);
  });

  test("returns progress while a task runs, links once it is done, and a code if it failed", async () => {
    expect((await poll(await create(stuck.queued))).at("status")).toBe("PENDING");
    expect((await poll(await create(stuck.running))).value).toMatchObject({ status: "RUNNING", progress: 0 });
    expect((await poll(await create({ ...stuck.running, odd_state: "THROTTLED" }))).at("status")).toBe("THROTTLED");
    const done = await poll(await create(stuck.done));
    expect(done.value).toMatchObject({ status: "SUCCEEDED", cost: { credits: 25 } });
    expect(await isVideo(done.text("output", 0))).toBe(true);
    const failed = await poll(await create({ ...stuck.failed, error_code: "INTERNAL.BAD_OUTPUT" }));
    expect(failed.value).toMatchObject({ status: "FAILED", failureCode: "INTERNAL.BAD_OUTPUT" });
  });

  test("DELETE cancels a running task and removes a finished one", async () => {
    const id = await create(stuck.running);
    expect((await call(`/v1/tasks/${id}`, { method: "DELETE" })).status).toBe(204);
    expect((await poll(id)).at("status")).toBe("CANCELLED");
    expect((await call(`/v1/tasks/${id}`, { method: "DELETE" })).status).toBe(204);
    expect((await call(`/v1/tasks/${id}`)).status).toBe(404);
  });

  test.each([{ ratio: "16:9" }, { duration: "5" }, { promptImage: undefined }, { model: undefined }])(
    "refuses %j",
    async (fields) => {
      const { status, body: answer } = await call("/v1/image_to_video", { body: { ...body, ...fields } });
      expect([status, typeof answer.at("error")]).toEqual([400, "string"]);
    },
  );
});

describe("fal", () => {
  const call = callerWith({ authorization: "Key id:secret" });
  const create = async (script: Script, query = "") =>
    (await call(`/fal-ai/veo3/fast${query}`, { body: { prompt: "a cat", duration: "8s" }, script })).body;

  test("queues a task, and returns the result at the URL it gave", async () => {
    const created = await create(stuck.done);
    expect(created.text("status_url")).toEndWith(`/fal-ai/veo3/requests/${created.text("request_id")}/status`);
    expect((await call(`${created.text("status_url")}?logs=1`)).body.at("status")).toBe("COMPLETED");
    expect(await isVideo((await call(created.text("response_url"))).body.text("video", "url"))).toBe(true);
    expect(truthOf(running, created.text("request_id"))).toMatchObject({ model: "fal-ai/veo3/fast", seconds: 8 });
  });

  test("reports a failed task as completed, with the error as its result", async () => {
    const created = await create(stuck.failed);
    expect((await call(created.text("status_url"))).body.at("status")).toBe("COMPLETED");
    const result = await call(created.text("response_url"));
    expect([result.status, result.body.at("detail", 0, "type")]).toEqual([422, "content_policy_violation"]);
  });

  test("cancels a task once, and has no result before the end", async () => {
    const created = await create(stuck.running);
    expect((await call(created.text("status_url"))).body.at("status")).toBe("IN_PROGRESS");
    expect((await call(created.text("response_url"))).status).toBe(400);
    expect((await call(created.text("cancel_url"), { method: "PUT" })).status).toBe(202);
    expect((await call(created.text("cancel_url"), { method: "PUT" })).body.at("detail")).toBe("ALREADY_COMPLETED");
  });

  test("reports the outcome to the webhook", async () => {
    const received: unknown[] = [];
    const server = Bun.serve({
      idleTimeout: 0,
      port: 0,
      async fetch(request) {
        received.push(JSON.parse(await request.text()));
        return new Response();
      },
    });
    const hook = encodeURIComponent(`http://127.0.0.1:${server.port}/`);
    const created = await create({ queued_ms: 5, running_ms: 5, ends: "failed" }, `?fal_webhook=${hook}`);
    await until(() => received.length > 0);
    await server.stop(true);
    expect(received).toMatchObject([{ request_id: created.text("request_id"), status: "ERROR" }]);
  });
});

describe("Replicate", () => {
  const call = callerWith({ authorization: "Bearer r8_1" });
  const body = { input: { prompt: "a cat" } };
  const create = async (script: Script) =>
    (await call("/v1/models/minimax/video-01/predictions", { body, script })).body;

  test("creates a task for a model, and returns the URL to poll", async () => {
    const created = await call("/v1/models/minimax/video-01/predictions", { body, script: stuck.done });
    expect(created.status).toBe(201);
    expect(created.body.text("urls", "get")).toEndWith(`/v1/predictions/${created.body.text("id")}`);
    const { body: done } = await call(created.body.text("urls", "get"));
    expect(done.value).toMatchObject({
      status: "succeeded",
      model: "minimax/video-01",
      error: null,
      input: body.input,
    });
    expect(await isVideo(done.text("output"))).toBe(true);
    expect((await call("/v1/predictions")).body.at("results", 0, "id")).toBe(done.at("id"));
  });

  test.each([
    [stuck.queued, "starting"],
    [stuck.running, "processing"],
    [stuck.failed, "failed"],
    [{ ...stuck.done, ends: "expired" }, "aborted"],
  ] as const)("reports a task with %j as %s", async (script, status) => {
    const created = await create(script);
    expect((await call(created.text("urls", "get"))).body.at("status")).toBe(status);
  });

  test("cancels a task by POST, and refuses a body without input", async () => {
    const created = await create(stuck.running);
    expect((await call(created.text("urls", "cancel"), { method: "POST" })).body.at("status")).toBe("canceled");
    const { status, body: answer } = await call("/v1/predictions", { body: { version: "v" } });
    expect([status, answer.at("title")]).toEqual([422, "Input validation failed"]);
  });

  test("stores only the beginning of a large input", async () => {
    const large = { input: { prompt: "a cat", image: "x".repeat(100_000) } };
    const { body: answer } = await call("/v1/models/a/b/predictions", { body: large, script: stuck.queued });
    expect(answer.text("input", "image").length).toBe(4_096);
  });
});

test("a task of one vendor is unknown to the others", async () => {
  const created: Json = (await callerWith({ authorization: "Bearer same" })("/v1/videos", { body: { prompt: "x" } }))
    .body;
  const id = created.text("id");
  const otherVendor = await callerWith({ authorization: "Bearer same" })(`/v1/predictions/${id}`);
  expect(otherVendor.status).toBe(404);
});

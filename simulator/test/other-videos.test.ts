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

/** Calls that all carry these headers. */
function calling(headers: Record<string, string>): (path: string, call?: TaskCall) => Promise<TaskAnswer> {
  return (path, call = {}) => taskCall(running, path, { ...call, headers: { ...headers, ...call.headers } });
}

async function isVideo(url: string): Promise<boolean> {
  return Buffer.from(await (await fetch(url)).arrayBuffer()).toString("latin1", 4, 8) === "ftyp";
}

describe("Wan on DashScope", () => {
  const call = calling({ authorization: "Bearer sk-ds", "x-dashscope-async": "enable" });
  const path = "/api/v1/services/aigc/video-generation/video-synthesis";
  const body = { model: "wan2.5-t2v", input: { prompt: "a cat" }, parameters: { size: "1280*720", duration: 5 } };
  const make = async (script: Script) => (await call(path, { body, script })).body.text("output", "task_id");
  const look = async (id: string) => (await call(`/api/v1/tasks/${id}`)).body;

  test("must be asynchronous", async () => {
    const { status, body: told } = await call(path, { body, headers: { "x-dashscope-async": "disable" } });
    expect([status, told.at("code")]).toEqual([403, "AccessDenied"]);
  });

  test("goes from PENDING to SUCCEEDED, with seconds as its usage", async () => {
    const id = await make(stuck.done);
    const done = await look(id);
    expect(done.value).toMatchObject({
      output: { task_id: id, task_status: "SUCCEEDED", orig_prompt: "a cat" },
      usage: { video_duration: 5, video_count: 1, SR: 720 },
    });
    expect(done.text("output", "end_time")).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/);
    expect(await isVideo(done.text("output", "video_url"))).toBe(true);
    expect((await look(await make(stuck.queued))).at("output", "task_status")).toBe("PENDING");
    expect((await look(await make(stuck.running))).at("output", "task_status")).toBe("RUNNING");
  });

  test("tells a failure in the output, and an unknown task as a state", async () => {
    const failed = await look(await make(stuck.failed));
    expect(failed.at("output")).toMatchObject({ task_status: "FAILED", code: "DataInspectionFailed" });
    expect((await look("nobody")).at("output", "task_status")).toBe("UNKNOWN");
  });

  test("is cancelled while pending, and no later", async () => {
    const [pending, busy] = [await make(stuck.queued), await make(stuck.running)];
    expect((await call(`/api/v1/tasks/${pending}/cancel`, { method: "POST" })).status).toBe(200);
    expect((await look(pending)).at("output", "task_status")).toBe("CANCELED");
    expect((await call(`/api/v1/tasks/${busy}/cancel`, { method: "POST" })).body.at("code")).toBe(
      "UnsupportedOperation",
    );
    expect((await call("/api/v1/tasks?status=CANCELED")).body.at("data", 0, "task_id")).toBe(pending);
  });

  test.each([
    ["without a model", { ...body, model: "" }],
    ["without a prompt", { ...body, input: {} }],
    ["with a size that has no asterisk", { ...body, parameters: { size: "1280x720" } }],
  ])("is refused %s", async (_what, sent) => {
    const { status, body: told } = await call(path, { body: sent });
    expect([status, told.at("code")]).toEqual([400, "InvalidParameter"]);
  });
});

describe("Kling", () => {
  const path = "/v1/videos/text2video";
  const body = { model_name: "kling-v2-6", prompt: "a cat", duration: "5", external_task_id: "vt_kling" };

  function token(claims: object = {}, secret = "kling-secret-example"): Record<string, string> {
    const now = Math.floor(Date.now() / 1000);
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const told = { iss: "AKKLINGEXAMPLE", exp: now + 1800, nbf: now - 5, ...claims };
    const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(told)}`;
    return { authorization: `Bearer ${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}` };
  }

  test.each<[string, Record<string, string>, number]>([
    ["no token", {}, 1001],
    ["a plain key", { authorization: "Bearer kling-secret-example" }, 1002],
    ["an unknown issuer", token({ iss: "AKNOBODY" }), 1002],
    ["another secret", token({}, "wrong"), 1000],
    ["a token for later", token({ nbf: 9_999_999_999 }), 1003],
    ["an expired token", token({ exp: 1 }), 1004],
  ])("refuses %s", async (_what, headers, code) => {
    const answer = await taskCall(running, path, { body, headers });
    expect([answer.status, answer.body.at("code")]).toEqual([401, code]);
  });

  test("is submitted, processed and succeeds, and is found by the client's own id too", async () => {
    const created = await taskCall(running, path, { body, headers: token(), script: stuck.done });
    expect(created.body.value).toMatchObject({
      code: 0,
      message: "SUCCEED",
      data: { task_info: { external_task_id: "vt_kling" } },
    });
    const id = created.body.text("data", "task_id");
    for (const name of [id, "vt_kling"]) {
      const { body: told } = await taskCall(running, `${path}/${name}`, { headers: token() });
      expect(told.at("data")).toMatchObject({ task_id: id, task_status: "succeed", updated_at: expect.any(Number) });
      expect(told.at("data", "task_result", "videos", 0, "duration")).toBe("5.041");
      expect(await isVideo(told.text("data", "task_result", "videos", 0, "url"))).toBe(true);
    }
    expect(truthOf(running, id)).toMatchObject({ client_task_id: "vt_kling", creates_of_client_task: 1 });
    const { body: listed } = await taskCall(running, `${path}?pageNum=1&pageSize=30`, { headers: token() });
    expect(listed.at("data", 0, "task_id")).toBe(id);
    expect((await taskCall(running, `/v1/videos/image2video/${id}`, { headers: token() })).status).toBe(404);
  });

  test("answers well for a task that failed", async () => {
    const { body: made } = await taskCall(running, path, { body, headers: token(), script: stuck.failed });
    const { status, body: told } = await taskCall(running, `${path}/${made.text("data", "task_id")}`, {
      headers: token(),
    });
    expect([status, told.at("code"), told.at("data", "task_status")]).toEqual([200, 0, "failed"]);
    expect(told.text("data", "task_status_msg")).not.toBe("");
  });

  test("refuses a length that is a number, and says when too many run", async () => {
    const wrong = await taskCall(running, path, { body: { ...body, duration: 5 }, headers: token() });
    expect([wrong.status, wrong.body.at("code")]).toEqual([400, 1201]);
    const script = { status: 429, error_code: "1303" };
    const full = await taskCall(running, path, { body, headers: token(), script });
    expect([full.status, full.body.at("code")]).toEqual([429, 1303]);
  });
});

describe("MiniMax", () => {
  const call = calling({ authorization: "Bearer mm-key" });
  const body = { model: "MiniMax-Hailuo-02", prompt: "a cat", duration: 6, resolution: "768P" };
  const make = async (script: Script) => (await call("/v1/video_generation", { body, script })).body.text("task_id");
  const look = async (id: string) => (await call(`/v1/query/video_generation?task_id=${id}`)).body;

  test("gives a file's id, and the file's address in a second look", async () => {
    const id = await make(stuck.done);
    const done = await look(id);
    expect(done.value).toMatchObject({ task_id: id, status: "Success", base_resp: { status_code: 0 } });
    expect(done.at("file_id")).not.toBe(id);
    const { body: told } = await call(`/v1/files/retrieve?file_id=${done.text("file_id")}`);
    expect(await isVideo(told.text("file", "download_url"))).toBe(true);
    expect((await look(await make(stuck.queued))).value).toMatchObject({ status: "Queueing", file_id: "" });
    expect((await look(await make(stuck.running))).at("status")).toBe("Processing");
  });

  test.each<[string, () => Promise<TaskAnswer>, number]>([
    ["a bad field", () => call("/v1/video_generation", { body: { ...body, duration: 7 } }), 2013],
    ["a limit", () => call("/v1/video_generation", { body, script: { status: 429 } }), 1002],
    ["no credit", () => call("/v1/video_generation", { body, script: { status: 402 } }), 1008],
    ["no key", () => call("/v1/video_generation", { body, headers: { authorization: "" } }), 1004],
    ["an unknown task", () => call("/v1/query/video_generation?task_id=1"), 2013],
  ])("says %s inside a 200", async (_what, act, code) => {
    const { status, body: told } = await act();
    expect([status, told.at("base_resp", "status_code")]).toEqual([200, code]);
  });

  test("fails with a sensitive output, and breaks down as HTTP does", async () => {
    const failed = await look(await make(stuck.failed));
    expect(failed.value).toMatchObject({ status: "Fail", base_resp: { status_code: 1027 } });
    expect((await call("/v1/video_generation", { body, script: { status: 503 } })).status).toBe(503);
  });
});

describe("Vidu", () => {
  const call = calling({ authorization: "Token vda_1" });
  const make = (way: string, more: object, script: Script) =>
    call(`/ent/v2/${way}`, { body: { model: "viduq1", prompt: "a cat", duration: 5, ...more }, script });

  test("is created for a Token, and gives its creations", async () => {
    const { body: made } = await make("text2video", { payload: "vt_vidu" }, stuck.done);
    expect(made.value).toMatchObject({ state: "created", model: "viduq1", payload: "vt_vidu", credits: 50 });
    const { body: done } = await call(`/ent/v2/tasks/${made.text("task_id")}/creations`);
    expect(done.value).toMatchObject({ state: "success", credits: 50, payload: "vt_vidu", err_code: "" });
    expect(await isVideo(done.text("creations", 0, "url"))).toBe(true);
    expect(truthOf(running, made.text("task_id"))?.client_task_id).toBe("vt_vidu");
    const bearer = await call("/ent/v2/text2video", { body: {}, headers: { authorization: "Bearer vda_1" } });
    expect(bearer.status).toBe(401);
  });

  test("is cancelled into a failure, and listed", async () => {
    const id = (await make("text2video", {}, stuck.running)).body.text("task_id");
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
  ])("refuses %s with %i images", async (way, count) => {
    const images = Array.from({ length: count }, () => "https://x/a.png");
    expect((await make(way, { images }, {})).body.at("reason")).toBe("FieldInvalid");
  });
});

describe("Runway", () => {
  const call = calling({ authorization: "Bearer key_1", "x-runway-version": "2024-11-06" });
  const body = {
    model: "gen4_turbo",
    promptImage: "https://x/a.png",
    promptText: "a cat",
    ratio: "1280:720",
    duration: 5,
  };
  const make = async (script: Script) => (await call("/v1/image_to_video", { body, script })).body.text("id");
  const look = async (id: string) => (await call(`/v1/tasks/${id}`)).body;

  test("wants its version on every call", async () => {
    const id = await make(stuck.queued);
    const bare = calling({ authorization: "Bearer key_1" });
    expect((await bare("/v1/image_to_video", { body })).status).toBe(400);
    expect((await bare(`/v1/tasks/${id}`)).status).toBe(400);
  });

  test("shows progress while it runs, links when it is done, and a code when it failed", async () => {
    expect((await look(await make(stuck.queued))).at("status")).toBe("PENDING");
    expect((await look(await make(stuck.running))).value).toMatchObject({ status: "RUNNING", progress: 0 });
    expect((await look(await make({ ...stuck.running, odd_state: "THROTTLED" }))).at("status")).toBe("THROTTLED");
    const done = await look(await make(stuck.done));
    expect(done.value).toMatchObject({ status: "SUCCEEDED", cost: { credits: 25 } });
    expect(await isVideo(done.text("output", 0))).toBe(true);
    const failed = await look(await make({ ...stuck.failed, error_code: "INTERNAL.BAD_OUTPUT" }));
    expect(failed.value).toMatchObject({ status: "FAILED", failureCode: "INTERNAL.BAD_OUTPUT" });
  });

  test("cancels by DELETE what runs, and deletes what is over", async () => {
    const id = await make(stuck.running);
    expect((await call(`/v1/tasks/${id}`, { method: "DELETE" })).status).toBe(204);
    expect((await look(id)).at("status")).toBe("CANCELLED");
    expect((await call(`/v1/tasks/${id}`, { method: "DELETE" })).status).toBe(204);
    expect((await call(`/v1/tasks/${id}`)).status).toBe(404);
  });

  test.each([{ ratio: "16:9" }, { duration: "5" }, { promptImage: undefined }, { model: undefined }])(
    "refuses %j",
    async (more) => {
      const { status, body: told } = await call("/v1/image_to_video", { body: { ...body, ...more } });
      expect([status, typeof told.at("error")]).toEqual([400, "string"]);
    },
  );
});

describe("fal", () => {
  const call = calling({ authorization: "Key id:secret" });
  const make = async (script: Script, query = "") =>
    (await call(`/fal-ai/veo3/fast${query}`, { body: { prompt: "a cat", duration: "8s" }, script })).body;

  test("queues, and gives the result where it said", async () => {
    const made = await make(stuck.done);
    expect(made.text("status_url")).toEndWith(`/fal-ai/veo3/requests/${made.text("request_id")}/status`);
    expect((await call(`${made.text("status_url")}?logs=1`)).body.at("status")).toBe("COMPLETED");
    expect(await isVideo((await call(made.text("response_url"))).body.text("video", "url"))).toBe(true);
    expect(truthOf(running, made.text("request_id"))).toMatchObject({ model: "fal-ai/veo3/fast", seconds: 8 });
  });

  test("completes a failure too, whose result is the error", async () => {
    const made = await make(stuck.failed);
    expect((await call(made.text("status_url"))).body.at("status")).toBe("COMPLETED");
    const result = await call(made.text("response_url"));
    expect([result.status, result.body.at("detail", 0, "type")]).toEqual([422, "content_policy_violation"]);
  });

  test("cancels once, and has no result before the end", async () => {
    const made = await make(stuck.running);
    expect((await call(made.text("status_url"))).body.at("status")).toBe("IN_PROGRESS");
    expect((await call(made.text("response_url"))).status).toBe(400);
    expect((await call(made.text("cancel_url"), { method: "PUT" })).status).toBe(202);
    expect((await call(made.text("cancel_url"), { method: "PUT" })).body.at("detail")).toBe("ALREADY_COMPLETED");
  });

  test("tells its webhook how it went", async () => {
    const heard: unknown[] = [];
    const ear = Bun.serve({
      idleTimeout: 0,
      port: 0,
      async fetch(request) {
        heard.push(JSON.parse(await request.text()));
        return new Response();
      },
    });
    const hook = encodeURIComponent(`http://127.0.0.1:${ear.port}/`);
    const made = await make({ queued_ms: 5, running_ms: 5, ends: "failed" }, `?fal_webhook=${hook}`);
    await until(() => heard.length > 0);
    await ear.stop(true);
    expect(heard).toMatchObject([{ request_id: made.text("request_id"), status: "ERROR" }]);
  });
});

describe("Replicate", () => {
  const call = calling({ authorization: "Bearer r8_1" });
  const body = { input: { prompt: "a cat" } };
  const make = async (script: Script) => (await call("/v1/models/minimax/video-01/predictions", { body, script })).body;

  test("is created at a model, and looked at where it said", async () => {
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
  ] as const)("with %j is %s", async (script, status) => {
    const made = await make(script);
    expect((await call(made.text("urls", "get"))).body.at("status")).toBe(status);
  });

  test("is cancelled by POST, and refuses a body without input", async () => {
    const made = await make(stuck.running);
    expect((await call(made.text("urls", "cancel"), { method: "POST" })).body.at("status")).toBe("canceled");
    const { status, body: told } = await call("/v1/predictions", { body: { version: "v" } });
    expect([status, told.at("title")]).toEqual([422, "Input validation failed"]);
  });

  test("keeps of a large input only what is needed to tell it back", async () => {
    const large = { input: { prompt: "a cat", image: "x".repeat(100_000) } };
    const { body: told } = await call("/v1/models/a/b/predictions", { body: large, script: stuck.queued });
    expect(told.text("input", "image").length).toBe(4_096);
  });
});

test("tasks of one vendor are unknown to every other", async () => {
  const made: Json = (await calling({ authorization: "Bearer same" })("/v1/videos", { body: { prompt: "x" } })).body;
  const id = made.text("id");
  const foreign = await calling({ authorization: "Bearer same" })(`/v1/predictions/${id}`);
  expect(foreign.status).toBe(404);
});

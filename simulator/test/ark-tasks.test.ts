import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { until } from "../../test/until.ts";
import { type RunningSimulator, type Script, serveSimulator } from "../src/index.ts";
import { lastRecord } from "./sdk-call.ts";
import { stuck, type TaskAnswer, taskCall, truthOf } from "./task-call.ts";

let running: RunningSimulator;
beforeAll(() => {
  running = serveSimulator();
});
afterAll(() => running.stop());
// Tasks change state with the time of day.
afterEach(() => void setSystemTime());

const tasksPath = "/api/v3/contents/generations/tasks";
const model = "doubao-seedance-2-0-260128";
const content = [{ type: "text", text: "a cat on a beach" }];
const bearer = { authorization: "Bearer ark-key-1" };

function create(fields: object = {}, script: Script = {}, headers: Record<string, string> = {}): Promise<TaskAnswer> {
  return taskCall(running, tasksPath, {
    body: { model, content, ...fields },
    script,
    headers: { ...bearer, ...headers },
  });
}

async function createdId(
  fields: object = {},
  script: Script = {},
  headers: Record<string, string> = {},
): Promise<string> {
  return (await create(fields, script, headers)).body.text("id");
}

function poll(id: string, headers: Record<string, string> = bearer): Promise<TaskAnswer> {
  return taskCall(running, `${tasksPath}/${id}`, { headers });
}

function remove(id: string): Promise<TaskAnswer> {
  return taskCall(running, `${tasksPath}/${id}`, { method: "DELETE", headers: bearer });
}

describe("a task", () => {
  test("is queued, runs and succeeds, and has usage and links only at the end", async () => {
    const id = await createdId({ duration: 5, ratio: "9:16", seed: 11 }, { queued_ms: 60_000, running_ms: 60_000 });
    expect(id).toMatch(/^cgt-\d{14}-[0-9a-z]{5}$/);
    const seen: unknown[] = [];
    let last = await poll(id);
    for (; last.body.at("status") !== "succeeded"; last = await poll(id)) {
      expect(last.body.at("usage")).toBeUndefined();
      expect(last.body.at("content")).toBeUndefined();
      seen.push(last.body.at("status"));
      setSystemTime(Date.now() + 40_000);
    }
    expect(seen).toEqual(["queued", "queued", "running"]);
    expect(last.body.value).toMatchObject({
      id,
      model,
      error: null,
      content: { video_url: expect.stringContaining("X-Tos-Signature=") },
      usage: { completion_tokens: 108_000, total_tokens: 108_000 },
      seed: 11,
      resolution: "720p",
      ratio: "9:16",
      duration: 5,
      framespersecond: 24,
      generate_audio: true,
      service_tier: "default",
      execution_expires_after: 172_800,
    });
    expect(truthOf(running, id)).toMatchObject({ state: "succeeded", polls: seen.length + 1, tokens: 108_000 });
  });

  test.each([
    [
      { ...stuck.failed, error_message: "No." },
      "failed",
      { code: "OutputVideoSensitiveContentDetected", message: "No." },
    ],
    [{ ...stuck.failed, error_code: "InternalServiceError" }, "failed", { code: "InternalServiceError" }],
    [{ ...stuck.done, ends: "expired" }, "expired", null],
  ] as const)("ends as scripted: %j", async (script, status, error) => {
    const { body } = await poll(await createdId({}, script));
    expect(body.at("status")).toBe(status);
    expect(body.at("usage")).toBeUndefined();
    if (error === null) expect(body.at("error")).toBeNull();
    else expect(body.at("error")).toMatchObject(error);
  });

  test("reports the tokens that a script sets, or none", async () => {
    const named = await poll(await createdId({}, { ...stuck.done, video_tokens: 77 }));
    expect(named.body.at("usage")).toEqual({ completion_tokens: 77, total_tokens: 77 });
    expect((await poll(await createdId({}, { ...stuck.done, no_usage: true }))).body.at("usage")).toBeUndefined();
  });

  test("of an older model accepts flags in its text, and fields override them", async () => {
    const text = "a cat --rs 480p --dur 10 --ratio 1:1 --seed 7 --nonsense 3";
    const older = { model: "doubao-seedance-1-0-pro-250528", content: [{ type: "text", text }], ratio: "9:16" };
    const { body } = await poll(await createdId(older, stuck.done));
    expect(body.value).toMatchObject({ resolution: "480p", duration: 10, ratio: "9:16", seed: 7 });
    expect(body.at("generate_audio")).toBeUndefined();
  });

  test("is visible only to the key that created it", async () => {
    const id = await createdId({}, stuck.queued);
    expect((await poll(id, { authorization: "Bearer ark-key-2" })).status).toBe(404);
    expect((await poll(id, {})).status).toBe(401);
    expect((await poll(id)).status).toBe(200);
  });
});

describe("a DELETE", () => {
  test("cancels a queued task, once", async () => {
    const id = await createdId({}, stuck.queued);
    expect((await remove(id)).status).toBe(200);
    expect((await poll(id)).body.at("status")).toBe("cancelled");
    expect((await remove(id)).status).toBe(409);
  });

  test("is refused while the task runs", async () => {
    const refused = await remove(await createdId({}, stuck.running));
    expect(refused.status).toBe(409);
    expect(refused.body.at("error", "code")).toBe("OperationDenied.InvalidState");
  });

  test("removes the record of a finished task", async () => {
    const id = await createdId({}, stuck.failed);
    expect((await remove(id)).status).toBe(200);
    expect((await poll(id)).status).toBe(404);
    expect(truthOf(running, id)?.deleted_at).not.toBeNull();
  });
});

describe("the list", () => {
  const listHeaders = { authorization: "Bearer ark-list" };
  const ids: string[] = [];
  beforeAll(async () => {
    for (const script of [stuck.queued, stuck.done, stuck.failed]) ids.push(await createdId({}, script, listHeaders));
    ids.push(await createdId({ model: "ep-20260101000000-abcde" }, stuck.done, listHeaders));
  });

  test.each([
    ["", [3, 2, 1, 0]],
    ["?page_num=2&page_size=3", [0]],
    ["?filter.status=succeeded", [3, 1]],
    ["?filter.model=ep-20260101000000-abcde", [3]],
    ["?filter.status=succeeded&filter.service_tier=flex", []],
  ])("with %s is ordered from the newest", async (query, order) => {
    const { body } = await taskCall(running, `${tasksPath}${query}`, { headers: listHeaders });
    const items = body.at("items");
    const shown = Array.isArray(items) ? items.map((item: { id: string }) => ids.indexOf(item.id)) : null;
    expect(shown).toEqual(order);
    expect(body.at("total")).toBe(query.includes("page_num") ? 4 : order.length);
  });

  test("finds tasks by repeated ids", async () => {
    const query = ids
      .slice(0, 2)
      .map((id) => `filter.task_ids=${id}`)
      .join("&");
    expect((await taskCall(running, `${tasksPath}?${query}`, { headers: listHeaders })).body.at("total")).toBe(2);
  });
});

const image = (role?: string): object => ({ type: "image_url", image_url: { url: "https://x/a.png" }, role });
const audio = { type: "audio_url", audio_url: { url: "https://x/a.mp3" }, role: "reference_audio" };

describe("a create, as at the vendor,", () => {
  test.each<[string, object, string]>([
    ["no model", { model: undefined }, "MissingParameter.model"],
    ["no content", { content: undefined }, "MissingParameter.content"],
    ["an empty text", { content: [{ type: "text", text: "" }] }, "MissingParameter.content[0].text"],
    ["an unknown item", { content: [{ type: "photo" }] }, "InvalidParameter"],
    [
      "an invalid link",
      { content: [{ type: "image_url", image_url: { url: "a.png" } }] },
      "InvalidImageURL.InvalidFormat",
    ],
    ["a role of the wrong kind", { content: [image("reference_video")] }, "InvalidParameter"],
    ["two images without roles", { content: [image(), image()] }, "MissingParameter.content.role"],
    ["a last frame without a first", { content: [image("last_frame")] }, "InvalidParameter"],
    ["frames beside references", { content: [image("first_frame"), image("reference_image")] }, "InvalidParameter"],
    ["ten references", { content: Array.from({ length: 10 }, () => image("reference_image")) }, "InvalidParameter"],
    ["audio alone", { content: [audio] }, "InvalidParameter"],
    ["a length that is not a number", { duration: "5" }, "InvalidParameter"],
    ["a length out of range", { duration: 16 }, "InvalidParameter"],
    ["an unknown ratio", { ratio: "2:1" }, "InvalidParameter"],
    ["a flag that is not a boolean", { watermark: "false" }, "InvalidParameter"],
    ["a short expiry", { execution_expires_after: 60 }, "InvalidParameter"],
    ["flex on 2.0", { service_tier: "flex" }, "InvalidParameter.UnsupportedParameter"],
    ["frames on 2.0", { frames: 29 }, "InvalidParameter.UnsupportedParameter"],
    [
      "4k on fast",
      { model: "doubao-seedance-2-0-fast-260128", resolution: "4k" },
      "InvalidParameter.UnsupportedParameter",
    ],
    [
      "sound on 1.0",
      { model: "doubao-seedance-1-0-pro-250528", generate_audio: true },
      "InvalidParameter.UnsupportedParameter",
    ],
    [
      "a draft that does not exist",
      { content: [{ type: "draft_task", draft_task: { id: "cgt-1" } }] },
      "InvalidParameter",
    ],
    [
      "an asset that does not exist",
      { content: [{ type: "image_url", image_url: { url: "asset://asset-1" } }] },
      "InvalidParameter",
    ],
  ])("is refused with %s", async (_what, fields, code) => {
    const before = running.simulator.tasks.list().total;
    const { status, body } = await create(fields);
    expect(status).toBe(400);
    expect(body.at("error")).toMatchObject({
      code,
      type: "BadRequest",
      message: expect.stringContaining("Request id:"),
    });
    expect(running.simulator.tasks.list().total).toBe(before);
  });

  test("is refused with the bare name of a model family", async () => {
    const { status, body } = await create({ model: "doubao-seedance-2-0" });
    expect([status, body.at("error", "code")]).toEqual([404, "InvalidEndpointOrModel.NotFound"]);
  });

  test.each([
    [[image("first_frame"), image("last_frame")]],
    [[image(), content[0]]],
    [[image("reference_image"), audio, { type: "video_url", video_url: { url: "https://x/v.mp4" } }]],
    [[{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }]],
  ])("accepts %j", async (accepted) => {
    expect((await create({ content: accepted, duration: -1 }, stuck.queued)).status).toBe(200);
  });
});

describe("a script", () => {
  test("can return QuotaExceeded, and then no task is accepted", async () => {
    const before = running.simulator.tasks.list().total;
    const { status, body } = await create({}, { status: 429, error_code: "QuotaExceeded", error_message: "Full." });
    expect([status, body.at("error", "code")]).toEqual([429, "QuotaExceeded"]);
    expect(running.simulator.tasks.list().total).toBe(before);
  });

  test.each(["cut", "reset"] as const)("that loses the answer (%s) still accepts the task", async (answer_lost) => {
    const attempt = `att_${answer_lost}`;
    const failed = await create({}, { ...stuck.queued, answer_lost }, { "x-attempt-id": attempt }).catch(() => null);
    expect(failed).toBeNull();
    const { data } = running.simulator.tasks.list({ attemptId: attempt });
    expect(data).toMatchObject([{ answer_lost: true, creates_of_attempt: 1, state: "queued" }]);
    const { body } = await taskCall(running, `${tasksPath}?filter.task_ids=${data[0]?.id}`, { headers: bearer });
    expect(body.at("total")).toBe(1);
  });

  test("can send no answer until the caller disconnects", async () => {
    const leaving = new AbortController();
    const call = fetch(`http://127.0.0.1:${running.port}${tasksPath}`, {
      method: "POST",
      headers: { ...bearer, "x-attempt-id": "att_silent", "x-sim-script": '{"answer_lost":"silent"}' },
      body: JSON.stringify({ model, content }),
      signal: leaving.signal,
    }).catch(() => "disconnected");
    await until(() => running.simulator.tasks.list({ attemptId: "att_silent" }).data.length === 1);
    leaving.abort();
    expect(await call).toBe("disconnected");
    await until(() => running.simulator.truth.find("att_silent")?.aborted_at != null);
  });

  test("can make a task vanish: it is not found, and the truth reports it", async () => {
    const id = await createdId({}, { ...stuck.running, vanish_ms: 0 });
    expect((await poll(id)).status).toBe(404);
    const { body } = await taskCall(running, `${tasksPath}?filter.task_ids=${id}`, { headers: bearer });
    expect(body.at("total")).toBe(0);
    expect(truthOf(running, id)).toMatchObject({ vanished: true, state: "running" });
  });

  test("can fail the first polls and answer the next ones", async () => {
    const id = await createdId({}, { ...stuck.done, poll: { status: 500 }, poll_count: 2 });
    const statuses = [];
    for (let index = 0; index < 3; index += 1) statuses.push((await poll(id)).status);
    expect(statuses).toEqual([500, 500, 200]);
  });

  test("for polls alone is set with the preset name of polls", async () => {
    const id = await createdId({}, stuck.done);
    running.simulator.addPreset({ script: { status: 503 }, count: null, model: null });
    expect((await poll(id)).status).toBe(200);
    running.simulator.clearPresets();
    running.simulator.addPreset({ script: { latency_ms: 40 }, count: 1, model: "ark-tasks poll" });
    const started = performance.now();
    expect((await poll(id)).status).toBe(200);
    expect(performance.now() - started).toBeGreaterThan(35);
  });

  test("can be part of the prompt, and can give a running task an unknown state", async () => {
    const text = `a cat [[sim ${JSON.stringify({ ...stuck.running, odd_state: "polishing" })}]]`;
    const id = await createdId({ content: [{ type: "text", text }] });
    expect((await poll(id)).body.at("status")).toBe("polishing");
  });
});

describe("a callback", () => {
  test("is sent on every change, as often as scripted, in the format of a poll", async () => {
    const received: { id: string; status: string }[] = [];
    const server = Bun.serve({
      idleTimeout: 0,
      port: 0,
      async fetch(request) {
        received.push(JSON.parse(await request.text()));
        return new Response();
      },
    });
    const url = `http://127.0.0.1:${server.port}/hook`;
    const id = await createdId({ callback_url: url }, { queued_ms: 5, running_ms: 30, callbacks: 2 });
    await createdId({ callback_url: url }, { queued_ms: 0, running_ms: 0, callbacks: 0 });
    await until(() => truthOf(running, id)?.callbacks_accepted === 4);
    await server.stop(true);
    expect(received.every((callback) => callback.id === id)).toBe(true);
    expect(received.map((callback) => callback.status).toSorted()).toEqual([
      "running",
      "running",
      "succeeded",
      "succeeded",
    ]);
  });

  test("is tried three times", async () => {
    let tries = 0;
    const server = Bun.serve({
      idleTimeout: 0,
      port: 0,
      fetch() {
        tries += 1;
        return new Response(null, { status: 500 });
      },
    });
    const id = await createdId({ callback_url: `http://127.0.0.1:${server.port}/` }, { queued_ms: 600_000 });
    const started = await createdId(
      { callback_url: `http://127.0.0.1:${server.port}/` },
      { queued_ms: 0, running_ms: 600_000 },
    );
    await until(() => tries === 3);
    await server.stop(true);
    expect(truthOf(running, started)).toMatchObject({ callbacks_sent: 1, callbacks_accepted: 0 });
    expect(truthOf(running, id)?.callbacks_sent).toBe(0);
  });
});

describe("the truth of tasks", () => {
  test("counts creates by body, client id and attempt", async () => {
    const headers = { authorization: "Bearer ark-twice", "x-attempt-id": "att_twice", "x-task-id": "vt_1" };
    const id = await createdId({}, stuck.queued, headers);
    await createdId({}, stuck.queued, headers);
    const account = truthOf(running, id)?.account ?? "";
    const answer = await fetch(`http://127.0.0.1:${running.port}/__sim/tasks?client_task_id=vt_1&account=${account}`);
    const expected = { creates_of_body: 2, creates_of_client_task: 2, creates_of_attempt: 2, attempt_id: "att_twice" };
    expect(await answer.json()).toMatchObject({ data: [expected, { ...expected, client_task_id: "vt_1" }] });
    expect(JSON.stringify(truthOf(running, id))).not.toContain("ark-twice");
  });

  test("contains the method and path of each request", async () => {
    const id = await createdId({}, stuck.queued);
    await remove(id);
    expect(await lastRecord(running)).toMatchObject({
      dialect: "ark-tasks",
      method: "DELETE",
      path: `${tasksPath}/${id}`,
      model,
    });
  });

  test("can be cleared without removing the tasks", async () => {
    const id = await createdId({}, stuck.queued);
    await fetch(`http://127.0.0.1:${running.port}/__sim/tasks`, { method: "DELETE" });
    expect(running.simulator.tasks.list()).toEqual({ total: 0, open: 0, data: [] });
    expect((await poll(id)).body.at("status")).toBe("queued");
  });
});

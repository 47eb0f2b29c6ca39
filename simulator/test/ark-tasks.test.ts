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
// Tasks stand where the time of day says.
afterEach(() => void setSystemTime());

const tasks = "/api/v3/contents/generations/tasks";
const model = "doubao-seedance-2-0-260128";
const content = [{ type: "text", text: "a cat on a beach" }];
const bearer = { authorization: "Bearer ark-key-1" };

function create(more: object = {}, script: Script = {}, headers: Record<string, string> = {}): Promise<TaskAnswer> {
  return taskCall(running, tasks, { body: { model, content, ...more }, script, headers: { ...bearer, ...headers } });
}

async function idOf(more: object = {}, script: Script = {}, headers: Record<string, string> = {}): Promise<string> {
  return (await create(more, script, headers)).body.text("id");
}

function look(id: string, headers: Record<string, string> = bearer): Promise<TaskAnswer> {
  return taskCall(running, `${tasks}/${id}`, { headers });
}

function remove(id: string): Promise<TaskAnswer> {
  return taskCall(running, `${tasks}/${id}`, { method: "DELETE", headers: bearer });
}

describe("a task", () => {
  test("is queued, runs and succeeds, with its usage and its links at the end only", async () => {
    const id = await idOf({ duration: 5, ratio: "9:16", seed: 11 }, { queued_ms: 60_000, running_ms: 60_000 });
    expect(id).toMatch(/^cgt-\d{14}-[0-9a-z]{5}$/);
    const seen: unknown[] = [];
    let last = await look(id);
    for (; last.body.at("status") !== "succeeded"; last = await look(id)) {
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
  ] as const)("ends as its script says: %j", async (script, status, error) => {
    const { body } = await look(await idOf({}, script));
    expect(body.at("status")).toBe(status);
    expect(body.at("usage")).toBeUndefined();
    if (error === null) expect(body.at("error")).toBeNull();
    else expect(body.at("error")).toMatchObject(error);
  });

  test("tells the tokens a script names, or none at all", async () => {
    const named = await look(await idOf({}, { ...stuck.done, video_tokens: 77 }));
    expect(named.body.at("usage")).toEqual({ completion_tokens: 77, total_tokens: 77 });
    expect((await look(await idOf({}, { ...stuck.done, no_usage: true }))).body.at("usage")).toBeUndefined();
  });

  test("of older models takes flags in its text, and fields win over them", async () => {
    const text = "a cat --rs 480p --dur 10 --ratio 1:1 --seed 7 --nonsense 3";
    const older = { model: "doubao-seedance-1-0-pro-250528", content: [{ type: "text", text }], ratio: "9:16" };
    const { body } = await look(await idOf(older, stuck.done));
    expect(body.value).toMatchObject({ resolution: "480p", duration: 10, ratio: "9:16", seed: 7 });
    expect(body.at("generate_audio")).toBeUndefined();
  });

  test("belongs to the key that made it", async () => {
    const id = await idOf({}, stuck.queued);
    expect((await look(id, { authorization: "Bearer ark-key-2" })).status).toBe(404);
    expect((await look(id, {})).status).toBe(401);
    expect((await look(id)).status).toBe(200);
  });
});

describe("deleting", () => {
  test("cancels what is queued, once", async () => {
    const id = await idOf({}, stuck.queued);
    expect((await remove(id)).status).toBe(200);
    expect((await look(id)).body.at("status")).toBe("cancelled");
    expect((await remove(id)).status).toBe(409);
  });

  test("is refused while it runs", async () => {
    const refused = await remove(await idOf({}, stuck.running));
    expect(refused.status).toBe(409);
    expect(refused.body.at("error", "code")).toBe("OperationDenied.InvalidState");
  });

  test("takes the record of what is over", async () => {
    const id = await idOf({}, stuck.failed);
    expect((await remove(id)).status).toBe(200);
    expect((await look(id)).status).toBe(404);
    expect(truthOf(running, id)?.deleted_at).not.toBeNull();
  });
});

describe("the list", () => {
  const mine = { authorization: "Bearer ark-list" };
  const ids: string[] = [];
  beforeAll(async () => {
    for (const script of [stuck.queued, stuck.done, stuck.failed]) ids.push(await idOf({}, script, mine));
    ids.push(await idOf({ model: "ep-20260101000000-abcde" }, stuck.done, mine));
  });

  test.each([
    ["", [3, 2, 1, 0]],
    ["?page_num=2&page_size=3", [0]],
    ["?filter.status=succeeded", [3, 1]],
    ["?filter.model=ep-20260101000000-abcde", [3]],
    ["?filter.status=succeeded&filter.service_tier=flex", []],
  ])("with %s shows the newest first", async (query, places) => {
    const { body } = await taskCall(running, `${tasks}${query}`, { headers: mine });
    const items = body.at("items");
    const shown = Array.isArray(items) ? items.map((item: { id: string }) => ids.indexOf(item.id)) : null;
    expect(shown).toEqual(places);
    expect(body.at("total")).toBe(query.includes("page_num") ? 4 : places.length);
  });

  test("finds tasks by repeated ids", async () => {
    const query = ids
      .slice(0, 2)
      .map((id) => `filter.task_ids=${id}`)
      .join("&");
    expect((await taskCall(running, `${tasks}?${query}`, { headers: mine })).body.at("total")).toBe(2);
  });
});

const image = (role?: string): object => ({ type: "image_url", image_url: { url: "https://x/a.png" }, role });
const audio = { type: "audio_url", audio_url: { url: "https://x/a.mp3" }, role: "reference_audio" };

describe("what the vendor refuses, it refuses", () => {
  test.each<[string, object, string]>([
    ["no model", { model: undefined }, "MissingParameter.model"],
    ["no content", { content: undefined }, "MissingParameter.content"],
    ["an empty text", { content: [{ type: "text", text: "" }] }, "MissingParameter.content[0].text"],
    ["an unknown item", { content: [{ type: "photo" }] }, "InvalidParameter"],
    [
      "a link that is none",
      { content: [{ type: "image_url", image_url: { url: "a.png" } }] },
      "InvalidImageURL.InvalidFormat",
    ],
    ["a role that does not fit", { content: [image("reference_video")] }, "InvalidParameter"],
    ["two images without roles", { content: [image(), image()] }, "MissingParameter.content.role"],
    ["a last frame without a first", { content: [image("last_frame")] }, "InvalidParameter"],
    ["frames beside references", { content: [image("first_frame"), image("reference_image")] }, "InvalidParameter"],
    ["ten references", { content: Array.from({ length: 10 }, () => image("reference_image")) }, "InvalidParameter"],
    ["audio alone", { content: [audio] }, "InvalidParameter"],
    ["a length that is no number", { duration: "5" }, "InvalidParameter"],
    ["a length out of range", { duration: 16 }, "InvalidParameter"],
    ["an unknown ratio", { ratio: "2:1" }, "InvalidParameter"],
    ["a flag that is no flag", { watermark: "false" }, "InvalidParameter"],
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
    ["a draft of nobody", { content: [{ type: "draft_task", draft_task: { id: "cgt-1" } }] }, "InvalidParameter"],
    [
      "an asset of nobody",
      { content: [{ type: "image_url", image_url: { url: "asset://asset-1" } }] },
      "InvalidParameter",
    ],
  ])("%s", async (_what, more, code) => {
    const before = running.simulator.tasks.list().total;
    const { status, body } = await create(more);
    expect(status).toBe(400);
    expect(body.at("error")).toMatchObject({
      code,
      type: "BadRequest",
      message: expect.stringContaining("Request id:"),
    });
    expect(running.simulator.tasks.list().total).toBe(before);
  });

  test("a family's bare name is no model", async () => {
    const { status, body } = await create({ model: "doubao-seedance-2-0" });
    expect([status, body.at("error", "code")]).toEqual([404, "InvalidEndpointOrModel.NotFound"]);
  });

  test.each([
    [[image("first_frame"), image("last_frame")]],
    [[image(), content[0]]],
    [[image("reference_image"), audio, { type: "video_url", video_url: { url: "https://x/v.mp4" } }]],
    [[{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }]],
  ])("while it takes %j", async (taken) => {
    expect((await create({ content: taken, duration: -1 }, stuck.queued)).status).toBe(200);
  });
});

describe("a script", () => {
  test("of too many tasks is a QuotaExceeded, and nothing is accepted", async () => {
    const before = running.simulator.tasks.list().total;
    const { status, body } = await create({}, { status: 429, error_code: "QuotaExceeded", error_message: "Full." });
    expect([status, body.at("error", "code")]).toEqual([429, "QuotaExceeded"]);
    expect(running.simulator.tasks.list().total).toBe(before);
  });

  test.each(["cut", "reset"] as const)("that loses the answer (%s) has accepted the task", async (answer_lost) => {
    const attempt = `att_${answer_lost}`;
    const failed = await create({}, { ...stuck.queued, answer_lost }, { "x-attempt-id": attempt }).catch(() => null);
    expect(failed).toBeNull();
    const { data } = running.simulator.tasks.list({ attemptId: attempt });
    expect(data).toMatchObject([{ answer_lost: true, creates_of_attempt: 1, state: "queued" }]);
    const { body } = await taskCall(running, `${tasks}?filter.task_ids=${data[0]?.id}`, { headers: bearer });
    expect(body.at("total")).toBe(1);
  });

  test("may never answer at all, until the caller leaves", async () => {
    const leaving = new AbortController();
    const call = fetch(`http://127.0.0.1:${running.port}${tasks}`, {
      method: "POST",
      headers: { ...bearer, "x-attempt-id": "att_silent", "x-sim-script": '{"answer_lost":"silent"}' },
      body: JSON.stringify({ model, content }),
      signal: leaving.signal,
    }).catch(() => "left");
    await until(() => running.simulator.tasks.list({ attemptId: "att_silent" }).data.length === 1);
    leaving.abort();
    expect(await call).toBe("left");
    await until(() => running.simulator.truth.find("att_silent")?.aborted_at != null);
  });

  test("makes a task vanish: it is nowhere, and the truth says so", async () => {
    const id = await idOf({}, { ...stuck.running, vanish_ms: 0 });
    expect((await look(id)).status).toBe(404);
    const { body } = await taskCall(running, `${tasks}?filter.task_ids=${id}`, { headers: bearer });
    expect(body.at("total")).toBe(0);
    expect(truthOf(running, id)).toMatchObject({ vanished: true, state: "running" });
  });

  test("fails the first polls, and lets the next through", async () => {
    const id = await idOf({}, { ...stuck.done, poll: { status: 500 }, poll_count: 2 });
    const statuses = [];
    for (let index = 0; index < 3; index += 1) statuses.push((await look(id)).status);
    expect(statuses).toEqual([500, 500, 200]);
  });

  test("for polls alone is left under their own name", async () => {
    const id = await idOf({}, stuck.done);
    running.simulator.addPreset({ script: { status: 503 }, count: null, model: null });
    expect((await look(id)).status).toBe(200);
    running.simulator.clearPresets();
    running.simulator.addPreset({ script: { latency_ms: 40 }, count: 1, model: "ark-tasks poll" });
    const started = performance.now();
    expect((await look(id)).status).toBe(200);
    expect(performance.now() - started).toBeGreaterThan(35);
  });

  test("may stand in the prompt, and gives a running task a word nobody knows", async () => {
    const text = `a cat [[sim ${JSON.stringify({ ...stuck.running, odd_state: "polishing" })}]]`;
    const id = await idOf({ content: [{ type: "text", text }] });
    expect((await look(id)).body.at("status")).toBe("polishing");
  });
});

describe("callbacks", () => {
  test("come on every change, as often as scripted, in the shape of a look", async () => {
    const heard: { id: string; status: string }[] = [];
    const ear = Bun.serve({
      idleTimeout: 0,
      port: 0,
      async fetch(request) {
        const told: { id: string; status: string } = JSON.parse(await request.text());
        heard.push(told);
        return new Response();
      },
    });
    const url = `http://127.0.0.1:${ear.port}/hook`;
    const id = await idOf({ callback_url: url }, { queued_ms: 5, running_ms: 30, callbacks: 2 });
    await idOf({ callback_url: url }, { queued_ms: 0, running_ms: 0, callbacks: 0 });
    await until(() => truthOf(running, id)?.callbacks_taken === 4);
    await ear.stop(true);
    expect(heard.every((told) => told.id === id)).toBe(true);
    expect(heard.map((told) => told.status).toSorted()).toEqual(["running", "running", "succeeded", "succeeded"]);
  });

  test("are tried three times and then given up", async () => {
    let tries = 0;
    const ear = Bun.serve({
      idleTimeout: 0,
      port: 0,
      fetch() {
        tries += 1;
        return new Response(null, { status: 500 });
      },
    });
    const id = await idOf({ callback_url: `http://127.0.0.1:${ear.port}/` }, { queued_ms: 600_000 });
    const over = await idOf({ callback_url: `http://127.0.0.1:${ear.port}/` }, { queued_ms: 0, running_ms: 600_000 });
    await until(() => tries === 3);
    await ear.stop(true);
    expect(truthOf(running, over)).toMatchObject({ callbacks_sent: 1, callbacks_taken: 0 });
    expect(truthOf(running, id)?.callbacks_sent).toBe(0);
  });
});

describe("the truth of tasks", () => {
  test("counts creates by body, by the client's name and by attempt", async () => {
    const headers = { authorization: "Bearer ark-twice", "x-attempt-id": "att_twice", "x-task-id": "vt_1" };
    const id = await idOf({}, stuck.queued, headers);
    await idOf({}, stuck.queued, headers);
    const account = truthOf(running, id)?.account ?? "";
    const answer = await fetch(`http://127.0.0.1:${running.port}/__sim/tasks?client_task_id=vt_1&account=${account}`);
    const told = { creates_of_body: 2, creates_of_client_task: 2, creates_of_attempt: 2, attempt_id: "att_twice" };
    expect(await answer.json()).toMatchObject({ data: [told, { ...told, client_task_id: "vt_1" }] });
    expect(JSON.stringify(truthOf(running, id))).not.toContain("ark-twice");
  });

  test("of requests names method and path of each", async () => {
    const id = await idOf({}, stuck.queued);
    await remove(id);
    expect(await lastRecord(running)).toMatchObject({
      dialect: "ark-tasks",
      method: "DELETE",
      path: `${tasks}/${id}`,
      model,
    });
  });

  test("is forgotten on demand, and the tasks live on", async () => {
    const id = await idOf({}, stuck.queued);
    await fetch(`http://127.0.0.1:${running.port}/__sim/tasks`, { method: "DELETE" });
    expect(running.simulator.tasks.list()).toEqual({ total: 0, open: 0, data: [] });
    expect((await look(id)).body.at("status")).toBe("queued");
  });
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { taskRequest, videoGateway } from "./video-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

type Task = {
  id: string;
  task_id: string;
  status: string;
  output: { content_url: string } | null;
  usage: object | null;
};
const bearer = { authorization: `Bearer ${aliceKey}` };

async function finished(id: string): Promise<Task> {
  return await until(async () => {
    const task = (await (await gateway.get(`/v1/video/tasks/${id}`)).json()) as Task;
    return ["queued", "running"].includes(task.status) ? null : task;
  });
}

test("creates a task, charges the upstream's usage once, and serves the video whole and in ranges", async () => {
  const created = await gateway.post("/v1/video/tasks", taskRequest);
  expect(created.status).toBe(200);
  const task = (await created.json()) as Task;
  expect(task).toMatchObject({
    object: "video.task",
    status: "queued",
    model: "clip-test",
    prompt: taskRequest.prompt,
    ratio: "16:9",
    duration: 5,
    resolution: "720p",
    audio: false,
    watermark: false,
    seed: -1,
    output: null,
    error: null,
  });
  expect(task.id).toStartWith("vt_");
  expect(task.task_id).toBe(task.id);
  const done = await finished(task.id);
  expect(done).toMatchObject({ status: "succeeded", error: null });
  const entries = (await gateway.entries()).filter(({ endpoint }) => endpoint === "video");
  expect(entries).toHaveLength(1);
  expect(entries[0]).toMatchObject({ outcome: "succeeded", usageSource: "upstream" });
  expect(entries[0]?.costNanoUsd).toBe((entries[0]?.usage.output ?? 0) * 6_000);
  expect(entries[0]?.usage.output).toBeGreaterThan(0);
  const whole = await fetch(done.output?.content_url ?? "", { headers: bearer });
  const bytes = await whole.bytes();
  expect([whole.status, whole.headers.get("content-type")]).toEqual([200, "video/mp4"]);
  const size = String(bytes.length);
  const head = await fetch(done.output?.content_url ?? "", { method: "HEAD", headers: bearer });
  const values = ["content-type", "content-length", "accept-ranges"].map((name) => head.headers.get(name));
  expect([head.status, ...values]).toEqual([200, "video/mp4", size, "bytes"]);
  const part = await fetch(done.output?.content_url ?? "", { headers: { ...bearer, range: "bytes=4-7" } });
  expect([part.status, Buffer.from(await part.bytes()).toString("hex")]).toEqual([
    206,
    Buffer.from(bytes.subarray(4, 8)).toString("hex"),
  ]);
});

test("returns the same task for the same Idempotency-Key, and a conflict for another body", async () => {
  const headers = { "idempotency-key": "order-17" };
  const first = (await (await gateway.post("/v1/video/tasks", taskRequest, { headers })).json()) as Task;
  const again = (await (await gateway.post("/v1/video/tasks", taskRequest, { headers })).json()) as Task;
  expect(again.id).toBe(first.id);
  const other = await gateway.post("/v1/video/tasks", { ...taskRequest, prompt: "another" }, { headers });
  expect([other.status, ((await other.json()) as { error: { code: string } }).error.code]).toEqual([
    409,
    "idempotency_conflict",
  ]);
});

test("lists tasks newest first, page by page", async () => {
  const page = (await (await gateway.get("/v1/video/tasks?limit=1")).json()) as {
    data: Task[];
    has_more: boolean;
    next: string;
  };
  expect([page.data.length, page.has_more]).toEqual([1, true]);
  const next = (await (await gateway.get(`/v1/video/tasks?limit=5&after=${encodeURIComponent(page.next)}`)).json()) as {
    data: Task[];
  };
  expect(next.data.map(({ id }) => id)).not.toContain(page.data[0]?.id ?? "");
});

test("lists the endpoints of a video model", async () => {
  const model = (await (await gateway.get("/v1/models/clip-test")).json()) as { type: string; endpoints: string[] };
  expect([model.type, model.endpoints]).toEqual(["video", ["/v1/video/tasks", "/v1/videos"]]);
});

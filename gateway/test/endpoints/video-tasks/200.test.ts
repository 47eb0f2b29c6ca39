import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { ask, videoGateway } from "./video-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

type Shown = {
  id: string;
  task_id: string;
  status: string;
  output: { content_url: string } | null;
  usage: object | null;
};
const bearer = { authorization: `Bearer ${aliceKey}` };

async function finished(id: string): Promise<Shown> {
  return await until(async () => {
    const seen = (await (await gateway.get(`/v1/video/tasks/${id}`)).json()) as Shown;
    return ["queued", "running"].includes(seen.status) ? null : seen;
  });
}

test("a task is accepted, made, paid once from its upstream's own numbers, and its video can be read in parts", async () => {
  const made = await gateway.post("/v1/video/tasks", ask);
  expect(made.status).toBe(200);
  const task = (await made.json()) as Shown;
  expect(task).toMatchObject({
    object: "video.task",
    status: "queued",
    model: "clip-test",
    prompt: ask.prompt,
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
  const told = ["content-type", "content-length", "accept-ranges"].map((name) => head.headers.get(name));
  expect([head.status, ...told]).toEqual([200, "video/mp4", size, "bytes"]);
  const part = await fetch(done.output?.content_url ?? "", { headers: { ...bearer, range: "bytes=4-7" } });
  expect([part.status, Buffer.from(await part.bytes()).toString("hex")]).toEqual([
    206,
    Buffer.from(bytes.subarray(4, 8)).toString("hex"),
  ]);
});

test("the same Idempotency-Key finds the same task, another body with it is a conflict", async () => {
  const headers = { "idempotency-key": "order-17" };
  const first = (await (await gateway.post("/v1/video/tasks", ask, { headers })).json()) as Shown;
  const again = (await (await gateway.post("/v1/video/tasks", ask, { headers })).json()) as Shown;
  expect(again.id).toBe(first.id);
  const other = await gateway.post("/v1/video/tasks", { ...ask, prompt: "another" }, { headers });
  expect([other.status, ((await other.json()) as { error: { code: string } }).error.code]).toEqual([
    409,
    "idempotency_conflict",
  ]);
});

test("tasks are listed newest first, page by page", async () => {
  const page = (await (await gateway.get("/v1/video/tasks?limit=1")).json()) as {
    data: Shown[];
    has_more: boolean;
    next: string;
  };
  expect([page.data.length, page.has_more]).toEqual([1, true]);
  const next = (await (await gateway.get(`/v1/video/tasks?limit=5&after=${encodeURIComponent(page.next)}`)).json()) as {
    data: Shown[];
  };
  expect(next.data.map(({ id }) => id)).not.toContain(page.data[0]?.id ?? "");
});

test("a model of videos says where it is called", async () => {
  const model = (await (await gateway.get("/v1/models/clip-test")).json()) as { type: string; endpoints: string[] };
  expect([model.type, model.endpoints]).toEqual(["video", ["/v1/video/tasks", "/v1/videos"]]);
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningSimulator, type Script, serveSimulator } from "../src/index.ts";
import { stuck, type TaskAnswer, taskCall, truthOf } from "./task-call.ts";

let running: RunningSimulator;
beforeAll(() => {
  running = serveSimulator();
});
afterAll(() => running.stop());

const tasksPath = "/api/v3/contents/generations/tasks";
const headers = { authorization: "Bearer ark-key-1" };

async function createdId(fields: object, script: Script): Promise<string> {
  const body = { model: "ep-20260101000000-abcde", content: [{ type: "text", text: "a cat" }], ...fields };
  return (await taskCall(running, tasksPath, { body, script, headers })).body.text("id");
}

function poll(id: string): Promise<TaskAnswer> {
  return taskCall(running, `${tasksPath}/${id}`, { headers });
}

describe("the result of a task", () => {
  async function videoUrl(script: Script = {}): Promise<string> {
    return (await poll(await createdId({ return_last_frame: true }, { ...stuck.done, ...script }))).body.text(
      "content",
      "video_url",
    );
  }

  test("is an MP4 and, if requested, a last frame, for anyone with the link", async () => {
    const id = await createdId({ return_last_frame: true }, stuck.done);
    const { body } = await poll(id);
    const video = await fetch(body.text("content", "video_url"));
    expect(video.headers.get("content-type")).toBe("video/mp4");
    expect(Buffer.from(await video.arrayBuffer()).toString("latin1", 4, 8)).toBe("ftyp");
    const frame = await fetch(body.text("content", "last_frame_url"));
    expect(Buffer.from(await frame.arrayBuffer()).toString("latin1", 1, 4)).toBe("PNG");
    expect(truthOf(running, id)?.downloads).toBe(2);
    expect((await poll(await createdId({}, stuck.done))).body.at("content", "last_frame_url")).toBeUndefined();
  });

  test("is available only by GET, with an unchanged link, until the link expires", async () => {
    const url = await videoUrl();
    expect((await fetch(url, { method: "HEAD" })).status).toBe(403);
    expect((await fetch(url.replace(/Expires=\d/, "Expires=9"))).status).toBe(403);
    const expired = await fetch(await videoUrl({ url_ms: 0 }));
    expect(expired.status).toBe(403);
    expect(await expired.json()).toMatchObject({ Code: "AccessDenied", Message: "Request has expired." });
  });

  test.each([
    ["bytes=0-9", 206, "bytes 0-9/200000", 10],
    ["bytes=199990-", 206, "bytes 199990-199999/200000", 10],
    ["bytes=-5", 206, "bytes 199995-199999/200000", 5],
    ["bytes=100000-900000", 206, "bytes 100000-199999/200000", 100_000],
    ["bytes=200000-", 416, "bytes */200000", 0],
    ["bytes=5-2", 200, null, 200_000],
    ["bytes=0-1,4-5", 200, null, 200_000],
  ])("can be read in ranges: %s", async (range, status, contentRange, length) => {
    const url = await videoUrl({ video_bytes: 200_000 });
    const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
    const part = await fetch(url, { headers: { range } });
    expect(part.status).toBe(status);
    expect(part.headers.get("content-range")).toBe(contentRange);
    const bytes = Buffer.from(await part.arrayBuffer());
    expect(bytes.length).toBe(length);
    const from = Number(/bytes (\d+)-/.exec(contentRange ?? "")?.[1] ?? 0);
    expect(bytes.equals(whole.subarray(from, from + length))).toBe(true);
  });

  test("breaks off in the middle as often as scripted", async () => {
    const url = await videoUrl({ video_bytes: 200_000, content: { cut_after_events: 0 }, content_count: 1 });
    const broken = await fetch(url)
      .then((answer) => answer.arrayBuffer())
      .catch(() => null);
    expect(broken).toBeNull();
    expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(200_000);
  });

  test("differs between tasks, and is always a valid tree of boxes", async () => {
    const one = Buffer.from(await (await fetch(await videoUrl())).arrayBuffer());
    const other = Buffer.from(await (await fetch(await videoUrl({ video_bytes: 5_000 }))).arrayBuffer());
    expect(one.equals(other.subarray(0, one.length))).toBe(false);
    for (const file of [one, other]) {
      const types = [];
      let at = 0;
      for (; at < file.length; at += file.readUInt32BE(at)) types.push(file.toString("latin1", at + 4, at + 8));
      expect(types).toEqual(["ftyp", "moov", "mdat", "free"]);
      expect(at).toBe(file.length);
      // Samples start at the offset in `stco` and have the lengths in `stsz`; each is a whole H.264 frame.
      let sample = file.readUInt32BE(file.indexOf("stco") + 12);
      const sizes = file.indexOf("stsz") + 12;
      for (let index = 0; index < file.readUInt32BE(sizes); index++) {
        const size = file.readUInt32BE(sizes + 4 + 4 * index);
        expect([file.readUInt32BE(sample), file[sample + 4]]).toEqual([size - 4, 0x65]);
        sample += size;
      }
    }
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningSimulator, type Script, serveSimulator } from "../src/index.ts";
import { stuck, type TaskAnswer, taskCall, truthOf } from "./task-call.ts";

let running: RunningSimulator;
beforeAll(() => {
  running = serveSimulator();
});
afterAll(() => running.stop());

const tasks = "/api/v3/contents/generations/tasks";
const headers = { authorization: "Bearer ark-key-1" };

async function idOf(more: object, script: Script): Promise<string> {
  const body = { model: "ep-20260101000000-abcde", content: [{ type: "text", text: "a cat" }], ...more };
  return (await taskCall(running, tasks, { body, script, headers })).body.text("id");
}

function look(id: string): Promise<TaskAnswer> {
  return taskCall(running, `${tasks}/${id}`, { headers });
}

describe("results of tasks", () => {
  async function videoOf(script: Script = {}): Promise<string> {
    return (await look(await idOf({ return_last_frame: true }, { ...stuck.done, ...script }))).body.text(
      "content",
      "video_url",
    );
  }

  test("are an MP4 and, when wanted, a last frame, for whoever has the link", async () => {
    const id = await idOf({ return_last_frame: true }, stuck.done);
    const { body } = await look(id);
    const video = await fetch(body.text("content", "video_url"));
    expect(video.headers.get("content-type")).toBe("video/mp4");
    expect(Buffer.from(await video.arrayBuffer()).toString("latin1", 4, 8)).toBe("ftyp");
    const frame = await fetch(body.text("content", "last_frame_url"));
    expect(Buffer.from(await frame.arrayBuffer()).toString("latin1", 1, 4)).toBe("PNG");
    expect(truthOf(running, id)?.downloads).toBe(2);
    expect((await look(await idOf({}, stuck.done))).body.at("content", "last_frame_url")).toBeUndefined();
  });

  test("are for GET only, under the link as it was given, and as long as it lives", async () => {
    const url = await videoOf();
    expect((await fetch(url, { method: "HEAD" })).status).toBe(403);
    expect((await fetch(url.replace(/Expires=\d/, "Expires=9"))).status).toBe(403);
    const expired = await fetch(await videoOf({ url_ms: 0 }));
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
  ])("come in ranges: %s", async (range, status, shown, length) => {
    const url = await videoOf({ video_bytes: 200_000 });
    const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
    const part = await fetch(url, { headers: { range } });
    expect(part.status).toBe(status);
    expect(part.headers.get("content-range")).toBe(shown);
    const bytes = Buffer.from(await part.arrayBuffer());
    expect(bytes.length).toBe(length);
    const from = Number(/bytes (\d+)-/.exec(shown ?? "")?.[1] ?? 0);
    expect(bytes.equals(whole.subarray(from, from + length))).toBe(true);
  });

  test("break off in the middle as often as scripted", async () => {
    const url = await videoOf({ video_bytes: 200_000, content: { cut_after_events: 0 }, content_count: 1 });
    const broken = await fetch(url)
      .then((answer) => answer.arrayBuffer())
      .catch(() => null);
    expect(broken).toBeNull();
    expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(200_000);
  });

  test("of two tasks are not the same bytes, and each is a well-formed tree of boxes", async () => {
    const one = Buffer.from(await (await fetch(await videoOf())).arrayBuffer());
    const other = Buffer.from(await (await fetch(await videoOf({ video_bytes: 5_000 }))).arrayBuffer());
    expect(one.equals(other.subarray(0, one.length))).toBe(false);
    for (const file of [one, other]) {
      const types = [];
      let at = 0;
      for (; at < file.length; at += file.readUInt32BE(at)) types.push(file.toString("latin1", at + 4, at + 8));
      expect(types).toEqual(["ftyp", "moov", "mdat", "free"]);
      expect(at).toBe(file.length);
      // The samples begin where the table of offsets says, as long as the table of sizes says: whole pictures of H.264.
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

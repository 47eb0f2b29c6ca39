import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { createRequire } from "node:module";
import type { GoogleGenAI } from "@google/genai";
import { type RunningSimulator, type Script, serveSimulator } from "../src/index.ts";
import { scripted } from "./sdk-call.ts";
import { stuck, taskCall, truthOf } from "./task-call.ts";

/** Since version 3 the official client creates videos only through Google Cloud; the API itself has not changed. */
const previous = createRequire(import.meta.url)("google-genai-previous") as typeof import("@google/genai");

let running: RunningSimulator;
let client: GoogleGenAI;
beforeAll(() => {
  running = serveSimulator();
  client = new previous.GoogleGenAI({
    apiKey: "AIza-sim",
    httpOptions: { baseUrl: `http://127.0.0.1:${running.port}` },
  });
});
afterAll(() => running.stop());
// Tasks change state with the time of day.
afterEach(() => void setSystemTime());

const model = "veo-3.1-generate-preview";
const key = { "x-goog-api-key": "AIza-sim" };

function create(script: Script, config: object = {}) {
  return client.models.generateVideos({
    model,
    source: { prompt: "a cat" },
    config: { aspectRatio: "16:9", durationSeconds: 8, ...config, httpOptions: scripted(script) },
  });
}

describe("Veo on the Gemini API, through the official client", () => {
  test("reports nothing while it runs, and ends with samples whose download requires the key", async () => {
    let operation = await create({ queued_ms: 5_000, running_ms: 30_000 }, { numberOfVideos: 2 });
    expect(operation.name).toMatch(/^models\/veo-3\.1-generate-preview\/operations\/[0-9a-z]{12}$/);
    expect(operation.done).toBeUndefined();
    setSystemTime(Date.now() + 20_000);
    operation = await client.operations.getVideosOperation({ operation });
    expect(operation.done).toBeUndefined();
    setSystemTime(Date.now() + 20_000);
    operation = await client.operations.getVideosOperation({ operation });
    expect(operation.done).toBe(true);
    const videos = operation.response?.generatedVideos ?? [];
    expect(videos.length).toBe(2);
    const uri = videos[0]?.video?.uri ?? "";
    expect(uri).toMatch(/\/v1beta\/files\/[0-9a-z]+:download\?alt=media$/);
    expect((await taskCall(running, uri)).status).toBe(403);
    const download = await fetch(uri, { headers: key });
    expect(download.redirected).toBe(true);
    expect(download.headers.get("content-type")).toBe("video/mp4");
    expect(truthOf(running, operation.name?.split("/").at(-1) ?? "")).toMatchObject({ downloads: 1, seconds: 8 });
  });

  test("can be filtered completely: done, with reasons and without a sample", async () => {
    const operation = await create({ ...stuck.done, blocked: "Sorry, no faces." });
    const done = await client.operations.getVideosOperation({ operation });
    expect(done.response).toMatchObject({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: ["Sorry, no faces."] });
    expect(done.response?.generatedVideos).toBeUndefined();
  });

  test("can end with an error", async () => {
    const operation = await create({ ...stuck.failed, error_code: "3", error_message: "Bad image." });
    const done = await client.operations.getVideosOperation({ operation });
    expect(done).toMatchObject({ done: true, error: { code: 3, message: "Bad image." } });
  });

  test.each([
    ["neither prompt nor image", [{}], {}],
    ["a seed, which only Vertex accepts", [{ prompt: "x" }], { seed: 1 }],
    ["a length that is a string", [{ prompt: "x" }], { durationSeconds: "8" }],
    ["an unsupported ratio", [{ prompt: "x" }], { aspectRatio: "1:1" }],
  ])("refuses %s", async (_what, instances, parameters) => {
    const path = `/v1beta/models/${model}:predictLongRunning`;
    const { status, body } = await taskCall(running, path, { body: { instances, parameters }, headers: key });
    expect([status, body.at("error", "status")]).toEqual([400, "INVALID_ARGUMENT"]);
  });

  test("finds an operation only with its own key", async () => {
    const { name } = await create(stuck.queued);
    expect((await taskCall(running, `/v1beta/${name}`, { headers: key })).body.value).toEqual({ name });
    expect((await taskCall(running, `/v1beta/${name}`, { headers: { "x-goog-api-key": "other" } })).status).toBe(404);
  });
});

describe("Veo on Vertex", () => {
  const root = "/v1/projects/p1/locations/us-central1/publishers/google/models";
  const bearer = { authorization: "Bearer ya29.one" };
  const body = { instances: [{ prompt: "a cat" }], parameters: { seed: 1, durationSeconds: 4 } };

  async function createdName(script: Script, parameters: object = {}): Promise<string> {
    const request = { ...body, parameters: { ...body.parameters, ...parameters } };
    const path = `${root}/veo-3:predictLongRunning`;
    return (await taskCall(running, path, { body: request, headers: bearer, script })).body.text("name");
  }

  function poll(operationName: string, headers: Record<string, string> = bearer) {
    return taskCall(running, `${root}/veo-3:fetchPredictOperation`, { body: { operationName }, headers });
  }

  test("returns the bytes with the operation, also for a newer token of the project", async () => {
    const name = await createdName(stuck.done);
    expect(name).toStartWith("projects/p1/locations/us-central1/publishers/google/models/veo-3/operations/");
    const { body: done } = await poll(name, { authorization: "Bearer ya29.two" });
    const bytes = Buffer.from(done.text("response", "videos", 0, "bytesBase64Encoded"), "base64");
    expect(bytes.toString("latin1", 4, 8)).toBe("ftyp");
    expect((await poll(name, { "x-goog-api-key": "k" })).status).toBe(401);
  });

  test("stores videos in a bucket if one is specified", async () => {
    const { body: done } = await poll(await createdName(stuck.done, { storageUri: "gs://mine" }));
    expect(done.text("response", "videos", 0, "gcsUri")).toStartWith("gs://mine/");
  });

  test("reports nothing while it runs", async () => {
    const name = await createdName(stuck.running);
    expect((await poll(name)).body.value).toEqual({ name });
  });
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { GoogleGenAI, JobState } from "@google/genai";
import { type RunningSimulator, serveSimulator } from "../src/index.ts";

let simulator: RunningSimulator;
let ai: GoogleGenAI;
beforeAll(() => {
  simulator = serveSimulator();
  ai = new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl: simulator.url } });
});
afterAll(() => simulator.stop());

const ask = (text: string) => ({ contents: [{ role: "user", parts: [{ text }] }] });

test("runs inline requests when the batch is polled, in order", async () => {
  const { name = "", state } = await ai.batches.create({ model: "gemini-test", src: [ask("one"), ask("two")] });
  expect(state).toBe(JobState.JOB_STATE_PENDING);
  const done = await ai.batches.get({ name });
  expect(done.state).toBe(JobState.JOB_STATE_SUCCEEDED);
  expect(done.dest?.inlinedResponses).toHaveLength(2);
  expect(done.dest?.inlinedResponses?.[0]?.response?.usageMetadata?.promptTokenCount).toBeGreaterThan(0);
});

test("runs the lines of a file into a file", async () => {
  const lines = ["a", "b"].map((key) => JSON.stringify({ key, request: ask(key) })).join("\n");
  const file = await ai.files.upload({ file: new Blob([lines], { type: "application/jsonl" }) });
  const { name = "" } = await ai.batches.create({ model: "gemini-test", src: file.name ?? "" });
  const { dest } = await ai.batches.get({ name });
  const headers = { "x-goog-api-key": "key" };
  const answer = await fetch(`${simulator.url}/download/v1beta/${dest?.fileName}:download?alt=media`, { headers });
  const rows = (await answer.text()).trim().split("\n");
  expect(rows.map((row) => (JSON.parse(row) as { key: string }).key)).toEqual(["a", "b"]);
});

test("cancels, lists and deletes a batch, and hides it from other accounts", async () => {
  const { name = "" } = await ai.batches.create({ model: "gemini-test", src: [ask("one")] });
  const other = new GoogleGenAI({ apiKey: "other", httpOptions: { baseUrl: simulator.url } });
  expect(await other.batches.get({ name }).catch((thrown: { status: number }) => thrown.status)).toBe(404);
  await ai.batches.cancel({ name });
  expect((await ai.batches.get({ name })).state).toBe(JobState.JOB_STATE_CANCELLED);
  const names: unknown[] = [];
  for await (const job of await ai.batches.list()) names.push(job.name);
  expect(names).toContain(name);
  await ai.batches.delete({ name });
  expect(await ai.batches.get({ name }).catch((thrown: { status: number }) => thrown.status)).toBe(404);
});

import { describe, expect, test } from "bun:test";
import { answers, type Behavior, callOnce, chatOf, startAccounts } from "./accounts.ts";

const base = { id: "c", created: 1, model: "m" };
const failed = { index: 0, finish_reason: "error", error: { code: 502, message: "Provider disconnected" } };
const refused = (code: number) => ({ id: "c", choices: null, base_resp: { status_code: code, status_msg: "no" } });
const choiceOf = (content: string) => ({ ...failed, message: { role: "assistant", content } });
const chunkOf = (choice: object) => ({ ...base, object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] });

/** A good status, with such an answer or such events. */
const says = (answer: object): Behavior => {
  if (!Array.isArray(answer)) return () => Response.json(answer);
  const events = [...answer.map((event) => JSON.stringify(event)), "[DONE]"].map((data) => `data: ${data}\n\n`);
  return () => new Response(events.join(""), { headers: { "content-type": "text/event-stream" } });
};

const errors: readonly (readonly [title: string, answer: object])[] = [
  ["a choice", { ...base, object: "chat.completion", choices: [choiceOf("")] }],
  ["a choice of a stream", [chunkOf({ delta: { role: "assistant", content: "" } }), chunkOf({ ...failed, delta: {} })]],
  ["base_resp", refused(1002)],
  ["base_resp of a stream", [refused(1002)]],
];

describe.each(errors)("an error in %s of an answer with status 200", (_, answer) => {
  test("fails over, costs nothing, and is no success", async () => {
    await using running = await startAccounts({ behaviors: [says(answer), answers] });
    const response = await running.gateway.chat(chatOf("m", { stream: Array.isArray(answer) }));
    expect([response.status, (await response.text()).includes('"ok"')]).toEqual([200, true]);
    const entries = await running.gateway.entries();
    expect(entries.map(({ outcome, costNanoUsd }) => [outcome, costNanoUsd > 0])).toEqual([
      ["succeeded", true],
      ["failed", false],
    ]);
  });
});

/** A response that failed without any output. */
const failedResponse = (code: string) => ({
  ...{ id: "resp_1", object: "response", created_at: 1, status: "failed", model: "m", output: [], usage: null },
  error: { code, message: "It failed." },
});

test.each(["server_error", "rate_limit_exceeded"])(
  "a response that failed with %s and without output fails over, and costs nothing",
  async (code) => {
    const completed = { ...failedResponse(""), status: "completed", error: null };
    await using running = await startAccounts({
      behaviors: [says(failedResponse(code)), says(completed)],
      kind: "openai",
    });
    const response = await running.gateway.post("/v1/responses", { model: "m", input: "hello" });
    expect([response.status, await response.json()]).toMatchObject([200, { status: "completed" }]);
    const [, first] = await running.gateway.entries();
    expect([first?.outcome, first?.costNanoUsd]).toEqual(["failed", 0]);
  },
);

test("a response that failed for its request is delivered as it is", async () => {
  const failed = failedResponse("invalid_prompt");
  await using running = await startAccounts({ behaviors: [says(failed), says(failed)], kind: "openai" });
  const response = await running.gateway.post("/v1/responses", { model: "m", input: "hello" });
  expect([response.status, await response.json()]).toEqual([200, failed]);
});

test("a request that MiniMax does not take is its caller's own mistake", async () => {
  await using running = await startAccounts({ behaviors: [says(refused(2013)), answers] });
  for (let call = 0; call < 6; call++) expect(await callOnce(running.gateway, chatOf())).toBe(400);
});

test("what was answered before a choice failed is delivered as it is", async () => {
  const answer = { ...base, object: "chat.completion", choices: [choiceOf("half of")] };
  await using running = await startAccounts({ behaviors: [says(answer)] });
  const response = await running.gateway.chat(chatOf());
  expect([response.status, await response.json()]).toEqual([200, answer]);
});

test("a stream that fails in a choice behind its content ends in an error", async () => {
  const events = [chunkOf({ delta: { content: "half of" } }), chunkOf({ ...failed, delta: {} })];
  await using running = await startAccounts({ behaviors: [says(events)] });
  const text = await (await running.gateway.chat(chatOf("m", { stream: true }))).text();
  expect([text.includes("half of"), text.includes('data: {"error":{')]).toEqual([true, true]);
  expect((await running.gateway.entries()).map(({ outcome }) => outcome)).toEqual(["failed"]);
});

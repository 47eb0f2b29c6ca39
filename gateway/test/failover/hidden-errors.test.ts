import { describe, expect, test } from "bun:test";
import { answers, type Behavior, callOnce, chatOf, startAccounts } from "./accounts.ts";

const base = { id: "c", created: 1, model: "m" };
const failed = { index: 0, finish_reason: "error", error: { code: 502, message: "Provider disconnected" } };
const refused = (code: number) => ({ id: "c", choices: null, base_resp: { status_code: code, status_msg: "no" } });
const choiceOf = (content: string) => ({ ...failed, message: { role: "assistant", content } });
const chunkOf = (choice: object) => ({ ...base, object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] });

/** Answers with status 200 and this body, or with these events. */
const answersWith = (answer: object): Behavior => {
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
  test("fails over, costs nothing and counts as failed", async () => {
    await using running = await startAccounts({ behaviors: [answersWith(answer), answers] });
    const response = await running.gateway.chat(chatOf("m", { stream: Array.isArray(answer) }));
    expect([response.status, (await response.text()).includes('"ok"')]).toEqual([200, true]);
    const entries = await running.gateway.entries();
    expect(entries.map(({ outcome, costNanoUsd }) => [outcome, costNanoUsd > 0])).toEqual([
      ["succeeded", true],
      ["failed", false],
    ]);
  });
});

/** A failed response without output. */
const failedResponse = (code: string) => ({
  ...{ id: "resp_1", object: "response", created_at: 1, status: "failed", model: "m", output: [], usage: null },
  error: { code, message: "It failed." },
});

test.each(["server_error", "rate_limit_exceeded"])(
  "fails over without cost for a response that failed with %s and without output",
  async (code) => {
    const completed = { ...failedResponse(""), status: "completed", error: null };
    await using running = await startAccounts({
      behaviors: [answersWith(failedResponse(code)), answersWith(completed)],
      kind: "openai",
    });
    const response = await running.gateway.post("/v1/responses", { model: "m", input: "hello" });
    expect([response.status, await response.json()]).toMatchObject([200, { status: "completed" }]);
    const [, first] = await running.gateway.entries();
    expect([first?.outcome, first?.costNanoUsd]).toEqual(["failed", 0]);
  },
);

test("delivers a response that failed because of its request unchanged", async () => {
  const failed = failedResponse("invalid_prompt");
  await using running = await startAccounts({ behaviors: [answersWith(failed), answersWith(failed)], kind: "openai" });
  const response = await running.gateway.post("/v1/responses", { model: "m", input: "hello" });
  expect([response.status, await response.json()]).toEqual([200, failed]);
});

test("returns 400 for a request that MiniMax refuses as invalid", async () => {
  await using running = await startAccounts({ behaviors: [answersWith(refused(2013)), answers] });
  for (let call = 0; call < 6; call++) expect(await callOnce(running.gateway, chatOf())).toBe(400);
});

test("delivers an answer whose choice failed after some content unchanged", async () => {
  const answer = { ...base, object: "chat.completion", choices: [choiceOf("half of")] };
  await using running = await startAccounts({ behaviors: [answersWith(answer)] });
  const response = await running.gateway.chat(chatOf());
  expect([response.status, await response.json()]).toEqual([200, answer]);
});

test("ends a stream with an error if a choice fails after its content", async () => {
  const events = [chunkOf({ delta: { content: "half of" } }), chunkOf({ ...failed, delta: {} })];
  await using running = await startAccounts({ behaviors: [answersWith(events)] });
  const text = await (await running.gateway.chat(chatOf("m", { stream: true }))).text();
  expect([text.includes("half of"), text.includes('data: {"error":{')]).toEqual([true, true]);
  expect((await running.gateway.entries()).map(({ outcome }) => outcome)).toEqual(["failed"]);
});

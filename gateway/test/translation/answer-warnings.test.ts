import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AnsweringGateway, paths, startAnsweringGateway } from "./answering-gateway.ts";

let gateway: AnsweringGateway;
beforeAll(async () => {
  gateway = await startAnsweringGateway();
});
afterAll(() => gateway.stop());

const usage = { input_tokens: 10, output_tokens: 5 };
const strange = {
  type: "advisor_tool_result",
  tool_use_id: "srvtoolu_1",
  content: { type: "advisor_result", text: "x" },
};
const message = { id: "msg_1", type: "message", role: "assistant", model: "claude", stop_reason: "end_turn", usage };
const ask = { model: "of-messages", messages: [{ role: "user", content: "x" }] };
const streamed = [
  { type: "message_start", message: { ...message, stop_reason: null, content: [] } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hello" } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: strange },
  { type: "content_block_stop", index: 1 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } },
  { type: "message_stop" },
];

async function entryOf(response: Response) {
  const requestId = response.headers.get("x-request-id");
  return (await gateway.entries()).find((entry) => entry.requestId === requestId);
}

test("what an answer holds that the caller's dialect cannot carry is named in the header and in the ledger", async () => {
  const content = [{ type: "text", text: "hello" }, strange];
  const response = await gateway.call(paths.chat, ask, { ...message, content });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-sluice-warnings")).toContain("advisor_tool_result");
  await response.text();
  expect((await entryOf(response))?.warnings).toEqual([expect.stringContaining("advisor_tool_result")]);
});

test("of a stream it stands in a comment once the headers have gone, and in the ledger", async () => {
  const response = await gateway.call(paths.chat, { ...ask, stream: true }, streamed);
  expect(response.status).toBe(200);
  const said = `${response.headers.get("x-sluice-warnings")} ${await response.text()}`;
  expect(said).toContain("advisor_tool_result");
  const entry = await entryOf(response);
  expect(entry?.outcome).toBe("succeeded");
  expect(entry?.warnings).toEqual([expect.stringContaining("advisor_tool_result")]);
});

test("what the request lost on its way stands in the same list", async () => {
  const response = await gateway.call(
    paths.chat,
    { ...ask, seed: 7 },
    { ...message, content: [{ type: "text", text: "x" }] },
  );
  await response.text();
  expect((await entryOf(response))?.warnings).toEqual([expect.stringContaining("seed")]);
});

test("a call that loses nothing has no list", async () => {
  const response = await gateway.call(paths.chat, ask, { ...message, content: [{ type: "text", text: "x" }] });
  await response.text();
  expect(response.headers.get("x-sluice-warnings")).toBeNull();
  expect((await entryOf(response))?.warnings).toBeUndefined();
});

test("the list is bounded however much an upstream sends", async () => {
  const content = Array.from({ length: 200 }, (_, index) => ({ type: `${"stranger_".repeat(6)}${index}` }));
  const response = await gateway.call(paths.chat, ask, {
    ...message,
    content: [{ type: "text", text: "x" }, ...content],
  });
  await response.text();
  const warnings = (await entryOf(response))?.warnings ?? [];
  expect(warnings.length).toBeGreaterThan(1);
  expect(warnings.length).toBeLessThanOrEqual(32);
  expect(warnings.join("").length).toBeLessThanOrEqual(2_048);
});

test.each([
  [
    "responses",
    "of-responses",
    { id: "resp_1", object: "response", status: "completed", output: [{ type: "mcp_call", id: "mcp_1" }], usage },
    "mcp_call",
  ],
  [
    "gemini",
    "of-gemini",
    {
      candidates: [
        { content: { parts: [{ text: "x" }, { toolCall: { id: "1", toolType: "X" } }] }, finishReason: "STOP" },
      ],
    },
    "toolCall",
  ],
] as const)("readers of %s warn of what has no neutral form", async (_, model, answer, named) => {
  const response = await gateway.call(paths.chat, { ...ask, model }, answer);
  expect([response.status, response.headers.get("x-sluice-warnings")]).toEqual([200, expect.stringContaining(named)]);
  await response.text();
});

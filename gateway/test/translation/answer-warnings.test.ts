import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AnsweringGateway, paths, startAnsweringGateway } from "./answering-gateway.ts";

let gateway: AnsweringGateway;
beforeAll(async () => {
  gateway = await startAnsweringGateway();
});
afterAll(() => gateway.stop());

const usage = { input_tokens: 10, output_tokens: 5 };
const unknownBlock = {
  type: "advisor_tool_result",
  tool_use_id: "srvtoolu_1",
  content: { type: "advisor_result", text: "x" },
};
const message = { id: "msg_1", type: "message", role: "assistant", model: "claude", stop_reason: "end_turn", usage };
const request = { model: "of-messages", messages: [{ role: "user", content: "x" }] };
const streamed = [
  { type: "message_start", message: { ...message, stop_reason: null, content: [] } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hello" } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: unknownBlock },
  { type: "content_block_stop", index: 1 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } },
  { type: "message_stop" },
];

async function entryOf(response: Response) {
  const requestId = response.headers.get("x-request-id");
  return (await gateway.entries()).find((entry) => entry.requestId === requestId);
}

test("names content that the caller's dialect cannot express, in a header and in the ledger", async () => {
  const content = [{ type: "text", text: "hello" }, unknownBlock];
  const response = await gateway.call(paths.chat, request, { ...message, content });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-sluice-warnings")).toContain("advisor_tool_result");
  await response.text();
  expect((await entryOf(response))?.warnings).toEqual([expect.stringContaining("advisor_tool_result")]);
});

test("names it in a comment of a stream whose headers were already sent, and in the ledger", async () => {
  const response = await gateway.call(paths.chat, { ...request, stream: true }, streamed);
  expect(response.status).toBe(200);
  const headerAndBody = `${response.headers.get("x-sluice-warnings")} ${await response.text()}`;
  expect(headerAndBody).toContain("advisor_tool_result");
  const entry = await entryOf(response);
  expect(entry?.outcome).toBe("succeeded");
  expect(entry?.warnings).toEqual([expect.stringContaining("advisor_tool_result")]);
});

test("lists dropped fields of the request as well", async () => {
  const response = await gateway.call(
    paths.chat,
    { ...request, seed: 7 },
    { ...message, content: [{ type: "text", text: "x" }] },
  );
  await response.text();
  expect((await entryOf(response))?.warnings).toEqual([expect.stringContaining("seed")]);
});

test("returns no warnings when nothing is dropped", async () => {
  const response = await gateway.call(paths.chat, request, { ...message, content: [{ type: "text", text: "x" }] });
  await response.text();
  expect(response.headers.get("x-sluice-warnings")).toBeNull();
  expect((await entryOf(response))?.warnings).toBeUndefined();
});

test("limits the length of the list", async () => {
  const content = Array.from({ length: 200 }, (_, index) => ({ type: `${"stranger_".repeat(6)}${index}` }));
  const response = await gateway.call(paths.chat, request, {
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
] as const)("warns about unknown content from %s", async (_, model, answer, unknownType) => {
  const response = await gateway.call(paths.chat, { ...request, model }, answer);
  expect([response.status, response.headers.get("x-sluice-warnings")]).toEqual([
    200,
    expect.stringContaining(unknownType),
  ]);
  await response.text();
});

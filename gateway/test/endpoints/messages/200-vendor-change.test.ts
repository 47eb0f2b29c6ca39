import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway } from "../../started-gateway.ts";
import { lastUpstream, mixedVendorGateway, pieces } from "../mixed-vendor-gateway.ts";
import { version } from "./claude-gateway.ts";

interface Block {
  readonly type: string;
  readonly signature?: string;
  readonly id?: string;
}

let gateway: StartedGateway;
/** A thought and a tool call from another vendor's model. */
let blocks: readonly Block[];
beforeAll(async () => {
  gateway = await startGateway(mixedVendorGateway);
  blocks = await turnOf("gpt");
});
afterAll(() => gateway.stop());

const tool = { name: "f", input_schema: { type: "object", properties: {} } };
const budget = { type: "enabled", budget_tokens: 1_024 };
const headers = {
  ...version,
  "anthropic-beta": "context-1m-2025-08-07,fast-mode-2026-02-01,mcp-client-2025-11-20,of-next-year-2027-01-01",
};

async function turnOf(model: string, script = {}): Promise<readonly Block[]> {
  const body = {
    model,
    max_tokens: 2_000,
    thinking: budget,
    tools: [tool],
    messages: [{ role: "user", content: `use f now [[sim ${JSON.stringify({ tool_calls: 1, ...script })}]]` }],
  };
  const answer = await gateway.post("/v1/messages", body, { headers: version });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { content: readonly Block[] }).content;
}

const send = (body: string, path = "/v1/messages?beta=true") =>
  gateway.post(path, body, { headers, script: { keep_received: true, tokens: 2 } });

const toolResult = (id: string | undefined): string => `{"type":"tool_result","tool_use_id":"${id}","content":"done"}`;

test("changes only the content that another vendor sealed", async () => {
  const [thought, call] = blocks;
  expect(thought?.signature).toStartWith("sluice1.");
  const body = pieces(
    `{ "max_tokens" : 64 , "speed":"standard","mcp_servers":[{"type":"url","url":"https://mcp.example","name":"x"}],
      "context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}, "of_next_year":1.50,
      "tools":[{"type":"web_search_20250305","name":"web_search"},${JSON.stringify(tool)}],"model":"claude-sonnet-4-5",
      "messages":[{"role":"user","content":"h\u00e9llo \\u0007 \u{1f30a} \\"sluice1.\\""},
        {"role":"assistant" , "content":[ {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}, `,
    [`${JSON.stringify({ ...thought, cache_control: { type: "ephemeral" } })} ,\n`],
    `${JSON.stringify(call)} ],"of_next_year":[1.0]},
        {"role":"user","content":[${toolResult(call?.id)},{"type":"text","text":"sluice1. is no seal"}]}],
      "thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"xhigh"}}`,
  );
  const forClaude = body.sent.replace('"model":"claude-sonnet-4-5"', '"model":"claude"');
  const answer = await send(forClaude);
  expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
  expect(lastUpstream(gateway).body).toBe(body.expected);
  expect(lastUpstream(gateway).query).toBe("beta=true");
  expect(lastUpstream(gateway).headers["anthropic-beta"]).toBe(headers["anthropic-beta"]);
});

test("removes a message that contains only a sealed thought, anywhere in the conversation", async () => {
  const sealed = `{"role":"assistant","content":[${JSON.stringify(blocks[0])}]}`;
  const user = (text: string): string => `{"role":"user","content":"${text}"}`;
  const body = pieces(
    `{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[${user("one")},`,
    [`${sealed},${sealed},`],
    user("two"),
    [`,${sealed}`],
    `]}`,
  );
  expect((await send(body.sent.replace('"claude-sonnet-4-5"', '"claude"'))).status).toBe(200);
  expect(lastUpstream(gateway).body).toBe(body.expected);
});

test("recognizes sealed content when it is repeated, escaped, redacted or cut off", async () => {
  const seal = blocks[0]?.signature ?? "";
  const escaped = seal.replace("sluice1.", "sl\\u0075ice1\\u002e");
  const sealedBlocks = [
    `{"type":"thinking","thinking":"x","signature":"mine","signature":"${seal}"}`,
    `{"type":"thinking","thinking":"x","signature":"${seal}","signature":"mine"}`,
    `{"type":"thinking","thinking":"\\u00e9 \\" } ]","signature":"${escaped}"}`,
    `{"type":"redacted_thinking","data":"${seal}"}`,
    `{"signature":"${seal.slice(0, 20)}","thinking":"","type":"thinking"}`,
  ];
  const text = (index: number): string => `{"type":"text","text":"${index}"}`;
  const body = pieces(
    `{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[`,
    ...sealedBlocks.flatMap((block, index): (string | [string])[] => [`${text(index)},`, [`${block},`]]),
    `${text(9)}`,
    [`,${sealedBlocks[0]}`],
    `]},{"role":"user","content":"${seal}"}]}`,
  );
  expect((await send(body.sent.replace('"claude-sonnet-4-5"', '"claude"'))).status).toBe(200);
  expect(lastUpstream(gateway).body).toBe(body.expected);
});

test("keeps Anthropic's own signatures", async () => {
  const [own] = await turnOf("claude", { tool_calls: 0 });
  expect(own?.type).toBe("thinking");
  const body = pieces(
    `{"model":"claude-sonnet-4-5","max_tokens":2000,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[${JSON.stringify(own)},`,
    [`${JSON.stringify(blocks[0])},`],
    `{"type":"text","text":"a"}]},{"role":"user","content":"b"}],"thinking":${JSON.stringify(budget)}}`,
  );
  expect((await send(body.sent.replace('"claude-sonnet-4-5"', '"claude"'))).status).toBe(200);
  expect(lastUpstream(gateway).body).toBe(body.expected);
});

test.each([
  ["with sealed thoughts", "gpt", {}],
  ["without thoughts", "deep", { reasoning_tokens: 0 }],
])("disables thinking, with a warning, in a tool loop that a model %s began", async (_, model, script) => {
  const firstTurn = await turnOf(model, script);
  const call = firstTurn.find(({ type }) => type === "tool_use");
  const loop = {
    max_tokens: 2_000,
    tools: [tool],
    messages: [
      { role: "user", content: "use f now" },
      { role: "assistant", content: firstTurn },
      { role: "user", content: [{ type: "tool_result", tool_use_id: call?.id, content: "done" }] },
    ],
    thinking: budget,
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }, { type: "other" }] },
  };
  const answer = await send(JSON.stringify({ model: "claude", ...loop }));
  expect(await answer.text()).toContain('"type":"message"');
  expect(answer.headers.get("x-sluice-warnings")).toContain("thinking was disabled");
  const [question, firstAnswer, results] = loop.messages;
  expect(JSON.parse(lastUpstream(gateway).body)).toEqual({
    model: "claude-sonnet-4-5",
    ...loop,
    messages: [question, { ...firstAnswer, content: firstTurn.filter(({ type }) => type === "tool_use") }, results],
    thinking: { type: "disabled" },
    context_management: { edits: [{ type: "other" }] },
  });
});

test("changes a large body in a worker thread in the same way", async () => {
  const long = "a\u00e9\\\\ ".repeat(100_000);
  const body = pieces(
    `{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":"${long}"},{"role":"assistant","content":[`,
    [`${JSON.stringify(blocks[0])},`],
    `{"type":"text","text":"a"}]},{"role":"user","content":"b"}]}`,
  );
  expect((await send(body.sent.replace('"claude-sonnet-4-5"', '"claude"'))).status).toBe(200);
  expect(lastUpstream(gateway).body).toBe(body.expected);
});

test("removes sealed content before counting tokens", async () => {
  const body = pieces(
    `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"one two"},{"role":"assistant","content":[`,
    [`${JSON.stringify(blocks[0])},`],
    `{"type":"text","text":"three"}]},{"role":"user","content":"four"}]}`,
  );
  const answer = await send(
    body.sent.replace('"claude-sonnet-4-5"', '"claude"'),
    "/v1/messages/count_tokens?beta=true",
  );
  expect([answer.status, await answer.json()]).toEqual([200, { input_tokens: 4 }]);
  expect(lastUpstream(gateway).body).toBe(body.expected);
});

test.each([
  ["gpt-else-claude", "gpt-5.1", "claude-sonnet-4-5", "anthropic-messages"],
  ["claude-else-gpt", "claude-sonnet-4-5", "gpt-5.1", "openai-responses"],
])(
  "shows the second vendor nothing that the first one sealed when a call falls back (%s)",
  async (model, first, second, dialect) => {
    const [thought, call] = await turnOf(model.startsWith("gpt") ? "gpt" : "claude");
    const messages = [
      { role: "user", content: "use f now" },
      { role: "assistant", content: [thought, call] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: call?.id, content: "done" }] },
    ];
    const body = { model, max_tokens: 2_000, tools: [tool], thinking: { type: "adaptive" }, messages };
    const { simulator } = gateway.simulator;
    simulator.addPreset({ script: { status: 503 }, count: 1, model: first });
    simulator.addPreset({ script: { keep_received: true }, count: 1, model: second });
    const answer = await gateway.post("/v1/messages", body, { headers });
    expect([answer.status, answer.headers.get("x-sluice-attempts")]).toEqual([200, "2"]);
    const received = lastUpstream(gateway);
    expect(received.dialect).toBe(dialect);
    expect(received.body).not.toContain("sluice1");
    expect(received.body).not.toContain(thought?.signature ?? "no seal");
    expect(received.body).toContain("done");
  },
);

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway } from "../../started-gateway.ts";
import { lastUpstream, mixedVendorGateway, pieces } from "../mixed-vendor-gateway.ts";

interface Item {
  readonly type: string;
  readonly encrypted_content?: string;
}

let gateway: StartedGateway;
/** A thought and a function call from another vendor's model. */
let items: readonly Item[];
beforeAll(async () => {
  gateway = await startGateway(mixedVendorGateway);
  items = await turnOf("claude");
});
afterAll(() => gateway.stop());

const tool = { type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: false };

async function turnOf(model: string): Promise<readonly Item[]> {
  const answer = await gateway.post("/v1/responses", {
    model,
    input: 'use f now [[sim {"tool_calls":1}]]',
    tools: [tool],
    reasoning: { effort: "high", summary: "auto" },
    include: ["reasoning.encrypted_content"],
    store: false,
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { output: readonly Item[] }).output;
}

const send = (body: string, path = "/v1/responses") =>
  gateway.post(path, body.replace('"model":"gpt-5.1"', '"model":"gpt"'), {
    script: { keep_received: true, tokens: 2 },
  });

test("changes only the content that another vendor sealed", async () => {
  const [thought, call] = items;
  expect(thought?.encrypted_content).toStartWith("sluice1.");
  const { call_id } = call as { call_id?: string };
  const body = pieces(
    `{"input":[ {"role":"user","content":[{"type":"input_text","text":"h\u00e9llo \\u0007 \u{1f30a}"}]} , `,
    [`${JSON.stringify(thought)},  `],
    `${JSON.stringify(call)}, `,
    [`${JSON.stringify(thought)},`],
    `{"type":"function_call_output","call_id":"${call_id}","output":"done ${thought?.encrypted_content}"},
      {"type":"item_of_next_year","value":1.50},{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}},
      {"type":"compaction_trigger" , "unknown":[ ]} ],
      "tools":[{"type":"namespace","name":"mcp__x","description":"","tools":[${JSON.stringify(tool)}]},${JSON.stringify(tool)},
        {"type":"web_search","external_web_access":false},{"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark","definition":"start: x"}}],
      "store":false,"include":["reasoning.encrypted_content"],"model":"gpt-5.1","client_metadata":{"x":"i"},"reasoning":{"context":"all_turns"} }`,
  );
  const answer = await send(body.sent);
  expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
  expect(lastUpstream(gateway).body).toBe(body.expected);
});

test("recognizes sealed content in any form, and keeps OpenAI's own", async () => {
  const [own] = await turnOf("gpt");
  expect(own?.type).toBe("reasoning");
  const seal = items[0]?.encrypted_content ?? "";
  const escaped = seal.replace("sluice1.", "s\\u006cuice1\\u002E");
  const body = pieces(
    `{"model":"gpt-5.1","store":false,"input":[`,
    [`{"type":"reasoning","summary":[],"encrypted_content":"x","encrypted_content":"${seal}"},`],
    `${JSON.stringify(own)},{"role":"user","content":"one"}`,
    [`,{"encrypted_content":"${escaped}.redacted","summary":[],"type":"reasoning"}`],
    `]}`,
  );
  expect((await send(body.sent)).status).toBe(200);
  expect(lastUpstream(gateway).body).toBe(body.expected);
});

test("removes sealed content before compacting", async () => {
  const body = pieces(
    `{"model":"gpt-5.1","input":[{"role":"user","content":"one"},`,
    [`${JSON.stringify(items[0])},`],
    `{"role":"user","content":"two"}]}`,
  );
  expect((await send(body.sent, "/v1/responses/compact")).status).toBe(200);
  expect(lastUpstream(gateway).body).toBe(body.expected);
});

test("passes a text that contains a seal unchanged", async () => {
  const body = `{"model":"gpt-5.1","input":"sluice1.${items[0]?.encrypted_content}"}`;
  expect((await send(body)).status).toBe(200);
  expect(lastUpstream(gateway).body).toBe(body);
});

test("sends the summary of another vendor's compaction as a message", async () => {
  const compacted = await gateway.post("/v1/responses/compact", { model: "claude", input: "one two three" });
  const { output } = (await compacted.json()) as { output: readonly Item[] };
  const item = output.find(({ type }) => type === "compaction");
  expect(item?.encrypted_content).toStartWith("sluice1.");
  const bodyOf = (what: string): string =>
    `{"model":"gpt-5.1","input":[ ${what} ,{"role":"user","content":"continue"}],"tools":[{"type":"web_search","external_web_access":false}]}`;
  expect((await send(bodyOf(JSON.stringify(item)))).status).toBe(200);
  const [summary] = (
    JSON.parse(lastUpstream(gateway).body) as { input: { role: string; content: { text: string }[] }[] }
  ).input;
  expect(summary?.role).toBe("user");
  expect(summary?.content[0]?.text).toContain("This is its summary:");
  expect(lastUpstream(gateway).body).toBe(bodyOf(JSON.stringify(summary)));
});

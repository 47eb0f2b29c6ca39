import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { type EchoUpstream, eventStream, startEchoUpstream } from "./echo-upstream.ts";
import { email } from "./guardrail-fixture.ts";

const address = "93.184.215.14";
const config = `[deploy]\r\nhost = "${address}"\nowner = <${email}>\n\tpath = "C:\\\\srv"\n`;

let echo: EchoUpstream;
let gateway: StartedGateway;

beforeAll(async () => {
  echo = startEchoUpstream();
  gateway = await startGateway({
    providers: (simulator) =>
      (["openai", "anthropic"] as const).map((kind) => upstream(kind, simulator, { kind, base_url: echo.url })),
    models: [
      { name: "claude", deployments: [{ provider: "anthropic", upstream_model: "claude-opus-4-5" }] },
      { name: "gpt", deployments: [{ provider: "openai", upstream_model: "gpt-5.1-codex" }] },
    ],
    guardrails: [{ name: "pii", check: { kind: "personal_data", types: ["email", "ip_address"] }, action: "mask" }],
  });
});
afterAll(async () => {
  await gateway.stop();
  echo.stop();
});
beforeEach(() => {
  echo.requests.length = 0;
});

/** The placeholders of the last request. */
function placeholders(): { readonly mail: string; readonly ip: string } {
  const body = echo.requests.at(-1) ?? "";
  const [mail = ""] = /‹EMAIL_[0-9A-Z]{8}›/.exec(body) ?? [];
  const [ip = ""] = /‹IP_ADDRESS_[0-9A-Z]{8}›/.exec(body) ?? [];
  expect([mail, ip]).not.toContain("");
  return { mail, ip };
}

/** Cuts a text everywhere, also in the middle of placeholders. */
const cut = (text: string): readonly string[] => text.match(/.{1,7}/gsu) ?? [];

async function call(path: string, body: object, events: () => readonly object[]): Promise<readonly never[]> {
  echo.respond = () => eventStream(events());
  const response = await gateway.post(path, body, { headers: { "anthropic-version": "2023-06-01" } });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.not.stringContaining("event: error")]);
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)) as never);
}

/** Of what the upstream has received: each turn begins with the bytes of the turn before. */
function expectStableCaches(member: string): void {
  const lists = echo.requests.map((body) => {
    const list = body.slice(body.indexOf(`"${member}":[`), body.lastIndexOf("]"));
    // A mark is not part of the cached text, and moves to the end with each turn.
    return list.replaceAll(mark, "");
  });
  expect(lists).toHaveLength(3);
  for (const [index, list] of lists.entries()) {
    expect(list.length).toBeGreaterThan(20);
    expect(lists[index + 1] ?? list).toStartWith(list);
  }
  for (const body of echo.requests) for (const value of [email, address]) expect(body).not.toContain(value);
}

const cache_control = { type: "ephemeral" };
const mark = `,"cache_control":${JSON.stringify(cache_control)}`;

interface Block {
  type: string;
  text?: string;
  thinking?: string;
  signature?: string;
  id?: string;
  name?: string;
  input?: unknown;
}

interface MessageEvent {
  readonly type: string;
  readonly index: number;
  readonly content_block: Block;
  readonly delta: { text?: string; thinking?: string; signature?: string; partial_json?: string };
}

/** As the client's SDK joins a stream. */
function joined(events: readonly MessageEvent[]): readonly Block[] {
  const blocks: Block[] = [];
  const json: string[] = [];
  for (const { type, index, content_block, delta } of events) {
    if (type === "content_block_start") blocks[index] = { ...content_block };
    if (type !== "content_block_delta") continue;
    const block = blocks[index] as Block;
    if (delta.text !== undefined) block.text += delta.text;
    if (delta.thinking !== undefined) block.thinking += delta.thinking;
    if (delta.signature !== undefined) block.signature = delta.signature;
    if (delta.partial_json !== undefined) json[index] = (json[index] ?? "") + delta.partial_json;
  }
  for (const [index, text] of json.entries()) {
    if (text !== undefined) (blocks[index] as Block).input = JSON.parse(text);
  }
  return blocks;
}

function messageEvents(thinking: string, signature: string, text: string, tool: Block, json: string): object[] {
  const usage = { input_tokens: 5, output_tokens: 5 };
  const deltas = (index: number, block: object, list: readonly object[]) => [
    { type: "content_block_start", index, content_block: block },
    ...list.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  return [
    {
      type: "message_start",
      message: { id: "m1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage },
    },
    ...deltas(0, { type: "thinking", thinking: "", signature: "" }, [
      ...cut(thinking).map((piece) => ({ type: "thinking_delta", thinking: piece })),
      { type: "signature_delta", signature },
    ]),
    ...deltas(
      1,
      { type: "text", text: "" },
      cut(text).map((piece) => ({ type: "text_delta", text: piece })),
    ),
    ...deltas(
      2,
      tool,
      cut(json).map((partial_json) => ({ type: "input_json_delta", partial_json })),
    ),
    { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}

test("masks a session of Claude Code, and keeps its caches and signed thinking", async () => {
  // Opaque, so that nothing in it counts as an email or an address.
  const signature = "EqQBCgIYAhIkMGZh+/198.41.0.4/ops@example.org==";
  const messages: object[] = [
    {
      role: "user",
      content: [
        { type: "text", text: "<system-reminder>\nIt is Monday\u2019s build.\n</system-reminder>" },
        { type: "text", text: `Ask ${email} why ${address} is down`, cache_control },
      ],
    },
  ];
  const body = () => ({
    ...{ model: "claude", max_tokens: 32_000, stream: true, thinking: { type: "enabled", budget_tokens: 10_000 } },
    system: [
      { type: "text", text: "You are Claude Code, Anthropic's official CLI for Claude." },
      { type: "text", text: `The user's address is ${email}.`, cache_control },
    ],
    tools: [
      {
        ...{ name: "Bash", description: "Runs a command" },
        input_schema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
        cache_control,
      },
    ],
    metadata: { user_id: "user_0_account__session_1" },
    messages,
  });
  for (const turn of [1, 2, 3]) {
    const id = `toolu_${turn}`;
    let thinking = "";
    const events = await call("/v1/messages?beta=true", body(), () => {
      const { mail, ip } = placeholders();
      thinking = `Turn ${turn}: ${mail} owns\n"${ip}" \u2014 \u{1f680}.`;
      const command = `ssh deploy@${ip} "mail \\"${mail}\\"\n"`;
      // In the second turn, the model escapes what is not ASCII.
      const json = JSON.stringify({ command, count: turn, who: [mail] });
      return messageEvents(
        ...([thinking, signature, `I ask ${mail} (${ip}).`] as const),
        { type: "tool_use", id, name: "Bash", input: {} },
        turn === 2 ? json.replace(/[‹›]/g, (each) => `\\u${each.charCodeAt(0).toString(16)}`) : json,
      );
    });
    const content = joined(events);
    expect(content).toEqual([
      { type: "thinking", thinking, signature },
      { type: "text", text: `I ask ${email} (${address}).` },
      {
        ...{ type: "tool_use", id, name: "Bash" },
        input: { command: `ssh deploy@${address} "mail \\"${email}\\"\n"`, count: turn, who: [email] },
      },
    ]);
    // The mark moves to the newest message.
    if (turn > 1) messages.push(JSON.parse(JSON.stringify(messages.pop()).replaceAll(mark, "")));
    messages.push(
      { role: "assistant", content },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: id, content: [{ type: "text", text: config }], cache_control }],
      },
    );
    if (turn === 1) continue;
    const received = JSON.parse(echo.requests.at(-1) ?? "") as { messages: { content: Block[] }[] };
    const sent = messages.slice(0, 2 * turn - 1) as { content: Block[] }[];
    for (const [index, message] of sent.entries()) {
      if (index % 2 === 1) expect(received.messages[index]?.content[0]).toEqual(message.content[0] as Block);
    }
  }
  expectStableCaches("messages");
});

interface Item {
  readonly type: string;
  readonly arguments?: string;
  readonly input?: string;
}

interface ResponseEvent {
  readonly type: string;
  readonly delta?: string;
  readonly arguments?: string;
  readonly text?: string;
  readonly item: Item;
  readonly response: { readonly output: readonly Item[] };
}

const patchFor = (mail: string, ip: string) =>
  `*** Begin Patch\n*** Update File: hosts\n@@\n-host = "\\${ip}"\n+owner = <${mail}>\n+host=${ip}\n*** End Patch`;

function responseEvents(
  reasoning: object,
  summary: string,
  text: string,
  call_id: string,
  args: string,
  patch: string,
): object[] {
  const message = { id: "msg_1", type: "message", role: "assistant", status: "completed" };
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  const tool = { id: "fc_1", type: "function_call", status: "completed", name: "shell", call_id };
  const thought = { ...reasoning, summary: [{ type: "summary_text", text: summary }] };
  const custom = { id: "ctc_1", type: "custom_tool_call", status: "completed", name: "apply_patch" };
  const customCall = { ...custom, call_id: `${call_id}_patch` };
  const output = [...[thought, { ...message, content }, { ...tool, arguments: args }], { ...customCall, input: patch }];
  const response = {
    ...{ id: "resp_1", object: "response", created_at: 1, status: "completed", model: "m", output },
    usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 },
  };
  const at = { item_id: "msg_1", output_index: 1, content_index: 0 };
  const tools = { item_id: "fc_1", output_index: 2 };
  const patches = { item_id: "ctc_1", output_index: 3 };
  const thoughts = { item_id: "rs_1", output_index: 0, summary_index: 0 };
  const events = [
    { type: "response.created", response: { ...response, output: [], status: "in_progress", usage: null } },
    { type: "response.output_item.added", output_index: 0, item: reasoning },
    ...cut(summary).map((delta) => ({ type: "response.reasoning_summary_text.delta", ...thoughts, delta })),
    { type: "response.reasoning_summary_text.done", ...thoughts, text: summary },
    { type: "response.output_item.done", output_index: 0, item: thought },
    { type: "response.output_item.added", output_index: 1, item: { ...message, content: [] } },
    ...cut(text).map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    { type: "response.output_text.done", ...at, text, logprobs: [] },
    { type: "response.output_item.done", output_index: 1, item: output[1] },
    { type: "response.output_item.added", output_index: 2, item: { ...tool, arguments: "" } },
    ...cut(args).map((delta) => ({ type: "response.function_call_arguments.delta", ...tools, delta })),
    { type: "response.function_call_arguments.done", ...tools, arguments: args },
    { type: "response.output_item.done", output_index: 2, item: output[2] },
    { type: "response.output_item.added", output_index: 3, item: { ...customCall, input: "" } },
    ...cut(patch).map((delta) => ({ type: "response.custom_tool_call_input.delta", ...patches, delta })),
    { type: "response.custom_tool_call_input.done", ...patches, input: patch },
    { type: "response.output_item.done", output_index: 3, item: output[3] },
    { type: "response.completed", response },
  ];
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

test("masks a session of Codex, and keeps its caches and encrypted reasoning", async () => {
  const input: object[] = [
    { type: "message", role: "developer", content: [{ type: "input_text", text: "<permissions>\nread-only" }] },
    { type: "message", role: "user", content: [{ type: "input_text", text: `Ask ${email} why ${address} is down` }] },
  ];
  const body = () => ({
    ...{ model: "gpt", stream: true, store: false, parallel_tool_calls: false, tool_choice: "auto" },
    ...{ instructions: "You are Codex.", include: ["reasoning.encrypted_content"], prompt_cache_key: "0199-aa" },
    reasoning: { effort: "medium", summary: "auto" },
    tools: [{ type: "function", name: "shell", strict: false, parameters: { type: "object", properties: {} } }],
    input,
  });
  const deltasOf = (events: readonly ResponseEvent[], type: string) =>
    events
      .filter((event) => event.type === type)
      .map(({ delta }) => delta)
      .join("");
  for (const turn of [1, 2, 3]) {
    const reasoning = {
      type: "reasoning",
      id: `rs_${turn}`,
      summary: [],
      encrypted_content: `gAAAA${turn}+/ops@example.org==`,
    };
    const events = (await call("/v1/responses", body(), () => {
      const { mail, ip } = placeholders();
      const args = JSON.stringify({ command: ["bash", "-lc", `ssh deploy@${ip} 'mail "${mail}"'\n`], to: mail });
      const escaped = args.replace(/[‹›]/g, (each) => `\\u${each.charCodeAt(0).toString(16)}`);
      return responseEvents(
        ...([reasoning, `**Asking**\n\n${mail} owns it.`, `I ask ${mail} (${ip}).`, `call_${turn}`] as const),
        turn === 2 ? escaped : args,
        patchFor(mail, ip),
      );
    })) as readonly ResponseEvent[];
    const expected = { command: ["bash", "-lc", `ssh deploy@${address} 'mail "${email}"'\n`], to: email };
    expect(deltasOf(events, "response.output_text.delta")).toBe(`I ask ${email} (${address}).`);
    const inDeltas = deltasOf(events, "response.function_call_arguments.delta");
    expect(JSON.parse(inDeltas)).toEqual(expected);
    expect(events.find(({ type }) => type === "response.function_call_arguments.done")?.arguments).toBe(inDeltas);
    const items = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
    expect(items.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call", "custom_tool_call"]);
    expect(items[0]).toMatchObject({ ...reasoning, summary: [{ text: `**Asking**\n\n${email} owns it.` }] });
    expect(items[2]?.arguments).toBe(inDeltas);
    expect(items[3]?.input).toBe(patchFor(email, address));
    expect(deltasOf(events, "response.custom_tool_call_input.delta")).toBe(patchFor(email, address));
    expect(events.at(-1)?.response.output).toEqual(items);
    const output = JSON.stringify({ output: config, metadata: { exit_code: 0, duration_seconds: 0.1 } });
    input.push(
      ...items,
      { type: "function_call_output", call_id: `call_${turn}`, output },
      { type: "custom_tool_call_output", call_id: `call_${turn}_patch`, output: `Done.\n${config}` },
    );
  }
  const received = JSON.parse(echo.requests[2] ?? "") as { input: { encrypted_content?: string }[] };
  expect(received.input.map((item) => item.encrypted_content).filter((each) => each !== undefined)).toEqual([
    "gAAAA1+/ops@example.org==",
    "gAAAA2+/ops@example.org==",
  ]);
  expectStableCaches("input");
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { zstdCompressSync } from "node:zlib";
import type { TruthRecord } from "@sluice/simulator";
import {
  calendar,
  codexConfig,
  headers,
  type Item,
  itemsOf,
  toolSearch,
  tools,
  turn,
  userMessage,
} from "./codex-requests.ts";
import { type AgentAnswer, agentCall, ofType } from "./matrix/agent-call.ts";
import { matrixUpstreams, modelOn } from "./matrix/upstreams.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";

/** Sends requests exactly as Codex sends them to a Responses provider, both to OpenAI's models and to models of other vendors. */
let setup: TestSetup;

beforeAll(async () => {
  setup = await openSetup(codexConfig);
});
afterAll(() => setup?.close());

const post = (body: unknown, more: Record<string, string> = {}, path = "/v1/responses"): Promise<AgentAnswer> =>
  agentCall(`${setup.gateway.url}${path}`, { headers: { ...headers, ...more }, body });

async function lastTruth(): Promise<TruthRecord> {
  const record = (await setup.simulator.settled()).at(-1);
  if (record === undefined) throw new Error("nothing reached the upstream");
  return record;
}

describe("on OpenAI's models", () => {
  const model = "matrix/responses/main";

  test("forwards Codex's headers, and returns the headers that it reads", async () => {
    const returned = {
      "x-codex-primary-used-percent": "12.5",
      "x-codex-primary-window-minutes": "300",
      "x-codex-secondary-used-percent": "3",
      "x-codex-credits-balance": "7",
      "x-codex-turn-state": "next-state",
      "x-models-etag": "etag-1",
      "x-reasoning-included": "true",
    };
    const answer = await post(turn(model, [userMessage("hi", { tokens: 2, headers: returned })]));
    itemsOf(answer);
    expect(Object.fromEntries(Object.keys(returned).map((name) => [name, answer.headers.get(name)]))).toEqual(returned);
    expect(answer.headers.get("openai-model")).toBe("gpt-sim");
    expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
    const { authorization: _omitted, ...rest } = headers;
    expect((await lastTruth()).request_headers).toMatchObject(rest);
  });

  test("accepts a body that is compressed with zstd", async () => {
    const compressed = zstdCompressSync(Buffer.from(JSON.stringify(turn(model, [userMessage("hi", { tokens: 2 })]))));
    itemsOf(await post(compressed, { "content-encoding": "zstd" }));
  });

  test("answers its request for models", async () => {
    const answer = await agentCall(`${setup.gateway.url}/v1/models?client_version=0.147.0`, { headers });
    expect(answer.status).toBe(200);
  });

  test("compacts with the compact endpoint; the output is the new history", async () => {
    const body = {
      model,
      instructions: "x",
      input: [userMessage("one two")],
      tools,
      parallel_tool_calls: true,
      reasoning: { effort: "low" },
    };
    const answer = await post(body, {}, "/v1/responses/compact");
    expect(answer.status, answer.text).toBe(200);
    const { output } = answer.json() as { output: Item[] };
    expect(output.filter((item) => item["type"] === "compaction").length).toBe(1);
    itemsOf(await post(turn(model, [...output, userMessage("go on", { tokens: 2 })])));
  });

  test("compacts within a turn that ends with a trigger, and streams exactly one compaction", async () => {
    const answer = await post(turn(model, [userMessage("one two"), { type: "compaction_trigger" }]));
    const compactions = itemsOf(answer).filter((item) => item["type"] === "compaction");
    expect(compactions.length).toBe(1);
    expect(compactions[0]?.["encrypted_content"]).toBeString();
    itemsOf(await post(turn(model, [...compactions, userMessage("go on", { tokens: 2 })])));
  });

  test("a call of a namespaced tool has the tool's name and its namespace", async () => {
    const items = itemsOf(await post(turn(model, [userMessage("use mcp__docs__search_docs")])));
    expect(items.at(-1)).toMatchObject({ type: "function_call", name: "search_docs", namespace: "mcp__docs" });
  });
});

describe("content that one of two accounts has encrypted", () => {
  const model = "two/accounts";
  const servedBy = (answer: AgentAnswer): string => answer.headers.get("x-sluice-provider") ?? "";

  test("returns to the same account within a conversation, which stays on one account", async () => {
    const used = new Set<string>();
    // Conversations are placed at random, so both accounts soon serve one.
    for (let round = 0; round < 8 || (used.size < 2 && round < 60); round += 1) {
      const more = { prompt_cache_key: `conversation-${round}` };
      const message = userMessage("use shell_command", { tokens: 2 });
      const first = await post(turn(model, [message], more));
      const items = itemsOf(first);
      expect([items[0]?.["type"], typeof items[0]?.["encrypted_content"]]).toEqual(["reasoning", "string"]);
      const output = { type: "function_call_output", call_id: items.at(-1)?.["call_id"], output: "done" };
      const second = await post(turn(model, [message, ...items, output], more));
      itemsOf(second);
      expect([servedBy(second), second.headers.get("x-sluice-attempts")]).toEqual([servedBy(first), "1"]);
      used.add(servedBy(first));
    }
    expect([...used].sort()).toEqual(["one", "two"]);
  });

  test("reaches its account without a conversation id, because the gateway fails over after the other account's refusal", async () => {
    for (let round = 0; round < 6; round += 1) {
      const more = { prompt_cache_key: undefined };
      const message = userMessage("use shell_command", { tokens: 2 });
      const first = await post(turn(model, [message], more));
      const items = itemsOf(first);
      const output = { type: "function_call_output", call_id: items.at(-1)?.["call_id"], output: "done" };
      const second = await post(turn(model, [message, ...items, output], more));
      itemsOf(second);
      expect(servedBy(second)).toBe(servedBy(first));
    }
  });

  test("reaches its account as a compaction, made in a turn or with the compact endpoint", async () => {
    for (let round = 0; round < 4; round += 1) {
      const whole = await post(
        { model, instructions: "x", input: [userMessage("one two")] },
        {},
        "/v1/responses/compact",
      );
      const { output } = whole.json() as { output: Item[] };
      const next = await post(
        turn(model, [...output, userMessage("go on", { tokens: 2 })], { prompt_cache_key: undefined }),
      );
      itemsOf(next);
      expect(servedBy(next)).toBe(servedBy(whole));
    }
  });

  test("returns an error while its account is down, and works again later", async () => {
    const message = userMessage("use shell_command", { tokens: 2 });
    const first = await post(turn(model, [message]));
    const items = itemsOf(first);
    const output = { type: "function_call_output", call_id: items.at(-1)?.["call_id"], output: "done" };
    await setup.simulator.script({ status: 503 }, { count: 1, model: `gpt-sim-of-${servedBy(first)}` });
    const second = await post(turn(model, [message, ...items, output]));
    expect([400, 502, 503]).toContain(second.status);
    expect(second.json()).toMatchObject({ error: { message: expect.any(String) } });
    const third = await post(turn(model, [message, ...items, output]));
    itemsOf(third);
    expect(servedBy(third)).toBe(servedBy(first));
  });

  test("returns the upstream's error if no account can decrypt it", async () => {
    const items = [
      { type: "reasoning", summary: [], encrypted_content: "gAAAA-of-another-account" },
      userMessage("hi"),
    ];
    const answer = await post(turn(model, items));
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ error: { code: "invalid_encrypted_content" } });
  });
});

const others = ["anthropic", "bedrock-claude", "vertex-claude", "chat", "ark", "gemini", "bedrock-nova"];

describe.each(["responses", "azure", ...others])("on %s", (upstream) => {
  const model = `matrix/${upstream}/main`;

  test("a turn reasons and calls a function, accepts both in the next turn, and then returns text", async () => {
    const message = userMessage("use shell_command", { tokens: 3 });
    const items = itemsOf(await post(turn(model, [message])));
    const call = items.find((item) => item["type"] === "function_call");
    expect(call).toMatchObject({ name: "shell_command", status: "completed" });
    expect(JSON.parse(String(call?.["arguments"]))).toEqual({
      command: expect.stringContaining("use shell_command"),
      timeout_ms: 1,
    });
    if (upstream !== "bedrock-nova") expect(items[0]).toMatchObject({ type: "reasoning" });
    const output = { type: "function_call_output", call_id: call?.["call_id"], output: "exit 0" };
    const final = itemsOf(await post(turn(model, [message, ...items, output])));
    const answer = final.find((item) => item["type"] === "message");
    expect(answer).toMatchObject({ role: "assistant", content: [{ type: "output_text", text: " the quick brown" }] });
  });

  test("a custom tool receives free text and returns its result", async () => {
    const message = userMessage("use apply_patch", { tokens: 3 });
    const items = itemsOf(await post(turn(model, [message])));
    const call = items.find((item) => item["type"] === "custom_tool_call");
    expect(call?.["name"]).toBe("apply_patch");
    expect(call?.["input"]).toEndWith("use apply_patch");
    const output = { type: "custom_tool_call_output", call_id: call?.["call_id"], output: "patched" };
    itemsOf(await post(turn(model, [message, ...items, output])));
    expect((await lastTruth()).body_text).toContain("patched");
  });

  test("a namespaced tool is called and its result accepted", async () => {
    const message = userMessage("use mcp__docs__search_docs", { tokens: 3 });
    const items = itemsOf(await post(turn(model, [message])));
    const call = items.find((item) => item["type"] === "function_call");
    expect(call).toMatchObject({ name: "search_docs", namespace: "mcp__docs" });
    const output = { type: "function_call_output", call_id: call?.["call_id"], output: "found" };
    itemsOf(await post(turn(model, [message, ...items, output])));
  });

  test("a stream that is cut ends with response.failed, never with response.completed", async () => {
    const message = userMessage("hi", { tokens: 9, event_ms: 8, cut_after_events: 8 });
    const answer = await post(turn(`matrix/${upstream}/cut`, [message]));
    expect(answer.status).toBe(200);
    expect(ofType(answer, "response.completed")).toEqual([]);
    expect(answer.events.at(-1)).toMatchObject({ type: "response.failed", response: { status: "failed" } });
  });

  test("reports rate limits and prompts that are too long with OpenAI's codes", async () => {
    const limited = await post(
      turn(`matrix/${upstream}/limited`, [userMessage("hi", { status: 429, retry_after: 900 })]),
    );
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(800);
    const long = tooLong[upstream];
    if (long === undefined) return;
    const answer = await post(turn(`matrix/${upstream}/long`, [userMessage("hi", { status: 400, body: long })]));
    expect([answer.status, answer.json()]).toMatchObject([400, { error: { code: "context_length_exceeded" } }]);
  });
});

describe.each(others)("features that the gateway provides in OpenAI's place, on %s", (name) => {
  const upstream = matrixUpstreams.find((candidate) => candidate.name === name) ?? never(name);
  const model = modelOn(upstream);
  const { upstreamModel } = upstream;
  const past = [
    userMessage("first request", { tokens: 3 }),
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "I did that." }] },
    userMessage("second request", { tokens: 3 }),
  ];

  test("compacts with the compact endpoint; the user's messages and a summary are the new history", async () => {
    const answer = await post({ model, instructions: "x", input: past, tools }, {}, "/v1/responses/compact");
    expect(answer.status, answer.text).toBe(200);
    const { object, output, usage } = answer.json() as { object: string; output: Item[]; usage: Item };
    expect(object).toBe("response.compaction");
    expect(output.map(({ type }) => type)).toEqual(["message", "message", "compaction"]);
    expect(JSON.stringify(output[0])).toContain("first request");
    expect(Number(usage["output_tokens"])).toBeGreaterThan(2);
    itemsOf(await post(turn(model, [...output, userMessage("go on", { tokens: 2 })])));
    const body = (await lastTruth()).body_text ?? "";
    expect(body).toContain(summaryIn(output.at(-1)));
    expect(body).not.toContain("sluice1.");
  });

  test("compacts within a turn that ends with a trigger, and streams exactly one compaction", async () => {
    const input = [...past, { type: "compaction_trigger" }];
    const items = itemsOf(await post(turn(model, input)));
    expect(items.map(({ type }) => type)).toEqual(["compaction"]);
    expect((await lastTruth()).body_text).toContain("summary");
    itemsOf(await post(turn(model, [...items, userMessage("go on", { tokens: 2 })])));
    expect((await lastTruth()).body_text).toContain(summaryIn(items[0]));
    const whole = await post(turn(model, input, { stream: false }));
    expect((whole.json() as { output: Item[] }).output.map(({ type }) => type)).toEqual(["compaction"]);
    // A summary by one upstream can be continued on another, including OpenAI.
    itemsOf(await post(turn("matrix/responses/main", [...items, userMessage("go on", { tokens: 2 })])));
    expect((await lastTruth()).body_text).toContain(summaryIn(items[0]));
  });

  test("an incomplete summary is an error and is not returned", async () => {
    const cut = { tokens: 3, finish: "length" } as const;
    await setup.simulator.script(cut, { count: 1, model: upstreamModel });
    const streamed = await post(turn(model, [userMessage("first request"), { type: "compaction_trigger" }]));
    expect(ofType(streamed, "response.output_item.done")).toEqual([]);
    expect(streamed.text).toContain("cut off");
    if (streamed.status === 200) {
      const [failed] = ofType(streamed, "response.failed");
      expect(failed?.["response"] as Item).toMatchObject({ status: "failed", output: [] });
    } else expect(streamed.status).toBe(502);
    await setup.simulator.script(cut, { count: 1, model: upstreamModel });
    const whole = await post(
      { model, instructions: "x", input: [userMessage("first request")] },
      {},
      "/v1/responses/compact",
    );
    expect([whole.status, whole.json()]).toMatchObject([502, { error: { code: "upstream_error" } }]);
  });

  test("refuses a compaction that only OpenAI can decrypt, and a trigger without a conversation before it", async () => {
    const openAi = [{ type: "compaction", id: "cmp_1", encrypted_content: "gAAAA-of-openai" }, userMessage("go on")];
    const empty = [{ type: "compaction_trigger" }];
    const late = [{ type: "compaction_trigger" }, userMessage("go on")];
    for (const [input, code] of [
      [openAi, "unsupported_by_model"],
      [empty, "missing_required_parameter"],
      [late, "invalid_request"],
    ] as const) {
      const answer = await post({ model, instructions: "x", input, stream: true });
      expect([answer.status, answer.json()]).toMatchObject([400, { error: { code } }]);
    }
  });

  test("its tool search is called, and the tools that were found can be called afterwards", async () => {
    const more = { tools: [...tools, toolSearch] };
    const message = userMessage("use tool_search", { tokens: 3 });
    const searched = await post(turn(model, [message], more));
    const items = itemsOf(searched);
    const search = items.find((item) => item["type"] === "tool_search_call");
    expect([search?.["execution"], search?.["status"], typeof search?.["call_id"]]).toEqual([
      "client",
      "completed",
      "string",
    ]);
    expect(search?.["arguments"]).toEqual({ query: expect.stringContaining("use tool_search"), limit: 1 });
    const outputOf = (call_id: unknown, of: object): object => ({
      type: "tool_search_output",
      call_id,
      status: "completed",
      execution: "client",
      tools: [of],
    });
    const twin = { ...search, id: "tsc_twin", call_id: "call_twin" };
    const history = [
      message,
      ...items,
      twin,
      outputOf(search?.["call_id"], calendar("Creates an event.")),
      outputOf("call_twin", calendar("Creates an event, again.")),
      userMessage("use mcp__calendar__create_event"),
    ];
    const used = itemsOf(await post(turn(model, history, more)));
    const call = used.find((item) => item["type"] === "function_call");
    expect(call).toMatchObject({ name: "create_event", namespace: "mcp__calendar" });
    const body = (await lastTruth()).body_text ?? "";
    // Declared once and named in the result, each time as found last.
    expect(body.split("Creates an event, again.").length - 1, body).toBe(2);
    expect(body).toContain("mcp__calendar__create_event");
    const whole = await post(turn(model, [message], { ...more, stream: false }));
    const { output } = whole.json() as { output: Item[] };
    expect(output.find((item) => item["type"] === "tool_search_call")).toMatchObject({
      arguments: search?.["arguments"],
    });
  });

  test("its web search goes to vendors that have one, and is dropped with a warning for others", async () => {
    const answer = await post(turn(model, [userMessage("hi", { tokens: 2 })]));
    itemsOf(answer);
    const warnings = answer.headers.get("x-sluice-warnings") ?? "";
    if (!["anthropic", "vertex-claude"].includes(name)) expect(warnings).toContain("web_search");
    else
      expect([(await lastTruth()).body_text?.includes("web_search_20250305"), warnings.includes("web_search")]).toEqual(
        [true, false],
      );
  });
});

/** The start of the summary in a compaction. */
function summaryIn(item: Item | undefined): string {
  const sealed = String(item?.["encrypted_content"]).slice("sluice1.".length);
  const [, , , summary] = JSON.parse(Buffer.from(sealed, "base64url").toString()) as string[];
  expect(summary?.length).toBeGreaterThan(8);
  return JSON.stringify(summary?.slice(0, 30)).slice(1, -1);
}

function never(name: string): never {
  throw new Error(`no upstream ${name}`);
}

const anthropicTooLong = {
  type: "error",
  error: { type: "invalid_request_error", message: "prompt is too long: 205000 tokens > 200000 maximum" },
};

/** How each vendor's error reads when a prompt is too long. */
const tooLong: Readonly<Record<string, object>> = {
  responses: {
    error: {
      message: "Your input exceeds the context window of this model.",
      type: "invalid_request_error",
      param: "input",
      code: "context_length_exceeded",
    },
  },
  anthropic: anthropicTooLong,
  "vertex-claude": anthropicTooLong,
  gemini: {
    error: {
      code: 400,
      message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      status: "INVALID_ARGUMENT",
    },
  },
};

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { LedgerEntry } from "#core/index.ts";
import { type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

const price = { input: 1, output: 10, web_search: 10 };

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("chat", simulator),
      upstream("open", simulator, { kind: "openai", settings: { endpoints: ["responses"] } }),
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("google", simulator, { kind: "gemini", settings: { endpoints: ["generate"] } }),
    ],
    models: ["chat", "open", "claude", "google"].map((name) => ({ name, deployments: [{ provider: name }], price })),
  });
});
afterAll(() => gateway.stop());

const text = "a few words to be counted by their size, however short they are";
const messages = [{ role: "user", content: "Write a short welcome for all guests" }];
const asks = {
  chat: ["/v1/chat/completions", { model: "chat", messages }],
  claude: ["/v1/messages", { model: "claude", max_tokens: 64, messages }],
  open: ["/v1/responses", { model: "open", input: "Write a short welcome for all guests" }],
  google: ["", { contents: [{ parts: [{ text: "Write a short welcome for all guests" }] }] }],
} as const;
type Vendor = keyof typeof asks;

function event(value: object): string {
  const name = "type" in value ? `event: ${value.type}\n` : "";
  return `${name}data: ${JSON.stringify(value)}\n\n`;
}

function answered(type: string, body: string): string {
  const length = Buffer.byteLength(body);
  return `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n${body}`;
}

/** Closing the connection ends the body. */
function endless(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n${body}`;
}

async function entryAfter(vendor: Vendor, stream: boolean, reply: string): Promise<LedgerEntry | undefined> {
  const [path, body] = asks[vendor];
  const verb = stream ? "streamGenerateContent?alt=sse" : "generateContent";
  const target = vendor === "google" ? `/v1beta/models/google:${verb}` : path;
  const headers = { "anthropic-version": "2023-06-01" };
  const response = await gateway.post(target, { ...body, stream }, { headers, script: { raw_reply: reply } });
  await response.text().catch(() => "");
  return (await gateway.entries()).find(({ requestId }) => requestId === response.headers.get("x-request-id"));
}

/** Answers with missing or unreadable usage for one side. */
const oneSided: Readonly<
  Record<Vendor, (input: unknown, output: unknown) => { whole: object; events: readonly object[] }>
> = {
  chat(input, output) {
    const usage = { prompt_tokens: input, completion_tokens: output };
    const choice = { index: 0, finish_reason: "stop" };
    return {
      whole: { id: "c", choices: [{ ...choice, message: { role: "assistant", content: text } }], usage },
      events: [
        { id: "c", choices: [{ index: 0, delta: { content: text }, finish_reason: null }] },
        { id: "c", choices: [{ ...choice, delta: {} }] },
        { id: "c", choices: [], usage },
      ],
    };
  },
  claude(input, output) {
    const usage = { input_tokens: input, output_tokens: output };
    const message = { id: "m", type: "message", role: "assistant", model: "claude" };
    return {
      whole: { ...message, content: [{ type: "text", text }], stop_reason: "end_turn", usage },
      events: [
        { type: "message_start", message: { ...message, content: [] } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
        { type: "message_stop" },
      ],
    };
  },
  open(input, output) {
    const usage = { input_tokens: input, output_tokens: output };
    const item = { type: "message", id: "i", role: "assistant", content: [{ type: "output_text", text }] };
    const whole = { id: "r", object: "response", status: "completed", output: [item], usage };
    return {
      whole,
      events: [
        { type: "response.created", response: { id: "r", object: "response", status: "in_progress", output: [] } },
        { type: "response.output_text.delta", item_id: "i", output_index: 0, content_index: 0, delta: text },
        { type: "response.completed", response: whole },
      ],
    };
  },
  google(input, output) {
    const total = Number(input) + Number(output);
    const totalTokenCount = Number.isInteger(total) ? total : 90;
    const usageMetadata = { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount };
    const candidate = { content: { role: "model", parts: [{ text }] }, finishReason: "STOP" };
    const whole = { candidates: [candidate], usageMetadata };
    return { whole, events: [whole] };
  },
};

const vendors: readonly Vendor[] = ["chat", "claude", "open", "google"];
const kinds = vendors.flatMap((vendor) => [[vendor, "whole", false] as const, [vendor, "streamed", true] as const]);

describe("usage with only one side is completed with an estimate and marked", () => {
  const reply = (vendor: Vendor, stream: boolean, input: unknown, output: unknown): string => {
    const { whole, events } = oneSided[vendor](input, output);
    return stream
      ? answered("text/event-stream", events.map(event).join("") + (vendor === "chat" ? "data: [DONE]\n\n" : ""))
      : answered("application/json", JSON.stringify(whole));
  };

  test.each(kinds)("%s, %s: the output is not free", async (vendor, _, stream) => {
    for (const output of ["many", undefined, null, -3]) {
      const entry = await entryAfter(vendor, stream, reply(vendor, stream, 70, output));
      expect(entry).toMatchObject({ outcome: "succeeded", usageSource: "estimated", usage: { inputUncached: 70 } });
      expect(entry?.usage.output).toBeGreaterThanOrEqual(text.length / 4);
    }
  });

  test.each(kinds)("%s, %s: the input is not free", async (vendor, _, stream) => {
    const entry = await entryAfter(vendor, stream, reply(vendor, stream, "some", 12));
    expect(entry).toMatchObject({ outcome: "succeeded", usageSource: "estimated", usage: { output: 12 } });
    expect(entry?.usage.inputUncached).toBeGreaterThan(5);
  });

  test.each(kinds)("%s, %s: a complete usage is used as it is, including zeros", async (vendor, _, stream) => {
    const entry = await entryAfter(vendor, stream, reply(vendor, stream, 70, 0));
    expect(entry).toMatchObject({ usageSource: "upstream", usage: { inputUncached: 70, output: 0 } });
  });
});

describe("early usage does not count later content", () => {
  const chunk = (content: string, usage: object | null) =>
    event({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: null }], usage });

  test("zeros at the start of a truncated chat stream are not final", async () => {
    const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    const body = chunk("", zeros) + chunk(text, null);
    const entry = await entryAfter("chat", true, endless(body));
    expect(entry).toMatchObject({ outcome: "failed", errorCode: "upstream_truncated", usageSource: "estimated" });
    expect(entry?.usage.inputUncached).toBeGreaterThan(5);
    expect(entry?.usage.output).toBe(Math.ceil(text.length / 4));
  });

  test("counts running usage as far as it goes, and estimates the rest", async () => {
    const body = chunk(text, { prompt_tokens: 70, completion_tokens: 40 }) + chunk("more", null);
    const entry = await entryAfter("chat", true, endless(body));
    expect(entry).toMatchObject({ usageSource: "estimated", usage: { inputUncached: 70, output: 40 } });
  });

  test("Gemini's zeros before the end of the text are not final", async () => {
    const first = { candidates: [{ content: { parts: [{ text: "a" }] } }], usageMetadata: { promptTokenCount: 9 } };
    const last = { candidates: [{ content: { parts: [{ text }] }, finishReason: "STOP" }] };
    const entry = await entryAfter("google", true, answered("text/event-stream", event(first) + event(last)));
    expect(entry).toMatchObject({ outcome: "succeeded", usageSource: "estimated", usage: { inputUncached: 9 } });
    expect(entry?.usage.output).toBeGreaterThanOrEqual(text.length / 4);
  });
});

describe("output before an upstream's failure is charged", () => {
  test("an error in the same chunk as the first words does not make them free", async () => {
    const word = event({ id: "c", choices: [{ index: 0, delta: { content: text }, finish_reason: null }] });
    const error = event({ error: { message: "broken", type: "server_error" } });
    const entry = await entryAfter("chat", true, answered("text/event-stream", word + error));
    expect(entry).toMatchObject({ outcome: "failed", errorCode: "upstream_error", usageSource: "estimated" });
    expect(entry?.usage.output).toBe(Math.ceil(text.length / 4));
    // Without any output it counts as a refusal.
    expect(await entryAfter("chat", true, answered("text/event-stream", error))).toMatchObject({ costNanoUsd: 0 });
  });

  const searched: readonly (readonly [Vendor, string])[] = [
    [
      "claude",
      event({
        type: "message_start",
        message: { id: "m", content: [], usage: { input_tokens: 9, output_tokens: 1 } },
      }) +
        event({
          type: "content_block_start",
          index: 0,
          content_block: { type: "server_tool_use", id: "s", name: "web_search", input: {} },
        }),
    ],
    [
      "open",
      event({ type: "response.created", response: { id: "r", object: "response", status: "in_progress" } }) +
        event({
          type: "response.output_item.done",
          output_index: 0,
          item: { type: "web_search_call", id: "w", status: "completed", action: { type: "search", query: "q" } },
        }),
    ],
  ];
  test.each(searched)("counts the searches of a truncated stream of %s", async (vendor, body) => {
    const entry = await entryAfter(vendor, true, endless(body));
    expect(entry).toMatchObject({ outcome: "failed", errorCode: "upstream_truncated", usage: { webSearches: 1 } });
    expect(entry?.usage.inputUncached).toBeGreaterThan(0);
  });

  test("counts searches of an answer without usage", async () => {
    const item = { type: "web_search_call", id: "w", status: "completed", action: { type: "search", query: "q" } };
    const open = { id: "r", object: "response", status: "completed", output: [item] };
    const metadata = { webSearchQueries: ["one", "two"] };
    const candidate = { content: { parts: [{ text }] }, finishReason: "STOP", groundingMetadata: metadata };
    const google = { candidates: [candidate] };
    expect(await entryAfter("open", false, answered("application/json", JSON.stringify(open)))).toMatchObject({
      usageSource: "estimated",
      usage: { webSearches: 1 },
    });
    for (const stream of [false, true]) {
      const reply = stream
        ? answered("text/event-stream", event(google))
        : answered("application/json", JSON.stringify(google));
      const entry = await entryAfter("google", stream, reply);
      expect(entry).toMatchObject({ usageSource: "estimated", usage: { webSearches: 2 } });
      expect(entry?.usage.output).toBeGreaterThanOrEqual(text.length / 4);
    }
  });
});

test("an embeddings answer without usage costs its input", async () => {
  const reply = answered(
    "application/json",
    JSON.stringify({ object: "list", data: [{ index: 0, embedding: [0.5] }] }),
  );
  const response = await gateway.post(
    "/v1/embeddings",
    { model: "chat", input: "x".repeat(400) },
    { script: { raw_reply: reply } },
  );
  expect(response.status).toBe(200);
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ usageSource: "estimated", usage: { inputUncached: 100, output: 0 } });
});

test("stores an answer under any upstream id, except an overly long one", async () => {
  for (const [name, kept] of [
    ["r".repeat(512), true],
    ["r".repeat(513), false],
  ] as const) {
    const { whole, events } = oneSided.open(70, 12);
    const named = (value: object) => JSON.stringify(value).replaceAll('"id":"r"', `"id":"${name}"`);
    const stream = events.map((each) => event(JSON.parse(named(each)))).join("");
    for (const [streamed, reply] of [
      [false, answered("application/json", named(whole))],
      [true, answered("text/event-stream", stream)],
    ] as const) {
      expect(await entryAfter("open", streamed, reply)).toMatchObject({
        outcome: "succeeded",
        usage: { inputUncached: 70, output: 12 },
        upstreamId: kept ? name : null,
      });
    }
  }
});

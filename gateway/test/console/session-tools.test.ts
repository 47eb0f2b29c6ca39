import { afterAll, beforeAll, expect, test } from "bun:test";
import type { AnswerOf } from "@sluice/contract/console";
import { codeOf, type MediaFixture, type MediaUser, openMediaFixture } from "./media-fixture.ts";

const secret = "sk-of-owner-0123456789abcdefghij";
const plainSecret = "sk-of-member-0123456789abcdefghij";
const call = { tool_calls: 1 };

let fixture: MediaFixture;
beforeAll(async () => {
  fixture = await openMediaFixture({
    models: [{ name: "agent", deployments: [{ provider: "main", upstream_model: `sim${JSON.stringify(call)}up` }] }],
  });
  const change = { method: "PATCH", headers: { "content-type": "application/json" } };
  const path = `/api/workspaces/acme/keys/${fixture.keys.owners}`;
  const changed = await fixture.as("admin", path, { ...change, body: JSON.stringify({ capture: "bodies" }) });
  expect(changed.status).toBe(200);
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function send(session: string, path: string, body: object, key = secret): Promise<void> {
  const answer = await fetch(fixture.url + path, {
    method: "POST",
    headers: {
      ...{ authorization: `Bearer ${key}`, "content-type": "application/json", "x-sluice-session": session },
      "anthropic-version": "2023-06-01",
    },
    body: JSON.stringify(body),
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
}

type Tools = AnswerOf<"sessions.tools">;
type Requests = AnswerOf<"sessions.requests">;

const place = (session: string, part: string, key = fixture.keys.owners) =>
  `/api/workspaces/acme/sessions/${key}/${part}?session=${session}`;

async function read<Answer>(who: MediaUser, path: string): Promise<Answer> {
  await fixture.entries();
  await fixture.written();
  const answer = await fixture.as(who, path);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Answer;
}

const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const name = "read_file";
const ask = { role: "user", content: "Read it" };
const use = { type: "tool_use", id: "call_1", name, input: {} };
const result = { type: "tool_result", tool_use_id: "call_1", content: "no such file", is_error: true };
const chatCall = { id: "call_1", type: "function", function: { name, arguments: "{}" } };
const item = { type: "function_call", call_id: "call_1", name, arguments: "{}" };

interface Dialect {
  readonly path: (stream: boolean) => string;
  readonly first: object;
  readonly second: object;
  /** Whether a result has a mark for errors. */
  readonly marksErrors: boolean;
}

const chatTools = [{ type: "function", function: { name, parameters } }];
const messagesHead = { model: "agent", max_tokens: 100, tools: [{ name, input_schema: parameters }] };
const responsesHead = { model: "agent", tools: [{ type: "function", name, parameters }] };
const geminiHead = { tools: [{ functionDeclarations: [{ name, parameters }] }] };
const geminiAsk = { role: "user", parts: [{ text: "Read it" }] };
const geminiResult = { functionResponse: { name, response: { error: "no such file" } } };

const dialects: Record<string, Dialect> = {
  chat: {
    path: () => "/v1/chat/completions",
    first: { model: "agent", tools: chatTools, messages: [ask] },
    second: {
      ...{ model: "agent", tools: chatTools },
      messages: [
        ask,
        { role: "assistant", content: null, tool_calls: [chatCall] },
        { role: "tool", tool_call_id: "call_1", content: "no such file" },
      ],
    },
    marksErrors: false,
  },
  messages: {
    path: () => "/v1/messages",
    first: { ...messagesHead, messages: [ask] },
    second: {
      ...messagesHead,
      messages: [ask, { role: "assistant", content: [use] }, { role: "user", content: [result] }],
    },
    marksErrors: true,
  },
  responses: {
    path: () => "/v1/responses",
    first: { ...responsesHead, input: [ask] },
    second: {
      ...responsesHead,
      input: [ask, item, { type: "function_call_output", call_id: "call_1", output: "no such file" }],
    },
    marksErrors: false,
  },
  gemini: {
    path: (stream) => `/v1beta/models/agent:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    first: { ...geminiHead, contents: [geminiAsk] },
    second: {
      ...geminiHead,
      contents: [
        geminiAsk,
        { role: "model", parts: [{ functionCall: { name, args: {} } }] },
        { role: "user", parts: [geminiResult] },
      ],
    },
    marksErrors: true,
  },
};

for (const [dialect, { path, first, second, marksErrors }] of Object.entries(dialects)) {
  test.each([false, true])(`reads calls and results of ${dialect} (streamed: %p)`, async (stream) => {
    const session = `${dialect}-${stream}`;
    const streamed = stream && dialect !== "gemini" ? { stream: true } : {};
    await send(session, path(stream), { ...first, ...streamed });
    await send(session, path(stream), { ...second, ...streamed });
    const errors = marksErrors ? 1 : 0;
    expect(await read<Tools>("admin", place(session, "tools"))).toEqual({
      data: [{ name, calls: 1, results: 1, errors }],
      captured_requests: 2,
    });
    const requests = await read<Requests>("admin", place(session, "requests"));
    expect(requests.data.map(({ tools }) => tools)).toEqual([
      [{ name, calls: 1, results: 0, errors: 0 }],
      [{ name, calls: 0, results: 1, errors }],
    ]);
  });
}

test("has no tools of a key without captured bodies", async () => {
  await send("plain", "/v1/chat/completions", dialects["chat"]?.first ?? {}, plainSecret);
  const tools = await read<Tools>("admin", place("plain", "tools", fixture.keys.members));
  expect(tools).toEqual({ data: [], captured_requests: 0 });
});

test("shows tools to admins only", async () => {
  await send("owned", "/v1/chat/completions", dialects["chat"]?.first ?? {});
  const requests = await read<Requests>("owner", place("owned", "requests"));
  expect(requests.data[0]?.tools).toHaveLength(1);
  expect(await codeOf(await fixture.as("member", place("owned", "tools")))).toBe("403 forbidden");
  expect(await codeOf(await fixture.as("admin", place("missing", "tools")))).toBe("404 not_found");
  await send("members", "/v1/chat/completions", dialects["chat"]?.first ?? {}, plainSecret);
  const own = await read<Requests>("member", place("members", "requests", fixture.keys.members));
  expect(own.data[0]).not.toHaveProperty("tools");
});

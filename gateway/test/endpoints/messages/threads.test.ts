import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

const malloryKey = "sk-mallory-0123456789abcdefghij";
const beta = "message-threads-2026-08-12";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      ...["one", "two", "three"].map((id) => upstream(id, simulator, { kind: "anthropic" })),
      upstream("deepseek", simulator, { kind: "deepseek" }),
      upstream("proxy", simulator, { kind: "deepseek", settings: { pass_members: ["thread"] } }),
      upstream("chat", simulator),
      upstream("responses", simulator, { kind: "openai" }),
      upstream("google", simulator, { kind: "gemini" }),
    ],
    models: [
      { name: "claude", deployments: ["one", "two", "three"].map((provider) => ({ provider, upstream_model: "c" })) },
      { name: "one", deployments: [{ provider: "one" }], fallbacks: ["two"] },
      { name: "two", deployments: [{ provider: "two" }] },
      ...["deepseek", "proxy", "chat", "responses", "google"].map((name) => ({
        name,
        deployments: [{ provider: name }],
      })),
    ],
    workspace: { models: ["*"] },
    moreWorkspaces: [
      {
        slug: "rival",
        models: ["*"],
        groups: [{ name: "default" }],
        keys: [{ name: "mallory", secret: malloryKey }],
      },
    ],
  });
});
afterAll(() => gateway.stop());

interface Answer {
  readonly id: string;
  readonly type: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}

const headers = { "anthropic-version": "2023-06-01", "anthropic-beta": `interleaved-thinking-2025-05-14,${beta}` };
const upstreamCalls = () => gateway.simulator.simulator.truth.list();

function turn(thread: unknown, content: string, more: object = {}) {
  return { model: "claude", max_tokens: 64, messages: [{ role: "user", content }], thread, ...more };
}

function send(body: object, key = aliceKey, script: object = { tokens: 3 }): Promise<Response> {
  return gateway.post("/v1/messages", body, { key, headers, script });
}

async function beginThread(more: object = {}): Promise<{ readonly id: string; readonly provider: string | null }> {
  const answer = await send(turn({ type: "create" }, "Remember the number 42", more));
  expect(answer.status).toBe(200);
  const { id } = (await answer.json()) as Answer;
  return { id, provider: answer.headers.get("x-sluice-provider") };
}

async function errorOf(answer: Promise<Response>) {
  const response = await answer;
  const { error } = (await response.json()) as { error: { type: string; details?: object } };
  return { status: response.status, type: error.type, details: error.details };
}

const continueFrom = (id: string) => ({ type: "continue", previous_message_id: id });

test("continues a thread at the account that holds it", async () => {
  for (let round = 0; round < 6; round++) {
    const { id, provider } = await beginThread();
    const next = await send(turn(continueFrom(id), "What was it?"));
    expect([next.status, next.headers.get("x-sluice-provider")]).toEqual([200, provider]);
    const answer = (await next.json()) as Answer;
    const third = await send(turn(continueFrom(answer.id), "Sure?", { stream: true }));
    expect([third.status, third.headers.get("x-sluice-provider")]).toEqual([200, provider]);
    expect(await third.text()).toContain("message_stop");
  }
});

test("continues a thread that a stream began", async () => {
  const stream = await send(turn({ type: "create" }, "Remember the number 42", { stream: true }));
  const id = /"id":"(msg_[^"]+)"/.exec(await stream.text())?.[1] ?? "";
  expect((await send(turn(continueFrom(id), "What was it?"))).status).toBe(200);
});

test("continues a paused turn without a message", async () => {
  const { id } = await beginThread();
  const next = await send({ ...turn(continueFrom(id), ""), messages: [] });
  expect(next.status).toBe(200);
});

test("returns the same 404 for another workspace's thread as for a missing one, without calling an upstream", async () => {
  const { id } = await beginThread();
  const before = upstreamCalls().total;
  const notFound = { status: 404, type: "not_found_error", details: { error_code: "thread_not_found" } };
  expect(await errorOf(send(turn(continueFrom(id), "What was it?"), malloryKey))).toEqual(notFound);
  expect(await errorOf(send(turn(continueFrom("msg_missing"), "What was it?"), malloryKey))).toEqual(notFound);
  expect(upstreamCalls().total).toBe(before);
  expect((await send(turn(continueFrom(id), "What was it?"))).status).toBe(200);
});

test.each([
  ["a list", ["msg_1"]],
  ["an object", { id: "msg_1" }],
  ["a number", 1],
])("rejects an id that is %s without calling an upstream", async (_, previous_message_id) => {
  const before = upstreamCalls().total;
  const answer = await errorOf(send(turn({ type: "continue", previous_message_id }, "x")));
  expect([answer.status, upstreamCalls().total]).toEqual([400, before]);
});

test("returns the vendor's error about a thread unchanged, and keeps the account healthy", async () => {
  const { id } = await beginThread({ model: "one" });
  expect((await send(turn(continueFrom(id), "x", { model: "one" }))).status).toBe(200);
  for (let round = 0; round < 8; round++) {
    const again = await errorOf(send(turn(continueFrom(id), "x", { model: "one" })));
    expect([again.status, again.details]).toEqual([400, { error_code: "thread_already_continued" }]);
  }
  const lost = JSON.stringify({
    type: "error",
    error: { type: "not_found_error", message: "deleted", details: { error_code: "thread_not_found" } },
    request_id: "req_1",
  });
  const { id: other } = await beginThread({ model: "one" });
  const script = { status: 404, body: lost };
  expect(await (await send(turn(continueFrom(other), "x", { model: "one" }), aliceKey, script)).text()).toBe(lost);
  expect((await beginThread({ model: "one" })).provider).toBe("one");
});

test("does not retry a failed continuation at another account", async () => {
  const { id } = await beginThread({ model: "one" });
  const before = upstreamCalls().total;
  const failed = await send(turn(continueFrom(id), "x", { model: "one" }), aliceKey, { status: 400, body: "{}" });
  expect([failed.status, upstreamCalls().total]).toEqual([400, before + 1]);
});

test("continues a thread with the fallback that began it", async () => {
  const script = { status: 400, fail_first: 1, error_code: "invalid_request_error", name: "fallback" };
  const refuseFirst = { ...script, status: 403 };
  const answer = await send(turn({ type: "create" }, "Remember", { model: "one" }), aliceKey, refuseFirst);
  expect([answer.status, answer.headers.get("x-sluice-provider")]).toEqual([200, "two"]);
  const { id } = (await answer.json()) as Answer;
  const next = await send(turn(continueFrom(id), "x", { model: "one" }));
  expect([next.status, next.headers.get("x-sluice-provider")]).toEqual([200, "two"]);
});

test("counts the tokens of the whole conversation for a continuation", async () => {
  const { id } = await beginThread();
  const [stored] = await gateway.control.objectStore.find((await gateway.entries())[0]?.workspaceId ?? "", [id]);
  expect(stored).toMatchObject({ id, kind: "thread_message", inputTokens: 4 + 3 });
});

describe.each(["deepseek", "chat", "responses", "google"])("on %s, which has no threads", (model) => {
  test("answers the first turn without a thread, with a warning", async () => {
    const answer = await send(turn({ type: "create" }, "Remember the number 42", { model }), aliceKey, {
      tokens: 3,
      keep_received: true,
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-sluice-warnings")).toContain("thread was dropped");
    const received = upstreamCalls().data.at(-1);
    expect(JSON.stringify(received)).not.toContain('\\"thread\\"');
    expect(JSON.stringify(received)).not.toContain(beta);
  });

  test("returns the vendor's error code when a thread is continued", async () => {
    const before = upstreamCalls().total;
    expect(await errorOf(send(turn(continueFrom("msg_1"), "x", { model })))).toEqual({
      status: 400,
      type: "invalid_request_error",
      details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
    });
    expect(upstreamCalls().total).toBe(before);
  });
});

test("supports threads at an account where the operator allows them", async () => {
  const { id, provider } = await beginThread({ model: "proxy" });
  const next = await send(turn(continueFrom(id), "x", { model: "proxy" }));
  expect([provider, next.status]).toEqual(["proxy", 200]);
});

describe("the tool runner of Anthropic's SDK", () => {
  test.each(["claude", "deepseek", "chat", "responses", "google"])(
    "calls tools in three turns of %s",
    async (model) => {
      const client = new Anthropic({ baseURL: gateway.url, apiKey: aliceKey, maxRetries: 0 });
      const toolInputs: unknown[] = [];
      const runner = client.beta.messages.toolRunner({
        model,
        max_tokens: 200,
        messages: [{ role: "user", content: 'Ask get_weather. [[sim {"tool_turns":3,"tokens":4}]]' }],
        tools: [
          {
            name: "get_weather",
            description: "The weather",
            input_schema: { type: "object", properties: { city: { type: "string" } } },
            run: async (input: unknown) => {
              toolInputs.push(input);
              return "sunny";
            },
            parse: (input: unknown) => input,
          },
        ],
      });
      const before = upstreamCalls().total;
      const last = await runner.runUntilDone();
      expect([toolInputs.length, last.stop_reason, upstreamCalls().total - before]).toEqual([3, "end_turn", 4]);
      const served = (await gateway.entries()).filter(({ outcome }) => outcome === "succeeded").slice(0, 4);
      expect(new Set(served.map(({ provider }) => provider)).size).toBe(1);
    },
  );
});

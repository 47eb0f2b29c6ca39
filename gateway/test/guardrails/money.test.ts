import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { RequestDetail } from "@sluice/contract";
import { inputTokensOf } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { createHeaderSignIn } from "../header-sign-in.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { type EchoUpstream, eventText, startEchoUpstream } from "./echo-upstream.ts";
import { createMembers, readAs, secret } from "./guardrail-fixture.ts";

const word = "bluebird";

let echo: EchoUpstream;
let gateway: StartedGateway;
let adminId: string;

beforeAll(async () => {
  echo = startEchoUpstream();
  gateway = await startGateway({
    providers: (simulator) =>
      (["openai", "anthropic"] as const).map((kind) => upstream(kind, simulator, { kind, base_url: echo.url })),
    models: ["openai", "anthropic"].map((provider) => ({
      name: provider,
      deployments: [{ provider, upstream_model: `${provider}-model` }],
      price: { input: 1, output: 10 },
    })),
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 100, period: "total" }, limits: { concurrency: 1 } }],
    guardrails: [
      { name: "code-names", check: { kind: "words", words: [word] }, action: "block", on: ["output"] },
      { name: "keys", check: { kind: "credentials" }, action: "block", on: ["input"] },
    ],
    openSignIn: ({ control }) => createHeaderSignIn(control.database, () => Date.now()),
  });
  adminId = (await createMembers(gateway, ["admin"])).admin;
});
afterAll(async () => {
  await gateway.stop();
  echo.stop();
});
beforeEach(() => {
  echo.respond = null;
  echo.pieces = null;
});

interface OpenStream {
  send(...events: object[]): void;
  /** Ends the answer in the middle. */
  end(): void;
  /** The gateway has closed the connection. */
  isClosed: boolean;
}

/** Lets the upstream begin with these events and stay open. */
function openStream(...events: readonly object[]): OpenStream {
  const opened = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const send = (list: readonly object[]) =>
    void opened.promise.then((controller) => controller.enqueue(Buffer.from(list.map(eventText).join(""))));
  const stream: OpenStream = {
    send: (...list) => send(list),
    end: () => void opened.promise.then((controller) => controller.close()),
    isClosed: false,
  };
  echo.respond = () =>
    new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => opened.resolve(controller),
        cancel() {
          stream.isClosed = true;
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  send(events);
  return stream;
}

interface Dialect {
  readonly path: string;
  readonly model: string;
  readonly body: object;
  readonly begin: readonly object[];
  readonly text: (text: string) => object;
  readonly error: object;
  /** An error as the caller gets it. */
  readonly shown: object;
}

const user = { messages: [{ role: "user", content: "Tell me a story" }] };
const usage = { input_tokens: 500, output_tokens: 1 };

const native = {
  chat: {
    ...{ path: "/v1/chat/completions", model: "openai", body: { ...user, max_tokens: 4_000 } },
    begin: [{ id: "c1", choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] }],
    text: (content) => ({ id: "c1", choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
    error: { error: { message: "Upstream broke", type: "server_error", code: "server_error", param: null } },
    shown: { error: { message: expect.any(String), type: expect.any(String) } },
  },
  messages: {
    ...{ path: "/v1/messages", model: "anthropic", body: { ...user, max_tokens: 4_000 } },
    begin: [
      {
        type: "message_start",
        message: { id: "m1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ],
    text: (text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
    error: { type: "error", error: { type: "overloaded_error", message: "Upstream broke" } },
    shown: { type: "error", error: { type: expect.any(String), message: expect.any(String) } },
  },
  responses: {
    ...{ path: "/v1/responses", model: "openai", body: { input: "Tell me a story", max_output_tokens: 4_000 } },
    begin: [
      {
        ...{ type: "response.created", sequence_number: 0 },
        response: { id: "resp_1", object: "response", created_at: 1, status: "in_progress", model: "m", output: [] },
      },
      {
        ...{ type: "response.output_item.added", sequence_number: 1, output_index: 0 },
        item: { type: "message", id: "msg_1", role: "assistant", status: "in_progress", content: [] },
      },
    ],
    text: (delta) => ({
      ...{ type: "response.output_text.delta", sequence_number: 2, item_id: "msg_1" },
      ...{ output_index: 0, content_index: 0, delta, logprobs: [] },
    }),
    error: { type: "error", sequence_number: 3, code: "server_error", message: "Upstream broke", param: null },
    shown: { type: expect.stringMatching(/^(?:error|response\.failed)$/) },
  },
} satisfies Record<string, Dialect>;

const { begin, text: pieceOf, error, model } = native.messages;
const dialects: Readonly<Record<string, Dialect>> = {
  ...native,
  "chat at anthropic": { ...native.chat, begin, text: pieceOf, error, model },
  "responses at anthropic": { ...native.responses, begin, text: pieceOf, error, model },
};

const post = ({ path, model, body }: Dialect, more: object = {}, signal?: AbortSignal) =>
  gateway.post(
    path,
    { model, ...body, ...more },
    { headers: { "anthropic-version": "2023-06-01" }, ...(signal && { signal }) },
  );

/** The ledger entry of an answer, once nothing of the call is left. */
async function booked(response: Response) {
  await until(() => gateway.gateway.outstanding() === 0);
  const requestId = response.headers.get("x-request-id");
  return await until(async () => (await gateway.entries()).find((entry) => entry.requestId === requestId));
}

async function detailOf(response: Response): Promise<RequestDetail> {
  await gateway.gateway.explainer.written();
  await gateway.entries();
  const answer = await readAs(adminId, gateway, `requests/${response.headers.get("x-request-id")}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as RequestDetail;
}

describe.each(Object.entries(dialects))("%s", (_name, dialect) => {
  test("cancels the upstream of a blocked stream and books what it produced", async () => {
    const stream = openStream(...dialect.begin, ...Array.from({ length: 40 }, () => dialect.text("once upon a time ")));
    const response = await post(dialect, { stream: true });
    stream.send(dialect.text(`the ${word} `), dialect.text("sang"));
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text).toContain("once upon a time");
    expect(text).toContain("code-names");
    expect(text).not.toContain(word);
    await until(() => stream.isClosed);
    const entry = await booked(response);
    // As for a whole answer: the upstream did its work, and the check has the verdict.
    expect(entry).toMatchObject({ outcome: "succeeded", httpStatus: 200, errorCode: null });
    expect(entry.usage.output).toBeGreaterThanOrEqual(100);
    expect(entry.usage.output).toBeLessThan(1_000);
    expect(entry.costNanoUsd).toBe(inputTokensOf(entry.usage) * 1_000 + entry.usage.output * 10_000);
    expect((await detailOf(response)).checks).toMatchObject([
      { guardrail: { name: "code-names" }, verdict: "blocked" },
    ]);
  });

  test("books a blocked answer like a successful call", async () => {
    const serve = async (text: string, status: number) => {
      echo.pieces = () => [text];
      const response = await post(dialect);
      expect(response.status).toBe(status);
      expect(await response.text()).not.toContain(word);
      const { outcome, usage, usageSource, costNanoUsd } = await booked(response);
      return { outcome, usage, usageSource, costNanoUsd };
    };
    const blocked = await serve(`A ${word}`, 400);
    expect(blocked).toEqual(await serve("A robin", 200));
    expect(blocked).toMatchObject({ outcome: "succeeded", costNanoUsd: 5 * 1_000 + 5 * 10_000 });
  });

  test("books a blocked request as refused, at no cost, with its explanation", async () => {
    const response = await post(dialect, {
      ...("input" in dialect.body
        ? { input: `Use ${secret}` }
        : { messages: [{ role: "user", content: `Use ${secret}` }] }),
      stream: true,
    });
    expect(await response.text()).toContain("keys");
    expect(response.status).toBe(400);
    const detail = await detailOf(response);
    expect(detail.attempts).toMatchObject([{ outcome: "rejected", error_code: "guardrail_blocked", cost_usd: 0 }]);
    expect(detail.checks).toMatchObject([{ guardrail: { name: "keys" }, side: "input", verdict: "blocked" }]);
    expect(detail.explanation?.refusal).toMatchObject({ code: "guardrail_blocked" });
    expect(JSON.stringify(detail)).not.toContain(secret);
    expect(await booked(response)).toMatchObject({
      outcome: "rejected",
      errorCode: "guardrail_blocked",
      costNanoUsd: 0,
    });
  });

  test("releases everything when a caller disconnects while an event waits", async () => {
    const stream = openStream(...dialect.begin, dialect.text("once upon "), dialect.text("a blue"));
    const leaving = new AbortController();
    const response = await post(dialect, { stream: true }, leaving.signal);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let seen = "";
    while (!seen.includes("once")) seen += Buffer.from((await reader.read()).value ?? []).toString();
    expect(seen).not.toContain("blue");
    leaving.abort();
    await until(() => stream.isClosed);
    expect(await booked(response)).toMatchObject({ outcome: "cancelled" });
  });

  test.each([
    ["sends an error", [dialect.error], "Upstream broke"],
    ["ends too early", [], ""],
  ])("passes on an event that waits when the upstream %s", async (_title, events, message) => {
    const stream = openStream(...dialect.begin, dialect.text("once upon "), dialect.text("a blue"));
    const response = await post(dialect, { stream: true });
    stream.send(...events);
    stream.end();
    const text = await response.text();
    expect(text).toContain("a blue");
    const [last] = text
      .trimEnd()
      .replace(/\n\ndata: \[DONE\]$/, "")
      .split("\n\n")
      .slice(-1) as [string];
    expect(last).toContain(message);
    expect(JSON.parse(last.slice(last.indexOf("data: ") + "data: ".length))).toMatchObject(dialect.shown);
    expect(await booked(response)).toMatchObject({ outcome: "failed" });
  });
});

test("frees the caller's only slot after each call", async () => {
  echo.pieces = () => ["A robin"];
  const response = await post(dialects["chat"] as Dialect);
  expect(response.status).toBe(200);
  await response.text();
  expect(await booked(response)).toMatchObject({ outcome: "succeeded" });
  expect(gateway.gateway.outstanding()).toBe(0);
});

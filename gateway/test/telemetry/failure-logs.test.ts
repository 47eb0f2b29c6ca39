import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readEnvironment } from "#config/index.ts";
import { until } from "../../../test/until.ts";
import { openSocket, type RawSocket } from "../edge/raw-socket.ts";
import { type AccountsGateway, type Behavior, chatOf, startAccounts } from "../failover/accounts.ts";
import { FakeClock } from "../fake-clock.ts";
import { aliceKey, type StartedGateway } from "../started-gateway.ts";
import { Collector } from "./collector.ts";

const collector = new Collector();
let made: AccountsGateway;

const { otlp } = readEnvironment({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_TRACES_EXPORTER: "none",
  OTEL_METRICS_EXPORTER: "none",
  OTEL_BLRP_SCHEDULE_DELAY: "1",
});

const price = { input: 1, output: 10 };

beforeAll(async () => {
  const unused: Behavior = () => new Response(null, { status: 500 });
  made = await startAccounts({
    behaviors: [unused, unused, unused],
    environment: { otlp, logLevel: "info" },
    modelsOf: () => [
      { name: "m", price, deployments: [{ provider: "a0" }] },
      {
        name: "pair",
        price,
        deployments: [
          { provider: "a1", priority: 1 },
          { provider: "a2", priority: 2 },
        ],
      },
    ],
  });
});
afterAll(async () => {
  await made[Symbol.asyncDispose]();
  await collector.stop();
});

/** How the accounts answer from now on, in order. */
function behave(...behaviors: readonly Behavior[]): void {
  for (const [index, behavior] of behaviors.entries()) {
    const account = made.accounts[index];
    if (account !== undefined) account.behavior = behavior;
  }
}

const ask = { model: "m", messages: [{ role: "user", content: "Hello" }] };

/** The log line of the answered request, once it was written. */
async function lineOf(response: Response): Promise<Record<string, unknown>> {
  await response.text().catch(() => {});
  const id = response.headers.get("x-request-id");
  const line = await until(() =>
    collector.logs.find(({ body, attributes }) => body === "request" && attributes["requestId"] === id),
  );
  return { ...line.attributes, severity: line.severity };
}

async function attemptLineOf(response: Response): Promise<Record<string, unknown>> {
  const id = response.headers.get("x-request-id");
  const line = await until(() =>
    collector.logs.find(({ body, attributes }) => body === "attempt failed" && attributes["requestId"] === id),
  );
  return line.attributes;
}

const refusal = (status: number, error: object = { message: "secret words of the prompt", type: "x" }) =>
  Response.json({ error }, { status });

const chunk = (content: string): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "u", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

const cutStream = (): Response =>
  new Response(chunk("one") + chunk("two"), { headers: { "content-type": "text/event-stream" } });

describe("an attempt's log line has the cause of its failure", () => {
  test.each([
    ["server_error", 500, {}],
    ["overloaded", 503, {}],
    ["rate_limited", 429, {}],
    ["credit", 429, { code: "insufficient_quota", message: "You exceeded your current quota." }],
    ["credentials", 401, {}],
    ["credit", 402, {}],
    ["bad_request", 400, {}],
    ["forbidden", 403, {}],
    ["not_found", 404, {}],
  ] as const)("cause %s for an upstream's %d", async (cause, status, error) => {
    behave(() => refusal(status, { message: "no", ...error }));
    const response = await made.gateway.chat(ask);
    const line = await lineOf(response);
    expect(line).toMatchObject({ cause, upstreamStatus: status, provider: "a0", workspace: "acme", keyName: "alice" });
    expect(await attemptLineOf(response)).toMatchObject({ cause, upstreamStatus: status, provider: "a0" });
    const metrics = await (await made.gateway.get("/metrics")).text();
    expect(metrics).toMatch(new RegExp(`sluice_attempts_total\\{[^}]*provider="a0"[^}]*cause="${cause}"`));
  });

  test("does not log what an upstream quotes from a refused request", async () => {
    behave(() => refusal(400));
    const response = await made.gateway.chat(ask);
    const lines = [await lineOf(response), await attemptLineOf(response)];
    expect(JSON.stringify(lines)).not.toContain("secret words");
    expect(lines.map((line) => line["message"])).toEqual([
      "The upstream refused the request (400).",
      "The upstream refused the request (400).",
    ]);
  });

  test("logs an upstream's message about an outage without the credential", async () => {
    const words = "the fan failed; your key sk-upstream-0123456789 is fine";
    behave(() => refusal(500, { message: words }));
    const line = await lineOf(await made.gateway.chat(ask));
    expect(line["message"]).toContain("the fan failed");
    expect(JSON.stringify(line)).not.toContain("0123456789");
  });
});

describe("a request's log line", () => {
  test("names the caller, the destination and the result", async () => {
    const reply = {
      ...{ id: "c", object: "chat.completion", created: 1, model: "u" },
      choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    };
    const failing: Behavior = () => refusal(503);
    behave(failing, failing, () => Response.json(reply));
    const line = await lineOf(await made.gateway.chat({ ...ask, model: "pair" }));
    const [entry] = await made.gateway.entries();
    expect(line).toMatchObject({
      ...{ method: "POST", route: "chat", status: 200, outcome: "succeeded", severity: 9, upstreamStatus: 200 },
      ...{ workspace: "acme", group: "default", keyName: "alice", keyId: entry?.keyId, model: "pair" },
      ...{ provider: "a2", deployment: entry?.deployment, attempts: 2, stream: false },
      ...{ inputTokens: 100, outputTokens: 20, costUsd: 0.0003 },
    });
    expect(line["firstByteMs"]).toBeNumber();
    expect([line["error"], line["cause"], line["path"]]).toEqual([undefined, undefined, undefined]);
  });

  test("has the path of an unknown route, cut and without possible credentials", async () => {
    behave(() => refusal(500));
    const pathOf = async (path: string): Promise<unknown> => {
      const line = await lineOf(await made.gateway.post(path, ask));
      expect(line).toMatchObject({ status: 404, error: "not_found", outcome: "refused" });
      return line["path"];
    };
    expect(await pathOf("/v1/v1/chat/completions?key=abc")).toBe("/v1/v1/chat/completions");
    expect(await pathOf("/messages")).toBe("/messages");
    expect(await pathOf(`/v1/x/sk-0123456789/${"a".repeat(60)}/b`)).toBe("/v1/x/sk-[redacted]/aaaaaaaa…/b");
  });

  test("has code and message of a refused sign-in and of a failed admin API call", async () => {
    behave(() => refusal(500));
    const signIn = await lineOf(
      await made.gateway.post("/api/auth/sign-in/email", { email: "a@example.com", password: "no" }),
    );
    expect(signIn).toMatchObject({ route: "api/auth", status: 401, error: "sign_in_refused" });
    const admin = await lineOf(await made.gateway.get("/api/workspaces"));
    expect(admin).toMatchObject({ status: 401, error: "not_signed_in" });
  });
});

describe("a request to the console or the admin API with an incomplete body", () => {
  /** A sign-in of which the gateway has received the head and one byte. */
  async function halfway(gateway: StartedGateway, path: string): Promise<RawSocket> {
    const caller = openSocket(gateway.gateway.server.port);
    caller.write(
      `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n` +
        "sec-fetch-site: same-origin\r\nexpect: 100-continue\r\ncontent-length: 60\r\n\r\n",
    );
    await caller.until("100 Continue");
    caller.write("{");
    return caller;
  }

  test.each(["api/auth/sign-in/email", "api/setup"])("has one line and is counted: %s", async (path) => {
    const route = path.split("/", 2).join("/");
    const caller = await halfway(made.gateway, `/${path}`);
    caller.reset();
    const left = () =>
      collector.logs.filter(({ attributes }) => attributes["route"] === route && attributes["status"] === 499);
    await until(() => left().length > 0);
    // A later request, so that its line follows in the log.
    await lineOf(await made.gateway.get("/api/workspaces"));
    expect(left().map(({ attributes, severity }) => ({ ...attributes, severity }))).toMatchObject([
      {
        ...{ method: "POST", outcome: "cancelled", error: "client_closed", severity: 9, address: "127.0.0.1" },
        message: "The caller went away while sending its body.",
      },
    ]);
    const metrics = await (await made.gateway.get("/metrics")).text();
    expect(metrics).toContain(`sluice_requests_total{route="${route}",status="499",outcome="cancelled"} 1\n`);
  });

  test("is a request_timeout if its body is too slow", async () => {
    const clock = new FakeClock();
    const unused: Behavior = () => new Response(null, { status: 500 });
    await using slow = await startAccounts({ behaviors: [unused], clock });
    const caller = await halfway(slow.gateway, "/api/auth/sign-in/email");
    for (let elapsed = 0; elapsed < 40; elapsed++) clock.advance(1_000);
    await caller.until("HTTP/1.1 408 ");
    caller.reset();
    const metrics = await (await slow.gateway.get("/metrics")).text();
    expect(metrics).toContain('sluice_requests_total{route="api/auth",status="408",outcome="refused"} 1\n');
    expect(metrics).not.toContain('status="499"');
  });
});

describe("a stream that its caller does not read", () => {
  test("is logged as such, and not as a caller that disconnected", async () => {
    const clock = new FakeClock();
    const endless: Behavior = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new TextEncoder().encode(chunk("x".repeat(100_000)))),
        }),
        { headers: { "content-type": "text/event-stream" } },
      );
    await using slow = await startAccounts({ behaviors: [endless], clock, environment: { otlp, logLevel: "info" } });
    const body = JSON.stringify({ ...chatOf(), stream: true });
    const caller = openSocket(slow.gateway.gateway.server.port);
    caller.pause();
    caller.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${aliceKey}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const metricsOf = async (): Promise<string> => (await slow.gateway.get("/metrics")).text();
    await until(async () => /sluice_streams_open [1-9]/.test(await metricsOf()));
    const cut = 'sluice_connections_closed_total{cause="slow_reader"} 1';
    await until(async () => {
      clock.advance(1_000);
      return (await metricsOf()).includes(cut);
    });
    const line = await until(() => {
      clock.advance(1_000);
      return collector.logs.find(
        ({ body: name, attributes }) =>
          name === "request" &&
          attributes["stream"] === true &&
          attributes["status"] === 200 &&
          attributes["error"] === "client_closed",
      );
    });
    expect(line.attributes).toMatchObject({ outcome: "cancelled", message: "The caller stopped reading." });
    caller.reset();
  });
});

describe("a stream that broke after its start", () => {
  test("is a failure in log and metrics, though its status was 200", async () => {
    behave(cutStream);
    const line = await lineOf(await made.gateway.chat({ ...ask, stream: true }));
    const failed = { outcome: "failed", error: "upstream_truncated", cause: "cut" };
    expect(line).toMatchObject({ status: 200, severity: 13, stream: true, upstreamStatus: 200, ...failed });
    expect(line["message"]).toBe("The upstream's stream ended before it was complete.");
    const metrics = await (await made.gateway.get("/metrics")).text();
    expect(metrics).toContain('sluice_requests_total{route="chat",status="200",outcome="failed"} 1');
    expect(metrics).toMatch(/sluice_attempts_total\{[^}]*outcome="failed",error="upstream_truncated",cause="cut"\} 1/);
  });

  test("does not close the breaker of its deployment", async () => {
    behave(cutStream);
    for (let call = 0; call < 6; call++) await (await made.gateway.chat({ ...ask, stream: true })).text();
    const metrics = await (await made.gateway.get("/metrics")).text();
    expect(metrics).toMatch(/sluice_breaker_state\{[^}]*provider="a0"[^}]*\} [12]\n/);
  });
});

describe("a whole answer that its caller does not read to its end", () => {
  const text = "x".repeat(20_000_000);
  const large: Behavior = () =>
    Response.json({
      ...{ id: "c", object: "chat.completion", created: 1, model: "u" },
      choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
      usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    });
  const cancelled = 'sluice_requests_total{route="chat",status="200",outcome="cancelled"} 1';
  const metricsOf = async (gateway: StartedGateway): Promise<string> => (await gateway.get("/metrics")).text();

  /** A caller that reads nothing, once the gateway buffers its answer. */
  async function silentCaller(gateway: StartedGateway): Promise<RawSocket> {
    const body = JSON.stringify(chatOf());
    const caller = openSocket(gateway.gateway.server.port);
    caller.pause();
    caller.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${aliceKey}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await until(async () => /sluice_caller_memory_bytes\{kind="unread"\} [1-9]/.test(await metricsOf(gateway)));
    return caller;
  }

  test("is no success in log and metrics if its caller disconnected", async () => {
    behave(large);
    const caller = await silentCaller(made.gateway);
    expect(await metricsOf(made.gateway)).not.toContain(cancelled);
    caller.reset();
    const line = await until(() =>
      collector.logs.find(
        ({ attributes }) => attributes["stream"] === false && attributes["error"] === "client_closed",
      ),
    );
    const message = "The caller went away before its answer was sent.";
    expect(line.attributes).toMatchObject({ route: "chat", status: 200, outcome: "cancelled", message });
    expect(await metricsOf(made.gateway)).toContain(cancelled);
  });

  test("is no success if it is read below the minimum rate", async () => {
    const clock = new FakeClock();
    await using slow = await startAccounts({ behaviors: [large], clock });
    const caller = await silentCaller(slow.gateway);
    for (let elapsed = 0; elapsed < 130; elapsed++) clock.advance(1_000);
    const metrics = await metricsOf(slow.gateway);
    expect(metrics).toContain(cancelled);
    expect(metrics).toContain('sluice_connections_closed_total{cause="slow_reader"} 1');
    caller.reset();
  });
});

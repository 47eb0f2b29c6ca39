import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import type { PriceConfig } from "@sluice/contract";
import type { Script } from "@sluice/simulator";
import { bounds } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { MovedClock } from "../moved-clock.ts";
import {
  aliceKey,
  type ChatOptions,
  errorOf,
  type Overrides,
  type StartedGateway,
  scriptHeader,
  startGateway,
  upstream,
} from "../started-gateway.ts";

/** The tests that all endpoints share which forward bodies unchanged. */
export interface ForwardedEndpoint {
  readonly path: string;
  readonly endpoint: string;
  /** The type of the model "forwarded-test", whose upstream model is "upstream-forwarded". */
  readonly type: NonNullable<NonNullable<Overrides["models"]>[number]["type"]>;
  readonly price: PriceConfig;
  /** A valid body, without the model. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The body is sent as a form. Files are Blobs. */
  readonly form?: boolean;
  /** Invalid bodies, each with the field that the error names. */
  readonly invalidBodies: readonly (readonly [what: string, body: Readonly<Record<string, unknown>>, param: string])[];
  /** The usage of one valid call. It is also the most that is reserved for it. */
  readonly usage: Readonly<Record<string, number>>;
  /** The usage of a call whose answer is lost. */
  readonly usageWhenLost: Readonly<Record<string, number>>;
  /** A script of an upstream that answers with something invalid. */
  readonly invalidAnswer?: Script;
}

const model = "forwarded-test";

function startWith({ type, price }: ForwardedEndpoint, more: Overrides = {}): Promise<StartedGateway> {
  const deployments = [{ provider: "main", upstream_model: "upstream-forwarded" }];
  return startGateway({ models: [{ name: model, type, price, deployments }], ...more });
}

/** Sends one call with Alice's key. */
function send(gateway: StartedGateway, { path, body, form }: ForwardedEndpoint, options: SendOptions = {}) {
  const whole = { model, ...body, ...options.more };
  if (form !== true) return gateway.post(path, whole, options);
  const data = new FormData();
  for (const [name, value] of Object.entries(whole)) {
    if (isFile(value)) data.append(name, value, "a.wav");
    else if (value !== undefined) data.append(name, String(value));
  }
  return fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: {
      ...(options.key === null ? {} : { authorization: `Bearer ${options.key ?? aliceKey}` }),
      ...(options.script === undefined ? {} : { [scriptHeader]: JSON.stringify(options.script) }),
      ...options.headers,
    },
    body: data,
    signal: options.signal ?? null,
  });
}

function isFile(value: unknown): value is Blob {
  return typeof value === "object" && value instanceof Blob;
}

interface SendOptions extends ChatOptions {
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Starts one gateway for all tests of a file. */
function sharedGateway(endpoint: ForwardedEndpoint, more: Overrides = {}): () => StartedGateway {
  let gateway: StartedGateway;
  beforeAll(async () => {
    gateway = await startWith(endpoint, more);
  });
  afterAll(() => gateway.stop());
  return () => gateway;
}

export function badRequests(endpoint: ForwardedEndpoint): void {
  const gateway = sharedGateway(endpoint);
  test.each(endpoint.invalidBodies.map(([what, body, param]) => [what, body, param] as const))(
    "returns 400 for %s and names the field",
    async (_, body, param) => {
      const served = gateway().simulator.simulator.truth.list().total;
      const error = await errorOf(await send(gateway(), { ...endpoint, body: { model, ...body } }));
      expect(error).toMatchObject({ status: 400, param });
      expect(error.message).toContain(param);
      expect(gateway().simulator.simulator.truth.list().total).toBe(served);
    },
  );
  if (endpoint.form === true) return;
  test("returns 400 for a body that is not a JSON object", async () => {
    for (const body of ["[]", "{", '"x"', `{"model":"${model}"`, ""]) {
      expect(await errorOf(await gateway().post(endpoint.path, body))).toMatchObject({
        status: 400,
        code: "invalid_json",
      });
    }
  });
  test("rejects another spelling of a field that the gateway reads", async () => {
    const answer = await send(gateway(), endpoint, { more: { Model: "other" } });
    expect(await errorOf(answer)).toMatchObject({ status: 400, code: "invalid_request" });
  });
}

export function credentials(endpoint: ForwardedEndpoint): void {
  const gateway = sharedGateway(endpoint);
  test("returns 401 without a key and with an unknown key", async () => {
    for (const key of [null, "sk-unknown-0123456789abcdefghij"]) {
      expect(await errorOf(await send(gateway(), endpoint, { key }))).toMatchObject({
        status: 401,
        code: "invalid_api_key",
      });
    }
  });
}

export function budgets(endpoint: ForwardedEndpoint): void {
  test("returns 402 without calling the upstream when the budget is below the highest cost", async () => {
    const gateway = await startWith(endpoint, {
      keys: [{ name: "alice", secret: aliceKey, budget: { usd: 0.000_000_001, period: "month" } }],
    });
    try {
      const refused = await send(gateway, endpoint);
      expect(await errorOf(refused)).toMatchObject({ status: 402, code: "budget_exceeded" });
      expect(gateway.simulator.simulator.truth.list().total).toBe(0);
      expect((await gateway.entries())[0]).toMatchObject({
        endpoint: endpoint.endpoint,
        outcome: "rejected",
        httpStatus: 402,
      });
    } finally {
      await gateway.stop();
    }
  });
  test("reserves at least what it charges", async () => {
    const gateway = await startWith(endpoint, { workspace: { budget: { usd: 100, period: "month" } } });
    try {
      expect((await send(gateway, endpoint)).status).toBe(200);
      const [entry] = await gateway.entries();
      expect(entry?.costNanoUsd).toBeGreaterThan(0);
      expect(entry?.reservedNanoUsd).toBeGreaterThanOrEqual(entry?.costNanoUsd ?? 0);
    } finally {
      await gateway.stop();
    }
  });
}

export function missingModels(endpoint: ForwardedEndpoint): void {
  const bobKey = "sk-bob-0123456789abcdefghijk";
  const gateway = sharedGateway(endpoint, {
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "bob", secret: bobKey, models: ["other-*"] },
    ],
  });
  test("answers the same for a missing model and for one that the key may not use", async () => {
    const missing = await errorOf(await send(gateway(), endpoint, { more: { model: "no-such" } }));
    const forbidden = await errorOf(await send(gateway(), endpoint, { key: bobKey }));
    expect(missing).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
    expect(forbidden.message.replace(model, "no-such")).toBe(missing.message);
    expect(gateway().simulator.simulator.truth.list().total).toBe(0);
  });
}

export function otherMethods(endpoint: ForwardedEndpoint): void {
  const gateway = sharedGateway(endpoint);
  test("returns 405 with the allowed method", async () => {
    const answer = await gateway().get(endpoint.path);
    expect(answer.headers.get("allow")).toBe("POST");
    expect(await errorOf(answer)).toMatchObject({ status: 405, code: "method_not_allowed" });
  });
}

export function tooLargeBodies(endpoint: ForwardedEndpoint): void {
  const gateway = sharedGateway(endpoint);
  test("rejects a body by its declared length, before it arrives", async () => {
    const type = endpoint.form === true ? "multipart/form-data; boundary=b" : "application/json";
    const head = [
      `POST ${endpoint.path} HTTP/1.1`,
      "host: localhost",
      `authorization: Bearer ${aliceKey}`,
      `content-type: ${type}`,
      `content-length: ${bounds.requestBodyBytesMax + 1}`,
      "\r\n",
    ].join("\r\n");
    expect(await firstBytes(gateway().gateway.server.port, head)).toStartWith("HTTP/1.1 413");
  });
}

function firstBytes(port: number, head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(head));
    let received = "";
    socket.on("data", (data) => {
      received += data.toString("latin1");
      if (!received.includes("\r\n\r\n")) return;
      socket.destroy();
      resolve(received);
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(received));
  });
}

export function otherMediaTypes(endpoint: ForwardedEndpoint): void {
  const gateway = sharedGateway(endpoint);
  test("returns 415 for another media type", async () => {
    for (const type of [
      "text/plain",
      endpoint.form === true ? "application/json" : "multipart/form-data; boundary=b",
    ]) {
      const answer = await gateway().post(endpoint.path, "{}", { headers: { "content-type": type } });
      const error = await errorOf(answer);
      expect(error).toMatchObject({ status: 415, code: "unsupported_media_type" });
      const accepted = ["multipart/form-data", "application/json"].map((one) => error.message.includes(one));
      expect(accepted).toEqual([endpoint.form === true, endpoint.form !== true]);
    }
  });
}

export function rateLimits(endpoint: ForwardedEndpoint): void {
  test("admits exactly N of many concurrent calls when the limit is N calls per minute", async () => {
    const gateway = await startWith(endpoint, { keys: [{ name: "alice", secret: aliceKey, limits: { rpm: 3 } }] });
    try {
      const answers = await Promise.all(Array.from({ length: 9 }, () => send(gateway, endpoint)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
      const refused = answers.find(({ status }) => status === 429);
      expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await errorOf(refused ?? Response.error())).toMatchObject({ code: "rate_limit_exceeded" });
    } finally {
      await gateway.stop();
    }
  });
}

export function clientDisconnects(endpoint: ForwardedEndpoint): void {
  const gateway = sharedGateway(endpoint);
  test("stops the upstream, frees the reservation and records the usage when the caller disconnects", async () => {
    const disconnect = new AbortController();
    const { truth } = gateway().simulator.simulator;
    const call = send(gateway(), endpoint, { script: { latency_ms: 600_000 }, signal: disconnect.signal }).catch(
      () => "gone",
    );
    await until(() => truth.list().in_flight === 1);
    disconnect.abort();
    expect(await call).toBe("gone");
    await until(() => truth.list().in_flight === 0 && gateway().gateway.outstanding() === 0);
    await until(async () => (await gateway().entries()).length === 1);
    const [entry] = await gateway().entries();
    expect(entry).toMatchObject({
      outcome: "cancelled",
      httpStatus: 499,
      usage: endpoint.usageWhenLost,
      usageSource: "estimated",
    });
  });
}

export function badUpstreams(endpoint: ForwardedEndpoint): void {
  const gateway = sharedGateway(endpoint);
  test.each([
    ["an error status", { status: 500 }, "none"],
    ["a rejected credential", { status: 401 }, "none"],
    ["a connection that closes without an answer", { drop: true }, "estimated"],
    ...(endpoint.invalidAnswer === undefined
      ? []
      : [["an invalid answer", endpoint.invalidAnswer, "estimated"] as const]),
  ] as const)("returns 502 after %s from the only deployment", async (_, script, usageSource) => {
    const answer = await send(gateway(), endpoint, { script });
    expect(answer.status).toBe(502);
    const [entry] = await gateway().entries();
    expect(entry).toMatchObject({ outcome: "failed", usageSource, endpoint: endpoint.endpoint });
    if (usageSource === "estimated") expect(entry?.usage).toMatchObject(endpoint.usageWhenLost);
  });
  test("sends the whole body to the next deployment after the first one failed", async () => {
    const two = await startWith(endpoint, {
      providers: (simulator) => [
        upstream("dead", simulator, { base_url: "http://127.0.0.1:9/v1" }),
        upstream("main", simulator),
      ],
      models: [
        {
          name: model,
          type: endpoint.type,
          price: endpoint.price,
          deployments: [
            { provider: "dead", upstream_model: "upstream-forwarded", priority: 1 },
            { provider: "main", upstream_model: "upstream-forwarded", priority: 2 },
          ],
        },
      ],
    });
    try {
      const answer = await send(two, endpoint);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("x-sluice-attempts")).toBe("2");
      const entries = await two.entries();
      expect(entries.map(({ outcome }) => outcome).sort()).toEqual(["failed", "succeeded"]);
      expect(entries.find(({ outcome }) => outcome === "succeeded")?.usage).toMatchObject(endpoint.usage);
    } finally {
      await two.stop();
    }
  });
  test("returns an upstream's error unchanged", async () => {
    const errorBody = '{"error":{"message":"no such thing","type":"invalid_request_error","param":"x","code":"odd"}}';
    const answer = await send(gateway(), endpoint, { script: { status: 422, body: errorBody } });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toBe(errorBody);
    expect((await gateway().entries())[0]).toMatchObject({ costNanoUsd: 0, upstreamStatus: 422 });
  });
}

export function unavailable(endpoint: ForwardedEndpoint): void {
  test("returns 503 when all deployments of the model are disabled", async () => {
    const gateway = await startWith(endpoint, {
      providers: (simulator) => [upstream("main", simulator, { enabled: false })],
    });
    try {
      expect(await errorOf(await send(gateway, endpoint))).toMatchObject({
        status: 503,
        code: "no_deployment_available",
      });
    } finally {
      await gateway.stop();
    }
  });
  test("returns 400 when no upstream of the model has the endpoint", async () => {
    const gateway = await startWith(endpoint, {
      providers: (simulator) => [upstream("main", simulator, { settings: { endpoints: ["images"] } })],
    });
    try {
      expect(await errorOf(await send(gateway, endpoint))).toMatchObject({ status: 400, code: "unsupported_by_model" });
      const shown = (await (await gateway.get(`/v1/models/${model}`)).json()) as { endpoints: string[] };
      expect(shown.endpoints).not.toContain(endpoint.path);
    } finally {
      await gateway.stop();
    }
  });
}

export function timeouts(endpoint: ForwardedEndpoint): void {
  test("names the timeout when no answer begins, and records the usage", async () => {
    const clock = new MovedClock();
    const headersMs = 200_000;
    const gateway = await startWith(endpoint, {
      clock,
      providers: (simulator) => [upstream("main", simulator, { timeouts: { headers_ms: headersMs } })],
    });
    try {
      const { truth } = gateway.simulator.simulator;
      const call = send(gateway, endpoint, { script: { latency_ms: 600_000 } });
      await until(() => truth.list().in_flight === 1);
      clock.move(headersMs);
      const error = await errorOf(await call);
      expect(error).toMatchObject({ status: 504, code: "upstream_timeout" });
      expect(error.message).toContain("headers");
      expect((await gateway.entries())[0]).toMatchObject({
        outcome: "failed",
        usage: endpoint.usageWhenLost,
        usageSource: "estimated",
      });
    } finally {
      await gateway.stop();
    }
  });
}

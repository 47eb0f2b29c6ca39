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

/** An endpoint whose calls are passed as they are, for the tests that all of them have alike. */
export interface PassedEndpoint {
  readonly path: string;
  readonly endpoint: string;
  /** Of the model "passed-test" and its upstream "upstream-passed". */
  readonly type: NonNullable<NonNullable<Overrides["models"]>[number]["type"]>;
  readonly price: PriceConfig;
  /** A good body, but for the model. */
  readonly body: Readonly<Record<string, unknown>>;
  /** It is sent as a form; a file is a Blob. */
  readonly form?: boolean;
  /** Bad bodies, and which field is named. */
  readonly broken: readonly (readonly [what: string, body: Readonly<Record<string, unknown>>, param: string])[];
  /** What one good call is booked with, and at most held with. */
  readonly usage: Readonly<Record<string, number>>;
  /** What a call is booked with whose answer is lost. */
  readonly lost: Readonly<Record<string, number>>;
  /** What an upstream says instead of an answer. */
  readonly noAnswer?: Script;
}

const model = "passed-test";

function gatewayOf({ type, price }: PassedEndpoint, more: Overrides = {}): Promise<StartedGateway> {
  const deployments = [{ provider: "main", upstream_model: "upstream-passed" }];
  return startGateway({ models: [{ name: model, type, price, deployments }], ...more });
}

/** One call with Alice's key. */
function send(gateway: StartedGateway, { path, body, form }: PassedEndpoint, options: SendOptions = {}) {
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

/** One gateway for all tests of a file. */
function shared(endpoint: PassedEndpoint, more: Overrides = {}): () => StartedGateway {
  let gateway: StartedGateway;
  beforeAll(async () => {
    gateway = await gatewayOf(endpoint, more);
  });
  afterAll(() => gateway.stop());
  return () => gateway;
}

export function badRequests(endpoint: PassedEndpoint): void {
  const gateway = shared(endpoint);
  test.each(endpoint.broken.map(([what, body, param]) => [what, body, param] as const))(
    "%s is named",
    async (_, body, param) => {
      const served = gateway().simulator.simulator.truth.list().total;
      const error = await errorOf(await send(gateway(), { ...endpoint, body: { model, ...body } }));
      expect(error).toMatchObject({ status: 400, param });
      expect(error.message).toContain(param);
      expect(gateway().simulator.simulator.truth.list().total).toBe(served);
    },
  );
  if (endpoint.form === true) return;
  test("what is no JSON object is a 400", async () => {
    for (const body of ["[]", "{", '"x"', `{"model":"${model}"`, ""]) {
      expect(await errorOf(await gateway().post(endpoint.path, body))).toMatchObject({
        status: 400,
        code: "invalid_json",
      });
    }
  });
  test("a field that governs is not taken in another spelling", async () => {
    const answer = await send(gateway(), endpoint, { more: { Model: "other" } });
    expect(await errorOf(answer)).toMatchObject({ status: 400, code: "invalid_request" });
  });
}

export function credentials(endpoint: PassedEndpoint): void {
  const gateway = shared(endpoint);
  test("a caller without a key, or with a wrong one, is not let in", async () => {
    for (const key of [null, "sk-nobody-0123456789abcdefghij"]) {
      expect(await errorOf(await send(gateway(), endpoint, { key }))).toMatchObject({
        status: 401,
        code: "invalid_api_key",
      });
    }
  });
}

export function budgets(endpoint: PassedEndpoint): void {
  test("what a call may cost at most is held: a budget below it refuses, with nothing sent", async () => {
    const gateway = await gatewayOf(endpoint, {
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
  test("what is held is never less than what is booked", async () => {
    const gateway = await gatewayOf(endpoint, { workspace: { budget: { usd: 100, period: "month" } } });
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

export function missingModels(endpoint: PassedEndpoint): void {
  const bobKey = "sk-bob-0123456789abcdefghijk";
  const gateway = shared(endpoint, {
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "bob", secret: bobKey, models: ["other-*"] },
    ],
  });
  test("a model that does not exist and one that is not granted look alike", async () => {
    const missing = await errorOf(await send(gateway(), endpoint, { more: { model: "no-such" } }));
    const forbidden = await errorOf(await send(gateway(), endpoint, { key: bobKey }));
    expect(missing).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
    expect(forbidden.message.replace(model, "no-such")).toBe(missing.message);
    expect(gateway().simulator.simulator.truth.list().total).toBe(0);
  });
}

export function otherMethods(endpoint: PassedEndpoint): void {
  const gateway = shared(endpoint);
  test("another method is refused and told which is possible", async () => {
    const answer = await gateway().get(endpoint.path);
    expect(answer.headers.get("allow")).toBe("POST");
    expect(await errorOf(answer)).toMatchObject({ status: 405, code: "method_not_allowed" });
  });
}

export function tooLarge(endpoint: PassedEndpoint): void {
  const gateway = shared(endpoint);
  test("a body that declares too much is refused before it is sent", async () => {
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
    let seen = "";
    socket.on("data", (data) => {
      seen += data.toString("latin1");
      if (!seen.includes("\r\n\r\n")) return;
      socket.destroy();
      resolve(seen);
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(seen));
  });
}

export function otherMediaTypes(endpoint: PassedEndpoint): void {
  const gateway = shared(endpoint);
  test("a body of another type is a 415", async () => {
    for (const type of [
      "text/plain",
      endpoint.form === true ? "application/json" : "multipart/form-data; boundary=b",
    ]) {
      const answer = await gateway().post(endpoint.path, "{}", { headers: { "content-type": type } });
      const error = await errorOf(answer);
      expect(error).toMatchObject({ status: 415, code: "unsupported_media_type" });
      const told = ["multipart/form-data", "application/json"].map((one) => error.message.includes(one));
      expect(told).toEqual([endpoint.form === true, endpoint.form !== true]);
    }
  });
}

export function rates(endpoint: PassedEndpoint): void {
  test("with a limit of N calls a minute, N of any number at once are admitted", async () => {
    const gateway = await gatewayOf(endpoint, { keys: [{ name: "alice", secret: aliceKey, limits: { rpm: 3 } }] });
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

export function leavers(endpoint: PassedEndpoint): void {
  const gateway = shared(endpoint);
  test("a caller that goes away stops the upstream and leaves nothing reserved; what may be charged is booked", async () => {
    const leaving = new AbortController();
    const { truth } = gateway().simulator.simulator;
    const call = send(gateway(), endpoint, { script: { latency_ms: 600_000 }, signal: leaving.signal }).catch(
      () => "gone",
    );
    await until(() => truth.list().in_flight === 1);
    leaving.abort();
    expect(await call).toBe("gone");
    await until(() => truth.list().in_flight === 0 && gateway().gateway.outstanding() === 0);
    await until(async () => (await gateway().entries()).length === 1);
    const [entry] = await gateway().entries();
    expect(entry).toMatchObject({
      outcome: "cancelled",
      httpStatus: 499,
      usage: endpoint.lost,
      usageSource: "estimated",
    });
  });
}

export function badUpstreams(endpoint: PassedEndpoint): void {
  const gateway = shared(endpoint);
  test.each([
    ["an error status", { status: 500 }, "none"],
    ["a refused credential", { status: 401 }, "none"],
    ["a connection that closes without an answer", { drop: true }, "estimated"],
    ...(endpoint.noAnswer === undefined ? [] : [["no answer of its kind", endpoint.noAnswer, "estimated"] as const]),
  ] as const)("%s of the only deployment becomes a 502", async (_, script, usageSource) => {
    const answer = await send(gateway(), endpoint, { script });
    expect(answer.status).toBe(502);
    const [entry] = await gateway().entries();
    expect(entry).toMatchObject({ outcome: "failed", usageSource, endpoint: endpoint.endpoint });
    if (usageSource === "estimated") expect(entry?.usage).toMatchObject(endpoint.lost);
  });
  test("what one deployment refuses is sent whole to the next", async () => {
    const two = await gatewayOf(endpoint, {
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
            { provider: "dead", upstream_model: "upstream-passed", priority: 1 },
            { provider: "main", upstream_model: "upstream-passed", priority: 2 },
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
  test("an upstream's own refusal goes back as it is", async () => {
    const said = '{"error":{"message":"no such thing","type":"invalid_request_error","param":"x","code":"odd"}}';
    const answer = await send(gateway(), endpoint, { script: { status: 422, body: said } });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toBe(said);
    expect((await gateway().entries())[0]).toMatchObject({ costNanoUsd: 0, upstreamStatus: 422 });
  });
}

export function unavailable(endpoint: PassedEndpoint): void {
  test("a model whose deployments are all switched off cannot take the call", async () => {
    const gateway = await gatewayOf(endpoint, {
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
  test("a model whose upstreams have no such endpoint cannot be called so", async () => {
    const gateway = await gatewayOf(endpoint, {
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

export function timeouts(endpoint: PassedEndpoint): void {
  test("silence before the answer says which clock it was, and what may be charged is booked", async () => {
    const clock = new MovedClock();
    const headersMs = 200_000;
    const gateway = await gatewayOf(endpoint, {
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
        usage: endpoint.lost,
        usageSource: "estimated",
      });
    } finally {
      await gateway.stop();
    }
  });
}

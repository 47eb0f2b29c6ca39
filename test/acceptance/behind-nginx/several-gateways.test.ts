import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { openSocket } from "../../../gateway/test/edge/raw-socket.ts";
import { postgresServer } from "../../../gateway/test/postgres-server.ts";
import { noRedis } from "../../redis-server.ts";
import { until } from "../../until.ts";
import { chat } from "../chat-call.ts";
import { type Replicas, startReplicas } from "../replicas.ts";
import { keys, model, testConfig } from "../test-config.ts";
import { keepsConnections, NginxProcess, noNginx } from "./nginx-process.ts";

/** The topology of deploy/compose.yaml, as processes on this machine. */
const postgres = await postgresServer();
const why = noNginx ?? noRedis ?? postgres.why;
if (why !== null) console.warn(`skipped: several gateways behind nginx: ${why}`);

describe.skipIf(why !== null)("three gateways on one PostgreSQL and one Redis behind deploy/nginx.conf", () => {
  let replicas: Replicas;
  let nginx: NginxProcess;

  beforeAll(async () => {
    replicas = await startReplicas({
      postgresUrl: postgres.url ?? "",
      count: 3,
      config: (simulatorUrl) =>
        testConfig(simulatorUrl, {
          providers: [
            {
              id: "sim",
              kind: "openai-compatible",
              base_url: simulatorUrl,
              api_key: "sk-upstream-of-the-tests-0042",
              allow_private_network: true,
              settings: { endpoints: ["chat", "responses"] },
            },
          ],
          models: [
            model("gpt-test", [{ provider: "sim", upstream_model: "up-test" }]),
            model("gpt-responses", [{ provider: "sim", upstream_model: "up-responses" }]),
          ],
        }),
      env: { SLUICE_TRUSTED_PROXIES: "loopback", SLUICE_DRAIN_GRACE_MS: "1000" },
    });
    nginx = await NginxProcess.start(replicas.gateways.map(({ port }) => port));
  });
  afterAll(async () => {
    await nginx?.stop();
    await replicas?.close();
  });

  /** Makes one call on a new connection. Returns "ok" if it was answered completely, or else what went wrong. */
  async function call(stream: boolean, latency_ms = 0): Promise<string> {
    try {
      const answer = await chat(nginx.url, { stream, script: { tokens: 3, latency_ms }, ownConnection: true });
      const text = await answer.text();
      if (answer.status !== 200) return `${answer.status} ${text.slice(0, 200)}`;
      return !stream || text.endsWith("data: [DONE]\n\n") ? "ok" : `incomplete stream: ${text.slice(-200)}`;
    } catch (thrown) {
      return String(thrown);
    }
  }

  test("calls reach all gateways, and each gateway reports the usage of all", async () => {
    await replicas.simulator.clear();
    const answers = await Promise.all(Array.from({ length: 24 }, (_, at) => call(at % 2 === 0)));
    expect(new Set(answers)).toEqual(new Set(["ok"]));
    expect((await replicas.simulator.settled()).length).toBe(24);
    for (const gateway of replicas.gateways) {
      await until(async () => {
        const answer = await fetch(`${gateway.url}/v1/usage`, { headers: { authorization: `Bearer ${keys.main}` } });
        const { data } = (await answer.json()) as { readonly data: readonly { readonly requests: number }[] };
        return data.reduce((sum, row) => sum + row.requests, 0) === 24;
      });
    }
  });

  test("a stream is not buffered: its first events arrive while the upstream is still sending", async () => {
    await replicas.simulator.clear();
    const answer = await chat(nginx.url, { stream: true, script: { tokens: 20, event_ms: 150 } });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).done).toBe(false);
    expect((await replicas.simulator.truth()).in_flight).toBe(1);
    for (let part = await reader.read(); !part.done; part = await reader.read());
  });

  test("forwards a body of many megabytes, returns an early refusal of one, and does not expose metrics", async () => {
    const prompt = "x".repeat(8 * 1024 * 1024);
    expect((await chat(nginx.url, { prompt })).status).toBe(200);
    expect((await chat(nginx.url, { prompt, key: "sk-unknown" })).status).toBe(401);
    for (const path of ["/metrics", "/%6detrics", "/readyz"]) expect((await fetch(nginx.url + path)).status).toBe(404);
    expect((await fetch(`${nginx.url}/healthz`)).status).toBe(200);
  });

  test("serves the console", async () => {
    const page = await fetch(`${nginx.url}/console/`);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  });

  test("a response over a WebSocket completes", async () => {
    const client = new OpenAI({ apiKey: keys.main, baseURL: `${nginx.url}/v1`, maxRetries: 0 });
    const socket = new ResponsesWS(client);
    try {
      const types: string[] = [];
      socket.on("event", (event) => types.push(event.type));
      await until(() => socket.socket.readyState === 1);
      socket.send({ type: "response.create", model: "gpt-responses", store: false, input: "hello" });
      await until(() => types.includes("response.completed"));
    } finally {
      socket.close();
    }
  });

  test("the gateways trust only nginx for the caller's address", async () => {
    const answer = await fetch(`${nginx.url}/v1/models`, {
      headers: { authorization: `Bearer ${keys.main}`, "x-forwarded-for": "203.0.113.9", forwarded: "for=203.0.113.9" },
    });
    const id = answer.headers.get("x-request-id") ?? "no id";
    const line = await until(() =>
      replicas.gateways.flatMap((gateway) => gateway.output().split("\n")).find((line) => line.includes(id)),
    );
    expect(JSON.parse(line)).toMatchObject({ address: "127.0.0.1", route: "models" });
  });

  test("a rolling restart of all gateways fails no call", async () => {
    const results = new Map<string, number>();
    let hasEnded = false;
    const callers = Array.from({ length: 4 }, async (_, caller) => {
      while (!hasEnded) {
        // Always busy, but without taking the processor from the gateways that start.
        const result = await call(caller % 2 === 0, 40);
        results.set(result, (results.get(result) ?? 0) + 1);
      }
    });
    for (const [at, gateway] of replicas.gateways.entries()) {
      // A stream that is running when the gateway stops is completed.
      const stream = await chat(gateway.url, { stream: true, script: { tokens: 60, event_ms: 15 } });
      const text = stream.text();
      await nginx.takeOut(at + 1);
      expect(await gateway.stop()).toBe(0);
      expect(await text).toEndWith("data: [DONE]\n\n");
      await gateway.restart();
    }
    await nginx.takeOut(null);
    hasEnded = true;
    await Promise.all(callers);
    expect([...results.keys()]).toEqual(["ok"]);
  });

  test.skipIf(!keepsConnections)("a keep-alive connection stays open across a reload", async () => {
    const connection = openSocket(nginx.port);
    const head = "GET /v1/models HTTP/1.1\r\nhost: a\r\n";
    const request = `${head}authorization: Bearer ${keys.main}\r\n\r\n`;
    connection.write(request);
    const first = await connection.until('"object":"list"');
    await nginx.takeOut(1);
    connection.write(request);
    expect((await connection.untilAfter(first.length, "HTTP/1.1")).slice(first.length)).toContain("HTTP/1.1 200 ");
    connection.end();
    await nginx.takeOut(null);
  });

  test("killing a gateway fails only the calls that it was serving", async () => {
    await replicas.gateways[1]?.kill9();
    // nginx notices its broken keep-alive connections only when it uses them next.
    await until(async () => (await call(false)) === "ok");
    const answers = await Promise.all(Array.from({ length: 24 }, () => call(true)));
    expect(new Set(answers)).toEqual(new Set(["ok"]));
    await replicas.gateways[1]?.restart();
    expect(await call(true)).toBe("ok");
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { ResponseReader } from "#http1/index.ts";
import { until } from "../../../test/until.ts";
import { openSocket as openRawSocket, type RawSocket } from "../edge/raw-socket.ts";
import { aliceKey, hello, type StartedGateway, startGateway } from "../started-gateway.ts";

const auth = `authorization: Bearer ${aliceKey}\r\n`;
const boundKey = "sk-bound-0123456789abcdefghij";

function post(path: string, body: string, headers = ""): string {
  const length = headers.includes("transfer-encoding") ? "" : `content-length: ${Buffer.byteLength(body)}\r\n`;
  return `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${auth}${length}${headers}\r\n${body}`;
}
const get = (path: string, headers = auth): string => `GET ${path} HTTP/1.1\r\nhost: a\r\n${headers}\r\n`;
const unknown = (name: string): string => JSON.stringify({ ...hello, model: name });
const statuses = (text: string): number[] => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]));

/** Parses with exact byte counts: extra bytes between two answers would belong to the next one. */
function answersIn(text: string): number[] {
  const found: number[] = [];
  const sink = {
    onHead: ({ status }: { status: number }) => void found.push(status),
    onBody: () => {},
    onEnd: () => {},
  };
  const reader = new ResponseReader({ headBytesMax: 16_384, fieldsMax: 100 }, sink);
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; ) {
    reader.begin("GET");
    at += reader.push(bytes.subarray(at));
  }
  return found;
}

/** Abstract sockets of this process (unix(7)), which everyone on the machine can see. */
function innerSockets(): string[] {
  if (process.platform !== "linux") return [];
  const own = new Set(
    readdirSync("/proc/self/fd").map((descriptor) => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`);
      } catch {
        return "";
      }
    }),
  );
  const listed = readFileSync("/proc/self/net/unix", "latin1").matchAll(
    / 00010000 \d+ \d+ +(\d+) @(sluice-[\da-f]{24})$/gm,
  );
  return [...listed].flatMap(([, inode, name]) => (own.has(`socket:[${inode}]`) ? [name ?? ""] : []));
}

async function askInner(name: string, request: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  await Bun.connect({
    unix: `\0${name}`,
    socket: {
      open: (socket) => void socket.write(request),
      data(_socket, bytes) {
        text += bytes.toString("latin1");
      },
      close: () => resolve(text),
    },
  });
  return await promise;
}

const fixtures = join(import.meta.dir, "..", "fixtures", "tls");
const tls = {
  certificate: join(fixtures, "gateway.example.cert.pem"),
  key: join(fixtures, "gateway.example.key.pem"),
};

/** Checks at the level of bytes on the wire. */
describe.each([
  ["without TLS", false],
  ["by TLS", true],
] as const)("the server, %s", (_name, secure) => {
  const environment = secure ? { tls } : {};
  const openSocket = (to: number): RawSocket => openRawSocket(to, secure);
  let gateway: StartedGateway;
  let port: number;
  beforeAll(async () => {
    gateway = await startGateway({
      environment,
      keys: [
        { name: "alice", secret: aliceKey },
        { name: "bound", secret: boundKey, allowed_ips: ["203.0.113.7"] },
      ],
    });
    port = gateway.gateway.server.port;
  });
  afterAll(() => gateway?.stop());

  test("one connection carries calls, streams, errors, health and the console in turn", async () => {
    const socket = openSocket(port);
    const exchanges: readonly (readonly [string, string])[] = [
      [get("/v1/models"), '"gpt-test"'],
      [post("/v1/chat/completions", JSON.stringify(hello)), '"usage"'],
      [get("/healthz", ""), "ok\n"],
      [post("/v1/chat/completions", JSON.stringify({ ...hello, stream: true })), "[DONE]"],
      [post("/v1/chat/completions", unknown("nobody")), "nobody"],
      [get("/api/status", ""), "{"],
      [get("/v1/models", "authorization: Bearer sk-wrong-0123456789abcdef\r\n"), "invalid_api_key"],
      [get("/v1/models"), '"gpt-test"'],
    ];
    for (const [request, answered] of exchanges) {
      const from = socket.text().length;
      socket.write(request);
      await socket.untilAfter(from, answered);
    }
    await until(() => statuses(socket.text()).length === exchanges.length);
    expect(statuses(socket.text())).toEqual([200, 200, 200, 200, 404, 200, 401, 200]);
    expect(answersIn(socket.text())).toEqual([200, 200, 200, 200, 404, 200, 401, 200]);
    expect(socket.text().split("\r\nx-content-type-options: nosniff\r\n")).toHaveLength(exchanges.length + 1);
    socket.end();
  });

  test("uses the authority of an absolute target, for calls and the console", async () => {
    const socket = openSocket(port);
    const whole = (target: string, lines = ""): string =>
      `GET ${target} HTTP/1.1\r\nhost: evil.example\r\n${lines}\r\n`;
    socket.write(whole(`http://localhost:${port}/v1/models`, `authorization: Bearer ${aliceKey}\r\n`));
    await socket.until('"gpt-test"');
    const from = socket.text().length;
    socket.write(whole(`http://localhost:${port}/.well-known/oauth-authorization-server`));
    const text = await socket.untilAfter(from, "token_endpoint");
    expect(text).toContain(`localhost:${port}/`);
    expect(text).not.toContain("evil.example");
    socket.end();
  });

  test("reads a chunked body like one with a length", async () => {
    const body = unknown("chunky");
    const chunks = [...body].map((letter) => `1\r\n${letter}\r\n`).join("");
    const socket = openSocket(port);
    socket.write(post("/v1/chat/completions", `${chunks}0\r\n\r\n`, "transfer-encoding: chunked\r\n"));
    expect(await socket.until("chunky")).toStartWith("HTTP/1.1 404 ");
    socket.end();
  });

  test("sends 100 to a caller that expects it, then the answer", async () => {
    const body = unknown("patient");
    const [head = ""] = post("/v1/chat/completions", body, "expect: 100-continue\r\n").split("\r\n\r\n");
    const socket = openSocket(port);
    socket.write(`${head}\r\n\r\n`);
    await socket.until("HTTP/1.1 100 ");
    socket.write(body);
    expect(statuses(await socket.until("patient"))).toEqual([100, 404]);
    socket.end();
  });

  test("sends no chunks to HTTP/1.0, and keeps its connection only on request", async () => {
    const stream = post("/v1/chat/completions", JSON.stringify({ ...hello, stream: true })).replace(
      "1.1\r\n",
      "1.0\r\n",
    );
    const socket = openSocket(port);
    socket.write(stream);
    const text = await socket.closed;
    expect(text).toContain("[DONE]");
    expect(text.toLowerCase()).not.toContain("transfer-encoding");
  });

  test("sends no body to HEAD", async () => {
    const socket = openSocket(port);
    socket.write(`HEAD /healthz HTTP/1.1\r\nhost: a\r\n\r\n${get("/v1/models/gpt-test")}`);
    const text = await socket.until('"gpt-test"');
    expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*?\r\n\r\nHTTP\/1\.1 200 /);
    socket.end();
  });

  test("a caller that sends a large refused body still reads the error", async () => {
    const socket = openSocket(port);
    const head = post("/v1/chat/completions", "", "").replace(`Bearer ${aliceKey}`, "Bearer sk-wrong-0123456789abcdef");
    socket.write(head.replace("content-length: 0", "content-length: 3000000"));
    for (let sent = 0; sent < 3_000_000; sent += 100_000) socket.write("a".repeat(100_000));
    expect(await socket.until("invalid_api_key")).toStartWith("HTTP/1.1 401 ");
    socket.end();
  });

  test("a caller cannot set its address with a header", async () => {
    for (const path of ["/v1/models", "/v1/responses"]) {
      const forged = "x-sluice-peer: 203.0.113.7\r\nx-sluice-socket: 0123456789abcdef\r\n";
      const upgrade =
        path === "/v1/models"
          ? ""
          : `upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${"A".repeat(22)}==\r\n`;
      const socket = openSocket(port);
      socket.write(get(path, `authorization: Bearer ${boundKey}\r\n${forged}${upgrade}`));
      expect(await socket.until("ip_not_allowed")).toStartWith("HTTP/1.1 403 ");
      socket.end();
    }
  });

  test("opens a WebSocket, exchanges messages, and closes it", async () => {
    const socket = new WebSocket(`${secure ? "wss" : "ws"}://127.0.0.1:${port}/v1/responses`, {
      tls: { rejectUnauthorized: false },
      headers: { authorization: `Bearer ${aliceKey}` },
    } as never);
    const message = await new Promise<string>((resolve, reject) => {
      socket.onopen = () => socket.send("no JSON");
      socket.onmessage = ({ data }) => resolve(String(data));
      socket.onerror = reject;
    });
    expect(JSON.parse(message)).toMatchObject({ type: "error" });
    const closed = new Promise((resolve) => {
      socket.onclose = resolve;
    });
    socket.close();
    await closed;
    await until(() => gateway.gateway.server.sockets() === 0);
  });

  test.each([
    ["closes", "end"],
    ["resets", "reset"],
  ] as const)("a caller that %s its connection ends its call and stream, and leaves nothing", async (_how, leave) => {
    for (const stream of [true, false]) {
      const before = (await gateway.entries()).length;
      const socket = openSocket(port);
      const script = stream ? { tokens: 60_000, event_ms: 20 } : { latency_ms: 60_000 };
      const { truth } = gateway.simulator.simulator;
      const requests = truth.list().data.length;
      socket.write(
        post(
          "/v1/chat/completions",
          JSON.stringify({ ...hello, stream }),
          `x-sim-script: ${JSON.stringify(script)}\r\n`,
        ),
      );
      await until(() => truth.list().data.length > requests);
      if (stream) await socket.until("data: ");
      socket[leave]();
      await until(() => (truth.list().data.at(-1)?.aborted_at ?? null) !== null);
      await until(() => gateway.gateway.server.pending() === 0);
      await until(async () => (await gateway.entries()).length > before);
      expect((await gateway.entries())[0]).toMatchObject({ outcome: "cancelled", errorCode: "client_closed" });
    }
  });

  test("on leave, idle connections close and other connections close after their answer", async () => {
    const other = await startGateway({ environment });
    const [idle, busy] = [openSocket(other.gateway.server.port), openSocket(other.gateway.server.port)];
    idle.write(get("/v1/models"));
    await idle.until('"gpt-test"');
    busy.write(
      post("/v1/chat/completions", JSON.stringify(hello), `x-sim-script: ${JSON.stringify({ latency_ms: 300 })}\r\n`),
    );
    await until(() => other.simulator.simulator.truth.list().data.length > 0);
    const stopped = other.stop();
    await idle.closed;
    expect((await busy.closed).toLowerCase()).toContain("connection: close");
    expect(statuses(busy.text())).toEqual([200]);
    await stopped;
  });

  test("a late reader gets a large answer complete and in order", async () => {
    for (const stream of [true, false]) {
      const socket = openSocket(port);
      const script = `x-sim-script: ${JSON.stringify({ tokens: 60_000 })}\r\n`;
      socket.write(post("/v1/chat/completions", JSON.stringify({ ...hello, stream }), script));
      await socket.until("\r\n\r\n");
      socket.pause();
      // The next call's answer follows the whole large one.
      socket.write(get("/v1/models"));
      await until(() => gateway.simulator.simulator.truth.list().data.at(-1)?.terminal_sent !== undefined);
      socket.resume();
      const text = await socket.until('"object":"list"');
      expect(statuses(text)).toEqual([200, 200]);
      expect(text.split(stream ? "[DONE]" : '"usage"').length).toBe(2);
      socket.end();
    }
  });

  test("answers pipelined requests in order", async () => {
    const names = Array.from({ length: 50 }, (_, at) => `many-${at}`);
    const socket = openSocket(port);
    socket.write(names.map((name) => post("/v1/chat/completions", unknown(name))).join("") + get("/healthz", ""));
    const text = await socket.until("ok\n");
    expect(
      [...text.matchAll(/many-\d+/g)].map(([name]) => name).filter((name, at, all) => all.indexOf(name) === at),
    ).toEqual(names);
    socket.end();
  });

  test("answers a caller that closed its side after the request", async () => {
    for (const path of ["/v1/models", "/healthz"]) {
      const socket = openSocket(port);
      socket.write(get(path));
      socket.finish();
      expect(await socket.closed).toStartWith("HTTP/1.1 200 ");
    }
  });

  test("refuses without sending 100 first", async () => {
    const [head = ""] = post("/v1/chat/completions", "x", "expect: 100-continue\r\n").split("\r\n\r\n");
    const socket = openSocket(port);
    socket.write(`${head.replace(aliceKey, "sk-wrong-0123456789abcdef")}\r\n\r\n`);
    expect(statuses(await socket.closed)).toEqual([401]);
  });

  test("the socket of the WebSocket server refuses other processes of the machine", async () => {
    const names = innerSockets();
    if (process.platform === "linux") expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      for (const token of ["", "x-sluice-socket: \r\n", `x-sluice-socket: ${"0".repeat(64)}\r\n`]) {
        for (const path of ["/", "/v1/models", "/api/status", "/metrics", "/x/../metrics"]) {
          expect(statuses(await askInner(name, get(path, `${auth}${token}connection: close\r\n`)))).toEqual([403]);
        }
      }
    }
  });

  test("refuses other expectations", async () => {
    const socket = openSocket(port);
    socket.write(get("/v1/models", `${auth}expect: the-impossible\r\nconnection: close\r\n`));
    expect(statuses(await socket.closed)).toEqual([417]);
  });

  if (!secure) return;

  test("sign-in sets a cookie that requires TLS", async () => {
    const ask = (path: string, body: object): Promise<Response> =>
      fetch(`${gateway.url}${path}`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json", origin: gateway.url },
        tls: { rejectUnauthorized: false },
      });
    const administrator = { email: "ada@example.org", password: "correct horse battery" };
    const set = await ask("/api/setup", { token: "test-setup-token-0123456789", ...administrator });
    expect(set.status).toBe(201);
    const cookie = (await ask("/api/auth/sign-in/email", administrator)).headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^__Host-sluice\.session_token=[^,]+; Secure;/);
  });
});

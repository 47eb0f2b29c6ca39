import { afterEach, expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import type { Transport } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { outbound } from "../../test/outbound.ts";
import { type Answer, type RawUpstream, rawAnswer, startRawUpstream } from "../../test/raw-upstream.ts";
import { createTransport } from "./index.ts";

const never = new AbortController().signal;
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const failure = (promise: Promise<unknown>) => promise.then(() => null).catch((thrown: unknown) => thrown);

/** The first request uses a separate connection; the connection of the second is kept. */
async function warm(transport: Transport, upstream: RawUpstream): Promise<void> {
  for (let i = 0; i < 2; i++) {
    await (await transport.send(outbound(upstream.url), never)).body.readAll(10, "idle", 1_000);
  }
}

const started: RawUpstream[] = [];
afterEach(() => {
  for (const upstream of started.splice(0)) upstream.stop();
});

async function start(answer: Answer): Promise<RawUpstream> {
  const upstream = await startRawUpstream(answer);
  started.push(upstream);
  return upstream;
}

test("a request arrives unchanged, and asks for an uncompressed answer", async () => {
  const upstream = await start((socket) => socket.write(rawAnswer("hello", "x-a: b\r\n")));
  const transport = createTransport({ clock: systemClock });
  const answer = await transport.send(outbound(`${upstream.url}/v1/chat?x=1`), never);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-a")).toBe("b");
  expect(text(await answer.body.readAll(1_000, "idle", 1_000))).toBe("hello");
  await (await transport.send(outbound(`${upstream.url}/v1/chat?x=1`), never)).body.readAll(1_000, "idle", 1_000);
  const [, request = ""] = upstream.requests;
  expect(request).toStartWith("POST /v1/chat?x=1 HTTP/1.1\r\n");
  expect(request.toLowerCase()).toContain("\r\naccept-encoding: identity\r\n");
  expect(request.toLowerCase()).toContain(`\r\nhost: 127.0.0.1:${upstream.port}\r\n`);
  expect(request.toLowerCase()).toContain("\r\nconnection: keep-alive\r\n");
  expect(request).toEndWith('\r\n\r\n{"model":"m"}');
});

test("the name is sent as host, and the checked address is dialed", async () => {
  const upstream = await start((socket) => socket.write(rawAnswer("ok")));
  const transport = createTransport({ clock: systemClock, resolve: async () => ["127.0.0.1"] });
  const url = `http://upstream.example:${upstream.port}/v1`;
  await (await transport.send(outbound(url), never)).body.readAll(10, "idle", 1_000);
  expect(upstream.requests[0]?.toLowerCase()).toContain(`\r\nhost: upstream.example:${upstream.port}\r\n`);
});

test("a private address is never dialed without permission", async () => {
  const upstream = await start((socket) => socket.write(rawAnswer("secret")));
  let turn = 0;
  const resolve = async () => (turn++ % 2 === 0 ? ["127.0.0.1"] : ["8.8.8.8", "127.0.0.1"]);
  for (let i = 0; i < 200; i++) {
    const transport = createTransport({ clock: systemClock, resolve });
    const url = `http://rebind.example:${upstream.port}/`;
    const thrown = await failure(transport.send(outbound(url, { allowPrivateNetwork: false }), never));
    expect(thrown).toMatchObject({ code: "upstream_unreachable" });
  }
  expect(upstream.connections).toBe(0);
});

test("the next address is dialed when one refuses the connection", async () => {
  const upstream = await start((socket) => socket.write(rawAnswer("ok")));
  const resolve = async () => ["127.0.0.2", "127.0.0.1"];
  const transport = createTransport({ clock: systemClock, resolve });
  const answer = await transport.send(outbound(`http://upstream.example:${upstream.port}/`), never);
  expect(text(await answer.body.readAll(10, "idle", 1_000))).toBe("ok");
  expect(upstream.requests).toHaveLength(1);
});

test.each(["fin", "reset", "half a status line"])(
  "a POST is not sent twice when a kept connection ends with %s",
  async (how) => {
    const upstream = await start((socket, index) => {
      if (index < 2) socket.write(rawAnswer("warm"));
      else if (how === "fin") socket.end();
      else if (how === "reset") socket.resetAndDestroy();
      else socket.end("HTTP/1.1 20");
    });
    const transport = createTransport({ clock: systemClock });
    await warm(transport, upstream);
    const thrown = await failure(transport.send(outbound(upstream.url), never));
    expect(thrown).toMatchObject({ code: "upstream_unreachable", arrival: "unknown", unhealthy: true });
    expect(upstream.requests).toHaveLength(3);
  },
);

/** Answers the first request on each connection, and closes a kept connection at the next request, like a server that timed it out. */
const staleUpstream = () => {
  const seen = new WeakSet<object>();
  return start((socket, index) => {
    if (index === 2 && seen.has(socket)) socket.resetAndDestroy();
    else socket.write(rawAnswer("ok"));
    seen.add(socket);
  });
};

test("an idle connection that its upstream closed is stale, and the next request gets a new one", async () => {
  const upstream = await staleUpstream();
  const clock = new FakeClock();
  const transport = createTransport({ clock });
  await warm(transport, upstream);
  clock.advance(bounds.staleSilenceMs);
  expect(await failure(transport.send(outbound(upstream.url), never))).toMatchObject({
    code: "upstream_unreachable",
    arrival: "stale",
    retry: "same",
    unhealthy: false,
  });
  const before = upstream.connections;
  const answer = await transport.send(outbound(upstream.url), never);
  expect(text(await answer.body.readAll(10, "idle", 1_000))).toBe("ok");
  expect(upstream.connections).toBe(before + 1);
});

test("a reset is not stale soon after an answer, nor on a new connection", async () => {
  const busy = await staleUpstream();
  const clock = new FakeClock();
  const transport = createTransport({ clock });
  await warm(transport, busy);
  clock.advance(bounds.staleSilenceMs - 1);
  expect(await failure(transport.send(outbound(busy.url), never))).toMatchObject({
    arrival: "unknown",
    unhealthy: true,
  });
  const broken = await start((socket) => socket.resetAndDestroy());
  clock.advance(bounds.staleSilenceMs);
  expect(await failure(transport.send(outbound(broken.url), never))).toMatchObject({
    arrival: "unknown",
    unhealthy: true,
  });
});

test.each([
  ["after a long silence", bounds.keptConnectionIdleMs + 1, {}],
  ["for a request that asks for its own", bounds.staleSilenceMs, { ownConnection: true }],
])("no kept connection is used %s", async (_, silentMs, changes) => {
  const upstream = await staleUpstream();
  const clock = new FakeClock();
  const transport = createTransport({ clock });
  await warm(transport, upstream);
  clock.advance(silentMs);
  const answer = await transport.send(outbound(upstream.url, changes), never);
  expect(text(await answer.body.readAll(10, "idle", 1_000))).toBe("ok");
});

test("a DELETE is not sent twice either", async () => {
  const upstream = await start((socket, index) => (index === 0 ? socket.write(rawAnswer("warm")) : socket.end()));
  const transport = createTransport({ clock: systemClock });
  await (await transport.send(outbound(upstream.url), never)).body.readAll(10, "idle", 1_000);
  const request = outbound(upstream.url, { method: "DELETE", body: null });
  expect(await failure(transport.send(request, never))).toMatchObject({ code: "upstream_unreachable" });
  expect(upstream.requests).toHaveLength(2);
});

test("a redirect is returned, not followed", async () => {
  const elsewhere = await start((socket) => socket.write(rawAnswer("elsewhere")));
  const head = `HTTP/1.1 307 Temporary Redirect\r\nlocation: ${elsewhere.url}\r\ncontent-length: 0\r\n\r\n`;
  const upstream = await start((socket) => socket.write(head));
  const answer = await createTransport({ clock: systemClock }).send(outbound(upstream.url), never);
  expect(answer.status).toBe(307);
  expect(await answer.body.read("idle", 1_000)).toBeNull();
  expect(elsewhere.connections).toBe(0);
});

test("a compressed answer is delivered unchanged", async () => {
  const packed = Bun.gzipSync(new TextEncoder().encode("hello hello hello"));
  const upstream = await start((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`);
    socket.write(packed);
  });
  const answer = await createTransport({ clock: systemClock }).send(outbound(upstream.url), never);
  expect(answer.headers.get("content-encoding")).toBe("gzip");
  expect(await answer.body.readAll(1_000, "idle", 1_000)).toEqual(new Uint8Array(packed));
});

test("a refused connection is upstream_unreachable at once", async () => {
  const upstream = await start(() => {});
  upstream.stop();
  const thrown = await failure(createTransport({ clock: systemClock }).send(outbound(upstream.url), never));
  expect(thrown).toMatchObject({ code: "upstream_unreachable", retry: "other", unhealthy: true });
});

test.each([
  ["no HTTP at all", "NOT HTTP\r\n\r\n", ["upstream_unreachable", "upstream_error"]],
  ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 5\r\n\r\nhello", ["upstream_error"]],
  ["an upgrade that was not requested", "HTTP/1.1 101 Switch\r\nupgrade: x\r\n\r\nabc", ["upstream_error"]],
  ["four hundred headers", `HTTP/1.1 200 OK\r\n${"x-a: b\r\n".repeat(400)}\r\n`, ["upstream_error"]],
])("an answer with %s is a failure, not an answer", async (_, answer, codes) => {
  const upstream = await start((socket) => socket.end(answer));
  const thrown = await failure(createTransport({ clock: systemClock }).send(outbound(upstream.url), never));
  expect(thrown).toMatchObject({ retry: "other", unhealthy: true });
  expect(codes).toContain(thrown instanceof Error && "code" in thrown ? String(thrown.code) : "");
});

test("endless headers are refused after a few megabytes", async () => {
  let written = 0;
  const line = `x-a: ${"a".repeat(65_529)}\r\n`;
  const upstream = await start((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    const flood = (): void => {
      do written += line.length;
      while (!socket.destroyed && written < 200_000_000 && socket.write(line));
      if (!socket.destroyed) socket.once("drain", flood);
    };
    flood();
  });
  const thrown = await failure(createTransport({ clock: systemClock }).send(outbound(upstream.url), never));
  expect(thrown).toMatchObject({ code: "upstream_error" });
  expect(written).toBeLessThan(32_000_000);
});

test("an invalid header is the caller's error, and nothing is sent", async () => {
  const upstream = await start((socket) => socket.write(rawAnswer("ok")));
  const request = outbound(upstream.url, { headers: { "x-a": "b\r\nx-evil: 1" } });
  const thrown = await failure(createTransport({ clock: systemClock }).send(request, never));
  expect(thrown).toMatchObject({ code: "invalid_request", retry: "never" });
  expect(upstream.requests).toHaveLength(0);
});

test("nothing is sent for a caller who left before", async () => {
  const upstream = await start((socket) => socket.write(rawAnswer("ok")));
  const thrown = await failure(
    createTransport({ clock: systemClock }).send(outbound(upstream.url), AbortSignal.abort()),
  );
  expect(thrown).toMatchObject({ code: "client_closed", retry: "never", unhealthy: false });
  expect(upstream.connections).toBe(0);
});

test("a failure before anything was sent is marked as unsent", async () => {
  const transport = createTransport({ clock: systemClock });
  const never = new AbortController().signal;
  const failureOf = (url: string, more: object = {}) =>
    transport.send({ ...outbound(url), ...more }, never).catch((thrown: unknown) => thrown);
  const closed = Bun.serve({ idleTimeout: 0, port: 0, hostname: "127.0.0.1", fetch: () => new Response("") });
  const { port } = closed;
  await closed.stop(true);
  expect(await failureOf(`http://127.0.0.1:${port}/`)).toMatchObject({
    code: "upstream_unreachable",
    arrival: "unsent",
  });
  expect(await failureOf("http://10.0.0.1/", { allowPrivateNetwork: false })).toMatchObject({ arrival: "unsent" });
  expect(await failureOf("http://nobody.invalid/")).toMatchObject({ arrival: "unsent" });
  const cutting = Bun.listen({
    port: 0,
    hostname: "127.0.0.1",
    socket: { data: (socket) => void socket.terminate(), open: () => {} },
  });
  expect(await failureOf(`http://127.0.0.1:${cutting.port}/`)).toMatchObject({ arrival: "unknown" });
  // Reset within the handshake.
  expect(await failureOf(`https://127.0.0.1:${cutting.port}/`)).toMatchObject({ arrival: "unsent" });
  cutting.stop(true);
  const plain = Bun.listen({
    port: 0,
    hostname: "127.0.0.1",
    socket: { data: (socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"), open: () => {} },
  });
  expect(await failureOf(`https://127.0.0.1:${plain.port}/`)).toMatchObject({ arrival: "unsent" });
  plain.stop(true);
});

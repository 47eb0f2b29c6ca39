import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { bounds } from "#core/index.ts";
import { ServerAnswer } from "#http-server/index.ts";
import { until } from "../../../test/until.ts";
import { openSocket } from "../edge/raw-socket.ts";
import { FakeClock } from "../fake-clock.ts";
import { answeredBy, type EchoServer, startEcho } from "./echo-server.ts";

const fixtures = join(import.meta.dir, "..", "fixtures", "tls");
const certificate = {
  chain: readFileSync(join(fixtures, "gateway.example.cert.pem"), "utf8"),
  key: readFileSync(join(fixtures, "gateway.example.key.pem"), "utf8"),
};
const turn = () => new Promise(setImmediate);

let stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops) stop();
  stops = [];
});

function start(options: Parameters<typeof startEcho>[0]): EchoServer {
  const echo = startEcho(options);
  stops.push(() => echo.stop());
  return echo;
}

function advance(clock: FakeClock, ms: number): void {
  for (let elapsed = 0; elapsed < ms; elapsed += 500) clock.advance(500);
}

/** Returns a function after which `act` runs among the socket callbacks, before those for later writes. */
async function amongSocketCallbacks(act: () => void): Promise<() => Promise<void>> {
  const { promise: accepted, resolve: accept } = Promise.withResolvers<Bun.Socket>();
  const place = { hostname: "127.0.0.1", port: 0 };
  const listener = Bun.listen({ ...place, socket: { data: () => {}, open: accept } });
  const near = await Bun.connect({ ...place, port: listener.port, socket: { data: act } });
  const far = await accepted;
  stops.push(() => {
    near.end();
    listener.stop(true);
  });
  return async () => {
    // A socket that was just read stays ahead of this one until the event loop has polled again.
    for (let turns = 0; turns < 3; turns++) await turn();
    far.write("now");
  };
}

describe.each([
  ["", false],
  [", over TLS", true],
])("a slow reader gets the whole answer that was sent%s", (_name, secure) => {
  test.each(["its connection has lingered", "the server is stopped"])("when %s", async (when) => {
    const clock = new FakeClock();
    const size = 1_000_000;
    const answer = answeredBy(
      async ({ target }) => new ServerAnswer(200, {}, target === "/v1/long" ? Buffer.alloc(size, "a") : null),
    );
    const { port, server } = start({ clock, answer, ...(secure ? { certificate } : {}) });
    const caller = openSocket(port, secure);
    caller.write("GET /v1/short HTTP/1.1\r\nhost: a\r\n\r\n");
    const before = (await caller.until("\r\n\r\n")).length;
    caller.pause();
    caller.write("GET /v1/long HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    await until(() => server.connections === 1 && server.pending === 0 && server.idle === 0);
    if (when === "the server is stopped") server.stop(true);
    else advance(clock, bounds.lingerMs + 3_000);
    expect(server.connections).toBe(0);
    caller.resume();
    expect((await caller.closed).slice(before).split("\r\n\r\n")[1]).toHaveLength(size);
  });
});

describe("bytes after a malformed request are not read", () => {
  test("later bytes do not complete a malformed body", async () => {
    const { promise: admitted, resolve: admit } = Promise.withResolvers<void>();
    const { port, server } = start({
      answer: answeredBy(async (request) => {
        await admitted;
        const body = await request.bytes().catch(() => null);
        return new ServerAnswer(body === null ? 400 : 200, {}, body);
      }),
    });
    const caller = openSocket(port);
    caller.write("POST /v1/x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhelloX");
    await until(() => server.pending === 1);
    for (const piece of ["\r\n0\r\n\r\n", "GET /v1/other HTTP/1.1\r\nhost: a\r\n\r\n"]) {
      caller.write(piece);
      await turn();
      await turn();
    }
    admit();
    expect(await caller.closed).toMatch(/^HTTP\/1\.1 400 (?:(?!HTTP\/).)*$/s);
  });

  test("a head that completes after its timeout is not a request", async () => {
    const clock = new FakeClock();
    const { port, server, requests } = start({ clock });
    // In the turn of the event loop in which the rest of the head arrives, but before it does.
    const say = await amongSocketCallbacks(() => advance(clock, 65_000));
    const caller = openSocket(port);
    caller.write("GET /v1/x HTTP/1.1\r\nho");
    await until(() => server.connections === 1 && server.idle === 0);
    await say();
    caller.write("st: a\r\n\r\n");
    expect(await caller.closed).toContain("x-reason: late");
    expect(requests).toEqual([]);
  });

  test("closes the connection after a refused expectation", async () => {
    const { port } = start({});
    const caller = openSocket(port);
    caller.write("POST /v1/x HTTP/1.1\r\nhost: a\r\nexpect: more\r\ncontent-length: 5\r\n\r\n");
    expect(await caller.closed).toContain("\r\nconnection: close\r\n");
  });
});

test("an incomplete answer without a length ends with a reset", async () => {
  const { promise: broken, resolve: breakOff } = Promise.withResolvers<void>();
  const body = () =>
    new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          controller.enqueue(Buffer.from("half"));
          await broken;
          controller.error(new Error("it broke off"));
        },
      },
      { highWaterMark: 0 },
    );
  const { port } = start({ answer: answeredBy(async () => new ServerAnswer(200, {}, body())) });
  const caller = connect(port, "127.0.0.1");
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  caller.on("error", ({ message }) => resolve(message));
  caller.on("end", () => resolve("a clean end"));
  caller.write("GET /v1/x HTTP/1.0\r\nhost: a\r\n\r\n");
  await new Promise<void>((received) => caller.on("data", (bytes) => void (bytes.includes("half") && received())));
  breakOff();
  expect(await ended).toContain("ECONNRESET");
});

test("a caller that does not finish its body can still read the error", async () => {
  const clock = new FakeClock();
  const { port, server } = start({
    clock,
    answer: answeredBy(async () => new ServerAnswer(413, {}, Buffer.alloc(1_000_000, "a"))),
  });
  const caller = openSocket(port);
  caller.write("HEAD /v1/x HTTP/1.1\r\nhost: a\r\n\r\n");
  const before = (await caller.until("\r\n\r\n")).length;
  caller.pause();
  caller.write("POST /v1/x HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhello");
  await until(() => server.pending === 0 && server.idle === 0);
  advance(clock, 80_000);
  expect(server.connections).toBe(0);
  caller.resume();
  expect((await caller.closed).slice(before).split("\r\n\r\n")[1]).toHaveLength(1_000_000);
});

test("leave() closes a connection that only discards a body", async () => {
  const { port, server } = start({ answer: answeredBy(async () => new ServerAnswer(401, {}, null)) });
  const caller = openSocket(port);
  caller.write("POST /v1/x HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhello");
  await caller.until("401 Unauthorized");
  await until(() => server.pending === 0);
  server.leave();
  expect(await caller.closed).toContain("\r\ncontent-length: 0\r\n");
  await server.ended;
});

test("a caller that turns out to be disconnected during a write does not count as a slow reader", async () => {
  const clock = new FakeClock();
  const { promise: answered, resolve: answer } = Promise.withResolvers<ServerAnswer>();
  const { port, server } = start({ clock, answer: answeredBy(() => answered) });
  const caller = openSocket(port);
  caller.write("GET /v1/x HTTP/1.1\r\nhost: a\r\n\r\n");
  await until(() => server.pending === 1);
  caller.write("x".repeat(bounds.pipelinedBytesMax * 2));
  for (let turns = 0; turns < 20; turns++) await turn();
  const say = await amongSocketCallbacks(() => {
    caller.reset();
    answer(new ServerAnswer(200, {}, Buffer.from("to nobody")));
  });
  await say();
  await caller.closed;
  for (let turns = 0; turns < 20; turns++) await turn();
  advance(clock, 3_000);
  expect(server.connections).toBe(0);
});

test("a caller that closed its side still reads the last error", async () => {
  const { exchange } = start({
    answer: answeredBy(async ({ signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener("abort", resolve));
      return new ServerAnswer(200, {}, null);
    }),
  });
  const answers = await exchange("GET /v1/x HTTP/1.1\r\nhost: a\r\n\r\nGET /v1/x HTTP/1.1\r\nno field\r\n\r\n");
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400"]);
});

test("a caller that disconnects before it is accepted has no address", async () => {
  const addresses: string[] = [];
  const { port, server } = start({
    answer: answeredBy(async ({ peer }) => {
      addresses.push(peer);
      return new ServerAnswer(200, {}, null);
    }),
  });
  const script = `
    const socket = require("node:net").connect(${port}, "127.0.0.1", () => {
      socket.write("GET /v1/x HTTP/1.1\\r\\nhost: a\\r\\n\\r\\n");
      setImmediate(() => socket.resetAndDestroy());
    });`;
  // The synchronous spawn blocks this process, so no connection is accepted meanwhile.
  expect(Bun.spawnSync([process.execPath, "--no-env-file", "-e", script]).exitCode).toBe(0);
  const next = openSocket(port);
  next.write("GET /v1/x HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  await next.closed;
  await until(() => server.connections === 0);
  expect(addresses.every((address) => address === "" || address === "127.0.0.1")).toBe(true);
});

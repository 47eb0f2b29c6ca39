import { afterEach, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { bounds, parseEgressProxy } from "#core/index.ts";
import type { OutboundRequest } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { until } from "../../../test/until.ts";
import { openEgressFixture } from "../../test/egress-fixture.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { outbound } from "../../test/outbound.ts";
import { type Answer, rawAnswer, startRawUpstream } from "../../test/raw-upstream.ts";
import { createTransport } from "./index.ts";

const never = new AbortController().signal;
const failure = (promise: Promise<unknown>) => promise.then(() => null).catch((thrown: unknown) => thrown);

let stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops) await stop();
  stops = [];
});

async function start(answer: Answer) {
  const upstream = await startRawUpstream(answer);
  stops.push(() => upstream.stop());
  return upstream;
}

test("a connection is not reused if the answer came before the whole body was sent", async () => {
  let connections = 0;
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        connections++;
        // The head is longer than the system's socket buffer accepts at once.
        socket.pause();
        setImmediate(() => socket.resume());
      },
      data(socket, bytes) {
        if (bytes.includes("\r\n\r\n")) socket.write(rawAnswer("early"));
      },
    },
  });
  stops.push(() => server.stop(true));
  const transport = createTransport({ clock: systemClock });
  const { promise: later, resolve } = Promise.withResolvers<void>();
  const body = {
    size: 10,
    open: () => new ReadableStream<Uint8Array>({ pull: () => later }, { highWaterMark: 0 }),
  };
  const ask = async (changes: Partial<OutboundRequest>) => {
    const answer = await transport.send(outbound(`http://127.0.0.1:${server.port}/`, changes), never);
    return Buffer.from(await answer.body.readAll(100, "idle", 60_000)).toString();
  };
  expect(await ask({ body, headers: { "x-long": "a".repeat(16_000_000) } })).toBe("early");
  expect(await ask({})).toBe("early");
  expect(connections).toBe(2);
  resolve();
});

test("a connection with an interim answer is not stale, since the request was read", async () => {
  const upstream = await start((socket, index) => {
    if (index === 0) socket.write(rawAnswer("ok"));
    else socket.write("HTTP/1.1 102 Processing\r\n\r\n", () => setImmediate(() => socket.end()));
  });
  const clock = new FakeClock();
  const transport = createTransport({ clock });
  await (await transport.send(outbound(upstream.url), never)).body.readAll(10, "idle", 60_000);
  clock.advance(bounds.staleSilenceMs);
  expect(await failure(transport.send(outbound(upstream.url), never))).toMatchObject({ arrival: "unknown" });
});

test("bytes after an answer are not the answer to the next request", async () => {
  const { promise: asked, resolve: hear } = Promise.withResolvers<Socket>();
  const upstream = await start((socket, index) => {
    if (index === 1) socket.write(rawAnswer("its own"));
    else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n", () => hear(socket));
  });
  const transport = createTransport({ clock: systemClock });
  const { body } = await transport.send(outbound(upstream.url), never);
  const { promise: next, resolve } = Promise.withResolvers<unknown>();
  const askAgain = async () => {
    const answer = await transport.send(outbound(upstream.url), never);
    return Buffer.from(await answer.body.readAll(100, "idle", 60_000)).toString();
  };
  const listener = {
    resolve(piece: Uint8Array | null) {
      if (piece === null) resolve(askAgain());
      else body.next?.("idle", 60_000, listener);
    },
    reject: resolve,
  };
  body.next?.("idle", 60_000, listener);
  (await asked).write(`ok${rawAnswer("unsolicited")}`);
  expect(await next).toBe("its own");
  expect([upstream.connections, upstream.requests.length]).toEqual([2, 2]);
});

test("a caller who leaves during a lookup gets client_closed, and nothing is sent", async () => {
  const upstream = await start((socket) => void socket.write(rawAnswer("ok")));
  for (let depth = 0; depth < 16; depth++) {
    const { promise, resolve } = Promise.withResolvers<string[]>();
    const transport = createTransport({ clock: systemClock, resolve: () => promise });
    const caller = new AbortController();
    let thrown: unknown = null;
    const sent = failure(transport.send(outbound(`http://upstream.example:${upstream.port}/`), caller.signal));
    void sent.then((failed) => {
      thrown = failed;
    });
    await new Promise(setImmediate);
    let left = depth;
    const step = (): void => {
      if (left-- === 0) caller.abort();
      else queueMicrotask(step);
    };
    resolve(["127.0.0.1"]);
    queueMicrotask(step);
    await until(() => thrown);
    expect(thrown).toMatchObject({ code: "client_closed", arrival: "unsent" });
  }
  expect(upstream.requests).toEqual([]);
});

test("bytes to a proxy do not count as sent", async () => {
  const fixture = await openEgressFixture();
  stops.push(() => fixture.close());
  const proxy = parseEgressProxy(`http://127.0.0.1:${fixture.port}`);
  const egress = { http: proxy, https: proxy, exempt: [] };
  const transport = createTransport({ clock: systemClock, resolve: async () => [], egress });
  using _hangs = fixture.behave("hang");
  const caller = new AbortController();
  const sent = failure(
    transport.send(outbound("https://upstream.example/", { allowPrivateNetwork: false }), caller.signal),
  );
  await until(() => fixture.connects === 1);
  caller.abort();
  expect(await sent).toMatchObject({ code: "client_closed", arrival: "unsent" });
});

test("bytes that arrive on a kept connection before its next request are not the answer to it", async () => {
  for (const streamed of [false, true]) {
    let first: Socket | null = null;
    const upstream = await start((socket, index) => {
      first ??= socket;
      socket.write(rawAnswer(`answer ${index}`));
    });
    const transport = createTransport({ clock: systemClock });
    const bytes = new TextEncoder().encode("{}");
    const body = streamed ? { size: 2, open: () => new Response(bytes).body as ReadableStream<Uint8Array> } : bytes;
    const ask = async () => {
      const answer = await transport.send(outbound(upstream.url, { body }), never);
      return Buffer.from(await answer.body.readAll(100, "idle", 60_000)).toString();
    };
    expect(await ask()).toBe("answer 0");
    (first as Socket | null)?.write(rawAnswer("unsolicited"));
    // Nothing of the request was sent, so it may be sent again.
    expect(await failure(ask())).toMatchObject({ arrival: "unsent" });
    await upstream.closed(0);
    expect(await ask()).toBe("answer 1");
    expect([upstream.connections, upstream.requests.length]).toEqual([2, 2]);
  }
});

test("bytes that arrive on an idle connection close it", async () => {
  const { promise: asked, resolve: hear } = Promise.withResolvers<Socket>();
  const upstream = await start((socket, index) => socket.write(rawAnswer(`answer ${index}`), () => hear(socket)));
  const transport = createTransport({ clock: systemClock });
  const ask = async () => {
    const answer = await transport.send(outbound(upstream.url), never);
    return Buffer.from(await answer.body.readAll(100, "idle", 60_000)).toString();
  };
  expect(await ask()).toBe("answer 0");
  (await asked).write(rawAnswer("unsolicited"));
  await upstream.closed(0);
  expect(await ask()).toBe("answer 1");
  expect(upstream.connections).toBe(2);
});

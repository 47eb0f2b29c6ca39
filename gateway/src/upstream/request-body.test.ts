import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { Failure } from "#core/index.ts";
import type { OutboundStream } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { patienceMs, until, untilStable } from "../../../test/until.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { outbound } from "../../test/outbound.ts";
import { createTransport } from "./index.ts";

const never = new AbortController().signal;
const failure = (promise: Promise<unknown>) => promise.then(() => null).catch((thrown: unknown) => thrown);
const pieceBytes = 64 * 1024;

interface Source extends OutboundStream {
  readonly opened: number;
  readonly pulled: number;
  readonly cancelled: boolean;
}

/** A body of counted pieces; `fails` throws in the place of that piece. */
function source(size: number, options: { readonly says?: number; readonly fails?: number } = {}): Source {
  const state = { opened: 0, pulled: 0, cancelled: false };
  return {
    size: options.says ?? size,
    get opened() {
      return state.opened;
    },
    get pulled() {
      return state.pulled;
    },
    get cancelled() {
      return state.cancelled;
    },
    open() {
      state.opened++;
      state.pulled = 0;
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            if (state.pulled >= size) return controller.close();
            if (state.pulled / pieceBytes === options.fails) throw new Error("the disk is gone");
            const bytes = new Uint8Array(Math.min(pieceBytes, size - state.pulled));
            bytes.fill(Math.floor(state.pulled / pieceBytes) % 251);
            state.pulled += bytes.length;
            controller.enqueue(bytes);
          },
          cancel() {
            state.cancelled = true;
          },
        },
        { highWaterMark: 0 },
      );
    },
  };
}

async function bytesOf(body: OutboundStream): Promise<Buffer> {
  return Buffer.from(await new Response(body.open()).arrayBuffer());
}

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** An upstream that receives the bytes of each connection as they arrive. */
async function upstream(onData: (socket: Socket, bytes: Buffer, seen: number) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let seen = 0;
    socket.on("error", () => {});
    socket.on("data", (bytes: Buffer) => {
      seen += bytes.length;
      onData(socket, bytes, seen);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  return { url: `http://127.0.0.1:${address.port}/v1/images/edits`, port: address.port };
}

describe("a streamed body", () => {
  test("arrives unchanged, with its length and without chunks", async () => {
    const body = source(700_001);
    const received: Buffer[] = [];
    const { url } = await upstream((socket, bytes) => {
      received.push(bytes);
      const all = Buffer.concat(received);
      const head = all.indexOf("\r\n\r\n");
      if (all.length === head + 4 + body.size) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    });
    const transport = createTransport({ clock: systemClock });
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const answer = await transport.send(outbound(url, { body, headers }), never);
    expect(await answer.body.readAll(10, "idle", patienceMs)).toHaveLength(2);
    const all = Buffer.concat(received);
    const head = all.subarray(0, all.indexOf("\r\n\r\n")).toString("latin1").toLowerCase();
    expect(head).toContain("\r\ncontent-length: 700001");
    expect(head).toContain("\r\ncontent-type: multipart/form-data; boundary=b");
    expect(head).not.toContain("transfer-encoding");
    expect(all.subarray(head.length + 4).equals(await bytesOf(source(700_001)))).toBe(true);
  });

  test("is read no faster than the upstream takes it, and canceled when the caller leaves", async () => {
    const body = source(200 * 1024 * 1024);
    const { url } = await upstream((socket) => socket.pause());
    const caller = new AbortController();
    const sent = failure(createTransport({ clock: systemClock }).send(outbound(url, { body }), caller.signal));
    // The machine's socket buffers accept a few megabytes.
    await untilStable(() => body.pulled);
    expect(body.pulled).toBeLessThan(20 * 1024 * 1024);
    caller.abort();
    expect(await sent).toMatchObject({ code: "client_closed" });
    await until(() => body.cancelled);
  });

  test("is opened again for the next address", async () => {
    const body = source(100_000);
    let total = 0;
    const { port } = await upstream((socket, _, seen) => {
      total = seen;
      if (seen > 100_000) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    });
    const transport = createTransport({ clock: systemClock, resolve: async () => ["127.0.0.2", "127.0.0.1"] });
    const answer = await transport.send(outbound(`http://upstream.example:${port}/`, { body }), never);
    expect(answer.status).toBe(200);
    expect(total).toBeGreaterThan(100_000);
  });

  test("is never sent twice: a reset is a failure, to be retried elsewhere", async () => {
    let heads = 0;
    const { url } = await upstream((socket, bytes, seen) => {
      if (bytes.includes("POST ")) heads++;
      if (heads > 1 && seen > 70_000) socket.resetAndDestroy();
      else if (heads === 1 && seen > 200_000) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    });
    const transport = createTransport({ clock: systemClock });
    const body = source(200_000);
    await (await transport.send(outbound(url, { body }), never)).body.readAll(10, "idle", patienceMs);
    const thrown = await failure(transport.send(outbound(url, { body }), never));
    expect(thrown).toMatchObject({ code: "upstream_unreachable", retry: "other", unhealthy: true });
    expect([heads, body.opened]).toEqual([2, 2]);
  });
});

describe("an upstream that answers before it has the whole body", () => {
  const refusal = "HTTP/1.1 413 Payload Too Large\r\ncontent-length: 2\r\n\r\nno";
  test.each([
    ["goes on reading", (socket: Socket) => socket.write(refusal)],
    [
      "stops reading",
      (socket: Socket) => {
        socket.write(refusal);
        socket.pause();
      },
    ],
    ["closes the connection", (socket: Socket) => socket.end(refusal)],
    [
      "resets the connection",
      (socket: Socket) => socket.write(refusal, () => setTimeout(() => socket.resetAndDestroy(), 20)),
    ],
  ])("and %s is read, and the rest is not sent", async (_, answer) => {
    const body = source(100 * 1024 * 1024);
    let answered = false;
    const { url } = await upstream((socket, _bytes, seen) => {
      if (answered || seen < 1_000) return;
      answered = true;
      answer(socket);
    });
    const { status, body: text } = await createTransport({ clock: systemClock }).send(outbound(url, { body }), never);
    expect(status).toBe(413);
    expect(await text.readAll(10, "idle", patienceMs)).toHaveLength(2);
    await until(() => body.cancelled);
    expect(body.pulled).toBeLessThan(body.size);
  });
});

describe("the timeouts of a streamed body", () => {
  test("sending may take longer than the headers timeout, but may not stall", async () => {
    const clock = new FakeClock();
    const gates: (() => void)[] = [];
    const body: OutboundStream = {
      size: 10 * pieceBytes,
      open: () => {
        let pieces = 0;
        return new ReadableStream<Uint8Array>(
          {
            async pull(controller) {
              if (pieces++ > 0) await new Promise<void>((resolve) => gates.push(resolve));
              controller.enqueue(new Uint8Array(pieceBytes));
            },
          },
          { highWaterMark: 0 },
        );
      },
    };
    let seen = 0;
    const { url } = await upstream((_, __, total) => {
      seen = total;
    });
    const sent = failure(createTransport({ clock }).send(outbound(url, { body, headersMs: 10_000 }), never));
    for (let piece = 1; piece < 9; piece++) {
      await until(() => seen > piece * pieceBytes && gates.length === piece);
      // Eight times nine seconds pass, each with a piece within the limit of ten.
      clock.advance(9_000);
      gates[piece - 1]?.();
    }
    await until(() => gates.length === 9);
    clock.advance(10_000);
    expect(await sent).toMatchObject({ code: "upstream_timeout", message: expect.stringContaining("headers") });
  });
});

describe("a body that cannot be read", () => {
  test.each([
    ["breaks off", source(500_000, { fails: 2 })],
    ["is shorter than it says", source(500_000, { says: 600_000 })],
    ["is longer than it says", source(500_000, { says: 400_000 })],
  ])("because it %s is our failure, not the upstream's", async (_, body) => {
    const { url } = await upstream(() => {});
    const thrown = await failure(createTransport({ clock: systemClock }).send(outbound(url, { body }), never));
    expect(thrown).toBeInstanceOf(Failure);
    expect(thrown).toMatchObject({ code: "internal_error", retry: "never", unhealthy: false });
  });
});

describe("an in-process upstream", () => {
  test("reads a streamed body like any other", async () => {
    const transport = createTransport({
      clock: systemClock,
      inProcess: new Map([
        [
          "simulator",
          async (request) => new Response(`${request.headers.get("content-length")} ${(await request.bytes()).length}`),
        ],
      ]),
    });
    const answer = await transport.send(outbound("demo://simulator/v1/images/edits", { body: source(300_000) }), never);
    expect(new TextDecoder().decode(await answer.body.readAll(100, "idle", patienceMs))).toBe("300000 300000");
  });

  test("may answer without reading the body", async () => {
    const body = source(300_000);
    const transport = createTransport({
      clock: systemClock,
      inProcess: new Map([["simulator", () => new Response("no", { status: 413 })]]),
    });
    const answer = await transport.send(outbound("demo://simulator/", { body }), never);
    expect([answer.status, body.opened]).toEqual([413, 0]);
  });
});

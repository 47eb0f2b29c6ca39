import { afterEach, expect, test } from "bun:test";
import { bounds, Failure } from "#core/index.ts";
import { type CallerRequest, ServerAnswer } from "#http-server/index.ts";
import { until } from "../../../test/until.ts";
import { callerConnections } from "../caller-memory.ts";
import { openSocket } from "../edge/raw-socket.ts";
import { FakeClock } from "../fake-clock.ts";
import { answeredBy, type EchoServer, startEcho } from "./echo-server.ts";

let echo: EchoServer;
afterEach(() => echo.stop());

function start(options: Parameters<typeof startEcho>[0] = {}) {
  const clock = new FakeClock();
  const room = callerConnections();
  let arrived = 0;
  /** Reads the body and records the result. */
  const answer = async (request: CallerRequest): Promise<ServerAnswer> => {
    try {
      for await (const piece of request.body ?? []) arrived += piece.length;
      return new ServerAnswer(200, {}, null);
    } catch (thrown) {
      return new ServerAnswer(thrown instanceof Failure ? thrown.status : 500, {}, null);
    }
  };
  echo = startEcho({ clock, connections: room, answer: answeredBy(answer), ...options });
  const pass = (seconds: number): void => {
    for (let elapsed = 0; elapsed < seconds * 2; elapsed++) clock.advance(500);
  };
  return { clock, room, pass, arrived: () => arrived, port: echo.port, server: echo.server };
}

const head = "POST /v1/x HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n";

test.each(["", "expect: 100-continue\r\n"])(
  "a body that arrives byte by byte is a 408, and its connection closes (%j)",
  async (more) => {
    const { room, pass, arrived, port } = start();
    const caller = openSocket(port);
    caller.write(`${head}${more}\r\n`);
    for (let sent = 1; sent <= 4; sent++) {
      caller.write("x");
      await until(() => arrived() === sent);
      pass(7);
    }
    expect(caller.text()).not.toContain("HTTP/1.1 408");
    pass(4);
    const answer = await caller.until("\r\n\r\n");
    expect(answer).toContain("HTTP/1.1 408 ");
    expect(answer).toContain("connection: close");
    expect(room.closings).toEqual({ room: 0, slow_sender: 1, slow_reader: 0 });
  },
);

test("a steady body is not slow, nor is one that the gateway reads late", async () => {
  const { room, pass, arrived, port } = start();
  const caller = openSocket(port);
  caller.write(`${head}\r\n`);
  for (let sent = 1; sent <= 10; sent++) {
    caller.write("x".repeat(20_000));
    await until(() => arrived() === sent * 20_000);
    pass(19);
  }
  caller.write("x".repeat(800_000));
  expect(await caller.until("\r\n\r\n")).toContain("HTTP/1.1 200 ");
  echo.stop();
  const { promise: reading, resolve: read } = Promise.withResolvers<void>();
  const waiting = start({
    answer: answeredBy(async (request) => {
      await reading;
      const bytes = await request.bytes();
      return new ServerAnswer(bytes.length === 1_000_000 ? 200 : 400, {}, null);
    }),
  });
  const other = openSocket(waiting.port);
  other.write(`${head}\r\n${"x".repeat(1_000_000)}`);
  await until(() => waiting.server.pending === 1);
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  waiting.pass(200);
  read();
  expect(await other.until("\r\n\r\n")).toContain("HTTP/1.1 200 ");
  expect([room.closings.slow_sender, waiting.room.closings.slow_sender]).toEqual([0, 0]);
});

test("an answer that is not read ends with its connection", async () => {
  const ends: (Failure | null)[] = [];
  const { room, pass, port, server } = start({
    answer: answeredBy(async (request) => {
      request.whenAnswered((failure) => void ends.push(failure));
      return new ServerAnswer(200, {}, new Uint8Array(30_000_000));
    }),
  });
  const caller = openSocket(port);
  caller.pause();
  caller.write("GET /v1/x HTTP/1.1\r\nhost: a\r\n\r\n");
  await until(() => server.memory.bytes > 0);
  pass(bounds.stalledReaderMs / 1_000 - 2);
  expect([server.connections, ends]).toEqual([1, []]);
  pass(4);
  expect([server.connections, server.memory.bytes]).toEqual([0, 0]);
  expect(room.closings.slow_reader).toBe(1);
  expect(ends).toMatchObject([{ code: "client_closed", message: "The caller read its answer too slowly." }]);
  caller.reset();
});

test("a stream with a silent upstream is not slow", async () => {
  const { promise: silence, resolve: speak } = Promise.withResolvers<void>();
  const body = (): ReadableStream<Uint8Array> => {
    let pieces = 0;
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (pieces++ > 0) await silence;
          if (pieces > 2) controller.close();
          else controller.enqueue(Buffer.from(`data: ${pieces}\n\n`));
        },
      },
      { highWaterMark: 0 },
    );
  };
  const { room, pass, port } = start({ answer: answeredBy(async () => new ServerAnswer(200, {}, body())) });
  const caller = openSocket(port);
  caller.write("GET /v1/x HTTP/1.1\r\nhost: a\r\n\r\n");
  await caller.until("data: 1");
  pass(3_600);
  speak();
  await caller.until("data: 2");
  await caller.until("0\r\n\r\n");
  expect(room.closings).toEqual({ room: 0, slow_sender: 0, slow_reader: 0 });
});

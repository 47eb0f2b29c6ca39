import { afterEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { ServerAnswer } from "#http-server/index.ts";
import { until } from "../../../test/until.ts";
import { callerConnections } from "../caller-memory.ts";
import { openSocket } from "../edge/raw-socket.ts";
import { answeredBy, type EchoServer, startEcho } from "./echo-server.ts";

let echo: EchoServer;
let sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  echo.stop();
});

/** A connection from another local address. */
async function from(localAddress: string): Promise<{ readonly text: () => string; readonly socket: Socket }> {
  let text = "";
  const socket = connect({ port: echo.port, host: "127.0.0.1", localAddress });
  sockets.push(socket);
  socket.on("error", () => {});
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
  });
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  return { text: () => text, socket };
}

const request = "GET /v1/x HTTP/1.1\r\nhost: a\r\n\r\n";

test.skipIf(process.platform !== "linux")(
  "leaves room for others when one address opens many connections, and running calls continue",
  async () => {
    const { promise: wait, resolve: answerAll } = Promise.withResolvers<void>();
    const room = callerConnections({ max: 20, isShared: () => false });
    echo = startEcho({
      connections: room,
      answer: answeredBy(async () => {
        await wait;
        return new ServerAnswer(200, {}, null);
      }),
    });
    const calls = await Promise.all(Array.from({ length: 10 }, () => from("127.0.0.2")));
    for (const { socket } of calls) socket.write(request);
    await until(() => echo.server.pending === 10);
    const refused = await from("127.0.0.2");
    await until(() => refused.socket.closed || refused.socket.readableEnded);
    expect(refused.text()).toContain("HTTP/1.1 503 ");
    const other = await from("127.0.0.3");
    other.socket.write(request);
    await until(() => echo.server.pending === 11);
    answerAll();
    await until(() => [...calls, other].every(({ text }) => text().startsWith("HTTP/1.1 200 ")));
    expect(room.refusals).toEqual({ address: 1, all: 0 });
  },
);

test("closes an idle connection to make room at the bound", async () => {
  const room = callerConnections({ max: 2 });
  echo = startEcho({ connections: room });
  const [first, second] = [openSocket(echo.port), openSocket(echo.port)];
  for (const caller of [first, second]) {
    caller.write(request);
    await caller.until("\r\n\r\n");
  }
  await until(() => echo.server.idle === 2);
  const third = openSocket(echo.port);
  third.write(request);
  expect(await third.until("\r\n\r\n")).toContain("HTTP/1.1 200 ");
  await first.closed;
  expect([room.open, room.closings.room, room.refusals.all]).toEqual([2, 1, 0]);
  for (const caller of [second, third]) caller.end();
  await until(() => room.open === 0);
});

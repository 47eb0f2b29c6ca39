import { afterEach, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { openSocket, type RawSocket } from "../../edge/raw-socket.ts";
import { FakeClock } from "../../fake-clock.ts";
import { aliceKey, type StartedGateway } from "../../started-gateway.ts";
import { socketGateway } from "./socket-ground.ts";

let gateway: StartedGateway;
afterEach(() => gateway.stop());

const handshake =
  `GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${aliceKey}\r\nconnection: upgrade\r\n` +
  "upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
/** Each is answered with an error event, so it is known to have arrived. */
const wholeMessage = "\x81\x82\0\0\0\0[]";
const unfinished = {
  frame: "\x81\xfe\x03\xe8\0\0\0\0x",
  message: "\x01\x81\0\0\0\0x",
  head: "\x81",
};

async function start(): Promise<{ socket: RawSocket; pass: (seconds: number) => void }> {
  const clock = new FakeClock();
  gateway = await socketGateway({ clock });
  const socket = openSocket(gateway.gateway.server.port);
  socket.write(handshake);
  await socket.until("HTTP/1.1 101 ");
  const pass = (seconds: number): void => {
    for (let passed = 0; passed < seconds * 2; passed++) clock.advance(500);
  };
  return { socket, pass };
}

test.each(Object.entries(unfinished))(
  "a %s whose rest does not come is a request_timeout, and ends the socket",
  async (_, bytes) => {
    const { socket, pass } = await start();
    socket.write(`${wholeMessage}${bytes}`);
    await socket.until('"type":"error"');
    pass(28);
    expect(socket.text()).not.toContain("request_timeout");
    pass(6);
    const text = await socket.closed;
    expect(text).toContain('"code":"request_timeout"');
    expect(text).toContain("The message arrived too slowly.");
  },
);

/** A part of a message, larger than the minimum rate asks for in 18 seconds, and a ping whose answer says that it has arrived. */
function part(opcode: "\x00" | "\x01"): string {
  const bytes = 20_000;
  return `${opcode}\xfe${String.fromCharCode(bytes >> 8, bytes & 255)}\0\0\0\0${"x".repeat(bytes)}\x89\x80\0\0\0\0`;
}

test("a message that keeps coming is a request_timeout after a minute", async () => {
  const { socket, pass } = await start();
  for (const opcode of ["\x01", "\x00", "\x00"] as const) {
    const from = socket.text().length;
    socket.write(part(opcode));
    await socket.untilBehind(from, "\x8a\0");
    pass(18);
  }
  socket.write(part("\x00"));
  await socket.untilBehind(socket.text().lastIndexOf("\x8a\0") + 2, "\x8a\0");
  expect(socket.text()).not.toContain("request_timeout");
  pass(7);
  const text = await socket.closed;
  expect(text).toContain('"code":"request_timeout"');
  expect(text).toContain("The message did not arrive within 60 seconds.");
});

test("a socket on which whole messages came is not slow", async () => {
  const { socket, pass } = await start();
  socket.write(unfinished.message);
  socket.write(`\x89\x80\0\0\0\0`);
  socket.write(`\x80\x80\0\0\0\0${wholeMessage}`);
  await socket.until('"type":"error"');
  pass(100);
  const from = socket.text().length;
  socket.write(wholeMessage);
  await socket.untilBehind(from, '"type":"error"');
  expect(socket.text()).not.toContain("request_timeout");
  socket.end();
  await until(() => gateway.gateway.server.sockets() === 0);
});

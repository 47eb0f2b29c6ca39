import { afterEach, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { openSocket, type RawSocket } from "../../edge/raw-socket.ts";
import { FakeClock } from "../../fake-clock.ts";
import { aliceKey, type StartedGateway } from "../../started-gateway.ts";
import { socketGateway } from "./socket-gateway.ts";

let gateway: StartedGateway;
afterEach(() => gateway.stop());

const handshake =
  `GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${aliceKey}\r\nconnection: upgrade\r\n` +
  "upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
/** The gateway answers each with an error event, which proves that it arrived. */
const wholeMessage = "\x81\x82\0\0\0\0[]";
const unfinished = {
  frame: "\x81\xfe\x03\xe8\0\0\0\0x",
  message: "\x01\x81\0\0\0\0x",
  head: "\x81",
};

async function start(): Promise<{ socket: RawSocket; advance: (seconds: number) => void }> {
  const clock = new FakeClock();
  gateway = await socketGateway({ clock });
  const socket = openSocket(gateway.gateway.server.port);
  socket.write(handshake);
  await socket.until("HTTP/1.1 101 ");
  const advance = (seconds: number): void => {
    for (let elapsed = 0; elapsed < seconds * 2; elapsed++) clock.advance(500);
  };
  return { socket, advance };
}

test.each(Object.entries(unfinished))(
  "ends the socket with request_timeout when the rest of a %s does not arrive",
  async (_, bytes) => {
    const { socket, advance } = await start();
    socket.write(`${wholeMessage}${bytes}`);
    await socket.until('"type":"error"');
    advance(28);
    expect(socket.text()).not.toContain("request_timeout");
    advance(6);
    const text = await socket.closed;
    expect(text).toContain('"code":"request_timeout"');
    expect(text).toContain("The message arrived too slowly.");
  },
);

/**
 * Part of a message, large enough for the minimum rate during 18 seconds, and a ping whose pong proves that the part
 * arrived.
 */
function part(opcode: "\x00" | "\x01"): string {
  const bytes = 20_000;
  return `${opcode}\xfe${String.fromCharCode(bytes >> 8, bytes & 255)}\0\0\0\0${"x".repeat(bytes)}\x89\x80\0\0\0\0`;
}

test("ends the socket with request_timeout when a message takes longer than a minute", async () => {
  const { socket, advance } = await start();
  for (const opcode of ["\x01", "\x00", "\x00"] as const) {
    const from = socket.text().length;
    socket.write(part(opcode));
    await socket.untilAfter(from, "\x8a\0");
    advance(18);
  }
  socket.write(part("\x00"));
  await socket.untilAfter(socket.text().lastIndexOf("\x8a\0") + 2, "\x8a\0");
  expect(socket.text()).not.toContain("request_timeout");
  advance(7);
  const text = await socket.closed;
  expect(text).toContain('"code":"request_timeout"');
  expect(text).toContain("The message did not arrive within 60 seconds.");
});

test("does not count the time between complete messages", async () => {
  const { socket, advance } = await start();
  socket.write(unfinished.message);
  socket.write(`\x89\x80\0\0\0\0`);
  socket.write(`\x80\x80\0\0\0\0${wholeMessage}`);
  await socket.until('"type":"error"');
  advance(100);
  const from = socket.text().length;
  socket.write(wholeMessage);
  await socket.untilAfter(from, '"type":"error"');
  expect(socket.text()).not.toContain("request_timeout");
  socket.end();
  await until(() => gateway.gateway.server.sockets() === 0);
});

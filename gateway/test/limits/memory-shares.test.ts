import { afterEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { until } from "../../../test/until.ts";
import { type RawUpstream, rawAnswer, startRawUpstream } from "../raw-upstream.ts";
import { aliceKey, hello, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

/**
 * Attacks of the security review by one key, scaled down. Another workspace's calls are answered during each of them.
 */
const mebibyte = 1024 * 1024;
const bobKey = "sk-bob-0123456789abcdefghij";
let gateway: StartedGateway;
let pictures: RawUpstream;
let sockets: Socket[] = [];

/** Embeddings with a large body at a low cost. */
const largeAnswer = rawAnswer(
  JSON.stringify({
    object: "list",
    data: [{ object: "embedding", index: 0, embedding: "A".repeat(12 * mebibyte) }],
    model: "vectors",
    usage: { prompt_tokens: 5, total_tokens: 5 },
  }),
  "content-type: application/json\r\n",
);

async function start(memoryBytes: number): Promise<void> {
  pictures = await startRawUpstream((socket) => void socket.write(largeAnswer));
  gateway = await startGateway({
    environment: { memoryBytes },
    providers: (simulator) => [
      upstream("main", simulator, { kind: "openai" }),
      upstream("large", simulator, { kind: "openai", base_url: pictures.url }),
    ],
    models: [
      { name: "gpt-test", deployments: [{ provider: "main", upstream_model: "upstream-gpt" }] },
      { name: "vectors", deployments: [{ provider: "large", upstream_model: "vectors" }] },
    ],
    moreWorkspaces: [{ slug: "beta", groups: [{ name: "default" }], keys: [{ name: "bob", secret: bobKey }] }],
  });
}

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await gateway.stop();
  pictures.stop();
});

/** Opens a connection of Alice's that sends `text` and collects the answer. */
function attack(text: string): { readonly socket: Socket; readonly answer: () => string } {
  let answer = "";
  const socket = connect(gateway.gateway.server.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.on("data", (bytes) => {
    answer += bytes.toString("latin1");
  });
  socket.write(text);
  sockets.push(socket);
  return { socket, answer: () => answer };
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(new RegExp(`\n${name.replace(/[{}"]/g, "\\$&")} (\\d+)`).exec(text)?.[1]);
}

const heldFor = (kind: string): Promise<number> => metric(`sluice_caller_memory_bytes{kind="${kind}"}`);

async function bobIsServed(): Promise<void> {
  for (const bytes of [100, 5_000, 100_000, mebibyte]) {
    const body = { ...hello, messages: [{ role: "user", content: "x".repeat(bytes) }] };
    const answer = await gateway.chat(body, { key: bobKey });
    expect([bytes, answer.status, answer.status === 200 ? "" : await answer.text()]).toEqual([bytes, 200, ""]);
  }
}

const head = (bytes: number, path = "/v1/chat/completions"): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${aliceKey}\r\n` +
  `content-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`;

test("answers another workspace's calls while one key holds unfinished bodies of all sizes", async () => {
  // 20 MiB for large bodies, 4 MiB for small ones.
  await start(64 * mebibyte);
  const refused: (() => string)[] = [];
  for (const bytes of [...Array(12).fill(2 * mebibyte), ...Array(60).fill(200_000)] as number[]) {
    refused.push(attack(head(bytes) + " ".repeat(bytes - 1)).answer);
  }
  // Each is held, or refused because of the held ones.
  const isOver = (answer: string): boolean => answer.startsWith("HTTP/1.1 429 ");
  await until(async () => {
    const over = refused.filter((answer) => isOver(answer())).length;
    return over > 0 && (await heldFor("request")) >= (12 * mebibyte * 8) / 10;
  });
  await bobIsServed();
  expect(await metric('sluice_caller_memory_refusals_total{kind="request",cause="key"}')).toBeGreaterThan(0);
  expect(await metric('sluice_caller_memory_refusals_total{kind="request",cause="all"}')).toBe(0);
  for (const socket of sockets) socket.destroy();
  await until(async () => (await heldFor("request")) === 0);
});

test("answers another workspace's calls while one key's large answers are not read, and counts these for that key", async () => {
  // 80 MiB for large bodies. An answer counts twice while it is read.
  await start(256 * mebibyte);
  const ask = JSON.stringify({ model: "vectors", input: "hello" });
  const attacks = Array.from({ length: 6 }, () => attack(head(ask.length, "/v1/embeddings")));
  for (const { socket } of attacks) {
    socket.pause();
    socket.write(ask);
  }
  const refused = 'sluice_caller_memory_refusals_total{kind="answer",cause="key"}';
  await until(async () => (await metric(refused)) > 0 && (await heldFor("unread")) >= 4 * mebibyte);
  await bobIsServed();
  for (const socket of sockets) socket.destroy();
  await until(async () => (await heldFor("unread")) === 0);
});

const handshake =
  `GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${aliceKey}\r\nconnection: upgrade\r\n` +
  "upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/** The head of a masked text frame that declares this many bytes, and all but one of them. */
function unfinishedFrame(bytes: number): Buffer {
  const frame = Buffer.alloc(14 + bytes - 1, 0x20);
  frame[0] = 0x81;
  frame[1] = 0xff;
  frame.writeBigUint64BE(BigInt(bytes), 2);
  frame.fill(0, 10, 14);
  return frame;
}

test("answers another workspace's calls while one key's WebSocket messages do not end, each counted by its declared size", async () => {
  // 20 MiB for large bodies, 4 MiB for small ones.
  await start(64 * mebibyte);
  const attacks = Array.from({ length: 12 }, () => attack(handshake));
  await until(() => attacks.every(({ answer }) => answer().startsWith("HTTP/1.1 101 ")));
  for (const { socket } of attacks) socket.write(unfinishedFrame(2 * mebibyte));
  // A message without room is refused with an event, and its socket is closed.
  const refused = attacks.map(({ answer }) => answer);
  await until(() => refused.filter((answer) => answer().includes('"code":"rate_limit_exceeded"')).length >= 9);
  await bobIsServed();
  expect(await heldFor("frame")).toBeGreaterThan(0);
  expect(await heldFor("frame")).toBeLessThanOrEqual(10 * mebibyte);
  for (const socket of sockets) socket.destroy();
  await until(async () => (await heldFor("frame")) === 0);
});

test("releases a message once it has arrived, whole or in fragments", async () => {
  // 20 MiB for large bodies, 4 MiB for small ones.
  await start(64 * mebibyte);
  const { socket, answer } = attack(handshake);
  await until(() => answer().startsWith("HTTP/1.1 101 "));
  const bytes = mebibyte;
  const whole = unfinishedFrame(bytes);
  socket.write(whole);
  await until(async () => (await heldFor("frame")) === 2 * bytes);
  socket.write(" ");
  // Spaces are no request and are refused.
  await until(() => answer().includes('"type":"error"'));
  await until(async () => (await heldFor("frame")) === 0);
  const fragment = unfinishedFrame(bytes);
  fragment[0] = 0x01;
  socket.write(Buffer.concat([fragment, Buffer.from(" ")]));
  const ping = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);
  socket.write(ping);
  fragment[0] = 0x80;
  socket.write(fragment);
  await until(async () => (await heldFor("frame")) === 4 * bytes);
  socket.write(" ");
  await until(async () => (await heldFor("frame")) === 0);
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { bounds } from "#core/index.ts";
import { until, untilStable } from "../../../../test/until.ts";
import { openSocket as openRaw } from "../../edge/raw-socket.ts";
import { aliceKey, type StartedGateway } from "../../started-gateway.ts";
import { type Frame, openSocket, socketGateway, type TestSocket } from "./socket-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await socketGateway();
});
afterAll(() => gateway.stop());

const request = { model: "openai", store: false, input: "hi" };
const errorIn = (frame: Frame): Record<string, unknown> => ({ status: frame["status"], ...(frame["error"] as object) });

async function errorFor(socket: TestSocket, frame: object | string): Promise<Record<string, unknown>> {
  const from = socket.frames.length;
  socket.send(frame);
  return errorIn(await socket.until("error", from));
}

test("returns an error for an invalid frame and keeps the socket open", async () => {
  const socket = await openSocket(gateway);
  for (const [frame, code, param] of [
    ["{", "invalid_json", null],
    ["[]", "invalid_json", null],
    ["", "invalid_json", null],
    [{}, "missing_required_parameter", "type"],
    [{ type: "response.stear", input: "x" }, "invalid_request", "type"],
    [{ type: "response.create", input: "x" }, "missing_required_parameter", "model"],
    [{ type: "response.create", model: 5, input: "x" }, "invalid_request", "model"],
    [{ type: "response.create", ...request, stream_id: 5 }, "invalid_request", "stream_id"],
    [{ type: "response.create", ...request, background: true }, "invalid_request", "background"],
    [{ type: "response.create", ...request, previous_response_id: 5 }, "invalid_request", "previous_response_id"],
    [{ type: "response.create", ...request, input: 5 }, "invalid_request", "input"],
    [
      { type: "response.create", ...request, previous_response_id: "resp_1" },
      "previous_response_not_found",
      "previous_response_id",
    ],
    [
      { type: "response.create", ...request, generate: false, previous_response_id: "resp_1" },
      "previous_response_not_found",
      "previous_response_id",
    ],
    [
      { type: "response.create", ...request, model: "chat", previous_response_id: "resp_1" },
      "previous_response_not_found",
      "previous_response_id",
    ],
    ['{"type":"response.create","type":"response.create","model":"openai","input":"x"}', "invalid_json", null],
    [{ type: "response.create", ...request, Model: "claude" }, "invalid_request", "Model"],
  ] as const) {
    expect({ frame, ...(await errorFor(socket, frame)) }).toMatchObject({ frame, status: 400, code });
    if (param !== null) expect(errorIn(socket.frames.at(-1) as Frame)["param"]).toBe(param);
  }
  expect(await errorFor(socket, { type: "response.create", ...request, model: "missing" })).toMatchObject({
    status: 404,
    code: "model_not_found",
  });
  expect(
    await errorFor(socket, { type: "response.create", ...request, model: "missing", generate: false }),
  ).toMatchObject({
    status: 404,
  });
  expect((await socket.ask(request)).at(-1)?.type).toBe("response.completed");
  socket.close();
});

test("names the lane of an error, and returns an upstream's error with its status and message", async () => {
  const socket = await openSocket(gateway);
  const script = '[[sim {"status":429,"retry_after":900,"error_message":"slow down"}]]';
  const frame = { type: "response.create", stream_id: 'a"b', ...request, input: `hi ${script}` };
  expect(await errorFor(socket, frame)).toMatchObject({ status: 429 });
  expect(socket.frames.at(-1)?.["stream_id"]).toBe('a"b');
  socket.close();
});

test("keeps the socket open after an upstream rejects a call", async () => {
  const socket = await openSocket(gateway);
  const script = '[[sim {"status":403,"error_message":"not in your country"}]]';
  const refused = await errorFor(socket, { type: "response.create", ...request, input: `hi ${script}` });
  expect(refused["status"]).toBeGreaterThanOrEqual(400);
  expect((await socket.ask(request)).at(-1)?.type).toBe("response.completed");
  socket.close();
});

test("reports a stream that breaks off as a failed response and keeps the socket open", async () => {
  const socket = await openSocket(gateway);
  const frames = await socket.ask({ ...request, input: 'hi [[sim {"tokens":9,"event_ms":8,"cut_after_events":6}]]' });
  expect(frames.some(({ type }) => type === "error")).toBe(true);
  await socket.until("response.failed");
  expect((await socket.ask(request)).at(-1)?.type).toBe("response.completed");
  socket.close();
});

test("limits the number of lanes and of waiting requests", async () => {
  const socket = await openSocket(gateway);
  for (let lane = 0; lane <= bounds.socketLanesMax; lane++) {
    socket.send({ type: "response.create", stream_id: `lane-${lane}`, ...request, generate: false });
  }
  expect(errorIn(await socket.until("error"))).toMatchObject({ status: 400, code: "websocket_stream_limit_reached" });
  const from = socket.frames.length;
  const slow = { ...request, input: 'hi [[sim {"tokens":200,"event_ms":20}]]' };
  for (let time = 0; time < bounds.socketWaitingMax + 2; time++) {
    socket.send({ type: "response.create", stream_id: "lane-0", ...slow });
  }
  const refused = await socket.until("error", from);
  expect(errorIn(refused)).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
  expect(refused["stream_id"]).toBe("lane-0");
  socket.close();
  await until(() => gateway.gateway.outstanding() === 0);
});

test("returns an error for a frame that is too large and keeps the socket open", async () => {
  const socket = await openSocket(gateway);
  for (const text of [
    "x".repeat(bounds.socketFrameBytesMax + 1),
    "\u20ac".repeat(bounds.socketFrameBytesMax / 3 + 1),
  ]) {
    const error = await errorFor(socket, text);
    expect(error).toMatchObject({ status: 413, code: "request_too_large" });
    expect(error["message"]).toContain("POST /v1/responses");
  }
  expect((await socket.ask(request)).at(-1)?.type).toBe("response.completed");
  socket.close();
});

test("answers a steering request like OpenAI where steering is not supported", async () => {
  const socket = await openSocket(gateway);
  const input = [{ role: "user", content: "and \u20ac" }];
  for (const [frame, code] of [
    [{ previous_response_id: "resp_1", input }, "steering_not_supported"],
    [{ previous_response_id: "resp_1", input: "more" }, "steering_not_supported"],
    [{ previous_response_id: "resp_1" }, "invalid_input"],
    [{ input: "more" }, "invalid_input"],
  ] as const) {
    const from = socket.frames.length;
    socket.send({ type: "response.steer", ...frame });
    expect(await socket.until("response.steer.failed", from)).toMatchObject({
      sequence_number: 0,
      error: { type: "invalid_request_error", code },
      steer: frame,
    });
  }
  expect((await socket.ask(request)).at(-1)?.type).toBe("response.completed");
  socket.close();
});

test("closes the socket after a binary frame and after a far too large one", async () => {
  const binary = await openSocket(gateway);
  binary.socket.send(new Uint8Array([1, 2, 3]));
  expect((await binary.untilClosed()).code).toBe(1003);
  const large = await openSocket(gateway);
  large.send("x".repeat(bounds.socketFrameReadBytesMax + 1));
  expect([1006, 1009]).toContain((await large.untilClosed()).code);
});

const handshake = [
  "GET /v1/responses HTTP/1.1",
  "host: localhost",
  "connection: Upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
  `authorization: Bearer ${aliceKey}`,
  "\r\n",
].join("\r\n");

/** A masked frame of up to 65,535 bytes. */
function rawFrame(opcode: number, payload: string, final = true): string {
  const bytes = Buffer.from(payload);
  const size = bytes.length < 126 ? [bytes.length] : [126, bytes.length >> 8, bytes.length & 255];
  const head = [(final ? 0x80 : 0) | opcode, 0x80 | (size[0] ?? 0), ...size.slice(1), 0, 0, 0, 0];
  return Buffer.concat([Buffer.from(head), bytes]).toString("latin1");
}

test("answers the handshake, a ping, a fragmented request and a close on the wire", async () => {
  const socket = openRaw(gateway.gateway.server.port);
  socket.write(handshake);
  const head = await socket.until("\r\n\r\n");
  expect(head).toStartWith("HTTP/1.1 101");
  expect(head.toLowerCase()).toContain("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=");
  expect(head.toLowerCase()).toContain("x-request-id: req_");
  socket.write(rawFrame(9, "are you there"));
  await socket.until("\x8a\x0dare you there");
  const text = JSON.stringify({ type: "response.create", ...request });
  socket.write(rawFrame(1, text.slice(0, 20), false));
  socket.write(rawFrame(0, text.slice(20)));
  await socket.until('"type":"response.completed"');
  socket.write(rawFrame(8, "\x03\xe8"));
  await socket.until("\x88");
  socket.end();
});

test("pauses the upstream while a caller reads nothing, blocks no other caller, and sends the rest later", async () => {
  // Five events of this size exceed what the system's socket buffers may hold (32 MiB, plus 4 MiB per connection).
  const giantBytes = 16_000_000;
  const socket = connect(gateway.gateway.server.port, "127.0.0.1");
  let text = "";
  socket.on("data", (data) => {
    text += data.toString("latin1");
  });
  socket.write(handshake, "latin1");
  await until(() => text.includes("\r\n\r\n"));
  socket.pause();
  const script = `[[sim {"tokens":20000,"giant_event_bytes":${giantBytes}}]]`;
  socket.write(rawFrame(1, JSON.stringify({ type: "response.create", ...request, input: `hi ${script}` })), "latin1");
  const upstreamCall = () => gateway.simulator.simulator.truth.list().data.at(-1);
  await until(() => upstreamCall()?.events_emitted);
  await untilStable(() => upstreamCall()?.bytes_emitted ?? 0);
  expect(upstreamCall()?.terminal_sent).toBe(false);
  const other = await openSocket(gateway);
  expect((await other.ask(request)).at(-1)?.type).toBe("response.completed");
  other.close();
  socket.resume();
  await until(() => text.includes('"type":"response.completed"'));
  socket.destroy();
  await until(() => gateway.gateway.outstanding() === 0);
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { systemClock } from "#system/index.ts";
import { outbound } from "../../test/outbound.ts";
import { createTransport } from "./index.ts";

/** A certificate for upstream.example that signs itself, and its key; used nowhere but here. */
const fixtures = new URL("../../test/fixtures/tls/", import.meta.url).pathname;
const never = new AbortController().signal;
const resolve = async () => ["127.0.0.1"];
let authority = "";
let served = 0;
let received = 0;
let stop = async () => {};
let port = 0;

beforeAll(async () => {
  authority = await Bun.file(`${fixtures}upstream.example.cert.pem`).text();
  const server = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: authority, key: Bun.file(`${fixtures}upstream.example.key.pem`) },
    fetch: async (request) => {
      served++;
      received = (await request.arrayBuffer()).byteLength;
      return new Response(request.headers.get("host"));
    },
  });
  port = server.port ?? 0;
  stop = () => server.stop(true);
});
afterAll(() => stop());

async function send(host: string, authorities: readonly string[] | undefined) {
  const transport = createTransport({ clock: systemClock, resolve, ...(authorities ? { authorities } : {}) });
  const { body } = await transport.send(outbound(`https://${host}:${port}/`), never);
  return new TextDecoder().decode(await body.readAll(1_000, "idle", 5_000));
}

const code = (promise: Promise<unknown>) =>
  promise
    .then(() => "sent")
    .catch((thrown: unknown) => (thrown instanceof Error && "code" in thrown ? thrown.code : thrown));

test("the certificate is verified against the name, not the dialed address", async () => {
  expect(await send("upstream.example", [authority])).toBe(`upstream.example:${port}`);
});

test("a streamed body arrives over TLS", async () => {
  const transport = createTransport({ clock: systemClock, resolve, authorities: [authority] });
  const body = { size: 3_000_000, open: () => new Blob([new Uint8Array(3_000_000)]).stream() };
  await transport.send(outbound(`https://upstream.example:${port}/`, { body }), never);
  expect(received).toBe(3_000_000);
});

test("a certificate for another name or of an unknown authority is refused before anything is sent", async () => {
  const before = served;
  expect(await code(send("other.example", [authority]))).toBe("upstream_unreachable");
  expect(await code(send("127.0.0.1", [authority]))).toBe("upstream_unreachable");
  expect(await code(send("upstream.example", undefined))).toBe("upstream_unreachable");
  expect(served).toBe(before);
});

test("a literal address is reached over TLS, and its certificate is checked", async () => {
  const failure = await send("127.0.0.1", undefined).catch((thrown: unknown) => thrown);
  expect(failure).toMatchObject({ accountFault: "certificate", arrival: "unsent" });
});

test("an authority that cannot be read is one failure, and nothing was sent", async () => {
  const transport = createTransport({ clock: systemClock, resolve, authorities: ["unreadable"] });
  const outcomes: unknown[] = [];
  await new Promise<void>((ended) => {
    const record = (outcome: unknown): void => {
      outcomes.push(outcome);
      ended();
    };
    transport.begin(outbound(`https://upstream.example:${port}/`), never, { onAnswer: record, onFailure: record });
  });
  await new Promise((later) => setImmediate(later));
  expect(outcomes).toMatchObject([{ code: "upstream_unreachable", arrival: "unsent" }]);
});

test("a port without TLS is refused", async () => {
  const plain = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (s) => void s.end("HTTP/1.1 400\r\n\r\n") },
  });
  const transport = createTransport({ clock: systemClock, resolve });
  const sent = transport.send(outbound(`https://upstream.example:${plain.port}/`), never);
  expect(await code(sent)).toBe("upstream_unreachable");
  plain.stop(true);
});

test("the port of these tests accepts plain connections", async () => {
  await new Promise<void>((connected, failed) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      connected();
    }).on("error", failed);
  });
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../test/acceptance/free-port.ts";
import { aliceKey, hello, type StartedGateway, startGateway } from "../started-gateway.ts";
import { openSocket, rawExchange } from "./raw-socket.ts";
import { noNginx, startNginx } from "./started-nginx.ts";

const isMissing = noNginx("path rules are not tested behind a real one") !== null;

let gateway: StartedGateway;
/** The ports of a proxy that only has path rules, and of the proxy in the documentation. */
let port: number;
let documentedPort: number;
let stopProxy: () => Promise<void> = async () => undefined;
const callerKey = "sk-caller-0123456789abcdefghij";
beforeAll(async () => {
  if (isMissing) return;
  gateway = await startGateway({
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "caller", secret: callerKey, allowed_ips: ["203.0.113.7"] },
    ],
    environment: { trustedProxies: ["127.0.0.1"] },
  });
  port = await freePort();
  documentedPort = await freePort();
  stopProxy = await startNginx(configuration(gateway.gateway.server.port), port);
});
afterAll(async () => {
  await stopProxy();
  await gateway?.stop();
});

/** Forwards only calls: the path rules that an operator would write, with nginx's default settings. */
const configuration = (upstream: number): string => `
  server {
    listen 127.0.0.1:${port};
    location /v1/ { proxy_pass http://127.0.0.1:${upstream}; }
    location / { return 403; }
  }
  ${documentedServer(upstream)}
`;

/** The configuration in docs/operations/network.md with other ports. */
function documentedServer(upstream: number): string {
  const page = readFileSync(join(import.meta.dir, "..", "..", "..", "docs", "operations", "network.md"), "utf8");
  const block = /```nginx\n([\s\S]+?)```/.exec(page)?.[1] ?? "";
  return block.replace("listen 80;", `listen 127.0.0.1:${documentedPort};`).replace(":8787;", `:${upstream};`);
}

const get = (target: string) =>
  rawExchange(port, `GET ${target} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${aliceKey}\r\n`);

test
  .skipIf(isMissing)
  .each([
    "/metrics",
    "/v1/..\\metrics",
    "/v1/..\\api\\status",
    "/v1/..\\console\\",
    "/v1/..\\docs",
    "/v1/..\\openapi.json",
    "/v1/x\\..\\..\\metrics",
    "/v1/../metrics",
    "/v1/%2e%2e/metrics",
    "/v1/%2e%2e%2fmetrics",
    "/v1/%2e%2e%5cmetrics",
    "/v1/..%5c..%5cmetrics",
    "/v1/..;/metrics",
    "/v1/.\\..\\metrics",
    "/v1//..\\metrics",
    "/v1/\\metrics",
    "/v1/models/..\\..\\metrics",
  ])("refuses GET %s behind a proxy that only passes /v1/", async (target) => {
  const { status, text } = await get(target);
  expect([400, 403]).toContain(status);
  expect(text).not.toMatch(/sluice_|"version"|<html lang="en"|"openapi"/);
});

test.skipIf(isMissing)("answers calls through the proxy", async () => {
  expect((await get("/v1/models")).status).toBe(200);
});

test.skipIf(isMissing)("streams event by event, although the proxy buffers answers by default", async () => {
  const content = 'hi [[sim {"stall_after_events":1}]]';
  const body = JSON.stringify({ ...hello, messages: [{ role: "user", content }], stream: true });
  const socket = openSocket(port);
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${aliceKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  // The upstream becomes silent after its first event, so this event arrives only if nothing is buffered.
  expect(await socket.until("data: {")).toStartWith("HTTP/1.1 200");
  socket.end();
});

test.skipIf(isMissing)("accepts a large body behind the documented proxy and reads the caller's address", async () => {
  const large = JSON.stringify({ ...hello, user: "x".repeat(3 * 1024 * 1024) });
  const post = (key: string, text: string, address: string) =>
    rawExchange(
      documentedPort,
      `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\nx-forwarded-for: ${address}\r\n` +
        `forwarded: for=${address}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n`,
      text,
    );
  expect((await post(aliceKey, large, "203.0.113.7")).status).toBe(200);
  // The proxy appends its peer, this machine, which is trusted. The address before it is therefore the caller's.
  expect((await post(callerKey, JSON.stringify(hello), "203.0.113.7")).status).toBe(200);
  expect((await post(callerKey, JSON.stringify(hello), "203.0.113.8")).status).toBe(403);
});

test.skipIf(isMissing)("passes a header with an underscore to the upstream behind the documented proxy", async () => {
  const text = JSON.stringify({ ...hello, user: "underscore" });
  const head =
    `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${aliceKey}\r\nsession_id: conversation-1\r\n` +
    `content-type: application/json\r\ncontent-length: ${text.length}\r\n`;
  expect((await rawExchange(documentedPort, head, text)).status).toBe(200);
  const records = gateway.simulator.simulator.truth.list().data;
  expect(records.find(({ body_text }) => body_text?.includes('"underscore"'))?.request_headers).toMatchObject({
    session_id: "conversation-1",
  });
});

test.skipIf(isMissing)(
  "accepts a WebSocket behind the documented proxy, and returns 426 behind one without WebSocket support",
  async () => {
    const lines = [
      "GET /v1/responses HTTP/1.1",
      "host: a",
      "connection: Upgrade",
      "upgrade: websocket",
      "sec-websocket-version: 13",
      "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
      `authorization: Bearer ${aliceKey}`,
      "\r\n",
    ];
    for (const [at, status] of [
      [documentedPort, 101],
      [port, 426],
    ] as const) {
      const socket = openSocket(at);
      socket.write(lines.join("\r\n"));
      expect(await socket.until("\r\n\r\n")).toStartWith(`HTTP/1.1 ${status}`);
      socket.end();
    }
  },
);

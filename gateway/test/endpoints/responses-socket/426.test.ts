import { afterAll, beforeAll, expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { until } from "../../../../test/until.ts";
import { rawExchange } from "../../edge/raw-socket.ts";
import { aliceKey, errorOf, type StartedGateway } from "../../started-gateway.ts";
import { bobKey, openSocket, socketGateway } from "./socket-gateway.ts";

const carolKey = "sk-carol-0123456789abcdefghij";
const daveKey = "sk-dave-0123456789abcdefghijk";
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await socketGateway({
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "carol", secret: carolKey },
      { name: "dave", secret: daveKey },
      { name: "bob", secret: bobKey, models: ["others-*"] },
    ],
  });
});
afterAll(() => gateway.stop());

interface Upgrade {
  readonly path?: string;
  readonly key?: string;
  readonly version?: string;
  readonly protocol?: string;
}

function upgrade({ path = "/v1/responses", key = aliceKey, version = "13", protocol = "websocket" }: Upgrade) {
  const lines = [
    `GET ${path} HTTP/1.1`,
    "host: localhost",
    ...(protocol === "" ? [] : [`upgrade: ${protocol}`]),
    `sec-websocket-version: ${version}`,
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    `authorization: Bearer ${key}`,
  ];
  return rawExchange(gateway.gateway.server.port, lines.join("\r\n"));
}

function errorIn(text: string): { readonly code: string; readonly message: string } {
  return (JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4)) as { error: { code: string; message: string } }).error;
}

test("returns 426 with a reason and an alternative when the key may use no model for a WebSocket", async () => {
  for (const protocol of ["websocket", "WebSocket"]) {
    const answer = await upgrade({ key: bobKey, protocol });
    expect(answer.status).toBe(426);
    expect(answer.text).toMatch(/\r\nupgrade: HTTP\/1\.1\r\n/i);
    const { code, message } = errorIn(answer.text);
    expect(code).toBe("websocket_unavailable");
    expect(message).toContain("No model of this key");
    expect(message).toContain("POST /v1/responses");
  }
});

test("returns 426 with the supported version when the handshake names another", async () => {
  const answer = await upgrade({ version: "8" });
  expect(answer.status).toBe(426);
  expect(answer.text).toMatch(/\r\nsec-websocket-version: 13\r\n/i);
  expect(errorIn(answer.text).code).toBe("websocket_unavailable");
});

test("returns 426 and names the proxy when the upgrade header is missing", async () => {
  const answer = await upgrade({ protocol: "" });
  expect(answer.status).toBe(426);
  expect(errorIn(answer.text).message).toContain("proxy");
});

test("limits the sockets of one key without affecting other keys", async () => {
  const open = await Promise.all(Array.from({ length: bounds.socketsOfKeyMax }, () => openSocket(gateway)));
  const refused = await upgrade({});
  expect([refused.status, errorIn(refused.text).message.includes("The key")]).toEqual([426, true]);
  const other = await openSocket(gateway, { key: carolKey });
  open[0]?.close();
  await until(async () =>
    (await (await gateway.get("/metrics")).text()).includes(`sluice_websockets_open ${open.length}`),
  );
  const again = await openSocket(gateway);
  for (const socket of [...open, other, again]) socket.close();
});

test("counts sockets that are still opening, so that simultaneous handshakes stay within the limit of a key", async () => {
  const opening = Array.from({ length: bounds.socketsOfKeyMax + 20 }, () => openSocket(gateway, { key: daveKey }));
  const results = await Promise.allSettled(opening);
  const open = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  for (const socket of open) socket.close();
  expect(open).toHaveLength(bounds.socketsOfKeyMax);
});

test("returns 401 for an unknown key", async () => {
  expect((await upgrade({ key: "sk-unknown-0123456789abcdefghij" })).status).toBe(401);
});

test("returns 405 for a plain GET, and for a WebSocket on another endpoint", async () => {
  expect(await errorOf(await gateway.get("/v1/responses"))).toMatchObject({ status: 405, code: "method_not_allowed" });
  expect((await upgrade({ path: "/v1/chat/completions" })).status).toBe(405);
  expect((await upgrade({ path: "/v1/models" })).status).toBe(200);
});

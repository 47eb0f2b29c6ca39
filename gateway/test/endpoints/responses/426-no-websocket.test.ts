import { afterAll, beforeAll, expect, test } from "bun:test";
import { rawExchange } from "../../edge/raw-socket.ts";
import { aliceKey, errorOf, type StartedHouse, startHouse } from "../../started-house.ts";

let house: StartedHouse;
beforeAll(async () => {
  house = await startHouse();
});
afterAll(() => house.stop());

function upgrade(path: string, key: string, protocol = "websocket"): Promise<{ status: number; text: string }> {
  const lines = [
    `GET ${path} HTTP/1.1`,
    "host: localhost",
    `upgrade: ${protocol}`,
    "sec-websocket-version: 13",
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    `authorization: Bearer ${key}`,
  ];
  return rawExchange(house.house.server.port, lines.join("\r\n"));
}

test("a WebSocket that cannot be had is 426 at once, with a reason and a way that can", async () => {
  for (const protocol of ["websocket", "WebSocket"]) {
    const answer = await upgrade("/v1/responses", aliceKey, protocol);
    expect(answer.status).toBe(426);
    expect(answer.text).toMatch(/\r\nupgrade: HTTP\/1\.1\r\n/i);
    const { error } = JSON.parse(answer.text.slice(answer.text.indexOf("\r\n\r\n") + 4)) as {
      error: { code: string; message: string };
    };
    expect(error.code).toBe("websocket_unavailable");
    expect(error.message).toContain("POST /v1/responses");
  }
});

test("whoever has no key is told that first", async () => {
  expect((await upgrade("/v1/responses", "sk-nobody-0123456789abcdefghij")).status).toBe(401);
});

test("a GET that asks for no WebSocket is 405, and so is a WebSocket where there never is one", async () => {
  expect(await errorOf(await house.get("/v1/responses"))).toMatchObject({ status: 405, code: "method_not_allowed" });
  expect((await upgrade("/v1/chat/completions", aliceKey)).status).toBe(405);
  expect((await upgrade("/v1/models", aliceKey)).status).toBe(200);
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway } from "../started-gateway.ts";
import { openSocket } from "./raw-socket.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test.each(["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "PROPFIND"])(
  "returns 405 for the method %s",
  async (method) => {
    const port = Number(new URL(gateway.url).port);
    const socket = openSocket(port);
    socket.write(
      `${method} /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${aliceKey}\r\nconnection: close\r\n\r\n`,
    );
    const text = await socket.closed;
    expect(text).toStartWith("HTTP/1.1 405");
    expect(text).toContain("Use GET");
  },
);

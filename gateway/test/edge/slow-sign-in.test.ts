import { afterEach, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { until } from "../../../test/until.ts";
import { type StartedGateway, startGateway } from "../started-gateway.ts";

let gateway: StartedGateway;
let sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await gateway.stop();
});

/** Sends one byte of a sign-in body and resolves after the server has read the head. */
async function slowSignIn(): Promise<Socket> {
  const socket = connect(gateway.gateway.server.port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {});
  let answer = "";
  socket.on("data", (bytes) => {
    answer += bytes.toString("latin1");
  });
  socket.write(
    "POST /api/auth/sign-in/email HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n" +
      "sec-fetch-site: same-origin\r\nexpect: 100-continue\r\ncontent-length: 60\r\n\r\n",
  );
  await until(() => answer.includes("100 Continue"));
  socket.write("{");
  return socket;
}

const openFiles = (): number => readdirSync("/proc/self/fd").length;

test.skipIf(process.platform !== "linux")("an incomplete body needs one file descriptor", async () => {
  gateway = await startGateway();
  await slowSignIn();
  const before = openFiles();
  const count = 30;
  await Promise.all(Array.from({ length: count }, slowSignIn));
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  // One descriptor here and one in the gateway, and ten for other work.
  expect(openFiles() - before).toBeLessThan(2 * count + 10);
});

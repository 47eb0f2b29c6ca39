import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../test/acceptance/free-port.ts";
import { aliceKey, hello, type StartedHouse, startHouse } from "../started-house.ts";
import { openSocket, rawExchange } from "./raw-socket.ts";

const nginx = Bun.which("nginx") ?? Bun.which("nginx", { PATH: "/usr/sbin:/usr/local/sbin" });
if (nginx === null) console.warn("skipped: nginx is not installed, so path rules are not tried behind a real one");

let house: StartedHouse;
let folder: string;
let port: number;
let server: ReturnType<typeof Bun.spawn> | null = null;
beforeAll(async () => {
  if (nginx === null) return;
  house = await startHouse();
  port = await freePort();
  folder = mkdtempSync(join(tmpdir(), "sluice-nginx-"));
  writeFileSync(join(folder, "nginx.conf"), configuration(house.house.server.port));
  server = Bun.spawn([nginx, "-p", folder, "-e", "error.log", "-c", "nginx.conf"], {
    stdout: "ignore",
    stderr: "ignore",
  });
  while (server.exitCode === null && !(await listens())) await Bun.sleep(10);
});
afterAll(async () => {
  server?.kill();
  await server?.exited;
  await house?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** Calls come through, and nothing else: the rules that an operator would write, and no more of nginx's own settings. */
const configuration = (upstream: number): string => `
daemon off;
master_process off;
pid nginx.pid;
error_log error.log;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {
    listen 127.0.0.1:${port};
    location /v1/ { proxy_pass http://127.0.0.1:${upstream}; }
    location / { return 403; }
  }
}
`;

async function listens(): Promise<boolean> {
  return await fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );
}

const get = (target: string) =>
  rawExchange(port, `GET ${target} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${aliceKey}\r\n`);

test
  .skipIf(nginx === null)
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
  ])("behind a proxy that lets /v1/ through and nothing else, GET %s is refused", async (target) => {
  const { status, text } = await get(target);
  expect([400, 403]).toContain(status);
  expect(text).not.toMatch(/sluice_|"version"|<html lang="en"|"openapi"/);
});

test.skipIf(nginx === null)("what the proxy lets through works", async () => {
  expect((await get("/v1/models")).status).toBe(200);
});

test.skipIf(nginx === null)(
  "a stream comes through event for event, though the proxy keeps answers back by default",
  async () => {
    const body = JSON.stringify({ ...hello, stream: true });
    const socket = openSocket(port);
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${aliceKey}\r\n` +
        `content-type: application/json\r\nx-sim-script: {"stall_after_events":1}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    // The upstream goes silent after its first event, and never ends: what has come by then came unbuffered.
    expect(await socket.until("data: {")).toStartWith("HTTP/1.1 200");
    socket.end();
  },
);

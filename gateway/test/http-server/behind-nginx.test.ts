import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../test/acceptance/free-port.ts";
import { until } from "../../../test/until.ts";
import { openSocket } from "../edge/raw-socket.ts";
import { goodRequests, refusedRequests } from "../http1/vectors.ts";
import { type EchoServer, startEcho } from "./echo-server.ts";

const nginx = Bun.which("nginx") ?? Bun.which("nginx", { PATH: "/usr/sbin:/usr/local/sbin" });
if (nginx === null) console.warn("skipped: nginx is not installed, so nothing is smuggled through a real one");

let echo: EchoServer;
let folder: string;
let port: number;
let proxy: ReturnType<typeof Bun.spawn> | null = null;
beforeAll(async () => {
  if (nginx === null) return;
  echo = startEcho();
  port = await freePort();
  folder = mkdtempSync(join(tmpdir(), "sluice-nginx-"));
  writeFileSync(join(folder, "nginx.conf"), configuration());
  proxy = Bun.spawn([nginx, "-p", folder, "-e", "error.log", "-c", "nginx.conf"], {
    stdout: "ignore",
    stderr: "ignore",
  });
  await until(async () => proxy?.exitCode !== null || (await listens()));
});
afterAll(async () => {
  proxy?.kill();
  await proxy?.exited;
  echo?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** A part of the paths is nobody's business; connections to the server behind are kept, and bodies passed on as they come. */
const configuration = (): string => `
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
  upstream behind { server 127.0.0.1:${echo.port}; keepalive 4; }
  server {
    listen 127.0.0.1:${port};
    location /smuggled { return 403; }
    location / {
      proxy_pass http://behind;
      proxy_http_version 1.1;
      proxy_set_header connection "";
      proxy_request_buffering off;
      proxy_next_upstream off;
    }
  }
}
`;

async function listens(): Promise<boolean> {
  return await fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );
}

const smuggled = "GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n";
const inBody = (head: string, body: string): string => `POST /x HTTP/1.1\r\nhost: a\r\n${head}\r\n${body}`;
const tricks: readonly (readonly [what: string, text: string])[] = [
  [
    "a length in front of chunks",
    inBody("content-length: 6\r\ntransfer-encoding: chunked\r\n", `0\r\n\r\n${smuggled}`),
  ],
  ["chunks under another name", inBody(`content-length: 5\r\ntransfer-encoding : chunked\r\n`, `0\r\n\r\n${smuggled}`)],
  ["chunks behind a tab", inBody(`content-length: 5\r\ntransfer-encoding:\tchunked\r\n`, `0\r\n\r\n${smuggled}`)],
  [
    "chunks behind a vertical tab",
    inBody(`content-length: 5\r\ntransfer-encoding:\x0bchunked\r\n`, `0\r\n\r\n${smuggled}`),
  ],
  [
    "a coding that is no chunks",
    inBody("content-length: 5\r\ntransfer-encoding: xchunked\r\n", `0\r\n\r\n${smuggled}`),
  ],
  [
    "a coding with an underscore",
    inBody("content-length: 5\r\ntransfer_encoding: chunked\r\n", `0\r\n\r\n${smuggled}`),
  ],
  ["chunks that end with line feeds", inBody("transfer-encoding: chunked\r\n", `5\nhello\n0\n\n${smuggled}`)],
  ["a size with a sign", inBody("transfer-encoding: chunked\r\n", `+0\r\n\r\n${smuggled}`)],
  ["a size that runs over", inBody("transfer-encoding: chunked\r\n", `10000000000000000\r\n\r\n${smuggled}`)],
  ["a body of a GET", `GET /x HTTP/1.1\r\nhost: a\r\ncontent-length: ${smuggled.length}\r\n\r\n${smuggled}`],
  [
    "a body that the caller waits with",
    inBody(`expect: 100-continue\r\ncontent-length: ${smuggled.length}\r\n`, smuggled),
  ],
  ["a request in the body", inBody(`content-length: ${smuggled.length}\r\n`, smuggled)],
  [
    "a request in a chunk",
    inBody("transfer-encoding: chunked\r\n", `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`),
  ],
  [
    "a wish to close from hop to hop",
    inBody("connection: close, content-length\r\ncontent-length: 5\r\n", `hello${smuggled}`),
  ],
  ...refusedRequests.map(([what, text]) => [what, `${text}${smuggled}`] as const),
  ...goodRequests.map(([what, text]) => [`good: ${what}`, `${text}${smuggled}`] as const),
];

test.skipIf(nginx === null).each(tricks)(
  "through nginx nothing comes that it did not let through: %s",
  async (_what, text) => {
    echo.heard.length = 0;
    const socket = openSocket(port);
    socket.write(text);
    socket.finish();
    await socket.closed;
    // Connections behind the proxy are shared: what a trick left on one of them would come before the next caller's.
    for (let next = 0; next < 4; next++) {
      const answer = await fetch(`http://127.0.0.1:${port}/next-${next}`);
      expect(await answer.json()).toEqual({ start: `GET /next-${next}`, body: "" });
    }
    expect(echo.heard.filter(({ start }) => start.includes("smuggled"))).toEqual([]);
  },
);

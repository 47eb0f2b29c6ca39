import { afterAll, beforeAll, expect, test } from "bun:test";
import { freePort } from "../../../test/acceptance/free-port.ts";
import { openSocket } from "../edge/raw-socket.ts";
import { noNginx, startNginx } from "../edge/started-nginx.ts";
import { goodRequests, refusedRequests } from "../http1/vectors.ts";
import { type EchoServer, startEcho } from "./echo-server.ts";

const isMissing = noNginx("nothing is smuggled through a real one") !== null;

let echo: EchoServer;
let port: number;
let stopProxy: () => Promise<void> = async () => undefined;
beforeAll(async () => {
  if (isMissing) return;
  echo = startEcho();
  port = await freePort();
  stopProxy = await startNginx(configuration(), port);
});
afterAll(async () => {
  await stopProxy();
  echo?.stop();
});

/** nginx blocks some paths, keeps upstream connections open, and forwards bodies as they arrive. */
const configuration = (): string => `
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
`;

const smuggled = "GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n";
const inBody = (head: string, body: string): string => `POST /x HTTP/1.1\r\nhost: a\r\n${head}\r\n${body}`;
const tricks: readonly (readonly [what: string, text: string])[] = [
  ["a length before chunks", inBody("content-length: 6\r\ntransfer-encoding: chunked\r\n", `0\r\n\r\n${smuggled}`)],
  ["chunks under another name", inBody(`content-length: 5\r\ntransfer-encoding : chunked\r\n`, `0\r\n\r\n${smuggled}`)],
  ["chunks after a tab", inBody(`content-length: 5\r\ntransfer-encoding:\tchunked\r\n`, `0\r\n\r\n${smuggled}`)],
  [
    "chunks after a vertical tab",
    inBody(`content-length: 5\r\ntransfer-encoding:\x0bchunked\r\n`, `0\r\n\r\n${smuggled}`),
  ],
  [
    "an unknown transfer coding",
    inBody("content-length: 5\r\ntransfer-encoding: xchunked\r\n", `0\r\n\r\n${smuggled}`),
  ],
  [
    "a header name with an underscore",
    inBody("content-length: 5\r\ntransfer_encoding: chunked\r\n", `0\r\n\r\n${smuggled}`),
  ],
  ["chunks that end with line feeds", inBody("transfer-encoding: chunked\r\n", `5\nhello\n0\n\n${smuggled}`)],
  ["a size with a sign", inBody("transfer-encoding: chunked\r\n", `+0\r\n\r\n${smuggled}`)],
  ["a size that overflows", inBody("transfer-encoding: chunked\r\n", `10000000000000000\r\n\r\n${smuggled}`)],
  ["a body of a GET", `GET /x HTTP/1.1\r\nhost: a\r\ncontent-length: ${smuggled.length}\r\n\r\n${smuggled}`],
  ["a delayed body", inBody(`expect: 100-continue\r\ncontent-length: ${smuggled.length}\r\n`, smuggled)],
  ["a request in the body", inBody(`content-length: ${smuggled.length}\r\n`, smuggled)],
  [
    "a request in a chunk",
    inBody("transfer-encoding: chunked\r\n", `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`),
  ],
  ["a hop-by-hop close", inBody("connection: close, content-length\r\ncontent-length: 5\r\n", `hello${smuggled}`)],
  ...refusedRequests.map(([what, text]) => [what, `${text}${smuggled}`] as const),
  ...goodRequests.map(([what, text]) => [`good: ${what}`, `${text}${smuggled}`] as const),
];

test.skipIf(isMissing).each(tricks)("only requests that nginx allowed get through: %s", async (_what, text) => {
  echo.requests.length = 0;
  const socket = openSocket(port);
  socket.write(text);
  socket.finish();
  await socket.closed;
  // Upstream connections are shared, so leftovers of a trick would precede the next caller's request.
  for (let next = 0; next < 4; next++) {
    const answer = await fetch(`http://127.0.0.1:${port}/next-${next}`);
    expect(await answer.json()).toEqual({ start: `GET /next-${next}`, body: "" });
  }
  expect(echo.requests.filter(({ start }) => start.includes("smuggled"))).toEqual([]);
});

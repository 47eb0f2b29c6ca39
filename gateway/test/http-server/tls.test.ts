import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect as connectPlainly, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { ServerAnswer } from "#http-server/index.ts";
import { until } from "../../../test/until.ts";
import { openSocket } from "../edge/raw-socket.ts";
import { FakeClock } from "../fake-clock.ts";
import { answeredBy, type EchoServer, startEcho } from "./echo-server.ts";

const fixtures = join(import.meta.dir, "..", "fixtures", "tls");
const certificate = {
  chain: readFileSync(join(fixtures, "gateway.example.cert.pem"), "utf8"),
  key: readFileSync(join(fixtures, "gateway.example.key.pem"), "utf8"),
};
const question = "GET /v1/x HTTP/1.1\r\nhost: a\r\n\r\n";

/** RFC 4346, 7.4.1.2: version, random, no session, one cipher suite, no compression. */
const helloBody = Buffer.concat([Buffer.from([3, 2]), Buffer.alloc(32, 7), Buffer.from([0, 0, 2, 0xc0, 0x09, 1, 0])]);
const hello = Buffer.concat([Buffer.from([1, 0, 0, helloBody.length]), helloBody]);
const helloOfTls11 = Buffer.concat([Buffer.from([0x16, 3, 1, 0, hello.length]), hello]).toString("latin1");

let open: (() => void)[] = [];
afterEach(() => {
  for (const close of open) close();
  open = [];
});

function startSecure(options: Parameters<typeof startEcho>[0] = {}): { echo: EchoServer; problems: string[] } {
  const problems: string[] = [];
  const echo = startEcho({ certificate, onHandshakeProblem: (problem) => void problems.push(problem), ...options });
  open.push(() => echo.stop());
  return { echo, problems };
}

function agreed(port: number, options: Parameters<typeof connect>[0] = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false, ...options }, () => resolve(socket));
    socket.on("error", reject);
    open.push(() => socket.destroy());
  });
}

describe("a client that offers", () => {
  test.each([
    ["HTTP/2 and HTTP/1.1 gets HTTP/1.1", ["h2", "http/1.1"], "http/1.1"],
    ["only HTTP/1.1 gets it", ["http/1.1"], "http/1.1"],
    ["only HTTP/1.0 gets that", ["http/1.0"], "http/1.0"],
    ["nothing gets no protocol", undefined, false],
  ] as const)("%s", async (_name, offered, chosen) => {
    const { echo } = startSecure();
    const socket = await agreed(echo.port, offered === undefined ? {} : { ALPNProtocols: [...offered] });
    expect(socket.alpnProtocol).toBe(chosen);
  });

  test("only HTTP/2 is refused in the handshake", async () => {
    const { echo, problems } = startSecure();
    expect(agreed(echo.port, { ALPNProtocols: ["h2"] })).rejects.toThrow();
    await until(() => problems.length > 0);
    expect(problems).toEqual(["no_application_protocol"]);
  });

  test("at most TLS 1.1 is refused", async () => {
    const { echo, problems } = startSecure();
    const socket = openSocket(echo.port);
    socket.write(helloOfTls11);
    await socket.closed;
    expect(problems).toEqual(["unsupported_protocol"]);
  });
});

test("plain HTTP gets no answer", async () => {
  const { echo, problems } = startSecure();
  const socket = openSocket(echo.port);
  socket.write(question);
  expect(await socket.closed).not.toContain("HTTP/");
  expect(problems).toEqual(["http_request"]);
  expect(echo.requests).toEqual([]);
});

test.each([
  ["says nothing", ""],
  ["sends the beginning of a handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
])("a caller that %s is closed after the handshake timeout", async (_name, sent) => {
  const clock = new FakeClock();
  const { echo, problems } = startSecure({ clock });
  const [late, other] = [openSocket(echo.port), openSocket(echo.port)];
  late.write(sent);
  other.write(question);
  // By then the server has accepted the first one too.
  await until(() => problems.length === 1);
  clock.advance(19_000);
  expect(problems).toEqual(["http_request"]);
  clock.advance(4_000);
  expect(await late.closed).toBe("");
  expect(problems).toEqual(["http_request", "late"]);
  expect(echo.server.connections).toBe(0);
});

test("the handshake timeout does not limit the first request", async () => {
  const clock = new FakeClock();
  const { echo } = startSecure({ clock });
  const socket = await agreed(echo.port);
  await until(() => echo.server.connections === 1);
  clock.advance(50_000);
  socket.write(question);
  await until(() => echo.requests.length === 1);
});

test("a caller that never closes its side is not waited for forever", async () => {
  const clock = new FakeClock();
  const { echo } = startSecure({ clock });
  const { port, mute } = await startRelay(echo.port);
  await agreed(port);
  await until(() => echo.server.idle === 1);
  mute();
  echo.server.leave();
  expect(echo.server.connections).toBe(1);
  expect(echo.server.idle).toBe(0);
  clock.advance(4_000);
  expect(echo.server.connections).toBe(1);
  clock.advance(4_000);
  expect(echo.server.connections).toBe(0);
  await echo.server.ended;
});

test("a server ends with its last answer after leave()", async () => {
  const answered = Promise.withResolvers<ServerAnswer>();
  const { echo } = startSecure({ answer: answeredBy(() => answered.promise) });
  const socket = openSocket(echo.port, true);
  socket.write(question);
  await until(() => echo.server.pending === 1);
  echo.server.leave();
  let ended = false;
  void echo.server.ended.then(() => {
    ended = true;
  });
  await new Promise(setImmediate);
  expect(ended).toBe(false);
  answered.resolve(new ServerAnswer(200, {}, Buffer.from("the last")));
  expect(await socket.closed).toContain("the last");
  await until(() => ended);
});

test("the URL of a request has the scheme of its connection", async () => {
  const urls: string[] = [];
  const answer = async ({ url }: { readonly url: string }): Promise<ServerAnswer> => {
    urls.push(url);
    return new ServerAnswer(200, { connection: "close" }, null);
  };
  for (const secure of [true, false]) {
    const echo = startEcho({ answer: answeredBy(answer), ...(secure ? { certificate } : {}) });
    const socket = openSocket(echo.port, secure);
    socket.write(question);
    await socket.until("200");
    echo.stop();
  }
  expect(urls).toEqual(["https://a/v1/x", "http://a/v1/x"]);
});

/** Forwards bytes in both directions until it is muted; then no side receives anything. */
async function startRelay(to: number): Promise<{ port: number; mute: () => void }> {
  let muted = false;
  const relay = createServer({ allowHalfOpen: true }, (near) => {
    const far = connectPlainly({ port: to, host: "127.0.0.1", allowHalfOpen: true });
    const pass = (from: Socket, onto: Socket): void => {
      from.on("data", (bytes) => {
        if (!muted) onto.write(bytes);
      });
      from.on("error", () => {});
    };
    pass(near, far);
    pass(far, near);
    open.push(() => {
      near.destroy();
      far.destroy();
    });
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  open.push(() => relay.close());
  const address = relay.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    mute: () => {
      muted = true;
    },
  };
}

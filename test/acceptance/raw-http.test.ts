import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { patienceMs } from "../until.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";

let setup: TestSetup;
beforeAll(async () => {
  setup = await openSetup();
});
afterAll(() => setup?.close());

/** Sends the bytes unchanged and resolves to all status lines and the text that arrived. */
function exchange(bytes: string): Promise<{ statuses: number[]; text: string }> {
  return new Promise((resolve) => {
    const socket = connect(setup.gateway.port, "127.0.0.1", () => socket.write(bytes, "latin1"));
    let text = "";
    // Wait for a first answer; anything else must arrive within half a second after it.
    socket.setTimeout(patienceMs, () => end());
    const end = (): void => {
      socket.destroy();
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]));
      resolve({ statuses, text });
    };
    socket.on("data", (data) => {
      text += data.toString("latin1");
      if (isComplete(text)) socket.setTimeout(500);
    });
    socket.on("error", end);
    socket.on("close", end);
  });
}

/** Whether a complete answer has arrived, with a length or in chunks. */
function isComplete(text: string): boolean {
  if (/\r\ntransfer-encoding: chunked\r\n/i.test(text)) return text.endsWith("\r\n0\r\n\r\n");
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1];
  return length !== undefined && text.length >= text.indexOf("\r\n\r\n") + 4 + Number(length);
}

const get = (path: string, headers = "host: a\r\n"): string => `GET ${path} HTTP/1.1\r\n${headers}\r\n`;
const post = (headers: string, body: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\n${headers}\r\n${body}`;

describe.concurrent("refuses requests that two parsers could read differently", () => {
  test.each([
    ["a path inside Host", get("/v1/models", "host: a/healthz?b\r\n")],
    ["a fragment inside Host", get("/v1/models", "host: a/healthz#b\r\n")],
    ["two Hosts", get("/v1/models", "host: a\r\nhost: b\r\n")],
    ["two Hosts, one with a path", get("/v1/models", "host: a\r\nhost: b/healthz?\r\n")],
    ["no Host", get("/healthz", "")],
    ["two lengths", post("content-length: 0\r\ncontent-length: 5\r\n", "hello")],
    ["a length that is not a number", post("content-length: -1\r\n", "")],
    ["a space before the colon of a length", post("content-length : 0\r\n", "")],
    ["an unknown transfer encoding", post("transfer-encoding: xchunked\r\n", "0\r\n\r\n")],
    ["a folded header", get("/healthz", "host: a\r\nx: a\r\n b\r\n")],
    ["a NUL in a header", get("/healthz", "host: a\r\nx: a\0b\r\n")],
    ["something that is not HTTP", "\x16\x03\x01\x02\x00\x01\x00"],
  ])("%s", async (_title, bytes) => {
    const { statuses, text } = await exchange(bytes);
    expect(statuses).toEqual([400]);
    expect(text).toMatch(/\r\nx-request-id: req_[\s\S]*"type":"invalid_request_error"/i);
  });

  test("a length and a transfer encoding together cannot smuggle in a second request", async () => {
    const smuggled = get("/healthz");
    const { statuses, text } = await exchange(
      post("content-length: 5\r\ntransfer-encoding: chunked\r\n", `0\r\n\r\n${smuggled}`),
    );
    expect(statuses).toEqual([400]);
    expect(text).not.toContain("ok\n");
  });

  test("refuses endless headers instead of buffering them", async () => {
    expect((await exchange(get("/healthz", `host: a\r\nx: ${"y".repeat(100_000)}\r\n`))).statuses).toEqual([431]);
  });
});

describe.concurrent("a path has only one meaning", () => {
  test.each(["/V1/models", "/v1/models;x"])("%s is not the model list", async (path) => {
    const { statuses, text } = await exchange(get(path));
    expect([401, 404]).toContain(statuses[0] ?? 0);
    expect(text).not.toContain('"object":"list"');
  });

  test.each([
    "//v1/models",
    "/v1/models/..;/",
    "/%76%31/models",
    "/v1%2Fmodels",
    "/healthz/../v1/models",
    "/x/%2e%2e/v1/models",
    "/v1/./models",
    "/v1/..\\metrics",
  ])("refuses the ambiguous %s", async (path) => {
    expect((await exchange(get(path))).statuses).toEqual([400]);
  });

  test("requires a key for protected paths, however they are spelled", async () => {
    for (const path of ["/v1/models", "/v1/models/gpt-test", "/v1/models?x=/healthz", "/v1/models?/../healthz"]) {
      expect((await exchange(get(path))).statuses).toEqual([401]);
    }
  });
});

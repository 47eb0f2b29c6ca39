import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway } from "../../started-gateway.ts";
import { call, startGranted, startVendor, type Vendor } from "./vendor.ts";

let vendor: Vendor;
let gateway: StartedGateway;
beforeAll(async () => {
  vendor = await startVendor();
  gateway = await startGranted(vendor);
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

const everyByte = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256);

test("passes any path and method to the provider below its base URL, with the provider's key", async () => {
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
    const answer = await call(gateway, method, "/files/file-abc123?limit=3&after=x%20y");
    expect(answer.status).toBe(200);
    expect(vendor.last).toMatchObject({ method, target: "/v1/files/file-abc123?limit=3&after=x%20y" });
    expect(vendor.last.headers["authorization"]).toBe("Bearer sk-upstream-of-own");
    expect(JSON.stringify(vendor.last.headers)).not.toContain(aliceKey);
  }
});

test("answers HEAD with the vendor's Content-Length, or without one", async () => {
  const defaultAnswer = vendor.answer;
  for (const length of ["12345", null]) {
    vendor.answer = (_, response) => {
      if (length !== null) response.setHeader("content-length", length);
      response.end();
    };
    const answer = await call(gateway, "HEAD", "/files/file-abc123/content");
    expect([answer.status, await answer.text(), vendor.last.method]).toEqual([200, "", "HEAD"]);
    expect(answer.headers.get("content-length")).toBe(length);
  }
  vendor.answer = defaultAnswer;
});

test("accepts a path that repeats the version of the base URL, as SDKs send it", async () => {
  for (const [path, target] of [
    ["/v1/files", "/v1/files"],
    ["/files", "/v1/files"],
    ["/v1/v1/files", "/v1/v1/files"],
    ["/v2/files", "/v1/v2/files"],
    ["/files/", "/v1/files/"],
    ["", "/v1"],
    ["/v1", "/v1"],
  ] as const) {
    expect((await call(gateway, "GET", path)).status).toBe(200);
    expect(vendor.last.target).toBe(target);
  }
});

test("passes an upload of any type and its answer byte for byte", async () => {
  vendor.answer = ({ body, headers }, response) => {
    response.writeHead(201, {
      "content-type": headers["content-type"] as string,
      "content-disposition": 'attachment; filename="a.bin"',
      "set-cookie": "session=1",
      "openai-organization": "org-secret",
      "x-ratelimit-remaining-requests": "7",
    });
    response.end(body);
  };
  for (const type of ["application/octet-stream", "multipart/form-data; boundary=xyz", "application/json"]) {
    const answer = await call(gateway, "POST", "/uploads", { body: everyByte, headers: { "content-type": type } });
    expect(answer.status).toBe(201);
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(everyByte);
    expect(vendor.last.headers["content-type"]).toBe(type);
    expect(answer.headers.get("content-disposition")).toContain("a.bin");
    for (const removed of ["set-cookie", "openai-organization", "x-ratelimit-remaining-requests"]) {
      expect(answer.headers.get(removed)).toBeNull();
    }
  }
});

test("passes compressed bodies unchanged in both directions", async () => {
  vendor.answer = ({ body }, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    response.end(body);
  };
  const compressed = Bun.gzipSync(Buffer.from('{"object":"file"}'));
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  const answer = await call(gateway, "POST", "/files", { body: compressed, headers });
  expect(await answer.json()).toEqual({ object: "file" });
  expect(new Uint8Array(vendor.last.body)).toEqual(new Uint8Array(compressed));
});

test("passes events of an unknown dialect as they arrive", async () => {
  const step = Promise.withResolvers<void>();
  vendor.answer = async (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("event: one\ndata: 1");
    await step.promise;
    response.end("\n\ndata: 2\n\n: the end");
  };
  const answer = await call(gateway, "GET", "/fine_tuning/jobs/ftjob-1/events?stream=true");
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const first = await reader.read();
  expect(new TextDecoder().decode(first.value)).toBe("event: one\ndata: 1");
  step.resolve();
  let rest = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read())
    rest += new TextDecoder().decode(piece.value);
  expect(rest).toBe("\n\ndata: 2\n\n: the end");
});

test("keeps the status of an answer without a body", async () => {
  vendor.answer = (_, response) => void response.writeHead(204).end();
  const answer = await call(gateway, "DELETE", "/files/file-abc123");
  expect([answer.status, await answer.text()]).toEqual([204, ""]);
});

test("records each call without text that the caller chose", async () => {
  vendor.answer = (_, response) => void response.writeHead(200, { "content-type": "application/json" }).end("{}");
  const answer = await call(gateway, "GET", "/v1/files/file-abc123/content?after=my-own-word");
  expect(answer.headers.get("x-sluice-provider")).toBe("own");
  expect(answer.headers.get("x-sluice-attempts")).toBe("1");
  expect(answer.headers.get("x-sluice-warnings")).toContain("unknown");
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({
    requestId: answer.headers.get("x-request-id"),
    endpoint: "pass-through",
    operation: "GET /files/{id}/content",
    provider: "own",
    model: "(pass-through)",
    outcome: "succeeded",
    httpStatus: 200,
    upstreamStatus: 200,
    usageSource: "none",
    costNanoUsd: 0,
    priceVersion: null,
  });
  expect(entry?.warnings?.join()).toContain("unknown");
  expect(entry?.upstreamMs).toBeGreaterThan(0);
  expect(JSON.stringify(entry)).not.toContain("my-own-word");
});

test("filters headers like other endpoints", async () => {
  await call(gateway, "GET", "/files", {
    headers: {
      "openai-beta": "assistants=v2",
      "x-api-key": aliceKey,
      cookie: "a=b",
      "x-forwarded-for": "10.0.0.1",
      "openai-organization": "org-other",
      "openai-project": "proj-other",
      "x-http-method-override": "DELETE",
      "x-original-url": "/organization",
      range: "bytes=0-9",
      connection: "keep-alive",
    },
  });
  const { headers } = vendor.last;
  expect(headers["openai-beta"]).toBe("assistants=v2");
  expect(headers["range"]).toBe("bytes=0-9");
  for (const name of [
    "x-api-key",
    "cookie",
    "x-forwarded-for",
    "openai-organization",
    "openai-project",
    "x-http-method-override",
    "x-original-url",
  ]) {
    expect(headers[name]).toBeUndefined();
  }
});

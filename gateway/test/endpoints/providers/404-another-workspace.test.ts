import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { openSocket } from "../../edge/raw-socket.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { startVendor, type Vendor } from "./vendor.ts";

const malloryKey = "sk-mallory-0123456789abcdefghij";

let vendor: Vendor;
let gateway: StartedGateway;
beforeAll(async () => {
  vendor = await startVendor();
  const account =
    (id: string, kind: string, settings = {}) =>
    (simulator: Parameters<typeof upstream>[1]) =>
      upstream(id, simulator, { kind, base_url: vendor.url, settings });
  const providers = [
    account("openai", "openai"),
    account("claude", "anthropic"),
    account("google", "gemini"),
    account("alone", "openai"),
    account("open", "openai", { objects: ["*"] }),
  ];
  const shared = { models: ["*"], pass_through: ["openai", "claude", "google", "open"] };
  const withKey = (name: string, secret: string, pass_through: string[]) => ({
    groups: [{ name: "default", pass_through }],
    keys: [{ name, secret, pass_through }],
  });
  const all = [...shared.pass_through, "alone"];
  gateway = await startGateway({
    providers: (simulator) => providers.map((configOf) => configOf(simulator)),
    models: [{ name: "gpt", deployments: [{ provider: "openai" }] }],
    workspace: { models: ["*"], pass_through: all, ...withKey("alice", aliceKey, all) },
    moreWorkspaces: [{ slug: "rival", ...shared, ...withKey("mallory", malloryKey, shared.pass_through) }],
  });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

/** The vendor's next answer to any request. */
let answer: object = {};
beforeEach(() => {
  answer = {};
  vendor.answer = (_, response: ServerResponse) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answer));
  };
});

async function call(method: string, path: string, key: string, body?: unknown): Promise<number> {
  const json = body === undefined ? {} : { "content-type": "application/json" };
  const response = await fetch(`${gateway.url}/v1/providers/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...json },
    body: body === undefined ? null : JSON.stringify(body),
  });
  await response.text();
  return response.status;
}

async function upload(path: string, key: string, created: object): Promise<number> {
  answer = created;
  const form = new FormData();
  form.append("file", new Blob(["four"]), "a.txt");
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${gateway.url}/v1/providers/${path}`, { method: "POST", headers, body: form });
  expect(await response.json()).toEqual(created);
  return response.status;
}

const objects = [
  ["openai/files", "file-abc123", { id: "file-abc123", object: "file", bytes: 4_000 }],
  ["openai/conversations", "conv_abc123", { id: "conv_abc123", object: "conversation" }],
  ["openai/containers", "cntr_abc123", { id: "cntr_abc123", object: "container" }],
  ["openai/vector_stores", "vs_abc123", { id: "vs_abc123", object: "vector_store" }],
  ["openai/skills", "skill_abc123", { id: "skill_abc123", object: "skill" }],
  ["openai/batches", "batch_abc123", { id: "batch_abc123", object: "batch" }],
  ["claude/files", "file_abc123", { id: "file_abc123", type: "file", size_bytes: 4_000 }],
  ["claude/v1/skills", "skill_xyz123", { id: "skill_xyz123", type: "skill" }],
  ["google/cachedContents", "plain", { name: "cachedContents/plain", expireTime: "2099-01-01T00:00:00Z" }],
  ["google/v1beta/interactions", "lowercase", { id: "lowercase", object: "interaction" }],
] as const;

describe.each(objects)("an object created by POST %s", (path, id, created) => {
  test("belongs to its workspace and is missing for others", async () => {
    answer = created;
    expect(await call("POST", path, aliceKey, { purpose: "any" })).toBe(200);
    const before = vendor.received.length;
    for (const [method, rest, body] of [
      ["GET", "", undefined],
      ["DELETE", "", undefined],
      ["POST", "", {}],
      ["GET", "/content", undefined],
      ["GET", "/items/item_1", undefined],
    ] as const) {
      expect(await call(method, `${path}/${id}${rest}`, malloryKey, body)).toBe(404);
    }
    expect(vendor.received.length).toBe(before);
    for (const [method, rest] of [
      ["GET", ""],
      ["GET", "/content"],
      ["GET", "/items/item_1"],
      ["DELETE", ""],
    ] as const) {
      expect(await call(method, `${path}/${id}${rest}`, aliceKey)).toBe(200);
    }
    // It was deleted, so its owner gets 404 too.
    expect(await call("GET", `${path}/${id}`, aliceKey)).toBe(404);
  });
});

test.each(["files/file-unknown1", "odd/path-of-UNKNOWN1"])(
  "rejects a body for an object of another workspace in the path without reading it (%s)",
  async (path) => {
    const before = vendor.received.length;
    const caller = openSocket(gateway.gateway.server.port);
    caller.write(
      `POST /v1/providers/openai/${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${malloryKey}\r\n` +
        "content-type: application/json\r\ncontent-length: 9000000\r\n\r\n{",
    );
    expect(await caller.until("\r\n\r\n")).toStartWith("HTTP/1.1 404 ");
    expect(await caller.until("There is no object with the id")).toContain('"not_found"');
    caller.end();
    expect(vendor.received.length).toBe(before);
  },
);

const forms: readonly (readonly [string, string])[] = [
  ["file_id", "file-form12"],
  ["file_ids[]", "file-form12"],
  ["input_reference[file_id]", "file-form12"],
  ["files[0][file_id]", "file-form12"],
  ["anything", "file-form12"],
  ["input_reference", '{"file_id":"file-form12"}'],
  ["file_ids", '["file-form12"]'],
];

test.each(forms)("returns 404 to another workspace for a form that names an object in %s", async (name, value) => {
  await upload("openai/files", aliceKey, { id: "file-form12", object: "file", bytes: 4 });
  answer = { id: "made_form12" };
  const send = async (key: string): Promise<number> => {
    const form = new FormData();
    form.append("purpose", "user_data");
    form.append(name, value);
    form.append("file", new Blob(["file-unknown12"]), "file-unknown12");
    const headers = { authorization: `Bearer ${key}` };
    const sent = await fetch(`${gateway.url}/v1/providers/openai/videos`, { method: "POST", headers, body: form });
    await sent.text();
    return sent.status;
  };
  const before = vendor.received.length;
  expect(await send(malloryKey)).toBe(404);
  expect(vendor.received.length).toBe(before);
  expect(await send(aliceKey)).toBe(200);
});

test("rejects an unreadable form at a shared account and passes it at an account of one workspace", async () => {
  const send = async (provider: string, more: Record<string, string>): Promise<number> => {
    const headers = { authorization: `Bearer ${aliceKey}`, "content-type": "multipart/form-data; boundary=b", ...more };
    const body = '--b\r\ncontent-disposition: form-data; name="file_id"\r\n\r\nfile-x';
    const sent = await fetch(`${gateway.url}/v1/providers/${provider}/files`, { method: "POST", headers, body });
    await sent.text();
    return sent.status;
  };
  expect(await send("openai", {})).toBe(400);
  expect(await send("openai", { "content-encoding": "gzip" })).toBe(415);
  expect(await send("alone", {})).toBe(200);
});

test("forgets an object whose deletion is answered without a body", async () => {
  await upload("openai/files", aliceKey, { id: "file-gone12", object: "file", bytes: 4 });
  vendor.answer = (_, response) => void response.writeHead(204).end();
  expect(await call("DELETE", "openai/files/file-gone12", aliceKey)).toBe(204);
  expect(await call("GET", "openai/files/file-gone12", aliceKey)).toBe(404);
});

test("accepts an upload only in its workspace's model calls, and counts its size as tokens", async () => {
  expect(
    await upload("openai/files", aliceKey, { id: "file-up1234", object: "file", bytes: 4_000, filename: "notes.txt" }),
  ).toBe(200);
  answer = { id: "resp_1", object: "response", status: "completed", output: [], usage: null };
  const input = [{ role: "user", content: [{ type: "input_file", file_id: "file-up1234" }] }];
  expect((await gateway.post("/v1/responses", { model: "gpt", input })).status).toBe(200);
  expect((await gateway.post("/v1/responses", { model: "gpt", input }, { key: malloryKey })).status).toBe(404);
  const workspace = (await gateway.entries())[0]?.workspaceId ?? "";
  const other = (await gateway.entries()).at(-1)?.workspaceId ?? "";
  const found = await Promise.all(
    [workspace, other].map((id) => gateway.control.objectStore.find(id, ["file-up1234"])),
  );
  expect(found.flat()[0]).toMatchObject({ kind: "file", provider: "openai", inputTokens: 1_250, expiresAt: null });
});

test("adds each answer's tokens to a conversation", async () => {
  answer = { id: "conv_grows1", object: "conversation" };
  expect(await call("POST", "openai/conversations", aliceKey, {})).toBe(200);
  const usage = { input_tokens: 40, output_tokens: 2, total_tokens: 42 };
  answer = { id: "resp_2", object: "response", status: "completed", output: [], usage };
  const body = { model: "gpt", input: "x", conversation: "conv_grows1" };
  expect((await gateway.post("/v1/responses", body, { key: malloryKey })).status).toBe(404);
  expect((await gateway.post("/v1/responses", body)).status).toBe(200);
  const workspace = (await gateway.entries()).find(({ upstreamId }) => upstreamId === "resp_2")?.workspaceId ?? "";
  const [found] = await gateway.control.objectStore.find(workspace, ["conv_grows1"]);
  expect(found).toMatchObject({ kind: "conversation", provider: "openai", inputTokens: 42, expiresAt: null });
});

test.each([
  ["openai/batches", { input_file_id: "file-of-acme", endpoint: "/v1/responses" }],
  ["openai/vector_stores", { file_ids: ["file-of-acme"] }],
  ["openai/containers", { name: "x", file_ids: ["file-of-acme"] }],
  [
    "openai/conversations",
    { items: [{ type: "message", content: [{ type: "input_file", file_id: "file-of-acme" }] }] },
  ],
  ["openai/odd", { anything: "file-of-acme" }],
  ["openai/responses", { model: "m", input: "x", previous_response_id: "resp_of_acme" }],
  ["openai/responses", { model: "m", input: "x", conversation: "conv_of_acme" }],
  [
    "claude/messages",
    { model: "m", max_tokens: 1, messages: [], thread: { type: "continue", previous_message_id: "msg_1" } },
  ],
  ["google/interactions", { model: "m", input: "x", previous_interaction_id: "of-acme" }],
  ["google/models/m:generateContent", { contents: [], cachedContent: "cachedContents/of-acme" }],
])("rejects a body of %s that names another workspace's object: %j", async (path, body) => {
  const before = vendor.received.length;
  expect([await call("POST", path, aliceKey, body), vendor.received.length]).toEqual([404, before]);
});

test.each([
  "openai/files",
  "openai/v1/batches?limit=2",
  "claude/files",
  "google/cachedContents",
  "openai/chat/completions",
])("returns 403 for a list of a shared account: %s", async (path) => {
  const before = vendor.received.length;
  expect([await call("GET", path, aliceKey), vendor.received.length]).toEqual([403, before]);
});

test("treats neither model names nor callers' texts as object ids", async () => {
  expect(await call("GET", "openai/models", aliceKey)).toBe(200);
  expect(await call("GET", "openai/models/gpt-6", malloryKey)).toBe(200);
  const body = { metadata: { file_id: "file-of-acme" }, items: [{ role: "user", content: "See file-1." }] };
  answer = { id: "conv_new1234" };
  expect(await call("POST", "openai/conversations", aliceKey, body)).toBe(200);
});

test("rejects an unreadable body at a shared account", async () => {
  const headers = { authorization: `Bearer ${aliceKey}`, "content-type": "text/plain" };
  const body = JSON.stringify({ file_ids: ["file-of-acme"] });
  const before = vendor.received.length;
  const send = (more: Record<string, string>) =>
    fetch(`${gateway.url}/v1/providers/openai/vector_stores`, {
      method: "POST",
      headers: { ...headers, ...more },
      body,
    });
  expect((await send({})).status).toBe(403);
  expect((await send({ "content-type": "application/json", "content-encoding": "br" })).status).toBe(403);
  expect(vendor.received.length).toBe(before);
});

test.each([
  ["a duplicate member", '{"file_ids":["file-of-acme"],"file_ids":[]}', "duplicate"],
  ["a duplicate member with escapes", '{"a":[{"file_id":"file-of-acme","\\u0066ile_id":"x"}]}', "duplicate"],
  [
    "a duplicate member after a long string",
    `{"file_ids":"${"x\\n".repeat(2_000_000)}","file_ids":["file-of-acme"]}`,
    "duplicate",
  ],
  ["endless nesting", `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`, "nested"],
])("rejects a body with %s at a shared account", async (_what, body, word) => {
  const before = vendor.received.length;
  const headers = { authorization: `Bearer ${aliceKey}`, "content-type": "application/json" };
  const path = `${gateway.url}/v1/providers/openai/vector_stores`;
  const answer = await fetch(path, { method: "POST", headers, body });
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(word)]);
  expect(vendor.received.length).toBe(before);
});

test("ignores colons, quotes and backslashes inside texts of any length", async () => {
  answer = { id: "conv_long1234" };
  const texts = ['":', '\\":"a":', "\u2028", '{"a":1,"a":2}', "x\n".repeat(2_000_000)];
  const body = { "": texts, items: [{ 'a:"': "\\", ["__proto__"]: { "1": 1, "01": 1 } }] };
  expect(await call("POST", "openai/conversations", aliceKey, body)).toBe(200);
});

test("checks no ids where one workspace uses the account or where the operator allows all objects", async () => {
  for (const provider of ["alone", "open"]) {
    expect(await call("GET", `${provider}/files`, aliceKey)).toBe(200);
    expect(await call("GET", `${provider}/files/file-unknown1`, aliceKey)).toBe(200);
    expect(await call("POST", `${provider}/vector_stores`, aliceKey, { file_ids: ["file-unknown1"] })).toBe(200);
  }
});

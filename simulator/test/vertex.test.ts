import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync, sign } from "node:crypto";
import { type RunningSimulator, serveSimulator } from "../src/index.ts";
import { lastRecord, scripted } from "./sdk-call.ts";

const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
let running: RunningSimulator;
let base: string;
beforeAll(() => {
  running = serveSimulator({ googlePublicKey: keys.publicKey.export({ type: "spki", format: "pem" }) });
  base = `http://127.0.0.1:${running.port}`;
});
afterAll(() => running.stop());

function assertion(algorithm = "RSA-SHA256"): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = {
    iss: "a@b",
    scope: "https://www.googleapis.com/auth/cloud-platform",
    aud: `${base}/token`,
    iat: now,
    exp: now + 3600,
  };
  const signed = `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}`;
  return `${signed}.${sign(algorithm, Buffer.from(signed), keys.privateKey).toString("base64url")}`;
}

function token(subject: string, headers: Record<string, string> = {}): Promise<Response> {
  const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
  return fetch(`${base}/token`, {
    method: "POST",
    headers,
    body: new URLSearchParams({ grant_type: grant, assertion: subject }),
  });
}

test("returns an access token only for a validly signed assertion, and records neither", async () => {
  const valid = assertion();
  const answer = await token(valid, scripted({ expires_in: 60 }).headers);
  expect(await answer.json()).toMatchObject({ access_token: expect.any(String), expires_in: 60, token_type: "Bearer" });
  const record = await lastRecord(running);
  expect(record).toMatchObject({ dialect: "oauth-token", model: "oauth-token", status: 200 });
  expect(record.body_text).toBeUndefined();
  const invalid = await token(assertion("RSA-SHA512"));
  expect(invalid.status).toBe(400);
  expect(await invalid.json()).toEqual({ error: "invalid_grant", error_description: "Invalid JWT Signature." });
});

test("a preset for any model does not apply to the token endpoint, but one with its name does", async () => {
  running.simulator.addPreset({ script: { status: 503 }, count: 1, model: null });
  running.simulator.addPreset({ script: { status: 500 }, count: 1, model: "oauth-token" });
  expect((await token(assertion())).status).toBe(500);
  expect((await token(assertion())).status).toBe(200);
  running.simulator.clearPresets();
});

const google = "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:generateContent";
const anthropic = "/v1/projects/p/locations/l/publishers/anthropic/models/claude-x%404";

function post(
  path: string,
  body: unknown,
  headers: Record<string, string> = { authorization: "Bearer t" },
): Promise<Response> {
  return fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
}

test("Gemini on Vertex accepts tokens, but not API keys", async () => {
  const body = { contents: [{ role: "user", parts: [{ text: "hi" }] }] };
  expect(await (await post(google, body)).json()).toMatchObject({ modelVersion: "gemini-2.5-pro" });
  expect((await post(google, body, { "x-goog-api-key": "k" })).status).toBe(401);
});

test("Messages on Vertex takes model and method from the path, and the version from the body", async () => {
  const body = { anthropic_version: "vertex-2023-10-16", max_tokens: 10, messages: [{ role: "user", content: "hi" }] };
  expect(await (await post(`${anthropic}:rawPredict`, body)).json()).toMatchObject({
    type: "message",
    model: "claude-x@4",
  });
  const stream = await (await post(`${anthropic}:streamRawPredict`, body)).text();
  expect(stream.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true);
  const { anthropic_version: _, ...unversioned } = body;
  expect((await post(`${anthropic}:rawPredict`, unversioned)).status).toBe(400);
  const count = anthropic.replace("claude-x%404", "count-tokens:rawPredict");
  expect(await (await post(count, { ...body, model: "claude-x" })).json()).toEqual({ input_tokens: 1 });
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { asKeyPath } from "@sluice/contract";
import { until } from "../../../test/until.ts";
import { type RawUpstream, startRawUpstream } from "../raw-upstream.ts";
import { aliceSecret, codeOf, type MediaFixture, type MediaUser, openMediaFixture } from "./media-fixture.ts";

let fixture: MediaFixture;
let raw: RawUpstream;
beforeAll(async () => {
  raw = await startRawUpstream((socket) => {
    const body = '{"id":"c","choices":[]}';
    socket.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  });
  fixture = await openMediaFixture({
    providers: [
      {
        id: "raw",
        kind: "openai-compatible",
        base_url: raw.url,
        api_key: "sk-upstream-of-raw",
        allow_private_network: true,
      },
    ],
    models: [{ name: "raw-test", deployments: [{ provider: "raw", upstream_model: "u" }] }],
  });
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  raw.stop();
});

const hello = { model: "gpt-test", messages: [{ role: "user", content: "Say hello to everyone" }] };
const json = { "content-type": "application/json" };
const truth = () => fixture.simulator.simulator.truth.list().data.at(-1);

function chat(who: MediaUser | null, key: string, more: Record<string, unknown> = {}, init: RequestInit = {}) {
  return fixture.as(who, `${asKeyPath("acme", key)}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ ...hello, ...more }),
    ...init,
    headers: { ...json, ...init.headers },
  });
}

test("a member calls with their own keys, an admin with any key of the workspace", async () => {
  const { members, owners } = fixture.keys;
  const cases: [MediaUser | null, string, string][] = [
    ["member", members, "200"],
    ["member", owners, "403 forbidden"],
    ["admin", members, "200"],
    ["owner", members, "200"],
    ["administrator", owners, "200"],
    ["viewer", members, "403 forbidden"],
    ["stranger", members, "404 not_found"],
    ["newcomer", members, "404 not_found"],
    [null, members, "401 not_signed_in"],
  ];
  for (const [who, key, answer] of cases)
    expect([who, key, await codeOf(await chat(who, key))]).toEqual([who, key, answer]);
});

test("returns 404 for a key of another workspace, also to an administrator, and 400 for all workspaces at once", async () => {
  const { others, members } = fixture.keys;
  expect(await codeOf(await chat("administrator", others))).toBe("404 not_found");
  expect(await codeOf(await chat("owner", others))).toBe("404 not_found");
  expect(await codeOf(await chat("owner", "key_nobody"))).toBe("404 not_found");
  const everywhere = await fixture.as("administrator", `${asKeyPath("-", members)}/v1/models`);
  expect(await codeOf(everywhere)).toBe("400 invalid_request");
});

test("the ledger records the key and the signed-in user, for calls of the console only", async () => {
  await chat("admin", fixture.keys.members, {}, { headers: { "x-sluice-tags": "team=search" } });
  expect((await fixture.entries()).at(-1)).toMatchObject({
    keyId: fixture.keys.members,
    actorId: fixture.users.admin.id,
    outcome: "succeeded",
    tags: { team: "search" },
  });
  const headers = { ...json, authorization: `Bearer ${aliceSecret}` };
  const direct = { method: "POST", headers, body: JSON.stringify(hello) };
  expect((await fetch(`${fixture.url}/v1/chat/completions`, direct)).status).toBe(200);
  expect((await fixture.entries()).at(-1)).not.toHaveProperty("actorId");
});

test("sends none of the caller's sign-in credentials upstream", async () => {
  const headers = { "x-app": "kept", "x-api-key": "sk-of-somebody-else-0123456789" };
  const response = await chat("member", fixture.keys.members, { model: "raw-test" }, { headers });
  expect([response.status, await response.json()]).toEqual([200, { id: "c", choices: [] }]);
  const sent = raw.requests.at(-1) ?? "";
  expect(sent).toMatch(/^authorization: Bearer sk-upstream-of-raw\r$/im);
  expect(sent).toMatch(/^x-app: kept\r$/im);
  expect(sent).not.toMatch(/^(cookie|origin|referer|sec-fetch-site|x-sluice-tags):/im);
  expect(sent).not.toContain("of-a-test");
  expect(sent).not.toContain("somebody-else");
});

test("streams as with the key's own secret, with the same headers", async () => {
  const script = JSON.stringify({ tokens: 5 });
  const streaming = { stream: true, stream_options: { include_usage: true } };
  const seen = await Promise.all([
    chat("member", fixture.keys.members, streaming, { headers: { "x-sim-script": script } }),
    fetch(`${fixture.url}/v1/chat/completions`, {
      method: "POST",
      headers: { ...json, authorization: `Bearer ${aliceSecret}`, "x-sim-script": script },
      body: JSON.stringify({ ...hello, ...streaming }),
    }),
  ]);
  const [through, direct] = seen.map((response) => response.headers);
  for (const name of ["content-type", "x-sluice-provider", "x-sluice-deployment", "x-sluice-attempts"]) {
    expect(through?.get(name), name).toBe(direct?.get(name) ?? "");
  }
  expect(through?.get("x-request-id")).toMatch(/^req_/);
  const [one, other] = await Promise.all(seen.map((response) => response.text()));
  const same = (text = "") => text.replaceAll(/"(id|created)":("[^"]*"|\d+)/g, "");
  expect(same(one)).toBe(same(other));
  expect(one?.endsWith("data: [DONE]\n\n")).toBe(true);
});

test("ends the upstream stream when the caller disconnects", async () => {
  const leaving = new AbortController();
  const before = (await fixture.entries()).length;
  const response = await chat(
    "member",
    fixture.keys.members,
    { stream: true },
    { signal: leaving.signal, headers: { "x-sim-script": JSON.stringify({ tokens: 100_000, event_ms: 20 }) } },
  );
  const reader = response.body?.getReader();
  await reader?.read();
  const id = truth()?.attempt_id;
  leaving.abort();
  await until(async () => (await fixture.entries()).length > before);
  expect((await fixture.entries()).at(-1)).toMatchObject({ outcome: "cancelled", keyId: fixture.keys.members });
  const recorded = () => fixture.simulator.simulator.truth.list().data.find((one) => one.attempt_id === id);
  await until(() => recorded()?.aborted_at != null);
  expect(recorded()?.terminal_sent).toBe(false);
});

test("forwards a five-megabyte form with a picture to the image model", async () => {
  const form = new FormData();
  form.set("model", "paint-test");
  form.set("prompt", "make it green");
  form.set("image", new File([new Uint8Array(5_000_000).fill(7)], "a.png", { type: "image/png" }));
  const path = `${asKeyPath("acme", fixture.keys.members)}/v1/images/edits`;
  const response = await fixture.as("member", path, { method: "POST", body: form });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ data: [{}] });
  expect(truth()?.body_bytes).toBeGreaterThan(5_000_000);
});

test("refuses cross-site requests and other content types", async () => {
  const key = fixture.keys.members;
  const path = `${asKeyPath("acme", key)}/v1/images/edits`;
  const session = { "x-test-session": fixture.users.member.id };
  const body = () => {
    const form = new FormData();
    form.set("model", "paint-test");
    return form;
  };
  const send = (headers: Record<string, string>) =>
    fetch(fixture.url + path, { method: "POST", headers: { ...session, ...headers }, body: body() });
  expect(await codeOf(await send({}))).toBe("403 forbidden");
  expect(await codeOf(await send({ origin: "https://elsewhere.example" }))).toBe("403 forbidden");
  expect(await codeOf(await send({ "sec-fetch-site": "cross-site" }))).toBe("403 forbidden");
  expect(await codeOf(await chat("member", key, {}, { headers: { "content-type": "text/plain" } }))).toBe(
    "415 unsupported_media_type",
  );
});

test("refuses a revoked or disabled key, and reports an IP allowlist as a warning instead of applying it", async () => {
  const { controlStore } = fixture.control;
  const workspaceId = (await controlStore.keyById(fixture.keys.owners))?.workspaceId ?? "";
  const auditSource = { actor: "test", ip: null };
  await controlStore.updateKey(workspaceId, fixture.keys.owners, () => ({ allowed_ips: ["203.0.113.7"] }), auditSource);
  const noted = await chat("owner", fixture.keys.owners);
  expect([noted.status, noted.headers.get("x-sluice-warnings")]).toEqual([200, expect.stringContaining("allowed_ips")]);
  await controlStore.updateKey(workspaceId, fixture.keys.owners, () => ({ enabled: false }), auditSource);
  expect(await codeOf(await chat("owner", fixture.keys.owners))).toBe("401 disabled_api_key");
  await controlStore.revokeKey(workspaceId, fixture.keys.owners, auditSource);
  expect(await codeOf(await chat("administrator", fixture.keys.owners))).toBe("401 revoked_api_key");
});

test("serves models, tasks and usage as the key sees them, and no paths outside the data plane", async () => {
  const base = asKeyPath("acme", fixture.keys.members);
  const models = await fixture.as("member", `${base}/v1/models?type=video`);
  expect(await models.json()).toMatchObject({ data: [{ id: "clip-test" }] });
  expect(models.headers.get("cache-control")).toBe("no-store");
  expect((await fixture.as("member", `${base}/v1/models/gpt-test`)).status).toBe(200);
  expect(await codeOf(await fixture.as("member", `${base}/v1/models/gpt%2Fnone`))).toBe("404 model_not_found");
  expect((await fixture.as("member", `${base}/v1/usage`)).status).toBe(200);
  expect(await codeOf(await fixture.as("member", `${base}/v1/chat/completions`))).toBe("405 method_not_allowed");
  for (const path of ["", "/", "/v1", "/healthz", "/metrics", "/api/status", "/console/", "/v1/../api/status"]) {
    expect([path, await codeOf(await fixture.as("member", base + path))]).toEqual([path, "404 not_found"]);
  }
  const wrong = await fixture.as("member", `${base}/v1/messages`, { method: "POST", headers: json, body: "{" });
  expect(await wrong.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
});

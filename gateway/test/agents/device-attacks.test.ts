import { afterAll, beforeAll, expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { type AgentFixture, startAgentFixture } from "./agent-fixture.ts";
import { ScriptedAgent } from "./scripted-agent.ts";

let fixture: AgentFixture;
let agent: ScriptedAgent;
let origin: string;
beforeAll(async () => {
  fixture = await startAgentFixture();
  agent = new ScriptedAgent(fixture.gateway.url);
  origin = `http://localhost:${fixture.gateway.gateway.consolePort}`;
});
afterAll(() => fixture.stop());

/** A request that another page makes in the victim's browser: with the victim's cookies and that page's origin. */
const fromElsewhere = (path: string, headers: Record<string, string>, body: string) =>
  fetch(origin + path, { method: "POST", headers: { cookie: fixture.ada.cookie, ...headers }, body });

test("neither another site nor an admin token can confirm a code", async () => {
  const { body } = await agent.device();
  const sent = JSON.stringify({ code: body.user_code, workspace: fixture.workspace });
  const json = { "content-type": "application/json" };
  const evil = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
  expect((await fromElsewhere("/api/agents/approve", { ...json, ...evil }, sent)).status).toBe(403);
  expect((await fromElsewhere("/api/agents/approve", { "content-type": "text/plain", origin }, sent)).status).toBe(415);
  const form = { "content-type": "application/x-www-form-urlencoded", ...evil };
  expect((await fromElsewhere("/api/agents/approve", form, `code=${body.user_code}`)).status).toBeGreaterThan(399);
  const made = await fixture.ada.call("POST", "/api/tokens", { name: "script", administrator: true });
  expect(made.status).toBe(201);
  const byToken = await fetch(`${origin}/api/agents/approve`, {
    method: "POST",
    headers: { ...json, authorization: `Bearer ${made.body.secret}` },
    body: sent,
  });
  expect(byToken.status).toBe(403);
  expect((await agent.poll(body.device_code)).body).toEqual({ error: "authorization_pending" });
});

test("opening a link with a code confirms nothing", async () => {
  const { body } = await agent.device();
  const path = body.verification_uri_complete.replace(/^https?:\/\/[^/]+/, "");
  for (let time = 0; time < 2; time++) {
    const page = await fetch(origin + path, { headers: { cookie: fixture.ada.cookie } });
    expect([page.status, page.headers.get("x-frame-options")]).toEqual([200, "DENY"]);
    expect(await page.text()).not.toContain(body.user_code);
  }
  expect((await agent.poll(body.device_code)).body).toEqual({ error: "authorization_pending" });
});

test("accepts a workspace by id or slug, and returns 404 for a foreign one", async () => {
  const { body } = await agent.device();
  const approve = (workspace: string) =>
    fixture.ada.call("POST", "/api/agents/approve", { code: body.user_code, workspace });
  expect((await approve("nowhere")).body.error).toMatchObject({ code: "not_found", param: "workspace" });
  expect((await approve("-")).body.error).toMatchObject({ code: "invalid_request", param: "workspace" });
  expect((await approve("acme")).status).toBe(200);
  expect((await agent.poll(body.device_code)).status).toBe(200);
});

test("limits the sign-ins that an address starts without affecting those already started", async () => {
  const { body } = await agent.device();
  let refused = null;
  for (let time = 0; time <= bounds.deviceStartsMax && refused === null; time++) {
    const answer = await agent.device();
    if (answer.status !== 200) refused = answer;
  }
  expect([refused?.status, refused?.body.error]).toEqual([429, "slow_down"]);
  expect(await fixture.approve(fixture.ada, body.user_code)).toBe(200);
  expect((await agent.poll(body.device_code)).status).toBe(200);
});

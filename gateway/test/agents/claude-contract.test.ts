import { afterAll, beforeAll, expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { claudeGateway } from "../endpoints/messages/claude-gateway.ts";
import { upstream } from "../started-gateway.ts";
import { type AgentFixture, type Person, startAgentFixture } from "./agent-fixture.ts";
import { type Login, ScriptedAgent } from "./scripted-agent.ts";

let fixture: AgentFixture;
let agent: ScriptedAgent;
/** A user who keeps their access. */
let member: Person;
beforeAll(async () => {
  fixture = await startAgentFixture({
    ...claudeGateway,
    models: [
      ...(claudeGateway.models ?? []),
      ...["denied", "repeated"].map((name) => ({ name, deployments: [{ provider: "claude", upstream_model: "x" }] })),
    ],
    workspace: { groups: [{ name: "default", models: ["claude-*"] }] },
    providers: (simulator) => [upstream("claude", simulator, { kind: "anthropic" })],
  });
  agent = new ScriptedAgent(fixture.gateway.url);
  member = await fixture.invited("bob", "member");
});
afterAll(() => fixture.stop());

/** Shifts all times in the database into the past. */
const shiftTime = (ms: number) =>
  fixture.gateway.control.database.kysely
    .updateTable("agent_devices")
    .set((eb) => ({ polled_at: eb("polled_at", "-", ms) }))
    .execute();

async function loggedIn(person = fixture.ada): Promise<Login> {
  const { body } = await agent.device();
  expect(await fixture.approve(person, body.user_code)).toBe(200);
  const answer = await agent.poll(body.device_code);
  expect(answer.status).toBe(200);
  return { accessToken: answer.body.access_token, refreshToken: answer.body.refresh_token };
}

test("metadata names endpoints of the same origin, both grants and the contract's version", async () => {
  const metadata: object = await agent.metadata();
  const base = fixture.gateway.url;
  expect(metadata).toEqual({
    issuer: base,
    device_authorization_endpoint: `${base}/oauth/device_authorization`,
    token_endpoint: `${base}/oauth/token`,
    revocation_endpoint: `${base}/oauth/revoke`,
    grant_types_supported: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ["none"],
    scopes_supported: ["openid", "profile", "email"],
    gateway_protocol_version: 1,
  });
});

test.each(["surface=claude_code", "", "surface=claude_code&made_up=1"])(
  "a device that sends %j gets codes that must not be cached",
  async (sent) => {
    const { status, body, headers } = await agent.device(sent);
    expect([status, headers.get("cache-control"), headers.get("pragma")]).toEqual([200, "no-store", "no-cache"]);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(Object.keys(body).sort()).toEqual(
      ["device_code", "expires_in", "interval", "user_code", "verification_uri", "verification_uri_complete"].sort(),
    );
    expect(body.device_code).toMatch(/^[\w-]{43}$/);
    expect(body.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(body.verification_uri_complete).toBe(`${body.verification_uri}?user_code=${body.user_code}`);
    expect([body.expires_in, body.interval]).toEqual([600, 5]);
  },
);

test("a device code is pending, polled too soon, granted once, and then expired", async () => {
  const { body } = await agent.device();
  const pending = await agent.poll(body.device_code);
  expect([pending.status, pending.body]).toEqual([400, { error: "authorization_pending" }]);
  const early = await agent.poll(body.device_code);
  expect([early.status, early.body]).toEqual([429, { error: "slow_down" }]);
  await shiftTime(bounds.devicePollMs);
  expect((await agent.poll(body.device_code)).body).toEqual({ error: "authorization_pending" });

  const seen = await fixture.ada.call("POST", "/api/agents/find-device", {
    code: body.user_code.toLowerCase().replace("-", " "),
  });
  expect(seen.body).toMatchObject({ code: body.user_code, client: "claude-code/2.1.330" });
  expect(seen.body.workspaces.map(({ slug }: { slug: string }) => slug)).toContain("acme");
  // Viewing a code confirms nothing.
  await shiftTime(bounds.devicePollMs);
  expect((await agent.poll(body.device_code)).body).toEqual({ error: "authorization_pending" });

  expect(await fixture.approve(fixture.ada, body.user_code)).toBe(200);
  const answer = await agent.poll(body.device_code);
  expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect(Object.keys(answer.body).sort()).toEqual(["access_token", "expires_in", "refresh_token", "token_type"]);
  expect(answer.body).toMatchObject({ token_type: "Bearer", expires_in: 3_600 });
  const again = await agent.poll(body.device_code);
  expect([again.status, again.body]).toEqual([400, { error: "expired_token" }]);
  const claims = JSON.parse(Buffer.from(answer.body.access_token.split(".")[1], "base64url").toString());
  expect(claims).toMatchObject({ sub: fixture.ada.userId, email: fixture.ada.email, groups: ["default"] });
});

test("one of two simultaneous polls gets the tokens", async () => {
  const { body } = await agent.device();
  await fixture.approve(fixture.ada, body.user_code);
  const both = await Promise.all([agent.poll(body.device_code), agent.poll(body.device_code)]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
  expect(both.find(({ status }) => status === 400)?.body).toEqual({ error: "expired_token" });
});

test("reports a denial to the device once", async () => {
  const { body } = await agent.device();
  expect((await fixture.ada.call("POST", "/api/agents/deny", { code: body.user_code })).status).toBe(200);
  const denied = await agent.poll(body.device_code);
  expect([denied.status, denied.body]).toEqual([400, { error: "access_denied" }]);
  await shiftTime(bounds.devicePollMs);
  expect((await agent.poll(body.device_code)).body).toEqual({ error: "expired_token" });
});

test.each([
  ["grant_type=password&username=a", 400, "unsupported_grant_type"],
  ["grant_type=refresh_token", 400, "invalid_request"],
  ["grant_type=refresh_token&refresh_token=", 400, "invalid_request"],
  ["grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code", 400, "invalid_request"],
  ["grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=nobody", 400, "expired_token"],
  ["grant_type=refresh_token&refresh_token=made-up", 401, "invalid_grant"],
  ["grant_type=refresh_token&grant_type=refresh_token", 400, "invalid_request"],
  ["", 400, "invalid_request"],
])("the token endpoint answers %j with %d %s", async (form, status, error) => {
  const answer = await agent.token(form);
  expect([answer.status, answer.body.error]).toEqual([status, error]);
});

test("a body that is JSON, or larger than any form, is an invalid request", async () => {
  const json = await agent.token(
    JSON.stringify({ grant_type: "refresh_token", refresh_token: "x" }),
    "application/json",
  );
  expect([json.status, json.body.error]).toEqual([400, "invalid_request"]);
  const large = await agent.token(`grant_type=${"x".repeat(bounds.agentFormBytesMax)}`);
  expect([large.status, large.body.error]).toEqual([400, "invalid_request"]);
});

test("attributes a call to workspace, group and person, whose permissions decide the models", async () => {
  const bob = member;
  const { accessToken } = await loggedIn(bob);
  const answer = await agent.message(accessToken, "claude-test");
  expect(answer.status).toBe(200);
  const [entry] = await fixture.gateway.entries();
  const [mine] = (await bob.call("GET", "/api/agents")).body.data;
  expect(mine).toMatchObject({ workspace: { slug: "acme" }, group: "default", client: "claude-code/2.1.330" });
  expect(entry).toMatchObject({
    workspaceId: fixture.workspace,
    keyId: mine.key,
    personId: bob.userId,
    model: "claude-test",
  });
  const key = await fixture.ada.call("GET", `/api/workspaces/${fixture.workspace}/keys/${mine.key}`);
  expect(key.body).toMatchObject({ name: "bob@example.com", person: { id: bob.userId, email: "bob@example.com" } });
  const denied = await agent.message(accessToken, "denied");
  expect([denied.status, denied.body.error.type]).toEqual([404, "not_found_error"]);
  // API key helpers send both headers, and either is accepted.
  const models = await agent.bearer("/v1/models?limit=1000", accessToken, { "x-api-key": accessToken });
  expect(models.status).toBe(200);
});

test("eight simultaneous calls of a denied model count once and use nothing of the person's rate limit", async () => {
  const { accessToken } = await loggedIn(member);
  const [{ key }] = (await member.call("GET", "/api/agents")).body.data;
  const place = `/api/workspaces/${fixture.workspace}/keys/${key}`;
  expect((await fixture.ada.call("PATCH", place, { limits: { rpm: 1 } })).status).toBe(200);
  await until(async () => (await agent.bearer("/v1/models/claude-test", accessToken)).status === 200);
  const calls = Array.from({ length: 8 }, () => agent.message(accessToken, "repeated"));
  for (const { status, body } of await Promise.all(calls)) {
    expect([status, body.error.type]).toEqual([404, "not_found_error"]);
  }
  expect((await agent.message(accessToken, "claude-test")).status).toBe(200);
  expect((await agent.message(accessToken, "claude-test")).status).toBe(429);
  const refused = (await fixture.gateway.entries()).filter((entry) => entry.requestedModel === "repeated");
  // One entry per second: on a stalled machine the calls may fall into several seconds.
  expect(refused.length).toBeWithin(1, 4);
  expect(refused.every((entry) => (entry.calls ?? 1) === 1 && entry.personId === member.userId)).toBe(true);
  expect((await fixture.ada.call("PATCH", place, { limits: {} })).status).toBe(200);
});

test("a refresh token is replaced at each use, and accepted once more for simultaneous requests", async () => {
  const login = await loggedIn();
  const [one, other] = await Promise.all([agent.refresh(login.refreshToken), agent.refresh(login.refreshToken)]);
  expect([one.status, other.status]).toEqual([200, 200]);
  expect(Object.keys(one.body).sort()).toEqual(["access_token", "expires_in", "refresh_token", "token_type"]);
  expect(one.body.refresh_token).not.toBe(login.refreshToken);
  expect(one.body.refresh_token).toBe(other.body.refresh_token);
  expect((await agent.message(one.body.access_token, "claude-test")).status).toBe(200);
});

test("reuse of an old refresh token ends the sign-in for both holders", async () => {
  const login = await loggedIn();
  const first = await agent.refresh(login.refreshToken);
  const second = await agent.refresh(first.body.refresh_token);
  const stolen = await agent.refresh(login.refreshToken);
  expect([stolen.status, stolen.body]).toEqual([401, { error: "invalid_grant" }]);
  expect((await agent.refresh(second.body.refresh_token)).status).toBe(401);
  await until(async () => (await agent.message(second.body.access_token, "claude-test")).status === 401);
});

test("logout revokes the access token, then the refresh token; repeating it is 200", async () => {
  const login = await loggedIn();
  expect((await agent.message(login.accessToken, "claude-test")).status).toBe(200);
  for (let time = 0; time < 2; time++) {
    for (const answer of await agent.logout(login)) expect([answer.status, answer.body]).toEqual([200, ""]);
  }
  await until(async () => (await agent.message(login.accessToken, "claude-test")).status === 401);
  const refused = await agent.message(login.accessToken, "claude-test");
  expect(refused.headers.get("x-should-retry")).toBe("false");
  expect(refused.body).toMatchObject({ type: "error", error: { type: "authentication_error" } });
  expect((await agent.refresh(login.refreshToken)).status).toBe(401);
});

test("calls of a disabled person are 401 without retry, and nothing can be refreshed", async () => {
  const carol = await fixture.invited("carol", "member");
  const login = await loggedIn(carol);
  expect((await agent.message(login.accessToken, "claude-test")).status).toBe(200);
  const gone = await fixture.ada.call("PATCH", `/api/users/${carol.userId}`, { disabled: true });
  expect(gone.status).toBe(200);
  await until(async () => (await agent.message(login.accessToken, "claude-test")).status === 401);
  const refused = await agent.message(login.accessToken, "claude-test");
  expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([401, "false"]);
  expect((await agent.refresh(login.refreshToken)).status).toBe(401);
});

test("a person can end their own sign-ins only", async () => {
  const dan = await fixture.invited("dan", "member");
  const login = await loggedIn(dan);
  const [{ id }] = (await dan.call("GET", "/api/agents")).body.data;
  expect((await member.call("DELETE", `/api/agents/${id}`)).status).toBe(404);
  expect((await agent.message(login.accessToken, "claude-test")).status).toBe(200);
  expect((await dan.call("DELETE", `/api/agents/${id}`)).status).toBe(200);
  await until(async () => (await agent.message(login.accessToken, "claude-test")).status === 401);
  expect((await dan.call("GET", "/api/agents")).body.data).toEqual([]);
});

test("a confirmed code cannot be confirmed by others, and viewers cannot confirm any", async () => {
  const vic = await fixture.invited("vic", "viewer");
  const { body } = await agent.device();
  expect(await fixture.approve(vic, body.user_code)).toBe(403);
  expect(await fixture.approve(member, body.user_code)).toBe(200);
  expect(await fixture.approve(fixture.ada, body.user_code)).toBe(404);
  expect((await fixture.ada.call("POST", "/api/agents/find-device", { code: body.user_code })).status).toBe(404);
  const { access_token: token } = (await agent.poll(body.device_code)).body;
  expect(JSON.parse(Buffer.from(token.split(".")[1], "base64url").toString()).email).toBe(member.email);
});

test("blocks guessing of codes, even with the right one", async () => {
  const hal = await fixture.invited("hal", "member");
  const { body } = await agent.device();
  for (let guess = 0; guess < bounds.userCodeTriesMax; guess++) {
    expect(await fixture.approve(hal, "BBBB-BBBB")).toBe(404);
  }
  expect(await fixture.approve(hal, body.user_code)).toBe(429);
  // Other addresses are not blocked.
  expect(await fixture.approve(fixture.ada, body.user_code)).toBe(200);
});

test("a token that was altered, or signed by another installation, is refused", async () => {
  const { accessToken } = await loggedIn();
  const [head = "", claims = "", proof = ""] = accessToken.split(".");
  const other = Buffer.from(
    JSON.stringify({ ...JSON.parse(Buffer.from(claims, "base64url").toString()), exp: 9_999_999_999 }),
  ).toString("base64url");
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url");
  const flipped = proof.startsWith("A") ? `B${proof.slice(1)}` : `A${proof.slice(1)}`;
  for (const token of [
    `${head}.${other}.${proof}`,
    `${none}.${claims}.`,
    `${head}.${claims}.${flipped}`,
    `${head}.`,
    head,
  ]) {
    const answer = await agent.message(token, "claude-test");
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([401, "false"]);
    expect(JSON.stringify(answer.body)).not.toContain(proof);
  }
});

test("people see the usage of their agents this month and their limits", async () => {
  const ivy = await fixture.invited("ivy", "member");
  expect((await ivy.call("GET", "/api/agents/usage")).body.data).toEqual([]);
  const { accessToken } = await loggedIn(ivy);
  const [{ key }] = (await ivy.call("GET", "/api/agents")).body.data;
  const change = { limits: { rpm: 50 }, budget: { usd: 5, period: "day" } };
  expect((await fixture.ada.call("PATCH", `/api/workspaces/${fixture.workspace}/keys/${key}`, change)).status).toBe(
    200,
  );
  expect((await agent.message(accessToken, "claude-test")).status).toBe(200);
  await fixture.gateway.entries();
  const [row] = (await ivy.call("GET", "/api/agents/usage")).body.data;
  expect(row).toMatchObject({ key, workspace: { slug: "acme" }, group: "default", requests: 1 });
  expect(row.cost_usd).toBeGreaterThan(0);
  const own = row.limits.filter(({ scope }: { scope: string }) => scope === "key");
  expect(own).toContainEqual(expect.objectContaining({ kind: "rpm", limit: 50, used: 1 }));
  expect(own).toContainEqual(expect.objectContaining({ kind: "budget", period: "day", limit: 5, used: row.cost_usd }));
  // Usage of other people is not included.
  const others = (await member.call("GET", "/api/agents/usage")).body.data;
  expect(others.map((each: { key: string }) => each.key)).not.toContain(key);
});

test("agents see their person's budget as a cap and get 429 when it is exhausted; API keys get 402", async () => {
  const cleo = await fixture.invited("cleo", "member");
  const { accessToken } = await loggedIn(cleo);
  const workspace = `/api/workspaces/${fixture.workspace}`;
  const members = (await fixture.ada.call("GET", `${workspace}/members`)).body.data;
  const { id, email } = members.find((each: { email: string }) => each.email.startsWith("cleo"));
  const limit = async (usd: number) =>
    await fixture.ada.call("PATCH", `${workspace}/members/${id}`, { budget: { usd, period: "month" } });
  expect((await limit(50)).status).toBe(200);
  const { secret, key } = (await cleo.call("POST", `${workspace}/keys`, { name: "cleos" })).body;
  expect(key.owner.id).toBe(id);
  const cap = (headers: Headers, name: string) => headers.get(`anthropic-ratelimit-unified-${name}`);
  const answer = await agent.message(accessToken, "claude-test");
  expect(answer.status).toBe(200);
  expect(cap(answer.headers, "status")).toBe("allowed");
  expect(cap(answer.headers, "representative-claim")).toBe("overage");
  expect(cap(answer.headers, "overage-utilization")).toBe("0.00");
  const bykey = await agent.message(secret, "claude-test");
  expect([bykey.status, cap(bykey.headers, "status")]).toEqual([200, null]);
  await fixture.gateway.entries();
  const shown = (await fixture.ada.call("GET", `${workspace}/members`)).body.data;
  const { budget_used: used } = shown.find((each: { email: string }) => each.email === email);
  const [row] = (await cleo.call("GET", "/api/agents/usage")).body.data;
  // Both calls; one of them is the agent's.
  expect(used).toBeGreaterThan(row.cost_usd);
  const spend = await agent.bearer("/api/oauth/usage", accessToken);
  expect([spend.status, spend.headers.get("cache-control")]).toEqual([200, "no-store"]);
  const cents = Math.round(row.cost_usd * 10_000) / 100;
  expect(spend.body.extra_usage).toMatchObject({ is_enabled: true, currency: "USD", used_credits: cents });
  expect(spend.body.extra_usage.monthly_limit).toBe(5_000);
  expect(spend.body.extra_usage.weekly).toEqual({ limit: null, used_credits: cents, utilization: null });
  const [tightest] = spend.body.limits;
  expect(tightest).toMatchObject({ kind: "spend", group: "monthly", severity: "normal", is_active: true });
  expect(tightest.percent).toBe(Math.round((used / 50) * 10_000) / 100);
  expect(Date.parse(tightest.resets_at)).toBeGreaterThan(Date.now());
  expect((await agent.bearer("/api/oauth/usage", "nobody")).status).toBe(401);
  await limit(0);
  expect((await agent.bearer("/api/oauth/usage", accessToken)).body.limits[0]).toMatchObject({
    percent: 100,
    severity: "critical",
  });
  const refused = await agent.message(accessToken, "claude-test");
  expect([refused.status, refused.body.error.type]).toEqual([429, "billing_error"]);
  expect(refused.body.error.message).toContain(`person acme/${email}`);
  expect(refused.headers.get("x-should-retry")).toBe("false");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  const headerNames = ["status", "overage-utilization", "overage-period", "overage-disabled-reason"];
  expect(headerNames.map((name) => cap(refused.headers, name))).toEqual([
    "rejected",
    "1",
    "monthly",
    "org_spend_cap_reached",
  ]);
  expect(Number(cap(refused.headers, "reset"))).toBe(refused.body.error.resets_at);
  // Token counting is free, so a cap does not block it; a rate limit does.
  for (const credential of [accessToken, secret]) {
    const counted = await agent.count(credential, "claude-test");
    expect([counted.status, typeof counted.body.input_tokens]).toEqual([200, "number"]);
    expect((await agent.count(credential, "claude-test", "x".repeat(200_000))).status).toBe(200);
  }
  const keys = await agent.message(secret, "claude-test");
  expect([keys.status, keys.body.error.type, cap(keys.headers, "status")]).toEqual([402, "billing_error", null]);
});

test("an admin token cannot confirm a device", async () => {
  const made = await fixture.ada.call("POST", "/api/tokens", { name: "script", administrator: true });
  const { body } = await agent.device();
  const answer = await fetch(`${fixture.gateway.url}/api/agents/approve`, {
    method: "POST",
    headers: { authorization: `Bearer ${made.body.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ code: body.user_code, workspace: fixture.workspace }),
  });
  expect(answer.status).toBe(403);
});

test("the key behind sign-ins has no secret to rotate and cannot be used in the console", async () => {
  const { accessToken } = await loggedIn();
  expect(accessToken).toBeString();
  const [mine] = (await fixture.ada.call("GET", "/api/agents")).body.data;
  const keys = `/api/workspaces/${fixture.workspace}/keys/${mine.key}`;
  expect((await fixture.ada.call("POST", `${keys}/rotate`, {})).status).toBe(409);
  expect((await fixture.ada.call("GET", `${keys}/call/v1/models`)).status).toBe(403);
});

test("an address that starts too many sign-ins gets slow_down", async () => {
  let last = await agent.device();
  for (let device = 0; device < bounds.deviceStartsMax && last.status === 200; device++) last = await agent.device();
  expect([last.status, last.body.error]).toEqual([429, "slow_down"]);
  expect(last.body.error_description).toBeString();
  expect(Number(last.headers.get("retry-after"))).toBeGreaterThan(0);
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { claudeGateway } from "../endpoints/messages/claude-gateway.ts";
import { type AgentFixture, type Person, startAgentFixture } from "./agent-fixture.ts";
import { ScriptedAgent } from "./scripted-agent.ts";

const path = "/v1/organizations/spend_limits";

let fixture: AgentFixture;
let bob: Person;
let admins: string;
let viewers: string;
beforeAll(async () => {
  fixture = await startAgentFixture({
    ...claudeGateway,
    moreWorkspaces: [{ slug: "other", name: "Other" }],
  });
  bob = await fixture.invited("bob", "member");
  admins = await token({ workspace: "acme", role: "admin" });
  viewers = await token({ workspace: "acme", role: "viewer" });
});
afterAll(() => fixture.stop());

async function token(grant: object): Promise<string> {
  const made = await fixture.ada.call("POST", "/api/tokens", { name: "script", ...grant });
  expect(made.status).toBe(201);
  return made.body.secret;
}

/** Calls like a program written for Anthropic's Admin API. */
async function ask(method: string, place = "", { key = admins, body }: { key?: string; body?: unknown } = {}) {
  const answer = await fetch(`http://localhost:${fixture.gateway.gateway.consolePort}${path}${place}`, {
    method,
    headers: {
      "x-api-key": key,
      "anthropic-version": "2023-06-01",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into an answer as freely as a caller would.
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
}

const ofBob = (amount: unknown, period = "monthly") => ({
  body: { scope: { type: "user", user_id: bob.userId }, amount, period },
});

const memberNow = async () =>
  (await fixture.ada.call("GET", `/api/workspaces/${fixture.workspace}/members`)).body.data.find(
    ({ id }: { id: string }) => id === bob.userId,
  );

test("a spend limit is the person's budget: create, replace, list, read and delete", async () => {
  const made = await ask("POST", "", ofBob("1250"));
  expect([made.status, made.headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect(made.body).toEqual({
    type: "spend_limit",
    id: `spl_${bob.userId}_monthly`,
    created_at: null,
    updated_at: null,
    scope: { type: "user", user_id: bob.userId },
    amount: "1250",
    currency: "USD",
    is_enabled: true,
    period: "monthly",
  });
  expect((await memberNow()).budget).toEqual({ usd: 12.5, period: "month" });
  const again = await ask("POST", "", ofBob("7"));
  expect(again.body).toEqual({ ...made.body, amount: "7" });
  const listed = await ask("GET", "", { key: viewers });
  expect(listed.body).toEqual({ data: [again.body], has_more: false, first_id: made.body.id, last_id: made.body.id });
  expect((await ask("GET", `/${made.body.id}`)).body).toEqual(again.body);
  const rows = (await fixture.ada.call("GET", `/api/workspaces/${fixture.workspace}/audit?limit=1`)).body.data;
  expect(rows[0]).toMatchObject({ object: "member acme/bob@example.com", actor: "ada@example.com (token script)" });

  const gone = await ask("DELETE", `/${made.body.id}`);
  expect([gone.status, gone.body]).toEqual([200, { type: "spend_limit_deleted", id: made.body.id }]);
  for (const method of ["GET", "DELETE"]) {
    const missing = await ask(method, `/${made.body.id}`);
    expect([missing.status, missing.body.error.type]).toEqual([404, "not_found_error"]);
  }
  expect((await memberNow()).budget).toBeNull();
  expect((await ask("GET")).body).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
});

test("refuses a second period, or a budget without one, and explains what exists", async () => {
  await ask("POST", "", ofBob("500", "daily"));
  const second = await ask("POST", "", ofBob("500"));
  expect([second.status, second.body.error.type]).toEqual([409, "invalid_request_error"]);
  expect(second.body.error.message).toContain(`DELETE ${path}/spl_${bob.userId}_daily`);
  expect(second.body.request_id).toStartWith("req_");
  expect(second.headers.get("request-id")).toBe(second.body.request_id);
  expect(second.headers.get("x-request-id")).toBe(second.body.request_id);
  const place = `/api/workspaces/${fixture.workspace}/members/${bob.userId}`;
  await fixture.ada.call("PATCH", place, { budget: { usd: 5, period: "total" } });
  expect((await ask("POST", "", ofBob("500"))).body.error.message).toContain("has a total budget");
  expect((await ask("GET")).body.data).toEqual([]);
  await fixture.ada.call("PATCH", place, { budget: { usd: 0.125, period: "week", fail: "open", enforce: false } });
  expect((await ask("GET")).body.data[0]).toMatchObject({ amount: "12.5", period: "weekly", is_enabled: false });
  // In shadow mode no limit is in effect.
  const effective = (await ask("GET", `/effective?user_ids[]=${bob.userId}&period[]=weekly`)).body.data;
  expect(effective).toMatchObject([{ amount: null, source: null, spend_limit_id: null }]);
  await ask("POST", "", ofBob("0", "weekly"));
  // Fields that this API does not have stay.
  expect((await memberNow()).budget).toEqual({ usd: 0, period: "week", fail: "open", enforce: false });
  await fixture.ada.call("PATCH", place, { budget: null });
});

test.each([
  [{}, "scope: Required"],
  [{ scope: { type: "user" }, amount: "1", period: "daily" }, "scope.user_id: Required"],
  [{ scope: { type: "user", user_id: "u" }, period: "daily" }, "amount: Required"],
  [{ scope: { type: "user", user_id: "u" }, amount: "1" }, "period: Required"],
  [{ scope: { type: "user", user_id: "u" }, amount: "1", period: "yearly" }, "period: must be one of"],
  [{ scope: { type: "user", user_id: "u" }, amount: 1, period: "daily" }, "a string of whole cents"],
  [{ scope: { type: "user", user_id: "u" }, amount: "1.5", period: "daily" }, "a string of whole cents"],
  [{ scope: { type: "user", user_id: "u" }, amount: "-1", period: "daily" }, "a string of whole cents"],
  [{ scope: { type: "user", user_id: "u" }, amount: null, period: "daily" }, "a string of whole cents"],
  [{ scope: { type: "organization" }, amount: "1", period: "daily" }, "per-person defaults"],
  [{ scope: { type: "rbac_group", rbac_group_id: "g" }, amount: "1", period: "daily" }, "per-person defaults"],
  [{ scope: { type: "workspace" }, amount: "1", period: "daily" }, "scope.type"],
  ["text", "scope: Required"],
])("%j is refused with 400 and %j", async (body, words) => {
  const answer = await ask("POST", "", { body });
  expect([answer.status, answer.body.type, answer.body.error.type]).toEqual([400, "error", "invalid_request_error"]);
  expect(answer.body.error.message).toContain(words);
});

test("admin tokens of admins write, others read, and nothing else has access", async () => {
  expect((await ask("POST", "", { ...ofBob("1"), key: viewers })).status).toBe(403);
  expect((await ask("DELETE", `/spl_${bob.userId}_monthly`, { key: viewers })).status).toBe(403);
  for (const key of ["", "sluice-admin-made-up", "sk-alice-0123456789abcdefghij"]) {
    const answer = await ask("GET", "", { key });
    expect([answer.status, answer.body.error.type]).toEqual([401, "authentication_error"]);
  }
  const all = await token({ administrator: true });
  const withoutType = await ask("GET", "", { key: all });
  expect([withoutType.status, withoutType.body.error.message]).toEqual([400, expect.stringContaining("?workspace=")]);
  expect((await ask("GET", "?workspace=acme", { key: all })).status).toBe(200);
  expect((await ask("GET", "?workspace=other", { key: viewers })).status).toBe(404);
  const elsewhere = await token({ workspace: "other", role: "admin" });
  expect((await ask("POST", "", { ...ofBob("1"), key: elsewhere })).status).toBe(404);
  expect((await ask("PUT", "", {})).status).toBe(405);
  expect((await ask("POST", "/effective", { body: {} })).status).toBe(405);
});

test("lists the limits and spending of each person by period, page by page", async () => {
  await ask("POST", "", ofBob("5000", "weekly"));
  const agent = new ScriptedAgent(fixture.gateway.url);
  const { body: device } = await agent.device();
  expect(await fixture.approve(bob, device.user_code)).toBe(200);
  const { access_token } = (await agent.poll(device.device_code)).body;
  expect((await agent.message(access_token, "claude-test")).status).toBe(200);
  const [entry] = await fixture.gateway.entries();
  const cents = String((entry?.costNanoUsd ?? 0) / 10_000_000);
  const { body } = await ask("GET", `/effective?user_ids[]=${bob.userId}`);
  const row = {
    scope: { type: "user", user_id: bob.userId },
    groups: [],
    actor: { type: "user_actor", user_id: bob.userId, name: "bob", email_address: bob.email, deleted: false },
    currency: "USD",
    period_to_date_spend: cents,
  };
  expect(Number(cents)).toBeGreaterThan(0);
  expect(body).toEqual({
    data: [
      { ...row, period: "daily", amount: null, source: null, spend_limit_id: null },
      { ...row, period: "weekly", amount: "5000", source: row.scope, spend_limit_id: `spl_${bob.userId}_weekly` },
      { ...row, period: "monthly", amount: null, source: null, spend_limit_id: null },
    ],
    next_page: null,
  });
  const seen: string[] = [];
  let page: string | null = "";
  do {
    const more = await ask("GET", `/effective?limit=1&period[]=daily${page === "" ? "" : `&page=${page}`}`);
    seen.push(...more.body.data.map(({ actor }: typeof row) => actor.email_address));
    page = more.body.next_page;
  } while (page !== null && seen.length < 9);
  expect(seen).toContain(bob.email);
  expect(seen).toEqual([...new Set(seen)].sort());
  for (const query of ["limit=0", "limit=many", "period=yearly"]) {
    expect((await ask("GET", `/effective?${query}`)).status).toBe(400);
  }
  await ask("DELETE", `/spl_${bob.userId}_weekly`);
});

test("people see their own spending, and admins see everyone's; names of others are hidden", async () => {
  const made = await bob.call("POST", "/api/tokens", { name: "own", workspace: "acme", role: "member" });
  const cara = await fixture.invited("cara", "viewer");
  const hers = await cara.call("POST", "/api/tokens", { name: "own", workspace: "acme", role: "viewer" });
  const people = async (key: string, query = "") => {
    const { body } = await ask("GET", `/effective?period[]=daily${query}`, { key });
    return body.data.map(({ actor }: { actor: { user_id: string } }) => actor.user_id);
  };
  expect(await people(admins)).toEqual(expect.arrayContaining([bob.userId, cara.userId]));
  expect(await people(made.body.secret)).toEqual([bob.userId]);
  expect(await people(hers.body.secret)).toEqual([cara.userId]);
  expect(await people(hers.body.secret, `&user_ids[]=${bob.userId}`)).toEqual([]);
});

import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RightsRule } from "@sluice/contract/config-file";
import { createMemoryTries } from "#coordination/index.ts";
import {
  createAgentStore,
  createControlStore,
  createPeopleStore,
  createRightsStore,
  type RightsStore,
} from "#directory/index.ts";
import { AgentSignIn, IssuerRecheck } from "#identity/index.ts";
import type { OidcAccount } from "#ports/index.ts";
import { openVault } from "#storage/index.ts";
import { createIds, systemClock } from "#system/index.ts";
import { kindDefaults } from "../conformance/store-fixture.ts";
import { openMigrated } from "../migrated.ts";
import type { Browser, BrowserResponse } from "./browser.ts";
import { openFixture } from "./fixture.ts";
import { Issuer } from "./issuer.ts";
import { returnFromIssuer } from "./oidc-trips.ts";

const by = { actor: "test", ip: null };
const minute = 60_000;
const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const rules: readonly RightsRule[] = [
  { claim: "groups", contains: "eng", workspace: "acme", role: "member", name: "engineers" },
  { claim: "groups", contains: "root", administrator: true },
];

/** Sign-in and agents as the gateway wires them, with a clock that the test moves. */
async function open(more: Partial<OidcAccount> = {}) {
  const directory = mkdtempSync(join(tmpdir(), "sluice-rights-"));
  const database = await openMigrated(":memory:");
  const issuer = new Issuer();
  ends.push(
    () => rmSync(directory, { recursive: true, force: true }),
    () => database.close(),
    () => issuer.stop(),
  );
  const moved = { ms: 0 };
  // Sign-in uses the real time, because its library does; these tests check when issuers are called.
  const waits = { open: 0 };
  const after = (ms: number, act: () => void) => {
    waits.open++;
    const cancel = systemClock.after(ms, act);
    return () => {
      waits.open--;
      cancel();
    };
  };
  const clock = { ...systemClock, now: () => systemClock.now() + moved.ms, after };
  const vault = openVault({ masterKey: null, dataDir: directory });
  const stored = { database, clock, ids: createIds(clock), vault };
  const rights = createRightsStore(stored);
  const people = createPeopleStore(stored);
  const agents = createAgentStore(stored);
  const controlStore = createControlStore({ ...stored, kindDefaults });
  const acme = await controlStore.addWorkspace({ slug: "acme", name: "Acme" }, by);
  await rights.putRules("oidc:corp", rules, by);
  const account = issuer.account({ allowedDomains: ["example.org"], offlineAccess: true, scopes: ["groups"], ...more });
  const fixture = await openFixture({ oidc: [account], rights: listener(rights) }, database);
  const recheck = new IssuerRecheck({ rights, signIn: fixture.signIn, clock, observer: silent });
  const agentSignIn = new AgentSignIn({
    ...{ agents, vault, clock, recheck },
    openTries: createMemoryTries(clock),
    randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
  });
  return { ...fixture, issuer, rights, people, agents, agentSignIn, recheck, acme: acme.id, moved, waits };
}

type Opened = Awaited<ReturnType<typeof open>>;

const silent = {
  log: () => undefined,
  attemptEnd: () => undefined,
  requestEnd: () => undefined,
  breakerChange: () => undefined,
  configReload: () => undefined,
};

function listener(rights: RightsStore) {
  return {
    pathsOf: async (account: string) => (await rights.rules(`oidc:${account}`)).map(({ claim }) => claim),
    receive: async ({ account, ...claims }: Parameters<RightsStore["applyClaims"]>[0] & { account: string }) =>
      void (await rights.applyClaims({ ...claims, source: `oidc:${account}` }, by)),
  } as never;
}

async function signInThrough(browser: Browser, issuer: Issuer): Promise<BrowserResponse> {
  const started = await browser.post("/api/auth/sign-in/social", { provider: "corp" });
  return await returnFromIssuer(browser, issuer.consent(started.json.url));
}

async function held({ people }: Opened) {
  const user = await people.userByEmail("alice@example.org");
  return { administrator: user?.administrator, places: user?.workspaces.map(({ slug, role }) => `${slug} ${role}`) };
}

/** Alice signed in through her issuer and connected an agent. */
async function withAgent(opened: Opened) {
  const { issuer, agentSignIn, acme } = opened;
  issuer.answers = { claims: { groups: ["eng"] } };
  const browser = opened.browser();
  await signInThrough(browser, issuer);
  const userId = (await browser.session())?.user.id ?? "";
  const start = await agentSignIn.begin({ client: "agent/1", ip: "192.0.2.7" });
  await agentSignIn.approve(start.userCode, { userId, ip: "192.0.2.7", workspaceId: acme }, by);
  const tokens = await agentSignIn.poll(start.deviceCode, "https://gateway.example");
  if (typeof tokens === "string") throw new Error(`no tokens: ${tokens}`);
  let { refreshToken } = tokens;
  const refresh = async () => {
    const next = await agentSignIn.refresh(refreshToken, "https://gateway.example");
    if (next !== null) refreshToken = next.refreshToken;
    return next !== null;
  };
  issuer.exchanges.splice(0);
  return { browser, userId, refresh };
}

test("a user from an issuer has the rights of its rules, in the session just opened", async () => {
  const opened = await open();
  const { issuer } = opened;
  issuer.answers = { claims: { groups: ["eng", "root", "other"] } };
  const browser = opened.browser();
  const started = await browser.post("/api/auth/sign-in/social", { provider: "corp" });
  expect(new URL(started.json.url).searchParams.get("scope")).toBe("openid email profile groups offline_access");
  expect((await returnFromIssuer(browser, issuer.consent(started.json.url))).status).toBe(302);
  expect((await browser.session())?.user.email).toBe("alice@example.org");
  expect(await held(opened)).toEqual({ administrator: true, places: ["acme member"] });
  const user = await opened.people.userByEmail("alice@example.org");
  const claimRows = await opened.database.kysely.selectFrom("person_claims").selectAll().execute();
  expect(claimRows).toMatchObject([{ user_id: user?.id, claims: '{"groups":["eng","root","other"]}' }]);
  expect(JSON.stringify(claimRows) + (await opened.stored())).not.toContain(issuer.refreshToken);
});

test("reads groups that are missing in the ID token from the user info of the same person", async () => {
  const opened = await open();
  const { issuer } = opened;
  issuer.answers = { userInfo: { sub: "subject-1", groups: ["eng"], email: "other@example.org" } };
  await signInThrough(opened.browser(), issuer);
  expect(await held(opened)).toEqual({ administrator: false, places: ["acme member"] });
  issuer.answers = { userInfo: { sub: "subject-2", groups: ["root"] } };
  const answer = await signInThrough(opened.browser(), issuer);
  expect(answer.headers.get("location")).toContain("error=");
  expect(await held(opened)).toEqual({ administrator: false, places: ["acme member"] });
});

test("sends an issuer without offline_access its own parameters", async () => {
  const opened = await open();
  opened.issuer.metadata = { scopes_supported: ["openid", "email", "profile"] };
  const { json } = await opened.browser().post("/api/auth/sign-in/social", { provider: "corp" });
  const query = new URL(json.url).searchParams;
  expect([query.get("scope"), query.get("access_type"), query.get("prompt")]).toEqual([
    "openid email profile groups",
    "offline",
    "consent",
  ]);
});

test("an agent's refresh checks the issuer at limited intervals and applies its current groups", async () => {
  const opened = await open({ recheckMinutes: 15 });
  const { issuer, moved } = opened;
  const { refresh } = await withAgent(opened);
  expect(await refresh()).toBe(true);
  expect(issuer.exchanges).toHaveLength(0);
  moved.ms += 16 * minute;
  issuer.answers = { claims: { groups: ["eng", "root"] } };
  expect(await refresh()).toBe(true);
  expect(await refresh()).toBe(true);
  expect(issuer.exchanges.map(({ form }) => form.get("grant_type"))).toEqual(["refresh_token"]);
  expect(await held(opened)).toEqual({ administrator: true, places: ["acme member"] });
  await opened.people.createUser(
    { email: "root@example.org", name: "Root", passwordHash: null, grants: [{ administrator: true }] },
    by,
  );
  moved.ms += 16 * minute;
  issuer.answers = { claims: { groups: [] } };
  expect(await refresh()).toBe(false);
  expect(await held(opened)).toEqual({ administrator: false, places: [] });
});

test("a clock that is set back delays no check at the issuer, and a timely answer leaves no timer", async () => {
  const opened = await open({ recheckMinutes: 15 });
  const { issuer, moved, waits } = opened;
  const { refresh } = await withAgent(opened);
  moved.ms -= 60 * minute;
  expect(await refresh()).toBe(true);
  expect(await refresh()).toBe(true);
  expect([issuer.exchanges.length, waits.open]).toEqual([1, 0]);
  moved.ms += 16 * minute;
  issuer.answers = { refresh: { status: 400, json: { error: "invalid_grant" } } };
  expect(await refresh()).toBe(false);
  expect(waits.open).toBe(0);
});

test("checks the issuer once when several agents refresh at once", async () => {
  const opened = await open();
  const { userId } = await withAgent(opened);
  opened.moved.ms += 16 * minute;
  await Promise.all(Array.from({ length: 5 }, () => opened.recheck.check(userId)));
  expect(opened.issuer.exchanges).toHaveLength(1);
});

test("invalid_grant from the issuer ends the person's agents and sessions", async () => {
  const opened = await open();
  const { browser, userId, refresh } = await withAgent(opened);
  opened.moved.ms += 16 * minute;
  opened.issuer.answers = { refresh: { status: 400, json: { error: "invalid_grant" } } };
  expect(await refresh()).toBe(false);
  expect(await opened.agents.sessions({ userId })).toEqual([]);
  expect(await browser.session()).toBeNull();
  const rows = await opened.database.kysely
    .selectFrom("audit_log")
    .select(["action", "actor"])
    .orderBy("seq")
    .execute();
  expect(rows.at(-1)).toEqual({ action: "sessions-ended", actor: "single sign-on corp" });
});

test("keeps the last known rights for the grace period when the issuer is down or answers invalidly", async () => {
  const opened = await open({ graceHours: 1 });
  const { issuer, moved, recheck } = opened;
  const { refresh } = await withAgent(opened);
  const wrong = [null, { status: 500, error: "server_error" }, { status: 401, error: "invalid_client" }];
  for (const [index, refusal] of wrong.entries()) {
    issuer.up = refusal !== null;
    if (refusal !== null) issuer.answers = { refresh: { status: refusal.status, json: { error: refusal.error } } };
    moved.ms += 16 * minute;
    expect(await refresh()).toBe(true);
    expect(recheck.counts).toEqual({ started: index + 1, failed: index + 1 });
  }
  moved.ms += 16 * minute;
  await expect(refresh()).rejects.toMatchObject({ code: "upstream_error" });
  await expect(refresh()).rejects.toMatchObject({ code: "upstream_error" });
  moved.ms += 16 * minute;
  issuer.answers = { claims: { groups: ["eng"] } };
  expect(await refresh()).toBe(true);
  expect(await held(opened)).toEqual({ administrator: false, places: ["acme member"] });
});

test("a refresh answer with another audience, key or subject changes nothing", async () => {
  const opened = await open();
  const { issuer, moved } = opened;
  const { refresh } = await withAgent(opened);
  const answers = [
    { claims: { groups: ["root"], aud: "somebody else" } },
    { claims: { groups: ["root"] }, foreignKey: true },
    { claims: { groups: ["root"], sub: "subject-2" } },
    { claims: { groups: ["root"], iss: "https://evil.example" } },
  ];
  for (const [index, each] of answers.entries()) {
    issuer.answers = each;
    moved.ms += 16 * minute;
    // Its refresh token was replaced by an answer that was discarded, so only the issuer refuses the next one.
    const [check] = await opened.rights.issuerChecks((await opened.people.userByEmail("alice@example.org"))?.id ?? "");
    issuer.refreshToken = check?.refreshToken.reveal() ?? "";
    expect(await refresh()).toBe(true);
    expect(opened.recheck.counts.failed).toBe(index + 1);
    expect(await held(opened)).toEqual({ administrator: false, places: ["acme member"] });
  }
});

import { afterEach, expect, setSystemTime, test } from "bun:test";
import type { Browser, BrowserResponse } from "./browser.ts";
import { alice, openFixture } from "./fixture.ts";
import { Issuer } from "./issuer.ts";
import { connect, returnFromIssuer } from "./oidc-trips.ts";

const issuers: Issuer[] = [];
afterEach(() => {
  for (const issuer of issuers.splice(0)) issuer.stop();
  setSystemTime();
});

function newIssuer(): Issuer {
  const issuer = new Issuer();
  issuers.push(issuer);
  return issuer;
}

const begin = (browser: Browser, body: object = { provider: "corp" }) => browser.post("/api/auth/sign-in/social", body);

/** The full flow: to the issuer, consent, and back. */
async function signInThrough(browser: Browser, issuer: Issuer, body?: object): Promise<BrowserResponse> {
  const started = await begin(browser, body);
  expect(started.status).toBe(200);
  return await returnFromIssuer(browser, issuer.consent(started.json.url));
}

const target = (answer: BrowserResponse) => [answer.status, answer.headers.get("location")];

/** Alice has connected her account at the issuer. */
async function fixtureWith(issuer: Issuer, allowedDomains: readonly string[] = []) {
  const fixture = await openFixture({ oidc: [issuer.account({ allowedDomains })] });
  const user = await fixture.createUser(alice);
  const { answers } = issuer;
  issuer.answers = { claims: { email: allowedDomains.length === 0 ? alice.email : `alice@${allowedDomains[0]}` } };
  expect(target(await connect(await fixture.signedIn(), issuer))).toEqual([302, "/console/profile?connected=corp"]);
  issuer.answers = answers;
  issuer.exchanges.splice(0);
  fixture.events.splice(0);
  return { fixture, user };
}

test("a connected account signs its user in, also after its email address changed", async () => {
  const issuer = newIssuer();
  const { fixture, user } = await fixtureWith(issuer);
  expect(fixture.signIn.methods().oidc).toEqual([{ id: "corp", name: "Corp" }]);
  const browser = fixture.browser();
  const answer = await signInThrough(browser, issuer, { provider: "corp", page: "/console/keys?workspace=acme" });
  expect(target(answer)).toEqual([302, "/console/keys?workspace=acme"]);
  expect((await browser.session())?.user).toMatchObject({ id: user.id, name: "Alice" });
  expect((await browser.get("/api/auth/account")).json).toMatchObject({ oidc: ["corp"], password: true });
  expect(fixture.events).toEqual([
    { what: "signed-in", by: "oidc", userId: user.id, email: alice.email, ip: "192.0.2.1" },
  ]);

  issuer.answers = { claims: { email: "alice.married@example.org", email_verified: false } };
  const later = fixture.browser();
  expect(target(await signInThrough(later, issuer))).toEqual([302, "/console/"]);
  expect((await later.session())?.user.id).toBe(user.id);
});

test("the flow uses state, nonce and PKCE, and authenticates the client", async () => {
  const issuer = newIssuer();
  const { fixture } = await fixtureWith(issuer);
  const browser = fixture.browser();
  const { json } = await begin(browser);
  const url = new URL(json.url);
  expect(`${url.origin}${url.pathname}`).toBe(`${issuer.url}/authorize`);
  expect(Object.fromEntries(url.searchParams)).toEqual({
    response_type: "code",
    client_id: "sluice console",
    state: expect.stringMatching(/^[\w-]{32}$/),
    nonce: expect.stringMatching(/^[\w-]{32}$/),
    scope: "openid email profile",
    redirect_uri: "http://localhost:8811/api/auth/callback/corp",
    code_challenge_method: "S256",
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
  });
  await returnFromIssuer(browser, issuer.consent(json.url));
  const [exchange] = issuer.exchanges;
  const [id, secret] = atob(exchange?.authorization?.replace("Basic ", "") ?? "").split(":");
  expect(new URLSearchParams(`${id}&${secret}`).size).toBe(2);
  expect([id, secret]).toEqual(["sluice+console", "the+client%27s+secret%3A+with+a+colon+%26+more"]);
  expect(exchange?.form.has("client_secret")).toBe(false);
  expect(await fixture.stored()).not.toContain("opaque");
  const [linked] = await fixture.database.kysely
    .selectFrom("auth_accounts")
    .selectAll()
    .where("provider_id", "=", "corp")
    .execute();
  expect(linked).toMatchObject({ access_token: null, refresh_token: null, id_token: null, issuer: issuer.url });
});

test("sends the secret only in the form to an issuer that requires it there", async () => {
  const issuer = newIssuer();
  issuer.metadata = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
  const { fixture } = await fixtureWith(issuer);
  expect(target(await signInThrough(fixture.browser(), issuer))).toEqual([302, "/console/"]);
  expect(issuer.exchanges[0]?.authorization).toBeNull();
  expect(issuer.exchanges[0]?.form.get("client_secret")).toContain("colon");
});

test("an invalid ID token opens nothing", async () => {
  const issuer = newIssuer();
  const { fixture } = await fixtureWith(issuer);
  const seconds = Math.floor(Date.now() / 1_000);
  const broken: Issuer["answers"][] = [
    { claims: { nonce: "another" } },
    { claims: { nonce: undefined } },
    { claims: { iss: "https://evil.example" } },
    { claims: { aud: "another client" } },
    { claims: { aud: ["sluice console", "another client"] } },
    { claims: { aud: ["sluice console"], azp: "another client" } },
    { claims: { exp: seconds - 3_600 } },
    { claims: { exp: undefined } },
    { claims: { sub: "" } },
    { header: { alg: "none" } },
    { header: { alg: "HS256", kid: "key-2" } },
    { header: { kid: "key-unknown" } },
    { foreignKey: true },
    { tokenStatus: 400 },
    { tokenStatus: 500 },
  ];
  for (const answers of broken) {
    issuer.answers = answers;
    const browser = fixture.browser();
    const answer = await signInThrough(browser, issuer);
    expect([answers, target(answer)]).toEqual([answers, [302, "/console/sign-in?error=failed"]]);
    expect(await browser.session()).toBeNull();
  }
  expect(fixture.events.map(({ what }) => what)).toEqual(Array(broken.length).fill("sign-in-refused"));
  const text = JSON.stringify(fixture.logged);
  expect(text).toContain("the ID token does not hold");
  expect(text).not.toContain("colon");
  expect(text).not.toContain("eyJ");
  issuer.answers = {};
  expect(target(await signInThrough(fixture.browser(), issuer))).toEqual([302, "/console/"]);
});

test("an address opens no existing account, and an unverified one does not reveal which users exist", async () => {
  const issuer = newIssuer();
  const { fixture } = await fixtureWith(issuer, ["example.org"]);
  for (const [email_verified, error] of [
    [true, "account_exists&provider=corp"],
    [false, "email_not_verified"],
    ["false", "email_not_verified"],
    [undefined, "email_not_verified"],
    [1, "failed"],
  ] as const) {
    issuer.answers = { claims: { sub: "another", email_verified } };
    const browser = fixture.browser();
    expect(target(await signInThrough(browser, issuer))).toEqual([302, `/console/sign-in?error=${error}`]);
    expect(await browser.session()).toBeNull();
  }
});

test("an address that was reassigned to a new person does not open the previous owner's account", async () => {
  const issuer = newIssuer();
  const { fixture, user } = await fixtureWith(issuer);
  expect(target(await signInThrough(fixture.browser(), issuer))).toEqual([302, "/console/"]);
  issuer.answers = { claims: { sub: "subject-2" } };
  const browser = fixture.browser();
  expect(target(await signInThrough(browser, issuer))).toEqual([
    302,
    "/console/sign-in?error=account_exists&provider=corp",
  ]);
  expect(await browser.session()).toBeNull();
  issuer.answers = {};
  const old = fixture.browser();
  await signInThrough(old, issuer);
  expect((await old.session())?.user.id).toBe(user.id);
});

test("creates a user only from an allowed domain, with a verified address", async () => {
  const issuer = newIssuer();
  const { fixture } = await fixtureWith(issuer, ["Corp.example"]);
  const strangers: [object, string][] = [
    [{ email: "carol@corp.example", email_verified: false }, "email_not_verified"],
    [{ email: "carol@else.example" }, "not_invited"],
    [{ email: "carol@corp.example.evil.example" }, "not_invited"],
    [{ email: "carol@sub.corp.example" }, "not_invited"],
    [{ email: '"carol@corp.example"@evil.example' }, "not_invited"],
    [{ email: "carol@\u212Aorp.example" }, "not_invited"],
    [{ email: "\u212Aarol@corp.example" }, "not_invited"],
    [{ email: undefined }, "no_email"],
  ];
  for (const [claims, error] of strangers) {
    issuer.answers = { claims: { sub: "carol", ...claims }, userInfo: { sub: "carol" } };
    const browser = fixture.browser();
    expect(target(await signInThrough(browser, issuer))).toEqual([302, `/console/sign-in?error=${error}`]);
    expect(await browser.session()).toBeNull();
  }
  expect(await fixture.database.kysely.selectFrom("auth_users").select("id").execute()).toHaveLength(1);

  issuer.answers = { claims: { sub: "carol", email: "Carol@CORP.example", name: "Carol", administrator: 1 } };
  const browser = fixture.browser();
  expect(target(await signInThrough(browser, issuer))).toEqual([302, "/console/"]);
  expect((await browser.session())?.user).toMatchObject({ email: "carol@corp.example", name: "Carol" });
  const row = await fixture.database.kysely
    .selectFrom("auth_users")
    .selectAll()
    .where("email", "=", "carol@corp.example")
    .executeTakeFirst();
  expect(row).toMatchObject({ administrator: 0, disabled: 0 });
  expect(fixture.events.slice(-2).map(({ what }) => what)).toEqual(["signed-in", "user-created"]);
  await signInThrough(fixture.browser(), issuer);
  expect(fixture.events.at(-1)?.what).toBe("signed-in");
});

test("without allowed domains only existing users sign in", async () => {
  const issuer = newIssuer();
  const { fixture } = await fixtureWith(issuer);
  issuer.answers = { claims: { sub: "carol", email: "carol@example.org" } };
  expect(target(await signInThrough(fixture.browser(), issuer))).toEqual([302, "/console/sign-in?error=not_invited"]);
});

test("accepts the address from the user info of the same subject", async () => {
  const issuer = newIssuer();
  const { fixture } = await fixtureWith(issuer);
  const claims = { email: undefined, email_verified: undefined };
  const info = { email: alice.email, email_verified: true };
  issuer.answers = { claims, userInfo: { sub: "somebody else", ...info } };
  expect(target(await signInThrough(fixture.browser(), issuer))).toEqual([302, "/console/sign-in?error=failed"]);
  issuer.answers = { claims, userInfo: { sub: "subject-1", ...info } };
  expect(target(await signInThrough(fixture.browser(), issuer))).toEqual([302, "/console/"]);
});

test("logs why a user info is unusable: its type and what is missing", async () => {
  const issuer = newIssuer();
  const { fixture } = await fixtureWith(issuer);
  const claims = { email: undefined, email_verified: undefined };
  for (const [userInfo, words] of [
    [{ email: alice.email }, "must be JSON with a string `sub`"],
    [{ sub: 7, email: alice.email }, "must be JSON with a string `sub`"],
    [{ sub: "somebody else", email: alice.email }, "is about another user than the ID token (another `sub`)"],
  ] as const) {
    issuer.answers = { claims, userInfo };
    expect(target(await signInThrough(fixture.browser(), issuer))).toEqual([302, "/console/sign-in?error=failed"]);
    const failures = fixture.logged.filter(({ message }) => message === "single sign-on failed");
    expect(failures.at(-1)?.fields).toMatchObject({ account: "corp", problem: expect.stringContaining(words) });
  }
});

test("refuses a return that was not started, is repeated, late, or from another issuer", async () => {
  const issuer = newIssuer();
  const { fixture } = await fixtureWith(issuer);
  const expired = [302, "/console/sign-in?error=expired"];
  const victim = fixture.browser();
  const attacker = fixture.browser();
  const attackersTrip = issuer.consent((await begin(attacker)).json.url);
  // A link with the attacker's answer would sign the victim in as the attacker.
  expect(target(await returnFromIssuer(victim, attackersTrip))).toEqual(expired);
  expect(await victim.session()).toBeNull();

  const back = issuer.consent((await begin(victim)).json.url);
  const cookies = [...victim.cookies];
  expect(target(await returnFromIssuer(victim, back))).toEqual([302, "/console/"]);
  for (const [name, value] of cookies) if (name.endsWith("state")) victim.put(name, value);
  expect(target(await returnFromIssuer(victim, back))).toEqual(expired);

  const slow = fixture.browser();
  const late = issuer.consent((await begin(slow)).json.url);
  setSystemTime(Date.now() + 601_000);
  expect(target(await returnFromIssuer(slow, late))).toEqual(expired);
  setSystemTime();

  issuer.answers = { iss: "https://evil.example" };
  expect(target(await signInThrough(fixture.browser(), issuer))).toEqual([302, "/console/sign-in?error=failed"]);
  for (const query of [
    "",
    "?code=x",
    "?state=x",
    "?code=x&state=x",
    `?error=${"x".repeat(5_000)}`,
    "?state=%00&code=1",
  ]) {
    expect((await fixture.browser().get(`/api/auth/callback/corp${query}`)).headers.get("location")).toMatch(
      /^\/console\/sign-in\?error=(expired|failed)$/,
    );
  }
  expect(target(await returnFromIssuer(fixture.browser(), attackersTrip.replace("/corp", "/unknown")))[0]).toBe(302);
});

test("hides the text of an issuer's error", async () => {
  const issuer = newIssuer();
  const { fixture } = await fixtureWith(issuer);
  for (const [error, shown] of [
    ["access_denied", "denied"],
    ["<script>alert(1)</script>", "failed"],
  ] as const) {
    const browser = fixture.browser();
    const state = new URL((await begin(browser)).json.url).searchParams.get("state") ?? "";
    const query = new URLSearchParams({ error, error_description: "https://evil.example", state });
    const answer = await browser.get(`/api/auth/callback/corp?${query}`, { "sec-fetch-site": "cross-site" });
    expect(target(answer)).toEqual([302, `/console/sign-in?error=${shown}`]);
  }
});

test("single sign-on leads to console pages only", async () => {
  const issuer = newIssuer();
  const { fixture } = await fixtureWith(issuer);
  const pages = [
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "/api/keys",
    "/console/../api",
    "console",
  ];
  pages.push(
    "/console//evil.example",
    "/console/%2f%2fevil.example",
    "/console/\n",
    "javascript:alert(1)",
    "/consolex",
  );
  for (const page of pages) {
    const answer = await begin(fixture.browser(), { provider: "corp", page });
    expect([page, answer.status, answer.json.error?.param]).toEqual([page, 400, "page"]);
  }
  for (const more of [{ callbackURL: "https://evil.example" }, { idToken: { token: "x" } }, { scopes: ["admin"] }]) {
    expect((await begin(fixture.browser(), { provider: "corp", ...more })).status).toBe(400);
  }
});

test("an issuer that is down or misconfigured affects only its own users", async () => {
  const issuer = newIssuer();
  const fixture = await openFixture({ oidc: [issuer.account()] });
  await fixture.createUser(alice);
  issuer.up = false;
  const answer = await begin(fixture.browser());
  expect([answer.status, answer.json.error.code]).toEqual([502, "upstream_error"]);
  expect(await fixture.signedIn()).toBeDefined();
  issuer.up = true;
  const lies = [{ issuer: "https://evil.example" }, { token_endpoint: "not a URL" }, { jwks_uri: undefined }];
  for (const metadata of lies) {
    issuer.metadata = metadata;
    expect((await begin(fixture.browser())).status).toBe(502);
  }
  issuer.metadata = {};
  await connect(await fixture.signedIn(), issuer);
  expect(target(await signInThrough(fixture.browser(), issuer))).toEqual([302, "/console/"]);
  const before = issuer.requests;
  await signInThrough(fixture.browser(), issuer);
  expect(issuer.requests - before).toBe(1);
});

test.each(["token_endpoint", "jwks_uri", "userinfo_endpoint"])(
  "a discovery document cannot send the gateway to another private address: %s",
  async (endpoint) => {
    const [issuer, inside] = [newIssuer(), newIssuer()];
    const { fixture } = await fixtureWith(issuer);
    issuer.metadata = { [endpoint]: `${inside.url}/anything` };
    issuer.answers = { userInfo: { email: "alice@example.com", email_verified: true } };
    fixture.signIn.useOidc([issuer.account()]);
    await signInThrough(fixture.browser(), issuer);
    expect(inside.requests).toBe(0);
  },
);

test("refuses a disabled user, also from their issuer", async () => {
  const issuer = newIssuer();
  const { fixture } = await fixtureWith(issuer);
  await fixture.database.kysely.updateTable("auth_users").set({ disabled: 1 }).execute();
  const browser = fixture.browser();
  expect(target(await signInThrough(browser, issuer))).toEqual([302, "/console/sign-in?error=no_access"]);
  expect(await browser.session()).toBeNull();
});

test("applies changes of single sign-on accounts while the gateway runs", async () => {
  const [first, second] = [newIssuer(), newIssuer()];
  const { fixture } = await fixtureWith(first);
  const unknown = await begin(fixture.browser(), { provider: "second" });
  expect([unknown.status, unknown.json.error.code, unknown.json.error.param]).toEqual([404, "not_found", "provider"]);
  const browser = fixture.browser();
  const underway = first.consent((await begin(browser)).json.url);
  fixture.signIn.useOidc([first.account(), second.account({ id: "second", name: "Second" })]);
  expect(fixture.signIn.methods().oidc.map(({ id }) => id)).toEqual(["corp", "second"]);
  expect(target(await returnFromIssuer(browser, underway))).toEqual([302, "/console/"]);
  await connect(await fixture.signedIn(), second, "second");
  expect(target(await signInThrough(fixture.browser(), second, { provider: "second" }))).toEqual([302, "/console/"]);
  fixture.signIn.useOidc([]);
  expect((await begin(fixture.browser())).status).toBe(404);
  expect(fixture.signIn.methods().oidc).toEqual([]);
});

test("skips an unusable account and logs it", async () => {
  const issuer = newIssuer();
  const { fixture } = await fixtureWith(issuer);
  fixture.signIn.useOidc([
    issuer.account({ id: "credential" }),
    issuer.account({ id: "a/b" }),
    issuer.account({ id: "plain", issuer: "http://issuer.example" }),
    issuer.account({ id: "nothing", issuer: "issuer" }),
    issuer.account({ id: "good" }),
  ]);
  expect(fixture.signIn.methods().oidc.map(({ id }) => id)).toEqual(["good"]);
  expect(fixture.logged.filter(({ level }) => level === "warn")).toHaveLength(4);
});

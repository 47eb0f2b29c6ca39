import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { connectionsPerUserMax } from "#sign-in/users.ts";
import type { Browser, BrowserResponse } from "./browser.ts";
import { alice, type Fixture, openFixture, password } from "./fixture.ts";
import { Issuer } from "./issuer.ts";
import { connect, returnFromIssuer } from "./oidc-trips.ts";
import { authenticatorApp } from "./one-time-codes.ts";

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

const bob = { email: "bob@example.org", name: "Bob", password };
const wantsMore = "/console/sign-in?error=account_exists&provider=corp";

/** Signs in at the issuer, starting from the sign-in page. */
async function signInThrough(browser: Browser, issuer: Issuer, provider = "corp"): Promise<string | null> {
  const { json } = await browser.post("/api/auth/sign-in/social", { provider, page: "/console/keys?workspace=acme" });
  return (await returnFromIssuer(browser, issuer.consent(json.url))).headers.get("location");
}

const whereTo = (answer: BrowserResponse) => answer.headers.get("location");

async function connections(browser: Browser) {
  return (await browser.get("/api/auth/account")).json.connections as { id: string; provider: string; name: string }[];
}

describe("an email address from an issuer", () => {
  test("opens no account automatically, even if it is allowed and verified", async () => {
    const issuer = newIssuer();
    const fixture = await openFixture({ oidc: [issuer.account({ allowedDomains: ["example.org"] })] });
    await fixture.createUser(alice);
    for (const email of [alice.email, "ALICE@Example.ORG"]) {
      issuer.answers = { claims: { email } };
      const browser = fixture.browser();
      expect(await signInThrough(browser, issuer)).toBe(wantsMore);
      expect(await browser.session()).toBeNull();
      // Not even when another user is signed in in that browser.
      const signedIn = await fixture.signedIn();
      expect(await signInThrough(signedIn, issuer)).toBe(wantsMore);
    }
    expect((await fixture.database.kysely.selectFrom("auth_accounts").selectAll().execute()).length).toBe(1);
  });

  test("outside the account's domains is refused at once, for new and existing users, connected or not", async () => {
    const issuer = newIssuer();
    const account = issuer.account({ allowedDomains: ["partner.example"] });
    const fixture = await openFixture({ oidc: [account] });
    await fixture.createUser(alice);
    const refused = "/console/sign-in?error=not_invited";
    for (const email of [alice.email, "nobody@example.org"]) {
      issuer.answers = { claims: { email } };
      expect(await signInThrough(fixture.browser(), issuer)).toBe(refused);
    }
    issuer.answers = { claims: { email: alice.email } };
    const browser = await fixture.signedIn();
    expect(whereTo(await connect(browser, issuer))).toBe("/console/profile?error=not_invited");
    expect(await connections(browser)).toEqual([]);
    issuer.answers = { claims: { email: "alice@partner.example" } };
    expect(whereTo(await connect(browser, issuer))).toBe("/console/profile?connected=corp");
    expect(await signInThrough(fixture.browser(), issuer)).toBe("/console/keys?workspace=acme");
    // The user has moved to another domain, or the issuer claims so.
    issuer.answers = { claims: { email: alice.email } };
    expect(await signInThrough(fixture.browser(), issuer)).toBe(refused);
    // An administrator removed the domain from the list.
    issuer.answers = { claims: { email: "alice@partner.example" } };
    fixture.signIn.useOidc([{ ...account, allowedDomains: ["else.example"] }]);
    expect(await signInThrough(fixture.browser(), issuer)).toBe(refused);
  });

  test("matches its domain in any spelling", async () => {
    const issuer = newIssuer();
    const fixture = await openFixture({ oidc: [issuer.account({ allowedDomains: ["bücher.example"] })] });
    for (const [sub, email] of [
      ["1", "carol@xn--bcher-kva.example"],
      ["2", "dave@BÜCHER.example"],
    ]) {
      issuer.answers = { claims: { sub, email } };
      expect(await signInThrough(fixture.browser(), issuer)).toBe("/console/keys?workspace=acme");
    }
    issuer.answers = { claims: { sub: "3", email: "carol@bücher.example" } };
    expect(await signInThrough(fixture.browser(), issuer)).toBe(wantsMore);
    const rows = await fixture.database.kysely.selectFrom("auth_users").select("email").orderBy("email").execute();
    expect(rows.map((row) => row.email)).toEqual(["carol@xn--bcher-kva.example", "dave@xn--bcher-kva.example"]);
  });
});

describe("connecting an account", () => {
  test("requires a recent sign-in, shows under the profile, and is logged", async () => {
    const issuer = newIssuer();
    const fixture = await openFixture({ oidc: [issuer.account()] });
    const user = await fixture.createUser(alice);
    const body = { provider: "corp" };
    expect((await fixture.browser().post("/api/auth/oidc/connect", body)).json.error.code).toBe("not_signed_in");
    const browser = await fixture.signedIn();
    // A verified or equal address is not required: the signed-in user decides.
    issuer.answers = { claims: { email: "a.liddell@elsewhere.example", email_verified: false } };
    expect(whereTo(await connect(browser, issuer))).toBe("/console/profile?connected=corp");
    expect(await connections(browser)).toMatchObject([{ provider: "corp", name: "Corp" }]);
    expect(fixture.events.at(-1)).toMatchObject({ what: "oidc-connected", by: "oidc", userId: user.id });
    // Connecting it again changes nothing.
    expect(whereTo(await connect(browser, issuer))).toBe("/console/profile?connected=corp");
    expect(await connections(browser)).toHaveLength(1);
    const other = fixture.browser();
    expect(await signInThrough(other, issuer)).toBe("/console/keys?workspace=acme");
    expect((await other.session())?.user.id).toBe(user.id);
    const rows = await fixture.database.kysely.selectFrom("auth_accounts").selectAll().execute();
    for (const row of rows) expect(row).toMatchObject({ access_token: null, refresh_token: null, id_token: null });
    setSystemTime(Date.now() + bounds.sessionFreshMs);
    expect((await other.post("/api/auth/oidc/connect", body)).json.error.code).toBe("confirm_sign_in");
  });

  test("works only for the user who started, if they are still signed in when they return", async () => {
    const issuer = newIssuer();
    const fixture = await openFixture({ oidc: [issuer.account()] });
    await fixture.createUser(alice);
    await fixture.createUser(bob);
    const setOut = async (browser: Browser) =>
      issuer.consent((await browser.post("/api/auth/oidc/connect", { provider: "corp" })).json.url);
    const refused = "/console/profile?error=sign_in_first";
    const changed = await fixture.signedIn();
    const bobs = await setOut(changed);
    await changed.signInWith(bob.email, password);
    expect(whereTo(await returnFromIssuer(changed, bobs))).toBe(refused);
    const left = await fixture.signedIn();
    const gone = await setOut(left);
    await left.post("/api/auth/sign-out", {});
    expect(whereTo(await returnFromIssuer(left, gone))).toBe(refused);
    // A link with the attacker's answer must not connect the attacker's account to the user who follows it.
    const attackers = await setOut(await fixture.signedIn(bob.email));
    expect(whereTo(await returnFromIssuer(await fixture.signedIn(), attackers))).toBe("/console/sign-in?error=expired");
    const slow = await fixture.signedIn();
    setSystemTime(Date.now() + bounds.sessionFreshMs - 5_000);
    const late = await setOut(slow);
    setSystemTime(Date.now() + 5_000);
    expect(whereTo(await returnFromIssuer(slow, late))).toBe(refused);
    const kinds = await fixture.database.kysely.selectFrom("auth_accounts").select("provider_id").execute();
    expect(kinds.map((row) => row.provider_id)).toEqual(["credential", "credential"]);
  });

  test("is refused for an account connected to another user, and changes nothing", async () => {
    const issuer = newIssuer();
    const fixture = await openFixture({ oidc: [issuer.account()] });
    const { id } = await fixture.createUser(alice);
    await fixture.createUser(bob);
    await connect(await fixture.signedIn(), issuer);
    const bobs = await fixture.signedIn(bob.email);
    expect(whereTo(await connect(bobs, issuer))).toBe("/console/profile?error=other_person");
    expect(await connections(bobs)).toEqual([]);
    const browser = fixture.browser();
    await signInThrough(browser, issuer);
    expect((await browser.session())?.user.id).toBe(id);
  });

  test("identifies accounts by issuer and subject: the same subject at another issuer is a different user", async () => {
    const [one, two] = [newIssuer(), newIssuer()];
    const fixture = await openFixture({ oidc: [one.account(), two.account({ id: "two", name: "Two" })] });
    await fixture.createUser(alice);
    const browser = await fixture.signedIn();
    await connect(browser, one);
    expect(await signInThrough(fixture.browser(), two, "two")).toBe(
      "/console/sign-in?error=account_exists&provider=two",
    );
    // The issuer was set up again and renumbered its users.
    one.answers = { claims: { sub: "renumbered" } };
    expect(await signInThrough(fixture.browser(), one)).toBe(wantsMore);
    expect(whereTo(await connect(browser, one))).toBe("/console/profile?connected=corp");
    expect(await signInThrough(fixture.browser(), one)).toBe("/console/keys?workspace=acme");
    expect(await connections(browser)).toHaveLength(2);
  });

  test("is limited to a maximum number per user", async () => {
    const issuer = newIssuer();
    const fixture = await openFixture({ oidc: [issuer.account()] });
    await fixture.createUser(alice);
    const browser = await fixture.signedIn();
    for (let n = 0; n < connectionsPerUserMax; n++) {
      issuer.answers = { claims: { sub: `subject ${n}` } };
      await connect(browser, issuer);
    }
    const more = await browser.post("/api/auth/oidc/connect", { provider: "corp" });
    expect([more.status, more.json.error.code]).toEqual([409, "conflict"]);
  });
});

describe("a second factor", () => {
  async function withFactor(fixture: Fixture, issuer: Issuer) {
    await fixture.createUser(alice);
    const browser = await fixture.signedIn();
    await connect(browser, issuer);
    const { json } = await browser.post("/api/auth/two-factor/enable", { password });
    const code = authenticatorApp(json.totp_uri);
    expect((await browser.post("/api/auth/two-factor/verify-totp", { code: code() })).status).toBe(200);
    setSystemTime(Date.now() + 120_000);
    return { code, backupCodes: json.backup_codes as string[], browser };
  }

  test("is required after single sign-on too, and no session exists before", async () => {
    setSystemTime(Date.now());
    const issuer = newIssuer();
    const fixture = await openFixture({ oidc: [issuer.account()] });
    const { code, backupCodes, browser: old } = await withFactor(fixture, issuer);
    const codeStep = "/console/sign-in?step=code&next=%2Fkeys%3Fworkspace%3Dacme";
    const browser = fixture.browser();
    expect(await signInThrough(browser, issuer)).toBe(codeStep);
    expect(await browser.session()).toBeNull();
    expect((await browser.get("/api/auth/account")).status).toBe(401);
    expect((await browser.post("/api/auth/two-factor/verify-totp", { code: "000000" })).status).toBe(401);
    const firstCode = code();
    expect((await browser.post("/api/auth/two-factor/verify-totp", { code: firstCode })).status).toBe(200);
    expect((await browser.session())?.user.email).toBe(alice.email);
    const second = fixture.browser();
    await signInThrough(second, issuer);
    // A code works once, on this path too.
    expect((await second.post("/api/auth/two-factor/verify-totp", { code: firstCode })).status).toBe(401);
    const body = { code: backupCodes[0] ?? "" };
    expect((await second.post("/api/auth/two-factor/verify-backup-code", body)).status).toBe(200);
    // A signed-in user who uses single sign-on has no session until the code is entered.
    expect(await signInThrough(old, issuer)).toBe(codeStep);
    expect(await old.session()).toBeNull();
  });

  test("is left to an issuer that an administrator trusts with it", async () => {
    setSystemTime(Date.now());
    const issuer = newIssuer();
    const fixture = await openFixture({ oidc: [issuer.account()] });
    await withFactor(fixture, issuer);
    fixture.signIn.useOidc([issuer.account({ secondFactorTrusted: true })]);
    const browser = fixture.browser();
    expect(await signInThrough(browser, issuer)).toBe("/console/keys?workspace=acme");
    expect((await browser.session())?.user.email).toBe(alice.email);
  });
});

describe("disconnecting an account", () => {
  test("removes that sign-in method and every other session, for the user's own accounts only", async () => {
    const issuer = newIssuer();
    const fixture = await openFixture({ oidc: [issuer.account()] });
    await fixture.createUser(alice);
    await fixture.createUser(bob);
    const browser = await fixture.signedIn();
    await connect(browser, issuer);
    const elsewhere = fixture.browser();
    await signInThrough(elsewhere, issuer);
    const [{ id } = { id: "" }] = await connections(browser);
    const disconnect = (by: Browser, which = id) => by.post("/api/auth/oidc/disconnect", { id: which });
    expect((await disconnect(await fixture.signedIn(bob.email))).json.error.code).toBe("not_found");
    const credential = await fixture.database.kysely.selectFrom("auth_accounts").select("id").execute();
    for (const row of credential.filter((each) => each.id !== id)) {
      expect((await disconnect(browser, row.id)).json.error.code).toBe("not_found");
    }
    expect((await disconnect(browser)).status).toBe(200);
    expect(await elsewhere.session()).toBeNull();
    expect((await browser.session())?.user.email).toBe(alice.email);
    expect(fixture.events.at(-1)?.what).toBe("oidc-disconnected");
    expect(await signInThrough(fixture.browser(), issuer)).toBe(wantsMore);
  });

  test("is refused for the last sign-in method, also when two are removed at once; a deleted account does not count", async () => {
    const [one, two] = [newIssuer(), newIssuer()];
    const accounts = [one.account({ allowedDomains: ["example.org"] }), two.account({ id: "two" })];
    const fixture = await openFixture({ oidc: accounts });
    one.answers = { claims: { sub: "carol", email: "carol@example.org" } };
    const browser = fixture.browser();
    expect(await signInThrough(browser, one)).toBe("/console/keys?workspace=acme");
    const disconnect = (id: string) => browser.post("/api/auth/oidc/disconnect", { id });
    const [first] = await connections(browser);
    expect((await disconnect(first?.id ?? "")).json.error).toMatchObject({ code: "conflict" });
    await connect(browser, two, "two");
    const both = await connections(browser);
    const answers = await Promise.all(both.map(({ id }) => disconnect(id)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const left = await connections(browser);
    expect(left).toHaveLength(1);
    fixture.signIn.useOidc(accounts.filter(({ id }) => id !== left[0]?.provider));
    expect((await disconnect(left[0]?.id ?? "")).status).toBe(409);
  });
});

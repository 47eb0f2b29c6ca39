import { afterEach, expect, setSystemTime, test } from "bun:test";
import { Browser } from "./browser.ts";
import { alice, type Fixture, openFixture, password } from "./fixture.ts";
import { authenticatorApp } from "./one-time-codes.ts";

const start = Date.UTC(2026, 10, 21, 12);
const step = 30_000;
afterEach(() => void setSystemTime());

const enable = "/api/auth/two-factor/enable";
const verify = "/api/auth/two-factor/verify-totp";
const backup = "/api/auth/two-factor/verify-backup-code";

/** Alice with an authenticator app, and the clock advanced so that the next code is new. */
async function enabled(fixture: Fixture, browser: Browser) {
  const { json } = await browser.post(enable, { password });
  const code = authenticatorApp(json.totp_uri);
  expect((await browser.post(verify, { code: code() })).status).toBe(200);
  setSystemTime(Date.now() + 4 * step);
  return { code, backupCodes: json.backup_codes as string[], events: fixture.events };
}

async function aliceSignedIn(): Promise<{ fixture: Fixture; browser: Browser }> {
  setSystemTime(start);
  const fixture = await openFixture();
  await fixture.createUser(alice);
  return { fixture, browser: await fixture.signedIn() };
}

test("requires a second factor once its first code was confirmed, and not before", async () => {
  const { fixture, browser } = await aliceSignedIn();
  const wrong = await browser.post(enable, { password: "wrong horse battery staple" });
  expect([wrong.status, wrong.json.error.param]).toEqual([400, "password"]);
  const { json } = await browser.post(enable, { password });
  expect(json.totp_uri).toStartWith("otpauth://totp/Sluice:alice%40example.org?secret=");
  expect(json.backup_codes).toHaveLength(10);
  expect((await fixture.browser().signInWith(alice.email, password)).json.two_factor).toBe(false);
  const code = authenticatorApp(json.totp_uri);
  const early = await browser.post(verify, { code: code(start - 10 * step) });
  expect([early.status, early.json.error.code, early.json.error.param]).toEqual([400, "invalid_request", "code"]);

  const other = await fixture.signedIn();
  const before = await browser.session();
  expect((await browser.post(verify, { code: code() })).status).toBe(200);
  expect((await browser.session())?.sessionId).not.toBe(before?.sessionId);
  expect(await other.session()).toBeNull();
  expect((await browser.get("/api/auth/account")).json).toMatchObject({ two_factor: true, password: true });
  expect((await browser.post(enable, { password })).json.error.code).toBe("conflict");
  expect(fixture.events.map(({ what }) => what)).toContain("two-factor-enabled");
  const stored = await fixture.stored();
  for (const secret of [new URL(json.totp_uri).searchParams.get("secret") ?? "", ...json.backup_codes]) {
    expect(stored).not.toContain(secret);
  }
});

test("with a second factor, the password alone opens nothing until the code is entered", async () => {
  const { fixture, browser } = await aliceSignedIn();
  const { code } = await enabled(fixture, browser);
  const next = fixture.browser();
  const answer = await next.signInWith(alice.email, password);
  expect(answer.json).toEqual({ two_factor: true, user: null });
  expect(await next.session()).toBeNull();
  expect((await next.get("/api/auth/account")).status).toBe(401);
  const wrong = await next.post(verify, { code: code(start - 10 * step) });
  expect([wrong.status, wrong.json.error.code, wrong.json.error.param]).toEqual([401, "sign_in_refused", "code"]);
  const spaced = `${code().slice(0, 3)} ${code().slice(3)}`;
  const right = await next.post(verify, { code: spaced });
  expect([right.status, right.json.user.email]).toEqual([200, alice.email]);
  expect((await next.session())?.fresh).toBe(true);
  expect(fixture.events.at(-1)).toMatchObject({ what: "signed-in", by: "second-factor", email: alice.email });
});

test("a code works once, also when two send it at the same moment", async () => {
  const { fixture, browser } = await aliceSignedIn();
  const { code } = await enabled(fixture, browser);
  const thieves = [fixture.browser(), fixture.browser()];
  for (const thief of thieves) await thief.signInWith(alice.email, password);
  const answers = await Promise.all(thieves.map((thief) => thief.post(verify, { code: code() })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  const late = fixture.browser();
  await late.signInWith(alice.email, password);
  expect((await late.post(verify, { code: code() })).status).toBe(401);
  setSystemTime(Date.now() + 2 * step);
  expect((await late.post(verify, { code: code() })).status).toBe(200);
});

test("the first code, which confirmed the app, does not work afterwards", async () => {
  const { fixture, browser } = await aliceSignedIn();
  const { json } = await browser.post(enable, { password });
  const code = authenticatorApp(json.totp_uri)();
  expect((await browser.post(verify, { code })).status).toBe(200);
  const onlooker = fixture.browser();
  await onlooker.signInWith(alice.email, password);
  expect((await onlooker.post(verify, { code })).status).toBe(401);
});

test("a code and a backup code work once across all processes", async () => {
  const { fixture, browser } = await aliceSignedIn();
  const { code, backupCodes } = await enabled(fixture, browser);
  const other = fixture.otherProcess();
  for (const [path, given] of [
    [verify, code()],
    [backup, backupCodes[0]],
  ] as const) {
    const browsers = [fixture.browser(), new Browser(other), fixture.browser(), new Browser(other)];
    for (const each of browsers) await each.signInWith(alice.email, password);
    const answers = await Promise.all(browsers.map((each) => each.post(path, { code: given })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const sessions = await Promise.all(browsers.map((each) => each.session()));
    expect(sessions.filter((session) => session !== null)).toHaveLength(1);
    setSystemTime(Date.now() + 4 * step);
  }
});

test("a code works only after the password, and for ten minutes", async () => {
  const { fixture, browser } = await aliceSignedIn();
  const { code, backupCodes } = await enabled(fixture, browser);
  const stranger = fixture.browser();
  for (const [path, guess] of [
    [verify, code()],
    [backup, backupCodes[0]],
  ] as const) {
    const answer = await stranger.post(path, { code: guess });
    expect([answer.status, answer.json.error.code, answer.json.error.param]).toEqual([401, "sign_in_refused", null]);
  }
  const slow = fixture.browser();
  await slow.signInWith(alice.email, password);
  setSystemTime(Date.now() + 600_001);
  const answer = await slow.post(verify, { code: code() });
  expect([answer.status, answer.json.error.param]).toEqual([401, null]);
  expect(await slow.session()).toBeNull();
});

test("codes cannot be guessed, in one sign-in or in many", async () => {
  const { fixture, browser } = await aliceSignedIn();
  const { code } = await enabled(fixture, browser);
  const answers: [number, string | null][] = [];
  let thief = fixture.browser();
  for (let index = 0; index < 12; index++) {
    if (index % 6 === 0) {
      thief = fixture.browser();
      thief.ip = `203.0.113.${index}`;
      await thief.signInWith(alice.email, password);
    }
    const { status, json } = await thief.post(verify, { code: String(100_000 + index) });
    answers.push([status, json.error.param]);
  }
  const wrong = [401, "code"];
  const over = [401, null];
  const locked = [429, null];
  expect(answers as unknown[]).toEqual([
    wrong,
    wrong,
    wrong,
    wrong,
    wrong,
    over,
    wrong,
    wrong,
    wrong,
    wrong,
    locked,
    locked,
  ]);
  const owner = fixture.browser();
  owner.ip = "203.0.113.99";
  await owner.signInWith(alice.email, password);
  expect((await owner.post(verify, { code: code() })).status).toBe(429);
});

test("a backup code works once", async () => {
  const { fixture, browser } = await aliceSignedIn();
  const { backupCodes } = await enabled(fixture, browser);
  const [first = "", second = ""] = backupCodes;
  for (const [code, status] of [
    [first, 200],
    [first, 401],
    ["aaaaa-bbbbb", 401],
    [second, 200],
  ] as const) {
    const next = fixture.browser();
    await next.signInWith(alice.email, password);
    expect((await next.post(backup, { code })).status).toBe(status);
    expect((await next.session()) !== null).toBe(status === 200);
  }
});

test("new backup codes replace the old ones and require the password", async () => {
  const { fixture, browser } = await aliceSignedIn();
  const { backupCodes } = await enabled(fixture, browser);
  const path = "/api/auth/two-factor/generate-backup-codes";
  expect((await browser.post(path, { password: "wrong horse battery staple" })).status).toBe(400);
  const { json } = await browser.post(path, { password });
  expect(json.backup_codes).toHaveLength(10);
  const next = fixture.browser();
  await next.signInWith(alice.email, password);
  expect((await next.post(backup, { code: backupCodes[0] })).status).toBe(401);
  expect((await next.post(backup, { code: json.backup_codes[0] })).status).toBe(200);
  expect(fixture.events.map(({ what }) => what)).toContain("backup-codes-made");
});

test("disabling the second factor requires the password and ends other sessions", async () => {
  const { fixture, browser } = await aliceSignedIn();
  const { code } = await enabled(fixture, browser);
  const other = fixture.browser();
  await other.signInWith(alice.email, password);
  await other.post(verify, { code: code() });
  const path = "/api/auth/two-factor/disable";
  expect((await browser.post(path, { password: "wrong horse battery staple" })).status).toBe(400);
  expect((await browser.post(path, { password })).status).toBe(200);
  expect(await other.session()).toBeNull();
  expect(await browser.session()).not.toBeNull();
  expect((await fixture.browser().signInWith(alice.email, password)).json.two_factor).toBe(false);
  expect((await browser.post(path, { password })).json.error.code).toBe("conflict");
});

test("a password reset also ends a sign-in that waits for its code", async () => {
  const { fixture, browser } = await aliceSignedIn();
  const { code } = await enabled(fixture, browser);
  const waiting = fixture.browser();
  await waiting.signInWith(alice.email, password);
  const [user] = await fixture.database.kysely.selectFrom("auth_users").select("id").execute();
  const hash = await fixture.signIn.hashPassword("a completely different phrase");
  await fixture.people.setPassword(user?.id ?? "", hash, { actor: "test", ip: null });
  expect((await waiting.post(verify, { code: code() })).status).toBe(401);
  expect(await waiting.session()).toBeNull();
});

test("a user without a password cannot set up a second factor", async () => {
  const { fixture, browser } = await aliceSignedIn();
  await fixture.database.kysely.updateTable("auth_accounts").set({ password: null }).execute();
  const answer = await browser.post(enable, { password });
  expect([answer.status, answer.json.error.code]).toEqual([409, "conflict"]);
});

test("no device is trusted to skip the second factor", async () => {
  const { fixture, browser } = await aliceSignedIn();
  const { code } = await enabled(fixture, browser);
  const next = fixture.browser();
  await next.signInWith(alice.email, password);
  expect((await next.post(verify, { code: code(), trustDevice: true })).status).toBe(400);
  expect((await next.post(verify, { code: code() })).cookies.join()).not.toContain("trust");
});

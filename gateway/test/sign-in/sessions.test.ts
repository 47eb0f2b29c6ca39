import { afterEach, expect, setSystemTime, test } from "bun:test";
import { alice, openFixture, password } from "./fixture.ts";

const start = Date.UTC(2026, 10, 21, 12);
const minute = 60_000;
const hour = 60 * minute;
afterEach(() => void setSystemTime());

test("a session ends after twelve idle hours", async () => {
  setSystemTime(start);
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  setSystemTime(start + 12 * hour - minute);
  expect(await browser.session()).not.toBeNull();
  setSystemTime(start + 24 * hour - 2 * minute);
  expect(await browser.session()).not.toBeNull();
  setSystemTime(start + 36 * hour);
  expect(await browser.session()).toBeNull();
  expect((await browser.get("/api/auth/account")).status).toBe(401);
  expect(await fixture.database.kysely.selectFrom("auth_sessions").selectAll().execute()).toEqual([]);
});

test("a session ends seven days after it began, even if it is used", async () => {
  setSystemTime(start);
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  for (let hours = 10; hours < 7 * 24; hours += 10) {
    setSystemTime(start + hours * hour);
    expect(await browser.session()).not.toBeNull();
    expect((await browser.get("/api/auth/account")).status).toBe(200);
  }
  setSystemTime(start + 7 * 24 * hour - 1);
  expect(await browser.session()).not.toBeNull();
  setSystemTime(start + 7 * 24 * hour);
  expect(await browser.session()).toBeNull();
});

test("the library's endpoints treat an idle session as ended too", async () => {
  setSystemTime(start);
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  setSystemTime(start + 13 * hour);
  const answer = await browser.get("/api/auth/passkey/list-user-passkeys");
  expect([answer.status, answer.json.error.code]).toEqual([401, "not_signed_in"]);
});

test("a session is fresh for ten minutes, and signing in again makes it fresh", async () => {
  setSystemTime(start);
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  const before = await browser.session();
  setSystemTime(start + 10 * minute - 1);
  expect((await browser.session())?.fresh).toBe(true);
  setSystemTime(start + 10 * minute);
  expect((await browser.session())?.fresh).toBe(false);
  const stale = await browser.get("/api/auth/passkey/generate-register-options");
  expect([stale.status, stale.json.error.code]).toEqual([403, "confirm_sign_in"]);

  await browser.signInWith(alice.email, password);
  const after = await browser.session();
  expect(after?.fresh).toBe(true);
  expect(after?.sessionId).not.toBe(before?.sessionId);
  expect((await browser.get("/api/auth/sessions")).json.data).toHaveLength(1);
});

test("users list their sessions by id and end one or all others, never those of other users", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  await fixture.createUser({ ...alice, email: "bob@example.org" });
  const here = await fixture.signedIn();
  const there = await fixture.signedIn();
  const elsewhere = await fixture.signedIn();
  const bob = await fixture.signedIn("bob@example.org");
  const { json } = await here.get("/api/auth/sessions");
  expect(json.data).toHaveLength(3);
  expect(json.data.filter((session: { current: boolean }) => session.current)).toMatchObject([
    { id: (await here.session())?.sessionId, ip: "192.0.2.1", user_agent: "test browser", fresh: true },
  ]);
  const id = (await there.session())?.sessionId;
  const foreign = await bob.post("/api/auth/sessions/end", { id });
  expect([foreign.status, foreign.json.error.code]).toEqual([404, "not_found"]);
  expect(await there.session()).not.toBeNull();
  expect((await here.post("/api/auth/sessions/end", { id })).json).toEqual({ ended: 1 });
  expect(await there.session()).toBeNull();
  expect((await here.post("/api/auth/sessions/end-others", {})).json).toEqual({ ended: 1 });
  expect(await elsewhere.session()).toBeNull();
  expect(await here.session()).not.toBeNull();
  expect(await bob.session()).not.toBeNull();
});

test("signing out ends the session, not only its cookie", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  const stolen = new Map(browser.cookies);
  expect((await browser.post("/api/auth/sign-out", {})).status).toBe(200);
  // The remaining cookie only marks a browser that signed in before.
  expect([...browser.cookies.keys()]).toEqual(["sluice-8811.device"]);
  for (const [name, value] of stolen) browser.put(name, value);
  expect(await browser.session()).toBeNull();
  expect((await browser.post("/api/auth/sign-out", {})).status).toBe(200);
  expect(fixture.events.map(({ what }) => what)).toEqual(["signed-in", "signed-out"]);
});

test("a disabled user's sessions end at their next use", async () => {
  const fixture = await openFixture();
  const user = await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  const disable = (disabled: number) =>
    fixture.database.kysely.updateTable("auth_users").set({ disabled }).where("id", "=", user.id).execute();
  await disable(1);
  expect(await browser.session()).toBeNull();
  await disable(0);
  expect(await browser.session()).toBeNull();
});

test("the database stores no token that opens a session, and no answer contains one", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const browser = fixture.browser();
  const answer = await browser.signInWith(alice.email, password);
  const cookie = decodeURIComponent(browser.cookies.get("sluice-8811.session_token") ?? "");
  const token = cookie.slice(0, cookie.lastIndexOf("."));
  expect(token).toMatch(/^[A-Za-z0-9]{32}$/);
  expect(await fixture.stored()).not.toContain(token);
  expect(JSON.stringify(answer.json)).not.toContain(token);
  expect(JSON.stringify((await browser.get("/api/auth/sessions")).json)).not.toContain(token);
  expect(JSON.stringify([fixture.logged, fixture.events])).not.toContain(token);
  expect(JSON.stringify([fixture.logged, fixture.events])).not.toContain(password);

  const [row] = await fixture.database.kysely.selectFrom("auth_sessions").select("token").execute();
  for (const forged of [row?.token ?? "", token.slice(0, -1), ""]) {
    const thief = fixture.browser();
    thief.put(
      "sluice-8811.session_token",
      encodeURIComponent(`${forged}.${cookie.slice(cookie.lastIndexOf(".") + 1)}`),
    );
    expect(await thief.session()).toBeNull();
  }
});

test("a user has at most twenty sessions; the oldest is removed", async () => {
  setSystemTime(start);
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const first = await fixture.signedIn();
  for (let index = 1; index <= 20; index++) {
    setSystemTime(start + index * minute);
    await fixture.signedIn();
  }
  expect(await first.session()).toBeNull();
  expect(await fixture.database.kysely.selectFrom("auth_sessions").select("id").execute()).toHaveLength(20);
});

test("expired rows are deleted after a while", async () => {
  setSystemTime(start);
  const fixture = await openFixture();
  await fixture.createUser(alice);
  await fixture.signedIn();
  await fixture.browser().get("/api/auth/passkey/generate-authenticate-options");
  expect(await fixture.database.kysely.selectFrom("auth_verifications").select("id").execute()).toHaveLength(1);
  setSystemTime(start + 13 * hour);
  const later = await openFixture({ database: fixture.database.kysely });
  await later.browser().get("/api/auth/account");
  expect(await fixture.database.kysely.selectFrom("auth_verifications").select("id").execute()).toEqual([]);
  expect(await fixture.database.kysely.selectFrom("auth_sessions").select("id").execute()).toEqual([]);
});

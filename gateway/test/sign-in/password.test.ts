import { expect, test } from "bun:test";
import { passwordMatches } from "#storage/index.ts";
import { systemClock } from "#system/index.ts";
import type { BrowserResponse } from "./browser.ts";
import { alice, cheapHash, openFixture, password } from "./fixture.ts";

const wrong = "wrong horse battery staple";

test("a user signs in with the password and has a session", async () => {
  const fixture = await openFixture();
  const user = await fixture.createUser(alice);
  const browser = fixture.browser();
  expect(await browser.session()).toBeNull();
  const answer = await browser.signInWith("Alice@Example.org", password);
  expect(answer.status).toBe(200);
  expect(answer.json).toEqual({ two_factor: false, user: { id: user.id, email: alice.email, name: "Alice" } });
  expect(await browser.session()).toMatchObject({
    user: { id: user.id, email: alice.email },
    fresh: true,
  });
  expect(fixture.events).toEqual([
    { what: "signed-in", by: "password", userId: user.id, email: alice.email, ip: "192.0.2.1" },
  ]);
});

test("answers a wrong password, an unknown address and a disabled user alike, after the same work", async () => {
  let computations = 0;
  const fixture = await openFixture({
    hashPassword: (text) => {
      computations += 1;
      return cheapHash(text);
    },
    passwordMatches: (text, hash) => {
      computations += 1;
      return passwordMatches(text, hash);
    },
  });
  await fixture.createUser(alice);
  await fixture.createUser({ ...alice, email: "disabled@example.org" });
  await fixture.database.kysely
    .updateTable("auth_users")
    .set({ disabled: 1 })
    .where("email", "=", "disabled@example.org")
    .execute();
  computations = 0;
  const seen: unknown[] = [];
  for (const [email, given] of [
    [alice.email, wrong],
    ["nobody@example.org", wrong],
    ["disabled@example.org", password],
    ["disabled@example.org", wrong],
  ] as const) {
    const browser = fixture.browser();
    const answer = await browser.signInWith(email, given);
    expect(await browser.session()).toBeNull();
    seen.push([answer.status, answer.json, computations, answer.cookies.length]);
    computations = 0;
  }
  const message = "The email address or the password is wrong.";
  const error = { message, type: "authentication_error", param: null, code: "sign_in_refused" };
  expect(seen).toEqual(Array(4).fill([401, { error }, 1, 0]));
  const who = (await fixture.noted()).map(({ what, email, userId }) => [what, email, userId !== null]);
  expect(who).toEqual([
    ["sign-in-refused", alice.email, true],
    ["sign-in-refused", "nobody@example.org", false],
    ["sign-in-refused", "disabled@example.org", true],
    ["sign-in-refused", "disabled@example.org", true],
  ]);
});

test("refuses a blocked sign-in before reading the account", async () => {
  const later: (() => void)[] = [];
  const putOff = (_delayMs: number, act: () => void) => {
    later.push(act);
    return () => {};
  };
  const clock = { ...systemClock, after: putOff };
  const fixture = await openFixture({ clock });
  const user = await fixture.createUser(alice);
  expect((await fixture.browser().signInWith(alice.email, wrong)).status).toBe(401);
  expect(fixture.events).toEqual([]);
  expect(later).toHaveLength(1);
  for (const act of later) act();
  expect(await fixture.noted()).toMatchObject([{ what: "sign-in-refused", by: "password", userId: user.id }]);
});

test("refuses the eleventh attempt at an account from any address, even with the right password", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  await fixture.createUser({ ...alice, email: "bob@example.org" });
  const tries: BrowserResponse[] = [];
  for (let index = 0; index < 10; index++) {
    const browser = fixture.browser();
    browser.ip = `198.51.100.${index}`;
    tries.push(await browser.signInWith(alice.email, wrong));
  }
  expect(tries.map((answer) => answer.status)).toEqual(Array(10).fill(401));
  const locked = await fixture.browser().signInWith(alice.email, password);
  expect(locked.status).toBe(429);
  expect(locked.json.error.code).toBe("rate_limit_exceeded");
  expect(Number(locked.headers.get("retry-after"))).toBeGreaterThan(800);
  expect(Number(locked.headers.get("retry-after"))).toBeLessThanOrEqual(900);
  expect((await fixture.browser().signInWith("bob@example.org", password)).status).toBe(200);
  expect((await fixture.noted()).filter(({ what }) => what === "sign-in-locked")).toMatchObject([
    { email: alice.email },
  ]);
});

test("a browser that signed in before still can while guesses from elsewhere lock the account", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const bob = { ...alice, email: "bob@example.org" };
  await fixture.createUser(bob);
  const recognized = await fixture.signedIn();
  expect((await recognized.post("/api/auth/sign-out", {})).status).toBe(200);
  const bobs = await fixture.signedIn(bob.email);
  for (let index = 0; index < 10; index++) {
    const thief = fixture.browser();
    thief.ip = `198.51.100.${index}`;
    await thief.signInWith(alice.email, wrong);
  }
  const stranger = fixture.browser();
  expect((await stranger.signInWith(alice.email, password)).status).toBe(429);
  expect((await bobs.signInWith(alice.email, password)).status).toBe(429);
  expect((await recognized.signInWith(alice.email, wrong)).status).toBe(401);
  expect((await recognized.signInWith(alice.email, password)).status).toBe(200);
  expect((await stranger.signInWith(alice.email, password)).status).toBe(429);

  // It allows neither endless guessing, nor a long time, nor use by another account.
  const device = [...recognized.cookies].find(([name]) => name.endsWith(".device"));
  if (device === undefined) throw new Error("the browser got no device cookie");
  const [name, value] = device;
  const thief = (cookie: string, ip: string) => {
    const browser = fixture.browser();
    browser.ip = ip;
    browser.put(name, cookie);
    return browser.signInWith(alice.email, wrong);
  };
  const stolen: number[] = [];
  for (let index = 0; index < 11; index++) stolen.push((await thief(value, `203.0.113.${index}`)).status);
  expect(stolen).toEqual([...Array(10).fill(401), 429]);
  for (const changed of [value.slice(0, -1), `${value}A`, value.replace(/^\d/, "9"), "", "x.y.z"]) {
    expect((await thief(changed, "203.0.113.200")).status).toBe(429);
  }
});

test("recognizes a browser for ninety days", async () => {
  let now = Date.parse("2026-11-22T00:00:00Z");
  const clock = { ...systemClock, now: () => now, after: (_ms: number, act: () => void) => systemClock.after(0, act) };
  const fixture = await openFixture({ clock });
  await fixture.createUser(alice);
  const recognized = await fixture.signedIn();
  const lock = async () => {
    for (let index = 0; index < 10; index++) {
      const thief = fixture.browser();
      thief.ip = `198.51.100.${index}`;
      await thief.signInWith(alice.email, wrong);
    }
  };
  await lock();
  now += 89 * 86_400_000;
  expect((await recognized.signInWith(alice.email, wrong)).status).toBe(401);
  now += 2 * 86_400_000;
  expect((await recognized.signInWith(alice.email, password)).status).toBe(429);
});

test("counts twenty simultaneous guesses as ten", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const browser = fixture.browser();
      browser.ip = `198.51.100.${index}`;
      return browser.signInWith(alice.email, wrong);
    }),
  );
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  expect([count(401), count(429)]).toEqual([10, 10]);
});

test("counts attempts at unknown accounts like those at existing ones", async () => {
  const fixture = await openFixture();
  for (let index = 0; index < 10; index++) {
    const browser = fixture.browser();
    browser.ip = `198.51.100.${index}`;
    expect((await browser.signInWith("nobody@example.org", wrong)).status).toBe(401);
  }
  expect((await fixture.browser().signInWith("nobody@example.org", wrong)).status).toBe(429);
});

test("allows ten attempts per address at all accounts together, and counts a /64 as one address", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  for (let index = 0; index < 10; index++) {
    const browser = fixture.browser();
    browser.ip = `2001:db8:1:2:${index}::1`;
    expect((await browser.signInWith(`guess${index}@example.org`, wrong)).status).toBe(401);
  }
  const same = fixture.browser();
  same.ip = "2001:db8:1:2:ffff::1";
  expect((await same.signInWith(alice.email, password)).status).toBe(429);
  const other = fixture.browser();
  other.ip = "2001:db8:1:3::1";
  expect((await other.signInWith(alice.email, password)).status).toBe(200);
});

test("a successful sign-in resets the failed attempts", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 9; index++) {
      const browser = fixture.browser();
      browser.ip = `198.51.100.${index}`;
      expect((await browser.signInWith(alice.email, wrong)).status).toBe(401);
    }
    expect((await fixture.browser().signInWith(alice.email, password)).status).toBe(200);
  }
});

test("validates the input before trying it", async () => {
  const fixture = await openFixture();
  const browser = fixture.browser();
  const path = "/api/auth/sign-in/email";
  const refused = async (body: unknown, headers: Record<string, string> = {}) => {
    const { status, json } = await browser.post(path, body, headers);
    return [status, json.error.code, json.error.param];
  };
  expect(await refused("{")).toEqual([400, "invalid_json", null]);
  expect(await refused([])).toEqual([400, "invalid_request", null]);
  expect(await refused({ password })).toEqual([400, "invalid_request", "email"]);
  expect(await refused({ email: "no address", password })).toEqual([400, "invalid_request", "email"]);
  expect(await refused({ email: alice.email, password: "" })).toEqual([400, "invalid_request", "password"]);
  expect(await refused({ email: alice.email, password: "x".repeat(257) })).toEqual([
    400,
    "invalid_request",
    "password",
  ]);
  expect(await refused({ email: { $ne: null }, password })).toEqual([400, "invalid_request", "email"]);
  // Options of the library that we do not accept: an endless session, a redirect.
  expect(await refused({ email: alice.email, password, rememberMe: false })).toEqual([400, "invalid_request", null]);
  expect(await refused({ email: alice.email, password, callbackURL: "https://evil.example" })).toEqual([
    400,
    "invalid_request",
    null,
  ]);
  expect(await refused({ email: alice.email, password: "x".repeat(70_000) })).toEqual([413, "request_too_large", null]);
  expect(await refused({}, { "content-type": "text/plain" })).toEqual([415, "unsupported_media_type", null]);
  expect(fixture.events).toEqual([]);
});

test("a new user requires an unused address and a valid password", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const refused = (user: Partial<typeof alice>) => expect(fixture.createUser({ ...alice, ...user })).rejects;
  await refused({ email: "ALICE@example.org" }).toMatchObject({ code: "conflict", param: "email" });
  await refused({ email: "nowhere" }).toMatchObject({ code: "invalid_request", param: "email" });
  await refused({ email: "bob@example.org", name: "  " }).toMatchObject({ code: "invalid_request", param: "name" });
  const bob = { email: "bob@example.org" };
  await refused({ ...bob, password: "x".repeat(11) }).toMatchObject({ code: "invalid_request", param: "password" });
  await refused({ ...bob, password: "x".repeat(257) }).toMatchObject({ code: "invalid_request", param: "password" });
  await fixture.createUser({ ...alice, ...bob, password: "x".repeat(256) });
});

test("creates one whole user when two with the same address are created at once", async () => {
  const fixture = await openFixture();
  const made = await Promise.allSettled([fixture.createUser(alice), fixture.createUser(alice)]);
  expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await fixture.database.kysely.selectFrom("auth_accounts").selectAll().execute()).toHaveLength(1);
  expect((await fixture.browser().signInWith(alice.email, password)).status).toBe(200);
});

test("changing the password ends every other session and gives this browser a new one", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const here = await fixture.signedIn();
  const there = await fixture.signedIn();
  const before = await here.session();
  const path = "/api/auth/change-password";
  const changed = "a completely different phrase";
  const refused = await here.post(path, { current_password: wrong, new_password: changed });
  expect([refused.status, refused.json.error.param]).toEqual([400, "current_password"]);
  const short = await here.post(path, { current_password: password, new_password: "short" });
  expect([short.status, short.json.error.param]).toEqual([400, "new_password"]);
  expect(await there.session()).not.toBeNull();

  expect((await here.post(path, { current_password: password, new_password: changed })).status).toBe(200);
  expect(await there.session()).toBeNull();
  const after = await here.session();
  expect(after?.sessionId).toBeString();
  expect(after?.sessionId).not.toBe(before?.sessionId);
  expect((await fixture.browser().signInWith(alice.email, password)).status).toBe(401);
  expect((await fixture.browser().signInWith(alice.email, changed)).status).toBe(200);
  expect(fixture.events.map(({ what }) => what)).toContain("password-changed");
  expect((await fixture.browser().post(path, { current_password: changed, new_password: password })).status).toBe(401);
});

test("changing the password invalidates earlier reset links", async () => {
  const fixture = await openFixture();
  const { id } = await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  const { kysely } = fixture.database;
  await kysely.insertInto("password_resets").values({ user_id: id, digest: "of a link", expires_at: 1 }).execute();
  const links = async () => (await kysely.selectFrom("password_resets").select("digest").execute()).length;
  const change = (current_password: string) =>
    browser.post("/api/auth/change-password", { current_password, new_password: "a completely different phrase" });
  expect([(await change(wrong)).status, await links()]).toEqual([400, 1]);
  expect([(await change(password)).status, await links()]).toEqual([200, 0]);
});

test("a stolen session cannot be used to guess the password", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  const body = { current_password: wrong, new_password: "a completely different phrase" };
  const answers: number[] = [];
  for (let index = 0; index < 11; index++) {
    browser.ip = `198.51.100.${index}`;
    answers.push((await browser.post("/api/auth/change-password", body)).status);
  }
  expect(answers).toEqual([...Array(10).fill(400), 429]);
});

test("a reset replaces the password, ends the sessions, and sets one for a user without", async () => {
  const fixture = await openFixture();
  const user = await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  const by = { actor: "test", ip: null };
  const reset = async (userId: string, text: string) =>
    await fixture.people.setPassword(userId, await fixture.signIn.hashPassword(text), by);
  await expect(reset(user.id, "short")).rejects.toMatchObject({ code: "invalid_request" });
  await expect(reset("usr_nobody", password)).rejects.toMatchObject({ code: "not_found" });
  expect(await browser.session()).not.toBeNull();
  await reset(user.id, "a completely different phrase");
  expect(await browser.session()).toBeNull();
  expect((await fixture.browser().signInWith(alice.email, password)).status).toBe(401);
  expect((await fixture.browser().signInWith(alice.email, "a completely different phrase")).status).toBe(200);

  await fixture.database.kysely.deleteFrom("auth_accounts").execute();
  expect((await fixture.browser().signInWith(alice.email, password)).status).toBe(401);
  await reset(user.id, password);
  expect((await fixture.browser().signInWith(alice.email, password)).status).toBe(200);
});

test("removing a user removes every sign-in method", async () => {
  const fixture = await openFixture();
  const user = await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  await fixture.people.removeUser(user.id, null, { actor: "test", ip: null });
  expect(await browser.session()).toBeNull();
  expect((await fixture.browser().signInWith(alice.email, password)).status).toBe(401);
  expect(await fixture.stored()).toBe("[[],[],[],[],[]]");
  await fixture.createUser(alice);
});

test("a user chooses the console's language and can reset the choice", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  const stored = async () =>
    (await fixture.database.kysely.selectFrom("auth_users").select("language").executeTakeFirstOrThrow()).language;
  expect(await stored()).toBeNull();
  for (const language of ["zh-CN", "en", null]) {
    expect((await browser.post("/api/auth/update-user", { language })).status).toBe(200);
    expect(await stored()).toBe(language);
  }
  for (const wrong of [{ language: "xx" }, { language: "" }, { language: 1 }, {}]) {
    expect((await browser.post("/api/auth/update-user", wrong)).status, JSON.stringify(wrong)).toBe(400);
  }
  expect(await stored()).toBeNull();
});

test("a user can change only their own name", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  const answer = await browser.post("/api/auth/update-user", { name: "Alice Liddell" });
  expect(answer.json.user.name).toBe("Alice Liddell");
  expect((await browser.session())?.user.name).toBe("Alice Liddell");
  for (const more of [{ email: "root@example.org" }, { administrator: true }, { disabled: false }, { image: "x" }]) {
    expect((await browser.post("/api/auth/update-user", { name: "Alice", ...more })).status).toBe(400);
  }
  expect(await fixture.database.kysely.selectFrom("auth_users").selectAll().executeTakeFirst()).toMatchObject({
    email: alice.email,
    administrator: 0,
    name: "Alice Liddell",
  });
});

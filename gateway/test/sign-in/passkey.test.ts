import { afterEach, expect, setSystemTime, test } from "bun:test";
import { passkeysPerUserMax } from "#sign-in/passkey-calls.ts";
import { Authenticator, type Ceremony } from "./authenticator.ts";
import type { Browser } from "./browser.ts";
import { alice, type Fixture, openFixture, password } from "./fixture.ts";
import { authenticatorApp } from "./one-time-codes.ts";

const path = (name: string) => `/api/auth/passkey/${name}`;
const localhost = "http://localhost:8811";
afterEach(() => void setSystemTime());

async function add(browser: Browser, device: Authenticator, ceremony: Partial<Ceremony> = {}, name?: string) {
  const options = await browser.get(path("generate-register-options"));
  expect(options.status).toBe(200);
  const response = device.create(options.json, { origin: browser.origin, ...ceremony });
  return await browser.post(path("verify-registration"), { response, ...(name === undefined ? {} : { name }) });
}

async function use(browser: Browser, device: Authenticator, ceremony: Partial<Ceremony> = {}) {
  const options = await browser.get(path("generate-authenticate-options"));
  const response = device.get(options.json, { origin: browser.origin, ...ceremony });
  return await browser.post(path("verify-authentication"), { response });
}

async function aliceWithPasskey(): Promise<{ fixture: Fixture; browser: Browser; device: Authenticator }> {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  const device = new Authenticator();
  expect((await add(browser, device, {}, "My laptop")).status).toBe(200);
  return { fixture, browser, device };
}

test("adds a passkey in a fresh session, which then signs in alone", async () => {
  const { fixture, browser, device } = await aliceWithPasskey();
  expect((await browser.get("/api/auth/account")).json.passkeys).toBe(1);
  const { json } = await browser.get(path("list-user-passkeys"));
  expect(json.data).toEqual([
    {
      id: expect.any(String),
      name: "My laptop",
      created_at: expect.any(Number),
      synced: false,
      aaguid: "00000000-0000-0000-0000-000000000000",
    },
  ]);
  const other = fixture.browser();
  const answer = await use(other, device);
  expect([answer.status, answer.json.user?.email]).toEqual([200, alice.email]);
  expect(Object.keys(answer.json)).toEqual(["user"]);
  expect((await other.session())?.fresh).toBe(true);
  expect(fixture.events.map(({ what, by }) => [what, by]).slice(1)).toEqual([
    ["passkey-added", "passkey"],
    ["signed-in", "passkey"],
  ]);
});

test("limits a user's passkeys, also when several are started before one is added", async () => {
  const { fixture, browser } = await aliceWithPasskey();
  const { kysely } = fixture.database;
  const begun = await browser.get(path("generate-register-options"));
  const one = await kysely.selectFrom("auth_passkeys").selectAll().executeTakeFirstOrThrow();
  const more = Array.from({ length: passkeysPerUserMax - 1 }, (_, n) => `other ${n}`);
  await kysely
    .insertInto("auth_passkeys")
    .values(more.map((id) => ({ ...one, id, credential_id: id })))
    .execute();
  const response = new Authenticator().create(begun.json, { origin: browser.origin });
  const added = await browser.post(path("verify-registration"), { response });
  expect([added.status, added.json.error?.code]).toEqual([409, "conflict"]);
  expect((await browser.get(path("generate-register-options"))).status).toBe(409);
  await kysely.deleteFrom("auth_passkeys").where("id", "=", "other 0").execute();
  expect((await browser.post(path("verify-registration"), { response })).status).toBe(200);
});

test("a passkey requires user verification, so it counts as both factors", async () => {
  const { fixture, browser, device } = await aliceWithPasskey();
  const registration = await browser.get(path("generate-register-options"));
  expect(registration.json.authenticatorSelection).toMatchObject({
    residentKey: "required",
    userVerification: "required",
  });
  expect((await browser.get(path("generate-authenticate-options"))).json.userVerification).toBe("required");
  const { json } = await browser.post("/api/auth/two-factor/enable", { password });
  await browser.post("/api/auth/two-factor/verify-totp", { code: authenticatorApp(json.totp_uri)() });

  const other = fixture.browser();
  const unverified = await use(other, device, { userVerified: false });
  expect([unverified.status, unverified.json.error.code]).toEqual([401, "sign_in_refused"]);
  expect(await other.session()).toBeNull();
  expect((await use(other, device)).status).toBe(200);
  expect((await add(browser, new Authenticator(), { userVerified: false })).json.error.code).toBe("invalid_request");
});

test("refuses an unknown, foreign or copied passkey with the same answer", async () => {
  const { fixture, device } = await aliceWithPasskey();
  expect((await use(fixture.browser(), device, { counter: 10 })).status).toBe(200);
  const refused = [
    await use(fixture.browser(), new Authenticator()),
    await use(fixture.browser(), device, { origin: "http://localhost.evil.example", counter: 11 }),
    await use(fixture.browser(), device, { rpId: "evil.example", counter: 12 }),
    // A counter that decreases indicates two devices with one key (WebAuthn §6.1.1).
    await use(fixture.browser(), device, { counter: 5 }),
  ];
  const first = refused[0]?.json;
  expect(first.error).toMatchObject({ code: "sign_in_refused", param: null });
  expect(refused.map(({ status, json }) => [status, json])).toEqual(Array(4).fill([401, first]));
});

test("a challenge works once, in the browser that requested it, and for its own purpose", async () => {
  const { fixture, browser, device } = await aliceWithPasskey();
  const asking = fixture.browser();
  const { json } = await asking.get(path("generate-authenticate-options"));
  const body = { response: device.get(json, { origin: localhost }) };
  const elsewhere = await fixture.browser().post(path("verify-authentication"), body);
  expect([elsewhere.status, elsewhere.json.error.code]).toEqual([400, "invalid_request"]);
  const challenge = [...asking.cookies];
  expect((await asking.post(path("verify-authentication"), body)).status).toBe(200);
  const again = fixture.browser();
  for (const [name, value] of challenge) again.put(name, value);
  expect((await again.post(path("verify-authentication"), body)).status).toBe(400);
  expect(await again.session()).toBeNull();

  const registration = await browser.get(path("generate-register-options"));
  const misused = device.get({ challenge: registration.json.challenge, rpId: "localhost" }, { origin: localhost });
  expect((await browser.post(path("verify-authentication"), { response: misused })).status).toBe(400);
});

test("a passkey belongs to one user: others cannot see, rename or remove it", async () => {
  const { fixture, browser, device } = await aliceWithPasskey();
  await fixture.createUser({ ...alice, email: "bob@example.org" });
  const bob = await fixture.signedIn("bob@example.org");
  expect((await bob.get(path("list-user-passkeys"))).json.data).toEqual([]);
  const [{ id }] = (await browser.get(path("list-user-passkeys"))).json.data;
  for (const id_ of [id, "pky_nowhere"]) {
    const answers = [
      await bob.post(path("update-passkey"), { id: id_, name: "Mine now" }),
      await bob.post(path("delete-passkey"), { id: id_ }),
    ];
    expect(answers.map(({ status, json }) => [status, json.error.code])).toEqual(Array(2).fill([404, "not_found"]));
  }
  // With the same key under two users, sign-in would depend on the database's order.
  expect((await add(bob, device)).status).toBe(400);
  expect((await browser.post(path("update-passkey"), { id, name: " Desk " })).json.passkey.name).toBe("Desk");
  expect((await browser.post(path("delete-passkey"), { id })).status).toBe(200);
  expect((await use(fixture.browser(), device)).status).toBe(401);
  expect(fixture.events.map(({ what }) => what)).toContain("passkey-removed");
});

test("keeps the last sign-in method, and removing a passkey ends the other sessions", async () => {
  const { fixture, browser, device } = await aliceWithPasskey();
  const second = new Authenticator();
  await add(browser, second);
  await fixture.database.kysely.deleteFrom("auth_accounts").execute();
  const elsewhere = fixture.browser();
  await use(elsewhere, device);
  const ids = (await browser.get(path("list-user-passkeys"))).json.data.map(({ id }: { id: string }) => id);
  const answers = await Promise.all(ids.map((id: string) => browser.post(path("delete-passkey"), { id })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(await elsewhere.session()).toBeNull();
  expect(await browser.session()).not.toBeNull();
  expect((await browser.get("/api/auth/account")).json.passkeys).toBe(1);
});

test("adding and removing passkeys requires a fresh session", async () => {
  setSystemTime(Date.UTC(2026, 10, 21, 12));
  const { browser } = await aliceWithPasskey();
  const [{ id }] = (await browser.get(path("list-user-passkeys"))).json.data;
  setSystemTime(Date.UTC(2026, 10, 21, 12, 11));
  const answers = [
    await browser.get(path("generate-register-options")),
    await browser.post(path("verify-registration"), { response: { id: "x", type: "public-key" } }),
    await browser.post(path("delete-passkey"), { id }),
  ];
  expect(answers.map(({ status, json }) => [status, json.error.code])).toEqual(Array(3).fill([403, "confirm_sign_in"]));
});

test("adding a passkey opens no session, although the library could", async () => {
  const { browser } = await aliceWithPasskey();
  const { json } = await browser.get(path("generate-register-options"));
  const response = new Authenticator().create(json, { origin: localhost });
  expect((await browser.post(path("verify-registration"), { response, createSession: true })).status).toBe(400);
});

test("rejects malformed passkeys without an internal error", async () => {
  const { fixture, browser, device } = await aliceWithPasskey();
  const id = device.credentialId.toString("base64url");
  const whole = { id, rawId: id, type: "public-key", clientExtensionResults: {} };
  const broken: unknown[] = [whole, { ...whole, response: {} }, { ...whole, response: { clientDataJSON: "%%%" } }];
  broken.push({ ...whole, response: { clientDataJSON: btoa("[]"), authenticatorData: "", signature: "" } });
  for (const response of broken) {
    await browser.get(path("generate-register-options"));
    expect((await browser.post(path("verify-registration"), { response })).json.error.code).toBe("invalid_request");
    const other = fixture.browser();
    await other.get(path("generate-authenticate-options"));
    expect((await other.post(path("verify-authentication"), { response })).json.error.code).toBe("sign_in_refused");
  }
  for (const response of [null, [], {}, "x", { id: 7, type: "public-key" }, { id, type: "password" }]) {
    const answer = await browser.post(path("verify-authentication"), { response });
    expect([answer.status, answer.json.error.code]).toEqual([400, "invalid_request"]);
  }
});

test("a disabled user's passkey opens nothing", async () => {
  const { fixture, device } = await aliceWithPasskey();
  await fixture.database.kysely.updateTable("auth_users").set({ disabled: 1 }).execute();
  const answer = await use(fixture.browser(), device);
  expect([answer.status, answer.json.error.code]).toEqual([401, "sign_in_refused"]);
});

test("limits attempts with passkeys and challenges by address", async () => {
  const { fixture } = await aliceWithPasskey();
  const thief = fixture.browser();
  thief.ip = "203.0.113.1";
  const answers: number[] = [];
  for (let index = 0; index < 11; index++) answers.push((await use(thief, new Authenticator())).status);
  expect(answers).toEqual([...Array(10).fill(401), 429]);
  for (let index = 11; index < 60; index++) await thief.get(path("generate-authenticate-options"));
  expect((await thief.get(path("generate-authenticate-options"))).status).toBe(429);
});

test("with a configured URL, passkeys belong to its host name", async () => {
  const fixture = await openFixture({ publicUrl: "https://gateway.example.com" });
  await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  const device = new Authenticator();
  const { json } = await browser.get(path("generate-register-options"));
  expect(json.rp).toEqual({ name: "Sluice", id: "gateway.example.com" });
  expect((await add(browser, device)).status).toBe(200);
  expect((await use(fixture.browser("https://gateway.example.com"), device)).status).toBe(200);
});

test("at an IP address the error explains where passkeys work", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const browser = fixture.browser("http://127.0.0.1:8811");
  await browser.signInWith(alice.email, password);
  const answer = await browser.get(path("generate-register-options"));
  expect([answer.status, answer.json.error.code]).toEqual([400, "invalid_request"]);
  expect(answer.json.error.message).toContain("http://localhost");
});

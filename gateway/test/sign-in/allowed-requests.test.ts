import { expect, test } from "bun:test";
import { passkey } from "@better-auth/passkey";
import { betterAuth } from "better-auth/minimal";
import { twoFactor } from "better-auth/plugins/two-factor";
import { alice, openFixture, password } from "./fixture.ts";

/** Every endpoint of sign-in. */
const calls = [
  "POST /sign-in/email",
  "POST /change-password",
  "POST /update-user",
  "POST /two-factor/verify-totp",
  "POST /two-factor/verify-backup-code",
  "POST /two-factor/enable",
  "POST /two-factor/disable",
  "POST /two-factor/generate-backup-codes",
  "GET /passkey/generate-register-options",
  "POST /passkey/verify-registration",
  "GET /passkey/generate-authenticate-options",
  "POST /passkey/verify-authentication",
  "GET /passkey/list-user-passkeys",
  "POST /passkey/update-passkey",
  "POST /passkey/delete-passkey",
  "POST /sign-in/social",
  "GET /callback/corp",
  "POST /sign-out",
  "GET /account",
  "GET /sessions",
  "POST /sessions/end",
  "POST /sessions/end-others",
];

test("the library's other endpoints cannot be reached, signed in or not", async () => {
  const library = betterAuth({
    secrets: [{ version: 1, value: "a-secret-of-this-test-9f3c71d2b85e40a6" }],
    baseURL: "http://localhost:8811",
    plugins: [twoFactor(), passkey()],
    logger: { disabled: true },
  });
  const offered = Object.values(library.api).flatMap((endpoint) => {
    const { path, options } = endpoint as { path?: string; options: { method?: string | string[] } };
    return path === undefined ? [] : [options.method ?? "GET"].flat().map((method) => `${method} ${path}`);
  });
  expect(offered).toContain("POST /sign-up/email");
  expect(offered).toContain("POST /delete-user");
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const signedIn = await fixture.signedIn();
  const closed = offered.filter((each) => !calls.includes(each.replace(":id", "corp")));
  expect(closed.length).toBeGreaterThan(20);
  for (const each of closed) {
    const [method = "", path = ""] = each.split(" ");
    for (const browser of [signedIn, fixture.browser()]) {
      const url = `/api/auth${path.replace(/:\w+/g, "corp")}`;
      const answer = method === "GET" ? await browser.get(url) : await browser.post(url, {});
      expect([each, answer.status === 404 || answer.status === 405]).toEqual([each, true]);
      expect(answer.json.error.code).toBeOneOf(["not_found", "method_not_allowed"]);
    }
  }
});

test("every endpoint answers in one format, and no other path does", async () => {
  const fixture = await openFixture();
  for (const call of calls) {
    const [method = "", path = ""] = call.split(" ");
    const browser = fixture.browser();
    const answer =
      method === "GET" ? await browser.get(`/api/auth${path}`) : await browser.post(`/api/auth${path}`, {});
    expect([call, [200, 302, 400, 401].includes(answer.status)]).toEqual([call, true]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    if (answer.status >= 400) {
      expect(Object.keys(answer.json)).toEqual(["error"]);
      expect(Object.keys(answer.json.error)).toEqual(["message", "type", "param", "code"]);
    }
    const wrongMethod =
      method === "GET" ? await browser.post(`/api/auth${path}`, {}) : await browser.get(`/api/auth${path}`);
    expect([call, wrongMethod.status, wrongMethod.headers.get("allow")]).toEqual([call, 405, method]);
  }
  for (const path of ["", "/", "/sign-in/email/", "//sign-in/email", "/sign-in/../sign-in/social", "/Sign-In/email"]) {
    expect((await fixture.browser().get(`/api/auth${path}`)).status).toBeOneOf([404, 405]);
  }
  expect((await fixture.browser().get("/api/auth/callback/a%2fb")).status).toBe(404);
});

test("pages of another site, or another host of the same site, change nothing and read nothing", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  const foreign = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "http://localhost:9999" },
    { origin: "https://localhost:8811" },
    { origin: "http://localhost.evil.example:8811" },
  ];
  for (const headers of foreign) {
    for (const [path, body] of [
      ["/sign-in/email", { email: alice.email, password }],
      ["/sign-out", {}],
      ["/sessions/end-others", {}],
    ] as const) {
      const answer = await browser.post(`/api/auth${path}`, body, headers);
      expect([headers, path, answer.status, answer.json.error?.code]).toEqual([headers, path, 403, "forbidden"]);
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  }
  for (const site of ["cross-site", "same-site"]) {
    expect((await browser.get("/api/auth/account", { "sec-fetch-site": site })).status).toBe(403);
  }
  expect((await browser.get("/api/auth/account", { "sec-fetch-site": "same-origin" })).status).toBe(200);
  expect(await browser.session()).not.toBeNull();
  const form = "application/x-www-form-urlencoded";
  expect((await browser.post("/api/auth/sign-out", "x=1", { "content-type": form })).status).toBe(415);
});

test("a program without a browser's headers can sign in", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const request = new Request("http://localhost:8811/api/auth/sign-in/email", {
    method: "POST",
    headers: { host: "localhost:8811", "content-type": "application/json", cookie: "other=1" },
    body: JSON.stringify({ email: alice.email, password }),
  });
  expect((await fixture.signIn.handle(request, { ip: "192.0.2.1" })).status).toBe(200);
});

test("on https the cookie is bound to its host; on local http it is not Secure, which Safari would refuse", async () => {
  const secure = await openFixture({ publicUrl: "https://gateway.example.com" });
  await secure.createUser(alice);
  const there = await secure.browser("https://gateway.example.com").signInWith(alice.email, password);
  expect(there.cookies).toEqual([
    expect.stringMatching(
      /^__Host-sluice\.session_token=[\w%.~-]+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    ),
    expect.stringMatching(/^__Host-sluice\.device=[\w.-]+; Max-Age=7776000; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
  ]);
  const plain = await openFixture();
  await plain.createUser(alice);
  for (const origin of [
    "http://localhost:8811",
    "http://127.0.0.1:8811",
    "http://[::1]:8811",
    "http://sluice.localhost:8811",
  ]) {
    const here = await plain.browser(origin).signInWith(alice.email, password);
    expect(here.cookies).toEqual([
      expect.stringMatching(/^sluice-8811\.session_token=[\w%.~-]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^sluice-8811\.device=[\w.-]+; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
  }
  const lan = await openFixture({ publicUrl: "http://10.0.0.5:8787/" });
  await lan.createUser(alice);
  const [cookie] = (await lan.browser("http://10.0.0.5:8787").signInWith(alice.email, password)).cookies;
  expect(cookie).toStartWith("sluice-8787.session_token=");
  expect(cookie).not.toContain("Secure");
});

test("protects every cookie of every step the same way", async () => {
  const fixture = await openFixture({ publicUrl: "https://gateway.example.com" });
  await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  const answers = [
    await browser.get("/api/auth/passkey/generate-register-options"),
    await browser.get("/api/auth/passkey/generate-authenticate-options"),
    await browser.post("/api/auth/two-factor/disable", { password }),
    await browser.post("/api/auth/sign-out", {}),
  ];
  const cookies = answers.flatMap((answer) => answer.cookies);
  expect(cookies.length).toBeGreaterThan(2);
  for (const cookie of cookies) {
    expect(cookie).toMatch(/^__Host-sluice\.\w+=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    expect(cookie).not.toContain("Domain");
  }
});

test("a cookie from http does not open a session on https", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  const secure = await openFixture({ database: fixture.database.kysely, publicUrl: "https://gateway.example.com" });
  const other = secure.browser("https://gateway.example.com");
  for (const [name, value] of browser.cookies) other.put(name, value);
  expect(await browser.session()).not.toBeNull();
  expect(await other.session()).toBeNull();
});

test("without a configured URL, sign-in works at local host names only", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  for (const origin of ["http://gateway.example.com", "http://10.0.0.5:8787", "http://localhost.evil.example:8811"]) {
    const browser = fixture.browser(origin);
    const answer = await browser.signInWith(alice.email, password);
    expect([answer.status, answer.json.error.code]).toEqual([403, "forbidden"]);
    expect(answer.json.error.message).toContain("SLUICE_PUBLIC_URL");
    expect(await browser.session()).toBeNull();
  }
});

test("with a configured URL, only that one counts, whatever Host header a proxy sends", async () => {
  const fixture = await openFixture({ publicUrl: "https://gateway.example.com" });
  await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  const proxied = new Request("http://127.0.0.1:8787/api/session", {
    headers: { ...browser.headers(), host: "127.0.0.1:8787" },
  });
  expect(await fixture.signIn.session(proxied)).not.toBeNull();
  const local = fixture.browser("http://localhost:8787");
  const answer = await local.signInWith(alice.email, password);
  expect([answer.status, answer.json.error.message]).toEqual([
    403,
    "Sign-in is open to this gateway's own pages only, at https://gateway.example.com/console/.",
  ]);
});

test("ignores address headers from a caller, and cuts a long user agent", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const browser = fixture.browser();
  const body = { email: alice.email, password };
  const headers = {
    "x-forwarded-for": "198.51.100.7",
    "x-sluice-address": "198.51.100.8",
    "x-real-ip": "198.51.100.9",
  };
  expect((await browser.post("/api/auth/sign-in/email", body, headers)).status).toBe(200);
  const [session] = (await browser.get("/api/auth/sessions")).json.data;
  expect(session.ip).toBe("192.0.2.1");
  const long = await browser.post("/api/auth/sign-in/email", body, { "user-agent": "x".repeat(5_000) });
  expect(long.status).toBe(200);
  const [second] = (await browser.get("/api/auth/sessions")).json.data;
  expect(second.user_agent).toHaveLength(256);
});

test("logs a database failure and reports only a generic error to the caller", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const browser = await fixture.signedIn();
  await fixture.database.kysely.schema.dropTable("auth_sessions").execute();
  const answers = [await browser.get("/api/auth/account"), await fixture.browser().signInWith(alice.email, password)];
  for (const answer of answers) {
    expect([answer.status, answer.json.error.code]).toEqual([500, "internal_error"]);
    expect(JSON.stringify(answer.json)).not.toMatch(/auth_|sqlite|\.ts/i);
  }
  expect(fixture.logged.filter(({ level }) => level === "error")).toHaveLength(2);
  expect(JSON.stringify(fixture.logged)).not.toContain(password);
});

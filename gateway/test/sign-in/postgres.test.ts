import { afterAll, afterEach, beforeAll, expect, setSystemTime, test } from "bun:test";
import { createDatabaseTries } from "#storage/index.ts";
import { systemClock } from "#system/index.ts";
import { until } from "../../../test/until.ts";
import { asOwner, openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { Authenticator } from "./authenticator.ts";
import { alice, openFixture, password } from "./fixture.ts";
import { Issuer } from "./issuer.ts";
import { connect, returnFromIssuer } from "./oidc-trips.ts";
import { authenticatorApp } from "./one-time-codes.ts";

const start = Date.UTC(2026, 10, 21, 12);
const hour = 3_600_000;
const passkey = (name: string) => `/api/auth/passkey/${name}`;

/** Tests of how the database stores times, flags and unique rows; everything else runs on SQLite. */
await onPostgres("sign-in", () => {
  let postgres: PostgresFixture;
  beforeAll(async () => {
    postgres = await openPostgresFixture();
  });
  afterEach(async () => {
    setSystemTime();
    for (const table of ["auth_users", "auth_verifications", "tries"] as const) {
      await postgres.database.kysely.deleteFrom(table).execute();
    }
  });
  afterAll(async () => await postgres?.[Symbol.asyncDispose]());

  test("a session ends after twelve idle hours and after seven days, also for the library's own endpoints", async () => {
    setSystemTime(start);
    const fixture = await openFixture({}, postgres.database);
    await fixture.createUser(alice);
    const idle = await fixture.signedIn();
    const used = await fixture.signedIn();
    for (let hours = 10; hours < 7 * 24; hours += 10) {
      setSystemTime(start + hours * hour);
      expect((await used.get("/api/auth/account")).status).toBe(200);
    }
    expect(await idle.session()).toBeNull();
    setSystemTime(start + 7 * 24 * hour);
    expect(await used.session()).toBeNull();
    expect((await used.post("/api/auth/two-factor/enable", { password })).status).toBe(401);
    expect((await fixture.browser().signInWith(alice.email, "wrong horse battery")).status).toBe(401);
  });

  test("requires a second factor; its code and a backup code work once", async () => {
    setSystemTime(start);
    const fixture = await openFixture({}, postgres.database);
    await fixture.createUser(alice);
    const browser = await fixture.signedIn();
    const { json } = await browser.post("/api/auth/two-factor/enable", { password });
    const code = authenticatorApp(json.totp_uri);
    const verify = "/api/auth/two-factor/verify-totp";
    expect((await browser.post(verify, { code: code() })).status).toBe(200);
    setSystemTime(start + 120_000);
    const statuses: number[] = [];
    for (const body of [{ code: code() }, { code: code() }]) {
      const next = fixture.browser();
      expect((await next.signInWith(alice.email, password)).json).toEqual({ two_factor: true, user: null });
      expect(await next.session()).toBeNull();
      statuses.push((await next.post(verify, body)).status);
    }
    for (const body of [{ code: json.backup_codes[0] }, { code: json.backup_codes[0] }]) {
      const next = fixture.browser();
      await next.signInWith(alice.email, password);
      statuses.push((await next.post("/api/auth/two-factor/verify-backup-code", body)).status);
    }
    expect(statuses).toEqual([200, 401, 200, 401]);
  });

  test("adds a passkey and connects an issuer's account, and signs in with both", async () => {
    const issuer = new Issuer();
    try {
      const fixture = await openFixture({ oidc: [issuer.account({})] }, postgres.database);
      const user = await fixture.createUser(alice);
      const browser = await fixture.signedIn();
      const device = new Authenticator();
      const creation = (await browser.get(passkey("generate-register-options"))).json;
      const response = device.create(creation, { origin: browser.origin });
      expect((await browser.post(passkey("verify-registration"), { response })).status).toBe(200);
      const other = fixture.browser();
      const options = (await other.get(passkey("generate-authenticate-options"))).json;
      const shown = { response: device.get(options, { origin: other.origin }) };
      expect((await other.post(passkey("verify-authentication"), shown)).json.user.email).toBe(alice.email);

      issuer.answers = { claims: { email: alice.email } };
      expect((await connect(browser, issuer)).headers.get("location")).toBe("/console/profile?connected=corp");
      const third = fixture.browser();
      const started = await third.post("/api/auth/sign-in/social", { provider: "corp" });
      expect((await returnFromIssuer(third, issuer.consent(started.json.url))).status).toBe(302);
      expect((await third.session())?.user.id).toBe(user.id);
    } finally {
      issuer.stop();
    }
  });

  test("refuses one of two simultaneous removals of the last two sign-in methods", async () => {
    const issuer = new Issuer();
    try {
      const fixture = await openFixture({ oidc: [issuer.account(), issuer.account({ id: "two" })] }, postgres.database);
      const { id: userId } = await fixture.createUser(alice);
      const browser = await fixture.signedIn();
      const ids = ["corp", "two"];
      const at = new Date(start).toISOString();
      const rows = ids.map((id) => ({ id, user_id: userId, issuer: id, account_id: id, provider_id: id }));
      const { kysely } = postgres.database;
      const values = rows.map((row) => ({ ...row, password: null, created_at: at, updated_at: at }));
      await kysely.deleteFrom("auth_accounts").execute();
      await kysely.insertInto("auth_accounts").values(values).execute();
      const answers = await Promise.all(ids.map((id) => browser.post("/api/auth/oidc/disconnect", { id })));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    } finally {
      issuer.stop();
    }
  });

  test("ten wrong attempts lock an account on every process, except for a recognized browser, until the right password", async () => {
    const [one, two] = await processesOn(postgres);
    await one.createUser(alice);
    const recognized = await two.signedIn();
    const guesses = Array.from({ length: 14 }, (_, n) =>
      (n % 2 === 0 ? one : two).browser().signInWith(alice.email, `wrong horse battery ${n}`),
    );
    const answers = (await Promise.all(guesses)).map(({ status }) => status);
    // Some may be refused because too many hashes run at once; those are not counted.
    expect(answers.filter((status) => status === 401)).toHaveLength(10);
    expect(answers.filter((status) => status === 429)).toHaveLength(4);
    for (const process of [one, two]) {
      expect((await process.browser().signInWith(alice.email, password)).status).toBe(429);
    }
    // The lock of the address also covers all processes; a recognized browser on another address gets in.
    recognized.ip = "203.0.113.77";
    expect((await recognized.signInWith(alice.email, "wrong horse battery")).status).toBe(401);
    expect((await recognized.signInWith(alice.email, password)).status).toBe(200);
    // Passwords that were tried are not stored.
    const rows = await postgres.database.kysely.selectFrom("tries").selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain("alice");
  });

  test("while the database is down nobody signs in and nobody guesses, and no attempt was counted afterwards", async () => {
    const [one] = await processesOn(postgres);
    await one.createUser(alice);
    const name = new URL(postgres.url).pathname.slice(1);
    const server = new URL("/postgres", postgres.url).href;
    const takeConnections = (allowed: boolean) =>
      asOwner(server, async (client) => {
        await client.query(`alter database ${name} with allow_connections ${allowed}`);
        await client.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
      });
    await takeConnections(false);
    for (let n = 0; n < 12; n++) {
      const answer = await one.browser().signInWith(alice.email, n === 0 ? password : "wrong horse battery");
      expect([answer.status, answer.json.error.code]).toEqual([503, "storage_unavailable"]);
    }
    await takeConnections(true);
    await until(async () => (await one.browser().signInWith(alice.email, password)).status === 200);
  });
});

/** Sign-in on two processes with one database. */
async function processesOn({ database }: Pick<PostgresFixture, "database">) {
  const open = () => {
    const openTries = createDatabaseTries({
      database,
      vault: { digest: (text) => text.length.toString() + Bun.hash(text) },
      clock: systemClock,
    });
    return openFixture({ openTries }, database);
  };
  return [await open(), await open()] as const;
}

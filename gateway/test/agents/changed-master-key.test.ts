import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { readEnvironment } from "#config/index.ts";
import { Secret } from "#core/index.ts";
import { openVault, retireMasterKeys, SealBroken, sealAllAgain } from "#storage/index.ts";
import { AccessTokens } from "../../src/identity/agents/access-tokens.ts";
import { openControl } from "../../src/main/control.ts";
import { sluice } from "../command-line.ts";
import { type AgentFixture, startAgentFixture } from "./agent-fixture.ts";
import { ScriptedAgent } from "./scripted-agent.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-master-key-"));
const dataDir = join(folder, "data");
const stolen = join(folder, "stolen.key");
const day = 24 * 3_600_000;

/** A vault with only the first master key and no database: what a thief of the key has. */
const thief = () => openVault({ masterKey: null, dataDir: join(folder, "thief"), mayMakeKey: false });

/** An agent's sign-in, and the tokens that the stolen key derives from its id. */
async function signIn(fixture: AgentFixture) {
  const agent = new ScriptedAgent(fixture.gateway.url);
  const { body } = await agent.device();
  expect(await fixture.approve(fixture.ada, body.user_code)).toBe(200);
  const { body: tokens } = await agent.poll(body.device_code);
  const claims = JSON.parse(Buffer.from(tokens.access_token.split(".")[1], "base64url").toString());
  const made = new AccessTokens(thief(), { now: Date.now });
  const person = { userId: claims.sub, email: claims.email, name: claims.name, group: "default", keyId: claims.key };
  const grant = { sessionId: claims.sid, generation: 1, expiresAt: Date.now() + day, person };
  return {
    tokens,
    forged: { access: made.issue(grant as never, claims.iss).token, refresh: made.refreshToken(grant) },
  };
}

const models = (fixture: AgentFixture, token: string) =>
  fixture.gateway.get("/v1/models", { authorization: `Bearer ${token}` }).then(({ status }) => status);

const command = async (...words: string[]) => {
  const answer = await sluice(words, dataDir);
  expect([words, answer.status, answer.stderr]).toEqual([words, 0, ""]);
  return JSON.parse(answer.stdout);
};

const start = () =>
  startAgentFixture({
    environment: { dataDir },
    providers: (simulator) => [
      { id: "main", kind: "openai", base_url: simulator.url, api_key: "sk-upstream", allow_private_network: true },
    ],
  });

let fixture: AgentFixture;
let victim: Awaited<ReturnType<typeof signIn>>;
beforeAll(async () => {
  fixture = await start();
  copyFileSync(join(dataDir, "master.key"), stolen);
  mkdirSync(join(folder, "thief"));
  copyFileSync(stolen, join(folder, "thief", "master.key"));
  victim = await signIn(fixture);
});
afterAll(async () => {
  await fixture?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("anyone with the master key can forge tokens of every sign-in", async () => {
  expect(await models(fixture, victim.forged.access)).toBe(200);
});

test("rotate keeps the old key file for backups, and the gateway continues with both", async () => {
  await command("backup", join(folder, "before.sqlite"), "--json");
  const rotated = await command("master-key", "rotate", "--json");
  expect(rotated.old_key_file).toMatch(/master\.key\.until-\d{8}T\d{9}Z$/);
  expect(readFileSync(rotated.old_key_file, "utf8")).toBe(readFileSync(stolen, "utf8"));
  expect(statSync(rotated.old_key_file).mode & 0o777).toBe(0o600);
  await fixture.stop();
  fixture = await start();
  expect(await models(fixture, victim.tokens.access_token)).toBe(200);
});

test("after retire, tokens signed by the old key expire at a stated time, or at once with --now", async () => {
  const retired = await command("master-key", "retire", "--grace", "12h", "--json");
  expect(retired).toMatchObject({ retired: 1, old_key_files: [expect.stringContaining("master.key.until-")] });
  expect(Date.parse(retired.signatures_until)).toBeGreaterThan(Date.now() + day / 4);
  expect(retired.sealed).toBeGreaterThan(0);
  await fixture.gateway.gateway.configSnapshot.refresh();
  expect(await models(fixture, victim.tokens.access_token)).toBe(200);

  await command("master-key", "retire", "--now", "--json");
  await fixture.gateway.gateway.configSnapshot.refresh();
  expect(await models(fixture, victim.tokens.access_token)).toBe(401);
  expect(await models(fixture, victim.forged.access)).toBe(401);
  const refreshed = await new ScriptedAgent(fixture.gateway.url).refresh(victim.forged.refresh);
  expect([refreshed.status, refreshed.body.error]).toEqual([401, "invalid_grant"]);
  // The console requires a new sign-in; calls with API keys continue, and provider secrets can be decrypted.
  expect((await fixture.ada.call("GET", "/api/session")).body.user ?? null).toBeNull();
  expect((await fixture.gateway.get("/v1/models")).status).toBe(200);
  expect(fixture.gateway.gateway.configSnapshot.current.providers.get("main")?.secret?.reveal()).toBe("sk-upstream");
});

test("tokens of later sign-ins cannot be made with the old key", async () => {
  await fixture.stop();
  fixture = await start();
  const { tokens, forged } = await signIn(fixture);
  expect([await models(fixture, tokens.access_token), await models(fixture, forged.access)]).toEqual([200, 401]);
});

test("nothing in the database can be decrypted with the old key alone", async () => {
  const { control } = fixture.gateway;
  const { rows } = await sql<{ id: string; sealed: string }>`
    select id, sealed_secret as sealed from providers where sealed_secret is not null`.execute(control.database.kysely);
  expect(rows.length).toBeGreaterThan(0);
  for (const { id, sealed } of rows) {
    expect(control.vault.open(sealed, `provider:${id}:secret`).reveal()).toBe("sk-upstream");
    expect(() => thief().open(sealed, `provider:${id}:secret`)).toThrow(SealBroken);
  }
});

test("a backup from before the rotation is restored with its own key, which then becomes the active one", async () => {
  await fixture.stop();
  const restored = await command("restore", join(folder, "before.sqlite"), "--json");
  expect(restored.old_key_file).toMatch(/master\.key\.until-/);
  expect(readFileSync(join(dataDir, "master.key"), "utf8")).toBe(readFileSync(stolen, "utf8"));
  // The newer key is kept too, because backups were made with it.
  expect(readdirSync(dataDir).filter((name) => name.startsWith("master.key.until-"))).toHaveLength(2);
  fixture = await start();
  expect(await models(fixture, victim.tokens.access_token)).toBe(200);
});

test("the next command completes an interrupted re-encryption", async () => {
  await fixture.stop();
  await command("master-key", "rotate", "--discard-old", "--json");
  const environment = readEnvironment({ SLUICE_DATA_DIR: dataDir });
  const control = await openControl(environment);
  const now = control.clock.now();
  const rows = Array.from({ length: 450 }, (_, index) => ({
    name: `sign-in.of-this-test.${index}`,
    value: control.vault.seal(new Secret(`secret ${index}`), `setting:sign-in.of-this-test.${index}`),
    managed_by: "system" as const,
  }));
  await control.database.kysely.insertInto("settings").values(rows).execute();
  await retireMasterKeys(control.database, { masterKey: null, dataDir }, { now, until: now });
  await control.vault.refresh();
  for await (const changed of sealAllAgain(control.database, control.vault)) if (changed === 200) break;
  // Processes with the new key read values of either key meanwhile.
  for (const { name, value } of rows) {
    const { value: sealed } = await control.database.kysely
      .selectFrom("settings")
      .select("value")
      .where("name", "=", name)
      .executeTakeFirstOrThrow();
    for (const text of [value, sealed])
      expect(control.vault.open(text, `setting:${name}`).reveal()).toContain("secret");
  }
  await control.close();
  const { sealed } = await command("master-key", "retire", "--json");
  expect(sealed).toBeWithin(250, 260);
  expect((await command("master-key", "retire", "--json")).sealed).toBe(0);
  fixture = await start();
  expect((await fixture.gateway.get("/v1/models")).status).toBe(200);
});

import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSoleLeadership } from "#coordination/index.ts";
import { keySecretBytes, makeScimTokenSecret } from "#identity/index.ts";
import type { LogLevel, Observer } from "#ports/index.ts";
import { createLeases, createSharedFacts } from "#storage/index.ts";
import { until } from "../../../test/until.ts";
import { ConfigSource } from "../../src/main/config-file.ts";
import {
  findKey,
  makeKey,
  newKey,
  type StoreFixture,
  type StoreFixtureFactory,
  silentObserver,
} from "./store-fixture.ts";

const [ciSecret, betaSecret] = ["a-secret-of-the-ci-key-for-these-tests", "a-secret-of-the-beta-key-for-these-tests"];
const directory = makeScimTokenSecret(new Uint8Array(keySecretBytes).fill(7));

/** Its first six lines are a valid file as well. */
const whole = `providers:
  - { id: main, kind: openai, api_key: upstream-secret }
  - { id: spare, kind: openai-compatible, base_url: "https://llm.example/v1" }
models:
  - { name: gpt-5, deployments: [{ provider: main }, { provider: spare, priority: 2 }], price: { input: 1, output: 2 } }
  - { name: gpt-5-mini, deployments: [{ provider: main }] }
workspaces:
  - slug: acme
    budget: { usd: 50, period: month }
    groups: [{ name: default }, { name: batch, limits: { rpm: 5 } }]
    keys: [{ name: ci, secret: ${ciSecret} }, { name: later, group: batch }]
    guardrails: [{ name: own, check: { kind: webhook, url: "https://dlp.example", secret: of-the-webhook-16 }, action: block, keys: [ci] }]
  - { slug: beta, keys: [{ name: app, secret: ${betaSecret} }] }
users:
  - { email: root@example.com }
  - { email: ada@example.com, workspaces: [{ workspace: acme, role: admin, budget: { usd: 5, period: month } }, { workspace: beta, role: member }] }
tokens:
  - { name: reports, owner: ada@example.com, workspace: acme, role: viewer, secret_sha256: "${"ab".repeat(32)}" }
  - { name: directory, owner: root@example.com, scim: true, secret: ${directory} }
oidc:
  - { id: corp, issuer: "https://sso.example.com", client_id: sluice, client_secret: of-the-issuer, allowed_domains: [example.com] }
guardrails:
  - { name: credentials, check: { kind: credentials }, action: block, workspaces: [acme] }
settings:
  ledger: { retention_days: 3650 }
`;

const restoredTables = [
  "workspaces",
  "groups",
  "api_keys",
  "providers",
  "models",
  "deployments",
  "prices",
  "guardrails",
  "members",
  "person_limits",
  "admin_tokens",
  "auth_users",
  "settings",
] as const;

/** A config file that the stores follow, on the test's clock. */
async function followFile(fixture: StoreFixture, { configPrune }: { readonly configPrune: boolean }) {
  const folder = mkdtempSync(join(tmpdir(), "sluice-config-"));
  const file = join(folder, "sluice.yaml");
  const readings: { result: string; detail: string }[] = [];
  const warnings: { level: LogLevel; objects: unknown; problem: unknown }[] = [];
  const observer: Observer = {
    ...silentObserver,
    log: (level, _message, { objects, problem } = {}) => void warnings.push({ level, objects, problem }),
    configReload: (result, detail) => void readings.push({ result, detail }),
  };
  writeFileSync(file, "{}");
  const { clock, controlStore, database, vault } = fixture;
  const owner = "proc_test";
  const leadership = createSoleLeadership({ owner, clock, observer });
  const source = new ConfigSource({
    ...{ file, environment: { configPrune }, variables: {} },
    control: {
      ...{ clock, controlStore, vault, instanceId: owner },
      ...{ facts: createSharedFacts(database), leases: createLeases(database) },
    },
    processes: { leadership, broadcast: { subscribe: () => () => undefined, send: () => undefined } },
  });
  await source.start();
  const watch = source.watch(observer, async () => undefined);
  return {
    warnings,
    /** Writes the file, advances the clock until the file was read, and returns the result. */
    async write(text: string) {
      const before = readings.length;
      writeFileSync(file, text);
      await until(() => {
        fixture.clock.advance(1_100);
        return readings.length > before;
      });
      return readings.at(-1);
    },
    async [Symbol.asyncDispose]() {
      await watch.close();
      await leadership.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function rows({ database }: StoreFixture) {
  const rowsByTable: Record<string, readonly string[]> = {};
  for (const table of restoredTables) {
    const stored = await database.kysely.selectFrom(table).selectAll().execute();
    rowsByTable[table] = stored.map((row) => JSON.stringify(row)).toSorted();
  }
  return rowsByTable;
}

export function configFileSuite(name: string, make: StoreFixtureFactory): void {
  describe(`config file: ${name}`, () => {
    test("rejects a half-written file, and lists the removals and how to confirm them", async () => {
      await using fixture = await make();
      await using config = await followFile(fixture, { configPrune: false });
      expect((await config.write(whole))?.result).toBe("applied");
      const before = await rows(fixture);
      const half = await config.write(whole.split("\n").slice(0, 6).join("\n"));
      expect(half?.result).toBe("refused");
      for (const words of [
        "2 of 2 workspaces (acme, beta)",
        "3 of 3 groups",
        "3 of 3 keys",
        "2 of 2 users",
        "1 of 1 oidc (corp)",
        "2 of 2 guardrails (credentials, acme/own)",
        "1 of 1 settings (ledger.retention_days)",
        "sluice apply --prune",
        "SLUICE_CONFIG_PRUNE=allow",
      ]) {
        expect(half?.detail).toContain(words);
      }
      expect(half?.detail).not.toContain("providers");
      expect(await rows(fixture)).toEqual(before);
      expect((await config.write("workspaces: []\nproviders: []\n"))?.result).toBe("refused");
      expect(await rows(fixture)).toEqual(before);
      expect((await config.write(whole))?.result).toBe("unchanged");
    });

    test("refuses a budget if its fallback model does not exist", async () => {
      await using fixture = await make();
      await using config = await followFile(fixture, { configPrune: false });
      const withBudgets = (fallback: string) => {
        const over = `{ usd: 5, period: month, over: { fallback: ${fallback} } }`;
        return whole
          .replaceAll(/budget: \{[^}]*\}/g, `budget: ${over}`)
          .replace("{ name: default }", `{ name: default, budget: ${over} }`)
          .replace("name: later,", `name: later, budget: ${over},`);
      };
      const places = ["workspaces[0]", "workspaces[0].groups[0]", "workspaces[0].keys[1]", "users[1].workspaces[0]"];
      let text = withBudgets("none");
      for (const place of places) {
        const refused = await config.write(text);
        expect(refused?.result).toBe("refused");
        expect(refused?.detail).toContain(`${place}.budget.over.fallback: there is no model "none"`);
        text = text.replace("fallback: none", "fallback: gpt-5");
      }
      expect((await config.write(withBudgets("gpt-5-mini")))?.result).toBe("applied");
    });

    test("warns at each reading about a valid setting that cannot work", async () => {
      await using fixture = await make();
      await using config = await followFile(fixture, { configPrune: true });
      const local = '  - { id: local, kind: openai-compatible, base_url: "http://127.0.0.1:11434/v1" }\n';
      for (const [text, result] of [
        [`providers:\n${local}`, "applied"],
        [`# The same.\nproviders:\n${local}`, "unchanged"],
      ] as const) {
        config.warnings.length = 0;
        expect((await config.write(text))?.result).toBe(result);
        expect(config.warnings).toMatchObject([{ level: "warn", problem: expect.stringContaining("127.0.0.1") }]);
      }
      config.warnings.length = 0;
      await config.write("providers: []\n");
      expect(config.warnings.map(({ problem }) => problem)).toEqual([undefined]);
    });

    test("suspends objects that the file no longer declares, and restores them unchanged", async () => {
      await using fixture = await make();
      await using config = await followFile(fixture, { configPrune: true });
      await config.write(whole);
      const acme = await fixture.controlStore.workspaceNamed("acme");
      const ada = await fixture.database.kysely
        .selectFrom("auth_users")
        .select("id")
        .where("email", "=", "ada@example.com")
        .executeTakeFirstOrThrow();
      // One key is declared without a secret, and one is created by hand.
      const later = newKey("later");
      await makeKey(fixture, { ...later, fillsDeclared: true }, "test");
      const byHand = newKey("by hand");
      await fixture.controlStore.addKey(acme?.id ?? "", { ...byHand, createdBy: ada.id }, { actor: "test", ip: null });
      const secrets = [ciSecret, betaSecret, later.secret.reveal(), byHand.secret.reveal()];
      const keys = async () => await Promise.all(secrets.map(async (secret) => await findKey(fixture, secret)));
      const [before, keysBefore] = [await rows(fixture), await keys()];

      for (const part of [whole.split("\n").slice(0, 6).join("\n"), "workspaces: []\nproviders: []\n"]) {
        expect((await config.write(part))?.result).toBe("applied");
        const [ci, beta, declared, manual] = await keys();
        expect([ci, beta, declared]).toEqual([null, null, null]);
        expect(manual?.enabled).toBe(false);
        expect([...(await fixture.controlStore.configSnapshot()).workspaces.values()].map(({ slug }) => slug)).toEqual([
          "acme",
        ]);
        expect((await fixture.controlStore.workspaceNamed("beta"))?.managed_by).toBe("suspended");
        expect((await fixture.controlStore.oidcAccounts())[0]?.suspended).toBe(true);
      }
      const removals = config.warnings.map(({ level, objects }) => `${level} ${objects}`).join();
      for (const object of ["key beta/app", "workspace beta", "provider main", "model gpt-5", "user ada@example.com"]) {
        expect(removals).toMatch(new RegExp(`warn .*suspended ${object}`));
      }
      expect((await config.write(whole))?.result).toBe("applied");
      expect(await keys()).toEqual(keysBefore);
      expect(await rows(fixture)).toEqual(before);
    });

    test("applies a small removal, and deletes the suspended object when asked", async () => {
      await using fixture = await make();
      await using config = await followFile(fixture, { configPrune: false });
      await config.write(whole);
      const id = (await fixture.controlStore.workspaceNamed("beta"))?.id ?? "";
      const deployments = () => fixture.database.kysely.selectFrom("deployments").selectAll().orderBy("id").execute();
      const before = await deployments();
      const without = whole
        .replace(", { provider: spare, priority: 2 }", "")
        .split("\n")
        .filter((line) => !line.includes("slug: beta"))
        .join("\n")
        .replace(", { workspace: beta, role: member }", "");
      expect((await config.write(without))?.result).toBe("applied");
      const source = { actor: "test", ip: null };
      await expect(fixture.controlStore.updateWorkspace(id, { name: "x" }, source)).rejects.toThrow("suspended");
      await expect(fixture.controlStore.addWorkspace({ slug: "beta" }, source)).rejects.toThrow("suspended");
      await fixture.controlStore.removeWorkspace(id, source);
      expect(await fixture.controlStore.workspace(id)).toBeNull();
      expect(await deployments()).toHaveLength(before.length - 1);
      await config.write(whole);
      expect((await fixture.controlStore.workspaceNamed("beta"))?.id).not.toBe(id);
      expect(await deployments()).toEqual(before);
    });

    test("moves a suspended key's secret to the key that the file declares with it", async () => {
      await using fixture = await make();
      await using config = await followFile(fixture, { configPrune: false });
      await config.write(whole);
      expect((await config.write(whole.replace("name: app", "name: renamed")))?.result).toBe("applied");
      expect((await findKey(fixture, betaSecret))?.name).toBe("renamed");
      expect((await config.write(whole))?.result).toBe("applied");
      expect((await findKey(fixture, betaSecret))?.name).toBe("app");
    });
  });
}

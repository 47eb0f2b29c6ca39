import { describe, expect, test } from "bun:test";
import { oidcDefaults, Secret } from "#core/index.ts";
import type { Change, ProviderDraft } from "#ports/index.ts";
import { acmeConfig, type StoreFixture, type StoreFixtureFactory, wholeText } from "./store-fixture.ts";

const auditSource = { actor: "ada@example.com", ip: "192.0.2.7" };
const canarySecret = "config-canary-secret";
const ownProvider: ProviderDraft = { id: "own", kind: "openai", api_key: canarySecret };

/** Guarantees of every implementation of the port `ConfigStore`. */
export function configStoreSuite(name: string, make: StoreFixtureFactory): void {
  describe(`config store: ${name}`, () => {
    test("stores a write with its audit row and its change, and neither when nothing changes", async () => {
      await using fixture = await make();
      const newChanges = await changesOf(fixture);
      await fixture.controlStore.createProvider(ownProvider, auditSource);
      const { length } = await auditOf(fixture);
      expect((await auditOf(fixture)).at(-1)).toMatchObject({
        ...auditSource,
        action: "create",
        object: "provider own",
      });
      expect(await newChanges()).toEqual(["config"]);
      const before = await wholeText(fixture.database);
      const same = await fixture.controlStore.updateProvider("own", ({ id, kind }) => ({ id, kind }), auditSource);
      expect(same.has_api_key).toBe(true);
      expect(await wholeText(fixture.database)).toBe(before);
      expect([(await auditOf(fixture)).length, await newChanges()]).toEqual([length, []]);
    });

    test("changes nothing when a write throws", async () => {
      await using fixture = await make();
      await fixture.controlStore.apply(acmeConfig, "file");
      await fixture.controlStore.createProvider(ownProvider, auditSource);
      await fixture.controlStore.createModel({ name: "m", deployments: [{ provider: "own" }] }, auditSource);
      const before = await wholeText(fixture.database);
      const refusals = [
        () =>
          fixture.controlStore.updateProvider(
            "own",
            () => {
              throw new Error("no");
            },
            auditSource,
          ),
        () => fixture.controlStore.updateModel("m", (model) => draftOf(model, { fallbacks: ["missing"] }), auditSource),
        () => fixture.controlStore.createModel({ name: "n", deployments: [{ provider: "missing" }] }, auditSource),
        () => fixture.controlStore.createProvider({ id: "x", kind: "unknown-kind" }, auditSource),
        () => fixture.controlStore.removeProvider("own", auditSource),
        () => fixture.controlStore.removeProvider("spare", auditSource),
        () => fixture.controlStore.updateModel("gpt-5", (model) => draftOf(model, {}), auditSource),
        () => fixture.controlStore.removeModel("gpt-5", auditSource),
        () =>
          fixture.controlStore.updateSettings({ drain_timeout_ms: 1, ledger: { durability: "process" } }, auditSource),
        () => fixture.controlStore.importModels("missing", [], auditSource),
      ];
      for (const rejected of refusals) await expect(rejected()).rejects.toThrow();
      expect(await wholeText(fixture.database)).toBe(before);
    });

    test("lets one of two concurrent writers create an object", async () => {
      await using fixture = await make();
      const results = await Promise.allSettled([
        fixture.controlStore.createProvider(ownProvider, auditSource),
        fixture.controlStore.createProvider(ownProvider, auditSource),
      ]);
      expect(results.map((each) => each.status).sort()).toEqual(["fulfilled", "rejected"]);
    });

    test("keeps the version of an unchanged price, and keeps old versions for existing calls", async () => {
      await using fixture = await make();
      await fixture.controlStore.createProvider(ownProvider, auditSource);
      const price = { input: 1, video: 0.35, variants: [{ resolution: "1080p", video: 0.5 }] };
      const first = await fixture.controlStore.createModel(
        { name: "m", deployments: [{ provider: "own" }], price },
        auditSource,
      );
      fixture.clock.jump(1_000);
      const set = (to: typeof price | null) =>
        fixture.controlStore.updateModel("m", (model) => draftOf(model, { price: to }), auditSource);
      expect((await set(structuredClone(price))).price?.id).toBe(first.price?.id ?? "");
      const second = await set({ ...price, input: 2 });
      expect((await fixture.controlStore.listPrices("m")).map((version) => version.id)).toEqual([
        second.price?.id ?? "",
        first.price?.id ?? "",
      ]);
      expect((await set(null)).price).toBeNull();
      await fixture.controlStore.removeModel("m", auditSource);
      expect(await fixture.ledgerStore.price(first.price?.id ?? "")).toEqual(first.price);
    });

    test("returns the same in the config snapshot as in the records", async () => {
      await using fixture = await make();
      await fixture.controlStore.apply(acmeConfig, "file");
      const { providers, models } = await fixture.controlStore.configSnapshot();
      const records = await fixture.controlStore.listModels();
      expect(records.map((record) => record.name)).toEqual([...models.keys()]);
      // The database has columns of the next version.
      expect(JSON.stringify(records)).not.toContain("added_later");
      for (const record of records) {
        expect(record).toEqual((await fixture.controlStore.model(record.name)) ?? record);
        expect(record.price).toEqual(models.get(record.name)?.price ?? null);
        expect(record.deployments.map((each) => each.id)).toEqual(
          (models.get(record.name)?.deployments ?? []).map((each) => each.id),
        );
      }
      const listed = await fixture.controlStore.listProviders();
      expect(listed.map(({ id, has_api_key }) => [id, has_api_key])).toEqual(
        [...providers.values()].map(({ id, secret }) => [id, secret !== null]),
      );
      expect(await fixture.controlStore.provider("missing")).toBeNull();
    });

    test("encrypts OIDC accounts, finds them by id, and keeps them when a file is applied", async () => {
      await using fixture = await make();
      const newChanges = await changesOf(fixture);
      const account = {
        name: "Company",
        issuer: "https://id.example.com",
        clientId: "sluice",
        clientSecret: new Secret(canarySecret),
        ...oidcDefaults,
        allowedDomains: ["example.com"],
      };
      await fixture.controlStore.putOidcAccount("company", () => account, auditSource);
      expect(await newChanges()).toEqual(["config"]);
      await fixture.controlStore.apply(acmeConfig, "file");
      await fixture.controlStore.apply({}, "file");
      const [found] = await fixture.controlStore.oidcAccounts();
      expect({ ...found, clientSecret: found?.clientSecret.reveal() }).toEqual({
        ...account,
        id: "company",
        clientSecret: canarySecret,
      });
      expect(await wholeText(fixture.database)).not.toContain(canarySecret);
      const { settings } = await fixture.controlStore.settings();
      expect(JSON.stringify(settings)).not.toContain("company");
      await fixture.controlStore.removeOidcAccount("company", auditSource);
      expect(await fixture.controlStore.oidcAccounts()).toEqual([]);
    });
  });
}

function draftOf(
  model: Awaited<ReturnType<StoreFixture["controlStore"]["listModels"]>>[number],
  changes: Parameters<StoreFixture["controlStore"]["createModel"]>[0] extends infer Draft ? Partial<Draft> : never,
) {
  const deployments = model.deployments.map(({ provider, upstream_model }) => ({
    provider,
    upstream_model,
  }));
  return { name: model.name, type: model.type, deployments, fallbacks: [...model.fallbacks], ...changes };
}

async function auditOf({ database }: StoreFixture) {
  return await database.kysely.selectFrom("audit_log").selectAll().orderBy("seq").execute();
}

/** Returns a function that lists the kinds of changes since its last call. */
async function changesOf({ changeFeed }: StoreFixture): Promise<() => Promise<string[]>> {
  const newChanges: Change[] = [];
  changeFeed.subscribe((change) => newChanges.push(change));
  await changeFeed.catchUp();
  return async () => {
    await changeFeed.catchUp();
    return newChanges.splice(0).map((change) => change.kind);
  };
}

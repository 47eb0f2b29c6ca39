import { describe, expect, test } from "bun:test";
import { oidcDefaults, Secret } from "#core/index.ts";
import type { Change, ProviderDraft } from "#ports/index.ts";
import { acmeConfig, type StoreGround, type StoreGroundFactory, wholeText } from "./store-ground.ts";

const auditSource = { actor: "ada@example.com", ip: "192.0.2.7" };
const canary = "supply-canary-secret";
const spare: ProviderDraft = { id: "own", kind: "openai", api_key: canary };

/** What every implementation of the port `ConfigStore` guarantees. */
export function configStoreSuite(name: string, make: StoreGroundFactory): void {
  describe(`supply store: ${name}`, () => {
    test("what a write did, its audit row and its change stand together; one that changes nothing leaves nothing", async () => {
      await using ground = await make();
      const told = await changesOf(ground);
      await ground.controlStore.createProvider(spare, auditSource);
      const { length } = await auditOf(ground);
      expect((await auditOf(ground)).at(-1)).toMatchObject({
        ...auditSource,
        action: "create",
        object: "provider own",
      });
      expect(await told()).toEqual(["config"]);
      const before = await wholeText(ground.database);
      const same = await ground.controlStore.updateProvider("own", ({ id, kind }) => ({ id, kind }), auditSource);
      expect(same.has_api_key).toBe(true);
      expect(await wholeText(ground.database)).toBe(before);
      expect([(await auditOf(ground)).length, await told()]).toEqual([length, []]);
    });

    test("a change that throws leaves everything as it was", async () => {
      await using ground = await make();
      await ground.controlStore.apply(acmeConfig, "file");
      await ground.controlStore.createProvider(spare, auditSource);
      await ground.controlStore.createModel({ name: "m", deployments: [{ provider: "own" }] }, auditSource);
      const before = await wholeText(ground.database);
      const refusals = [
        () =>
          ground.controlStore.updateProvider(
            "own",
            () => {
              throw new Error("no");
            },
            auditSource,
          ),
        () => ground.controlStore.updateModel("m", (model) => draftOf(model, { fallbacks: ["nobody"] }), auditSource),
        () => ground.controlStore.createModel({ name: "n", deployments: [{ provider: "nobody" }] }, auditSource),
        () => ground.controlStore.createProvider({ id: "x", kind: "nobody-knows" }, auditSource),
        () => ground.controlStore.removeProvider("own", auditSource),
        () => ground.controlStore.removeProvider("spare", auditSource),
        () => ground.controlStore.updateModel("gpt-5", (model) => draftOf(model, {}), auditSource),
        () => ground.controlStore.removeModel("gpt-5", auditSource),
        () =>
          ground.controlStore.updateSettings({ drain_timeout_ms: 1, ledger: { durability: "process" } }, auditSource),
        () => ground.controlStore.importModels("nobody", [], auditSource),
      ];
      for (const refused of refusals) await expect(refused()).rejects.toThrow();
      expect(await wholeText(ground.database)).toBe(before);
    });

    test("of two who make the same object at once, one does", async () => {
      await using ground = await make();
      const made = await Promise.allSettled([
        ground.controlStore.createProvider(spare, auditSource),
        ground.controlStore.createProvider(spare, auditSource),
      ]);
      expect(made.map((each) => each.status).sort()).toEqual(["fulfilled", "rejected"]);
    });

    test("a price that is set again is the same version, a new one leaves the old one to be paid by", async () => {
      await using ground = await make();
      await ground.controlStore.createProvider(spare, auditSource);
      const price = { input: 1, video: 0.35, variants: [{ resolution: "1080p", video: 0.5 }] };
      const first = await ground.controlStore.createModel(
        { name: "m", deployments: [{ provider: "own" }], price },
        auditSource,
      );
      ground.clock.jump(1_000);
      const set = (to: typeof price | null) =>
        ground.controlStore.updateModel("m", (model) => draftOf(model, { price: to }), auditSource);
      expect((await set(structuredClone(price))).price?.id).toBe(first.price?.id ?? "");
      const second = await set({ ...price, input: 2 });
      expect((await ground.controlStore.listPrices("m")).map((version) => version.id)).toEqual([
        second.price?.id ?? "",
        first.price?.id ?? "",
      ]);
      expect((await set(null)).price).toBeNull();
      await ground.controlStore.removeModel("m", auditSource);
      expect(await ground.ledgerStore.price(first.price?.id ?? "")).toEqual(first.price);
    });

    test("the config snapshot has what the records say", async () => {
      await using ground = await make();
      await ground.controlStore.apply(acmeConfig, "file");
      const { providers, models } = await ground.controlStore.configSnapshot();
      const records = await ground.controlStore.listModels();
      expect(records.map((record) => record.name)).toEqual([...models.keys()]);
      for (const record of records) {
        expect(record).toEqual((await ground.controlStore.model(record.name)) ?? record);
        expect(record.price).toEqual(models.get(record.name)?.price ?? null);
        expect(record.deployments.map((each) => each.id)).toEqual(
          (models.get(record.name)?.deployments ?? []).map((each) => each.id),
        );
      }
      const listed = await ground.controlStore.listProviders();
      expect(listed.map(({ id, has_api_key }) => [id, has_api_key])).toEqual(
        [...providers.values()].map(({ id, secret }) => [id, secret !== null]),
      );
      expect(await ground.controlStore.provider("nobody")).toBeNull();
    });

    test("accounts of single sign-on are sealed, found by id, and untouched by the file", async () => {
      await using ground = await make();
      const told = await changesOf(ground);
      const account = {
        name: "Company",
        issuer: "https://id.example.com",
        clientId: "sluice",
        clientSecret: new Secret(canary),
        ...oidcDefaults,
        allowedDomains: ["example.com"],
      };
      await ground.controlStore.putOidcAccount("company", () => account, auditSource);
      expect(await told()).toEqual(["config"]);
      await ground.controlStore.apply(acmeConfig, "file");
      await ground.controlStore.apply({}, "file");
      const [found] = await ground.controlStore.oidcAccounts();
      expect({ ...found, clientSecret: found?.clientSecret.reveal() }).toEqual({
        ...account,
        id: "company",
        clientSecret: canary,
      });
      expect(await wholeText(ground.database)).not.toContain(canary);
      const { settings } = await ground.controlStore.settings();
      expect(JSON.stringify(settings)).not.toContain("company");
      await ground.controlStore.removeOidcAccount("company", auditSource);
      expect(await ground.controlStore.oidcAccounts()).toEqual([]);
    });
  });
}

function draftOf(
  model: Awaited<ReturnType<StoreGround["controlStore"]["listModels"]>>[number],
  changes: Parameters<StoreGround["controlStore"]["createModel"]>[0] extends infer Draft ? Partial<Draft> : never,
) {
  const deployments = model.deployments.map(({ provider, upstream_model }) => ({
    provider,
    upstream_model,
  }));
  return { name: model.name, type: model.type, deployments, fallbacks: [...model.fallbacks], ...changes };
}

async function auditOf({ database }: StoreGround) {
  return await database.kysely.selectFrom("audit_log").selectAll().orderBy("seq").execute();
}

/** Kinds of the changes that were told since the last time. */
async function changesOf({ changeFeed }: StoreGround): Promise<() => Promise<string[]>> {
  const told: Change[] = [];
  changeFeed.subscribe((change) => told.push(change));
  await changeFeed.catchUp();
  return async () => {
    await changeFeed.catchUp();
    return told.splice(0).map((change) => change.kind);
  };
}

import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { importedDigest, Secret } from "#core/index.ts";
import { Authenticator } from "#identity/index.ts";
import { adjustmentEntry } from "#ledger/index.ts";
import type { EntryOfBalance, ImportDraft } from "#ports/index.ts";
import { by, type StoreFixture, type StoreFixtureFactory, texts } from "./store-fixture.ts";

const secret = "sk-of-another-gateway-0001";
const sha256 = createHash("sha256").update(secret).digest("hex");

const draft: ImportDraft = {
  product: "litellm",
  providers: [{ id: "litellm-openai", kind: "openai", api_key: "sk-upstream" }],
  models: [
    { name: "a", deployments: [{ provider: "litellm-openai" }], fallbacks: ["b"], price: { input: 1, output: 2 } },
    { name: "b", deployments: [{ provider: "litellm-openai" }], fallbacks: ["a"] },
  ],
  workspaces: [
    {
      slug: "search",
      name: "Search",
      budget: { usd: 5, period: "day" },
      groups: [{ name: "default", models: ["a"] }, { name: "batch" }],
      keys: [
        { name: "ci", secret: { sha256, lastFour: "0001" }, owner: "bo@example.com", limits: { rpm: 6 } },
        { name: "plain", group: "batch", secret: new Secret("sk-plain-secret-0123456789") },
        { name: "new", secret: null },
      ],
    },
  ],
  users: [{ email: "bo@example.com", workspaces: [{ workspace: "search", role: "member", limits: { rpm: 9 } }] }],
  budgets: [{ name: "ci-on-a", usd: 3, period: "day", match: { keys: ["search/ci"], models: ["a"] } }],
  notCarried: [],
};

/** Guarantees of imports from other gateways. */
export function importSuite(name: string, make: StoreFixtureFactory): void {
  describe(`imports: ${name}`, () => {
    secretTests(make);
    objectTests(make);
    balanceTests(make);
  });
}

const entryOf: EntryOfBalance = ({ importId, at, nanoUsd, ...owner }) =>
  adjustmentEntry({
    ...{ id: importId, reason: "opening_balance", adjusts: importId, at, costNanoUsd: nanoUsd },
    ...{ provider: "", model: "", owner: { ...owner, tags: {} } },
  });

const apply = (fixture: StoreFixture, wanted = draft) =>
  fixture.controlStore.runImport(wanted, { apply: true, entryOf }, by("anna"));

/** A process with its own cache that receives no change notices. */
async function processOf(fixture: StoreFixture) {
  const { vault, controlStore, clock } = fixture;
  let configSnapshot = await controlStore.configSnapshot();
  const authenticator = new Authenticator({
    ...{ vault, keyStore: controlStore, clock },
    configSnapshot: () => configSnapshot,
    feedReadAtMs: () => clock.monotonic(),
  });
  return {
    authenticator,
    async refresh() {
      configSnapshot = await controlStore.configSnapshot();
    },
    async calls(key: string): Promise<string> {
      const headers = new Headers({ authorization: `Bearer ${key}` });
      try {
        return (await authenticator.authenticate(headers, "192.0.2.1")).key.name;
      } catch (thrown) {
        return (thrown as { code: string }).code;
      }
    },
  };
}

function secretTests(make: StoreFixtureFactory): void {
  test("an old secret is accepted in every process, and its digest is replaced once", async () => {
    await using fixture = await make();
    await apply(fixture);
    const { controlStore, database, vault, clock } = fixture;
    const digest = importedDigest(vault.digest(sha256));
    const [one, other, late] = [await processOf(fixture), await processOf(fixture), await processOf(fixture)];
    const calls = [one, other, one, other].map((each) => each.calls(secret));
    expect(await Promise.all(calls)).toEqual(["ci", "ci", "ci", "ci"]);
    // The calls did not wait for it.
    await Promise.all([1, 2].map(() => controlStore.adoptSecret(digest, new Secret(secret))));
    const [row] = await database.kysely.selectFrom("api_keys").selectAll().where("name", "=", "ci").execute();
    expect(row).toMatchObject({
      digest: vault.digest(secret),
      old_digest: digest,
      prefix: "sk-of-",
      last_four: "0001",
    });
    const changes = await database.kysely.selectFrom("changes").select("digest").where("kind", "=", "key").execute();
    expect(changes.filter((change) => change.digest === vault.digest(secret))).toHaveLength(1);
    expect(await late.calls(secret)).toBe("ci");
    expect(await one.calls(secret)).toBe("ci");
    expect(await one.calls(sha256)).toBe("invalid_api_key");

    // Then imported digests are not read any more.
    expect((await controlStore.configSnapshot()).importedKeysUntil).toBe(clock.now() + 60_000);
    clock.advance(60_000);
    const next = await processOf(fixture);
    expect((await controlStore.configSnapshot()).importedKeysUntil).toBeUndefined();
    expect(await next.calls(secret)).toBe("ci");
    expect(await next.calls("sk-a-guess-0123456789abcdef")).toBe("invalid_api_key");
  });

  test("a revoked key is refused, used or not", async () => {
    await using fixture = await make();
    await apply(fixture);
    const { controlStore } = fixture;
    const [key] = (await controlStore.listKeys(null)).filter(({ name }) => name === "ci");
    await controlStore.revokeKey(key?.workspace.id ?? "", key?.id ?? "", by("anna"));
    const process = await processOf(fixture);
    expect(await process.calls(secret)).toBe("revoked_api_key");
    expect(await process.calls("sk-plain-secret-0123456789")).toBe("plain");
  });

  test("a key that is rotated before its first use accepts the old secret for the grace time only", async () => {
    await using fixture = await make();
    await apply(fixture);
    const { controlStore, clock } = fixture;
    const [key] = (await controlStore.listKeys(null)).filter(({ name }) => name === "ci");
    const rotation = { secret: new Secret("sk-the-new-secret-0123456789"), graceMs: 60_000 };
    await controlStore.rotateKey(key?.workspace.id ?? "", key?.id ?? "", rotation, by("anna"));
    const process = await processOf(fixture);
    expect(await process.calls(secret)).toBe("ci");
    expect(await process.calls("sk-the-new-secret-0123456789")).toBe("ci");
    clock.advance(60_000);
    const later = await processOf(fixture);
    expect(await later.calls(secret)).toBe("invalid_api_key");
    expect(await later.calls("sk-the-new-secret-0123456789")).toBe("ci");
  });
}

function objectTests(make: StoreFixtureFactory): void {
  test("makes every object once, with one audit entry of the import", async () => {
    await using fixture = await make();
    const { controlStore, database } = fixture;
    const planned = await controlStore.runImport(draft, { apply: false, entryOf }, by("anna"));
    expect(await controlStore.listKeys(null)).toEqual([]);
    const done = await apply(fixture);
    expect(texts(done.changes).filter((text) => !text.includes(" import "))).toEqual(
      texts(planned.changes).filter((text) => !text.includes(" import ")),
    );
    expect(texts(done.changes)).toContain(`created import ${done.id}`);
    const keys = await controlStore.listKeys(null);
    expect(
      keys.map(({ name, group, state, owner, limits }) => [name, group.name, state, owner?.email, limits]),
    ).toEqual([
      ["ci", "default", "active", "bo@example.com", { rpm: 6 }],
      ["new", "default", "without_secret", undefined, {}],
      ["plain", "batch", "active", undefined, {}],
    ]);
    const again = await apply(fixture);
    expect(again).toEqual({ id: null, changes: [], unchanged: 11, skipped: [] });
    const entries = database.kysely.selectFrom("audit_log").select("object").where("object", "like", "import %");
    expect(await entries.execute()).toHaveLength(1);
  });

  test("finds keys and groups that were renamed, and adds what is new", async () => {
    await using fixture = await make();
    const { controlStore } = fixture;
    await apply(fixture);
    const [key] = (await controlStore.listKeys(null)).filter(({ name }) => name === "ci");
    const workspaceId = key?.workspace.id ?? "";
    await controlStore.updateKey(workspaceId, key?.id ?? "", () => ({ name: "renamed" }), by("anna"));
    await controlStore.updateGroup(workspaceId, "batch", { name: "night" }, by("anna"));
    await controlStore.updateGroup(workspaceId, "default", { models: ["b"] }, by("anna"));
    const [workspace] = draft.workspaces;
    const more = { name: "more", group: "batch", secret: { sha256: "0".repeat(64), lastFour: "" } };
    const next = { ...draft, workspaces: [{ slug: "search", ...workspace, keys: [...(workspace?.keys ?? []), more] }] };
    expect(texts((await apply(fixture, next)).changes).slice(0, 1)).toEqual(["created key search/more"]);
    expect((await controlStore.groups(workspaceId)).map(({ name, models }) => [name, models])).toEqual([
      ["default", ["b"]],
      ["night", ["*"]],
    ]);
  });

  test("keeps objects that are there already, and lists them", async () => {
    await using fixture = await make();
    const { controlStore } = fixture;
    await controlStore.addWorkspace({ slug: "search", name: "Ours" }, by("anna"));
    await controlStore.createProvider({ id: "ours", kind: "openai" }, by("anna"));
    await controlStore.createModel({ name: "a", deployments: [{ provider: "ours" }] }, by("anna"));
    const { skipped } = await apply(fixture);
    expect(skipped.map(({ object }) => object)).toEqual(["model a", "workspace search", "budget ci-on-a"]);
    expect((await controlStore.workspaceNamed("search"))?.name).toBe("Ours");
    expect((await controlStore.model("a"))?.deployments[0]?.provider).toBe("ours");
    expect(await controlStore.listKeys(null)).toEqual([]);
  });

  test("makes nothing if one object cannot be made", async () => {
    await using fixture = await make();
    const { controlStore } = fixture;
    const wrong = {
      ...draft,
      users: [],
      budgets: [],
      workspaces: [{ slug: "search", keys: [{ name: " ", secret: null }] }],
    };
    expect(apply(fixture, wrong)).rejects.toThrow("must not be blank");
    await controlStore.createProvider({ id: "litellm-openai", kind: "openai" }, by("anna"));
    expect(apply(fixture)).rejects.toThrow("There is already a provider litellm-openai");
    expect((await controlStore.workspaces({ ids: null }, null, 10)).data).toEqual([]);
  });

  test("undo removes unchanged objects that no other needs", async () => {
    await using fixture = await make();
    const { controlStore, database } = fixture;
    const { id } = await apply(fixture);
    await controlStore.createModel(
      { name: "mine", deployments: [{ provider: "litellm-openai" }], fallbacks: ["b"] },
      by("anna"),
    );
    const [key] = (await controlStore.listKeys(null)).filter(({ name }) => name === "plain");
    await controlStore.updateKey(key?.workspace.id ?? "", key?.id ?? "", () => ({ limits: { rpm: 1 } }), by("anna"));
    await (await processOf(fixture)).calls(secret);
    const { remaining } = await controlStore.undoImport(id ?? "", by("anna"));
    expect(remaining).toEqual([
      { object: `key ${key?.id}`, reason: "it was changed since the import" },
      { object: "group search/batch", reason: "it has keys" },
      {
        object: "workspace search",
        reason: "it has keys, members, groups, guardrails, budget policies, assets or tasks that stay",
      },
      { object: "model a", reason: "other models fall back to it" },
      { object: "model b", reason: "other models fall back to it" },
      { object: "provider litellm-openai", reason: "models have deployments there" },
    ]);
    expect((await controlStore.model("b"))?.fallbacks).toEqual(["a"]);
    expect((await controlStore.listKeys(null)).map(({ name }) => name)).toEqual(["plain"]);
    expect(await database.kysely.selectFrom("auth_users").select("id").execute()).toEqual([]);
    expect(controlStore.undoImport(id ?? "", by("anna"))).rejects.toThrow("was undone already");
    expect(controlStore.undoImport("imp_none", by("anna"))).rejects.toThrow("Import not found");
  });

  test("undo removes a model although a budget policy names a provider of that name", async () => {
    await using fixture = await make();
    const { controlStore } = fixture;
    const { id } = await apply(fixture);
    await controlStore.createProvider({ id: "b", kind: "openai" }, by("anna"));
    const budget = { usd: 5, period: "month" } as const;
    await controlStore.createBudgetPolicy(
      null,
      { name: "provider", ...budget, match: { providers: ["b"] } },
      by("anna"),
    );
    expect((await controlStore.undoImport(id ?? "", by("anna"))).remaining).toEqual([]);
    expect(await controlStore.model("b")).toBe(null);
  });

  test("undo keeps the budget policies that were made since, and what they name", async () => {
    await using fixture = await make();
    const { controlStore } = fixture;
    const { id } = await apply(fixture);
    const [workspace] = (await controlStore.workspaces({ ids: null }, null, 10)).data;
    const [key] = (await controlStore.listKeys(null)).filter(({ name }) => name === "plain");
    const budget = { usd: 5, period: "month" } as const;
    const own = await controlStore.createBudgetPolicy(workspace?.id ?? "", { name: "own", ...budget }, by("anna"));
    const shared = await controlStore.createBudgetPolicy(
      null,
      { name: "shared", ...budget, match: { keys: [key?.id ?? ""] }, over: { fallback: "b" } },
      by("anna"),
    );
    const { remaining } = await controlStore.undoImport(id ?? "", by("anna"));
    expect(remaining).toContainEqual({ object: `key ${key?.id}`, reason: "a budget policy names it" });
    expect(remaining).toContainEqual({ object: "model b", reason: "a budget policy names it" });
    expect(remaining.map(({ object }) => object)).toContain("workspace search");
    expect(await controlStore.budgetPolicies(workspace?.id ?? "")).toEqual([own]);
    expect(await controlStore.budgetPolicies(null)).toEqual([shared]);
    expect((await controlStore.model("b"))?.fallbacks).toEqual(["a"]);
  });

  test("an import can be repeated after it was undone", async () => {
    await using fixture = await make();
    const { controlStore } = fixture;
    const first = await apply(fixture);
    expect((await controlStore.undoImport(first.id ?? "", by("anna"))).remaining).toEqual([]);
    expect((await controlStore.workspaces({ ids: null }, null, 10)).data).toEqual([]);
    expect(await controlStore.listModels()).toEqual([]);
    expect(await controlStore.listProviders()).toEqual([]);
    expect(await controlStore.budgetPolicies(null)).toEqual([]);
    const second = await apply(fixture);
    expect(second.id).not.toBe(first.id);
    expect(texts(second.changes).length).toBe(texts(first.changes).length);
    expect(await (await processOf(fixture)).calls(secret)).toBe("ci");
  });
}

function balanceTests(make: StoreFixtureFactory): void {
  test("books what was spent as opening balances, in the same transaction and once", async () => {
    await using fixture = await make();
    const { ledgerStore, clock } = fixture;
    const [workspace] = draft.workspaces;
    const [ci, plain] = workspace?.keys ?? [];
    const [user] = draft.users;
    const spent: ImportDraft = {
      ...draft,
      workspaces: [
        {
          ...{ slug: "search", spent: 4 },
          groups: [{ name: "batch", spent: 1.5 }],
          keys: [
            { name: "", secret: null, ...ci, spent: 0.25 },
            { name: "", secret: null, ...plain, spent: 1 },
          ],
        },
      ],
      users: [{ email: "", ...user, workspaces: [{ workspace: "search", role: "member", spent: 0.8 }] }],
    };
    await fixture.controlStore.runImport(spent, { apply: false, entryOf }, by("anna"));
    expect((await ledgerStore.page({}, null, 10)).entries).toEqual([]);
    const { id } = await apply(fixture, spent);
    await apply(fixture, spent);
    const { entries } = await ledgerStore.page({}, null, 10);
    const rows = entries.map(({ keyId, groupId, personId, costNanoUsd }) => [
      ...[keyId !== "", groupId !== "", personId !== undefined, costNanoUsd / 1e9],
    ]);
    expect(rows.toSorted((one, other) => Number(one[3]) - Number(other[3]))).toEqual([
      [true, true, true, 0.25],
      [false, true, false, 0.5],
      [false, false, true, 0.55],
      [true, true, false, 1],
      [false, false, false, 1.7],
    ]);
    for (const entry of entries) {
      expect(entry).toMatchObject({ adjustment: "opening_balance", adjusts: id, calls: 0, at: clock.now() });
    }
    expect((await ledgerStore.check()).faults).toEqual([]);
  });
}

import { describe, expect, test } from "bun:test";
import type { ConfigFile } from "@sluice/contract";
import { newKey, type StoreFixture, type StoreFixtureFactory } from "./store-fixture.ts";

const source = { actor: "test", ip: null };
const secret = "a-secret-of-the-webhook";
const check = { kind: "credentials" } as const;
const guard = { kind: "moderation", model: "guard" } as const;

const file = {
  providers: [{ id: "main", kind: "openai" }],
  models: [{ name: "guard", type: "moderation", deployments: [{ provider: "main" }] }],
  guardrails: [
    { name: "credentials", check, action: "block" },
    { name: "harm", check: guard, action: "block", workspaces: ["acme"], groups: ["beta/default"], keys: ["acme/ci"] },
  ],
  workspaces: [
    {
      slug: "acme",
      groups: [{ name: "default" }, { name: "support" }],
      keys: [{ name: "ci" }],
      guardrails: [
        {
          ...{ name: "credentials", action: "block", groups: ["support"], keys: ["ci"], enforce: false },
          check: { kind: "webhook", url: "https://dlp.example/", secret },
        },
      ],
    },
    { slug: "beta" },
  ],
} as const satisfies ConfigFile;

const config = (changes: Partial<ConfigFile> = {}): ConfigFile =>
  ({ ...structuredClone(file), ...changes }) as ConfigFile;

const rules = async ({ controlStore }: StoreFixture) => (await controlStore.configSnapshot()).guardrails;

const problemsOf = async ({ controlStore }: StoreFixture, wanted: ConfigFile) =>
  await controlStore.apply(wanted, "file").then(
    () => "",
    (thrown: unknown) => String(thrown),
  );

/** Guardrails of the config file. The admin API's are in `gateway/test/console/guardrails.test.ts`. */
export function guardrailSuite(name: string, make: StoreFixtureFactory): void {
  describe(`guardrails: ${name}`, () => {
    test("are read from the file with the ids of what they name", async () => {
      await using fixture = await make();
      await fixture.controlStore.apply(config(), "file");
      const { workspaces, groups } = await fixture.controlStore.configSnapshot();
      const workspaceId = (slug: string) => [...workspaces.values()].find((each) => each.slug === slug)?.id ?? "";
      const [acme, beta] = [workspaceId("acme"), workspaceId("beta")];
      const groupId = (id: string, wanted: string) =>
        [...groups.values()].find((each) => each.workspaceId === id && each.name === wanted)?.id;
      const ci = (await fixture.controlStore.listKeys(acme)).find((key) => key.name === "ci")?.id;
      const found = await rules(fixture);
      expect(found.find(({ name, workspaceId }) => name === "credentials" && workspaceId === null)).toMatchObject({
        ...{ workspaces: [], groups: [], keys: [], check, action: "block", onError: "block", enforce: true },
      });
      expect(found.find(({ name }) => name === "harm")).toMatchObject({
        ...{ workspaceId: null, workspaces: [acme], groups: [groupId(beta, "default")], keys: [ci] },
        check: { ...guard, categories: null, threshold: null },
      });
      expect(found.find(({ workspaceId }) => workspaceId === acme)).toMatchObject({
        ...{ groups: [groupId(acme, "support")], keys: [ci], enforce: false },
        check: { kind: "webhook", url: "https://dlp.example/", secret },
      });
      expect(await fixture.controlStore.apply(config(), "file")).toEqual([]);
    });

    test("are exported as a file that declares the same", async () => {
      await using fixture = await make();
      await fixture.controlStore.apply(config(), "file");
      const before = await rules(fixture);
      const { config: exported, manages } = await fixture.controlStore.exportConfig(() => false);
      expect(manages.find(({ kind }) => kind === "guardrails")?.names).toEqual(
        expect.arrayContaining(["credentials", "harm", "acme/credentials"]),
      );
      const text = JSON.stringify(exported).replaceAll(/\$\{ACME_CREDENTIALS_SECRET\}/g, secret);
      expect(text).toContain(secret);
      await fixture.controlStore.apply(JSON.parse(text), "file");
      expect(await rules(fixture)).toEqual(before);
    });

    test("are exported as disabled if everything that they name is left out", async () => {
      await using fixture = await make();
      await fixture.controlStore.apply({ workspaces: [{ slug: "acme" }] }, "file");
      const acme = (await fixture.controlStore.workspaceNamed("acme"))?.id ?? "";
      const key = await fixture.controlStore.addKey(acme, { ...newKey("ci"), createdBy: null }, source);
      const draft = { name: "one-key", check, action: "block", keys: [key.id] } as const;
      await fixture.controlStore.createGuardrail(acme, { ...draft, keys: [key.id] }, source);
      await fixture.controlStore.revokeKey(acme, key.id, source);
      const { config: exported } = await fixture.controlStore.exportConfig(() => false);
      expect(exported.workspaces?.[0]?.guardrails).toMatchObject([{ name: "one-key", enabled: false }]);
      expect(await rules(fixture)).toMatchObject([{ keys: [key.id] }]);
    });

    const wrong: readonly (readonly [string, Partial<ConfigFile>, string])[] = [
      [
        "two of one name",
        { guardrails: [...(config().guardrails ?? []), { name: "harm", check, action: "flag" }] },
        'guardrails[2].name: the guardrail "harm" is already declared at guardrails[1]',
      ],
      ["a missing model", { models: [] }, 'guardrails[1].check.model: there is no model "guard"'],
      [
        "a model of another type",
        { models: [{ name: "guard", deployments: [{ provider: "main" }] }] },
        'guardrails[1].check.model: the model "guard" has the type chat, not moderation',
      ],
      [
        "a workspace that does not exist",
        { guardrails: [{ name: "x", check, action: "block", workspaces: ["gamma"] }] },
        'guardrails[0].workspaces[0]: there is no workspace "gamma"',
      ],
      [
        "a key that does not exist",
        { guardrails: [{ name: "x", check, action: "block", keys: ["acme/cd", "acme/ci"] }] },
        'guardrails[0].keys[0]: there is no key "acme/cd"',
      ],
      [
        "a group of another workspace",
        {
          guardrails: [],
          workspaces: [
            { slug: "acme", guardrails: [{ name: "x", check, action: "block", groups: ["support"] }] },
            { slug: "beta", groups: [{ name: "support" }] },
          ],
        },
        'workspaces[0].guardrails[0].groups[0]: there is no group "support" in this workspace',
      ],
      [
        "a mask without places",
        { guardrails: [{ name: "x", check: guard, action: "mask" }] },
        'guardrails[0].action: the check "moderation" finds no places that could be masked; use block or flag',
      ],
    ];

    test("refuse a file with a conflict, and name its place", async () => {
      await using fixture = await make();
      await fixture.controlStore.apply(config(), "file");
      const before = await rules(fixture);
      for (const [what, changes, message] of wrong) {
        expect(`${what}: ${await problemsOf(fixture, config(changes))}`).toContain(message);
      }
      expect(await rules(fixture)).toEqual(before);
    });

    test("need a confirmation for each one that the file no longer declares", async () => {
      await using fixture = await make();
      await fixture.controlStore.apply(config(), "file");
      const without = config({ guardrails: [file.guardrails[0]] as unknown as NonNullable<ConfigFile["guardrails"]> });
      await expect(fixture.controlStore.apply(without, "file", { refuseLargeRemovals: true })).rejects.toThrow(
        "1 of 3 guardrails (harm)",
      );
      const changes = await fixture.controlStore.apply(without, "file");
      expect(changes.map(({ text }) => text)).toEqual(["suspended guardrail harm"]);
      expect((await rules(fixture)).map(({ name }) => name)).toEqual(["credentials", "credentials"]);
      await fixture.controlStore.apply(config(), "file");
      expect(await rules(fixture)).toHaveLength(3);
    });

    test("of the console keep the model that they call when the file no longer declares it", async () => {
      await using fixture = await make();
      const { guardrails: _guardrails, ...others } = config();
      await fixture.controlStore.apply(others, "file");
      await fixture.controlStore.createGuardrail(null, { name: "own", check: guard, action: "block" }, source);
      await fixture.controlStore.apply({ ...others, models: undefined } as ConfigFile, "file");
      expect((await fixture.controlStore.model("guard"))?.managed_by).toBe("console");
    });
  });
}

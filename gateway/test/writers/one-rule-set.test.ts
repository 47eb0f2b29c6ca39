import { describe, expect, test } from "bun:test";
import { dirname } from "node:path";
import type { ConfigFile, WorkspaceConfig } from "@sluice/contract";
import { sql } from "kysely";
import { createAssetStore } from "#assets/index.ts";
import { bounds } from "#core/index.ts";
import { ConfigConflict } from "#directory/index.ts";
import { sluice } from "../command-line.ts";
import { openTenantFixture, type TenantFixture } from "../console/tenant-fixture.ts";
import type { AuditLine } from "../console-fixture.ts";

/**
 * Makes each change through the admin API, through the command line on the same data directory, and through the config
 * file. All three apply the same rules to an object.
 */
type Writer = "console" | "command line" | "file";

/** Null on success, otherwise the message of the refusal. */
type Outcome = string | null;

const fileWorkspace: WorkspaceConfig = {
  slug: "filed",
  keys: [{ name: "ci", secret: "a-secret-that-the-file-gives-ci" }],
};

interface KeyRequest {
  readonly workspace: string;
  readonly name: string;
  readonly group?: string;
  readonly passThrough?: readonly string[];
}

/** Creates one key. The config file also declares the existing workspace. */
async function makeKey(fixture: TenantFixture, writer: Writer, key: KeyRequest): Promise<Outcome> {
  if (writer === "console") {
    const body = { name: key.name, group: key.group, pass_through: key.passThrough };
    return refusalIn(
      await fixture.call("administrator", "keys.create", { params: { workspace: key.workspace }, body }),
    );
  }
  if (writer === "command line") {
    const args = ["key", "create", "--name", key.name, "--workspace", key.workspace];
    if (key.group !== undefined) args.push("--group", key.group);
    if (key.passThrough !== undefined) args.push("--pass-through", key.passThrough.join(","));
    return await commandLine(fixture, args);
  }
  const declared = {
    name: key.name,
    ...(key.group === undefined ? {} : { group: key.group }),
    ...(key.passThrough === undefined ? {} : { pass_through: [...key.passThrough] }),
  };
  return await applyFile(fixture, { workspaces: [{ slug: key.workspace, keys: [declared] }] });
}

async function commandLine(fixture: TenantFixture, args: readonly string[]): Promise<Outcome> {
  const { status, stderr } = await sluice(args, dirname(fixture.databasePath));
  return status === 0 ? null : stderr.replace(/^sluice: /, "").trimEnd();
}

async function applyFile(fixture: TenantFixture, config: ConfigFile): Promise<Outcome> {
  try {
    await fixture.controlStore.apply(config, "file sluice.yaml");
    await fixture.refresh();
    return null;
  } catch (thrown) {
    if (thrown instanceof ConfigConflict) return thrown.message;
    throw thrown;
  }
}

function refusalIn(answer: {
  readonly status: number;
  readonly body: { readonly error?: { readonly message: string } };
}) {
  return answer.status < 400 ? null : (answer.body.error?.message ?? "");
}

const idsOf = async ({ database }: TenantFixture, name: string) =>
  (await database.kysely.selectFrom("api_keys").select("id").where("name", "=", name).execute()).map(({ id }) => id);

/** An audit row without the members that differ between keys. */
const withoutIds = ({ actor, action, object, before, after }: AuditLine) => ({
  actor,
  action,
  object,
  before: before === null ? null : JSON.parse(before),
  after: after === null ? null : { ...JSON.parse(after), id: "", prefix: "", last_four: "", created_by: "" },
});

const keyRules: readonly {
  readonly rule: string;
  readonly prepare?: (fixture: TenantFixture) => Promise<void>;
  readonly key: KeyRequest;
  /** By writer. A missing writer accepts the key. */
  readonly refused: Partial<Record<Writer, RegExp>>;
}[] = [
  { rule: "accepts a name that no key has", key: { workspace: "acme", name: "fresh" }, refused: {} },
  {
    rule: "refuses the name of a key in use; the file takes over that key",
    prepare: async (fixture) => void (await fixture.makeKey("admin", { name: "ci" })),
    key: { workspace: "acme", name: "ci" },
    refused: {
      console: /^There is already a key called ci in acme\.$/,
      "command line": /^There is already a key called ci in acme\.$/,
    },
  },
  {
    rule: "refuses the name of a key that the file declares",
    prepare: async (fixture) => void (await applyFile(fixture, { workspaces: [fileWorkspace] })),
    key: { workspace: "filed", name: "ci" },
    refused: {
      console: /^There is already a key called ci in filed\.$/,
      "command line": /^There is already a key called ci in filed\.$/,
    },
  },
  {
    rule: "refuses a group of another workspace",
    key: { workspace: "acme", name: "x", group: "elsewhere" },
    refused: {
      console: /^Group not found in this workspace\.$/,
      "command line": /^Group not found in this workspace\.$/,
      file: /^workspaces\[0\]\.keys\[0\]\.group: there is no group "elsewhere" in this workspace$/,
    },
  },
  {
    rule: "refuses a grant for a provider that does not exist",
    key: { workspace: "acme", name: "x", passThrough: ["nobody"] },
    refused: {
      console: /^`pass_through\.0`: there is no provider "nobody"\.$/,
      "command line": /^`pass_through\.0`: there is no provider "nobody"\.$/,
      file: /^workspaces\[0\]\.keys\[0\]\.pass_through\[0\]: there is no provider "nobody"$/,
    },
  },
  {
    rule: "refuses a blank name",
    key: { workspace: "acme", name: "  " },
    refused: { console: /name/, "command line": /^`name`: must not be blank\.$/, file: /name: must not be blank$/ },
  },
  {
    rule: "refuses a key beyond the number that a workspace may have in use",
    prepare: fillWorkspace,
    key: { workspace: "acme", name: "one too many" },
    refused: {
      console: /^A workspace has at most 100000 keys in use\. Revoke some first\.$/,
      "command line": /^A workspace has at most 100000 keys in use\. Revoke some first\.$/,
      file: /^workspaces\[0\]\.keys: A workspace has at most 100000 keys in use\. Revoke some first\.$/,
    },
  },
];

describe.each(["console", "command line", "file"] as const)("a new key from the %s", (writer) => {
  test.each(keyRules)("$rule", async ({ prepare, key, refused }) => {
    await using fixture = await openTenantFixture();
    await prepare?.(fixture);
    const before = await fixture.audit();
    const outcome = await makeKey(fixture, writer, key);
    const expected = refused[writer];
    if (expected === undefined) expect(outcome).toBeNull();
    else {
      expect(outcome ?? "it was accepted").toMatch(expected);
      expect(await fixture.audit()).toEqual(before);
    }
  });

  test("takes the name of a revoked key, which is renamed and stays revoked", async () => {
    await using fixture = await openTenantFixture();
    const { key, secret } = (await fixture.makeKey("admin", { name: "ci" })).body;
    await fixture.call("admin", "keys.revoke", { params: { workspace: "acme", key: key.id } });
    expect(await makeKey(fixture, writer, { workspace: "acme", name: "ci" })).toBeNull();
    const [newId, ...others] = await idsOf(fixture, "ci");
    expect(others).toEqual([]);
    expect(newId).not.toBe(key.id);
    expect(await idsOf(fixture, "ci (revoked 2026-01-01)")).toEqual([key.id]);
    expect(await fixture.authenticate(secret)).toBe("revoked_api_key");
    const [renamed] = (await fixture.audit()).filter(
      ({ object, after }) => object === "key acme/ci" && after?.includes("(revoked"),
    );
    expect(renamed).toMatchObject({ action: "update" });
  });

  test("writes an audit row with the actor, the workspace and the new values", async () => {
    await using fixture = await openTenantFixture();
    const last = (await fixture.audit()).at(-1)?.seq ?? 0;
    await makeKey(fixture, writer, { workspace: "acme", name: "fresh" });
    const rows = (await fixture.audit(last)).filter(({ object }) => object === "key acme/fresh");
    const actors = {
      console: "administrator@example.com",
      "command line": expect.stringMatching(/^command line \(.+@.+\)$/),
      file: "file sluice.yaml",
    };
    const [row] = rows;
    expect(rows).toMatchObject([{ workspace_id: fixture.acme.id, actor: actors[writer], action: "create" }]);
    expect(row === undefined ? null : withoutIds(row).after).toMatchObject({
      name: "fresh",
      models: null,
      pass_through: [],
      limits: {},
      budget: null,
      tags: {},
      capture: "none",
      enabled: true,
      revoked_at: null,
      managed_by: writer === "file" ? "file" : "console",
    });
  });
});

describe.each(["console", "command line"] as const)("a key of the config file, changed with the %s", (writer) => {
  test.each(["revoke", "rotate"] as const)("is not changed by %s", async (act) => {
    await using fixture = await openTenantFixture();
    await applyFile(fixture, { workspaces: [fileWorkspace] });
    const [id = ""] = await idsOf(fixture, "ci");
    const before = await fixture.audit();
    const outcome =
      writer === "console"
        ? refusalIn(
            await fixture.call("administrator", `keys.${act}`, { params: { workspace: "filed", key: id }, body: {} }),
          )
        : await commandLine(fixture, ["key", act, id]);
    expect(outcome).toBe("The key ci comes from the config file. Change it there.");
    expect(await fixture.audit()).toEqual(before);
    expect(await fixture.authenticate(fileWorkspace.keys?.[0]?.secret ?? "")).toBe(id);
  });

  test("gets a secret once if the file has none", async () => {
    await using fixture = await openTenantFixture();
    await applyFile(fixture, { workspaces: [{ slug: "filed", keys: [{ name: "later", limits: { rpm: 7 } }] }] });
    const [id = ""] = await idsOf(fixture, "later");
    const rotate = async () =>
      writer === "console"
        ? refusalIn(
            await fixture.call("administrator", "keys.rotate", { params: { workspace: "filed", key: id }, body: {} }),
          )
        : await commandLine(fixture, ["key", "create", "--workspace", "filed", "--name", "later"]);
    expect(await rotate()).toBeNull();
    const shown = await fixture.controlStore.key(null, id);
    expect(shown).toMatchObject({ managed_by: "file", state: "active", limits: { rpm: 7 } });
    expect((await fixture.audit()).at(-1)).toMatchObject({ action: "rotate", object: "key filed/later" });
    expect(await rotate()).not.toBeNull();
  });
});

describe.each(["console", "command line", "file"] as const)("a new workspace from the %s", (writer) => {
  const make = async (fixture: TenantFixture, slug: string): Promise<Outcome> => {
    if (writer === "console")
      return refusalIn(await fixture.call("administrator", "workspaces.create", { body: { slug } }));
    if (writer === "command line") return await commandLine(fixture, ["workspace", "create", slug]);
    return await applyFile(fixture, { workspaces: [{ slug }] });
  };

  test("has a default group, and audit rows with the actor for both", async () => {
    await using fixture = await openTenantFixture();
    const last = (await fixture.audit()).at(-1)?.seq ?? 0;
    expect(await make(fixture, "lab")).toBeNull();
    const actors = {
      console: "administrator@example.com",
      "command line": expect.stringMatching(/^command line \(.+@.+\)$/),
      file: "file sluice.yaml",
    };
    const rows = await fixture.audit(last);
    expect(rows.map(({ actor, action, object, before }) => ({ actor, action, object, before }))).toEqual(
      ["workspace lab", "group lab/default"].map((object) => ({
        actor: actors[writer],
        action: "create",
        object,
        before: null,
      })),
    );
    expect(new Set(rows.map((row) => row.workspace_id)).size).toBe(1);
  });

  test("needs a free slug; the file takes over an existing workspace", async () => {
    await using fixture = await openTenantFixture();
    const outcome = await make(fixture, "acme");
    if (writer === "file") expect((await fixture.controlStore.workspace(fixture.acme.id))?.managed_by).toBe("file");
    else expect(outcome).toBe("There is already a workspace acme.");
  });
});

test("is not removed while in use: the file releases a workspace with its groups", async () => {
  await using fixture = await openTenantFixture();
  await applyFile(fixture, { workspaces: [{ slug: "filed" }] });
  const fileWorkspaceId = (await fixture.controlStore.workspaceNamed("filed"))?.id ?? "";
  const store = createAssetStore(fixture);
  for (const [id, workspaceId] of [["ag_1", fileWorkspaceId] as const, ["ag_2", fixture.acme.id] as const]) {
    await store.createGroup({
      id,
      workspaceId,
      name: "cast",
      description: "",
      projectName: "default",
      platform: "local",
      upstreamId: null,
      providerId: null,
      createdAt: 1,
      updatedAt: 1,
    });
  }
  const removal = await fixture.call("administrator", "workspaces.remove", { params: { workspace: "acme" } });
  expect(removal).toMatchObject({ status: 409, code: "conflict" });
  expect(await applyFile(fixture, {})).toBeNull();
  expect(await fixture.controlStore.workspace(fileWorkspaceId)).toMatchObject({ managed_by: "console", groups: 1 });
  expect((await fixture.audit()).slice(-2).map(({ action, object }) => `${action} ${object}`)).toEqual([
    "release group filed/default",
    "release workspace filed",
  ]);
});

test("rejects a secret that is valid after a rotation as the secret of a key in the file", async () => {
  await using fixture = await openTenantFixture();
  const { key, secret } = (await fixture.makeKey("admin", { name: "ci" })).body;
  await fixture.call("admin", "keys.rotate", {
    params: { workspace: "acme", key: key.id },
    body: { grace_seconds: 60 },
  });
  expect(await applyFile(fixture, { workspaces: [{ slug: "filed", keys: [{ name: "thief", secret }] }] })).toBe(
    "workspaces[0].keys[0].secret: another key already has this secret",
  );
});

test("does not remove a model that is a fallback of another model: the file releases it", async () => {
  await using fixture = await openTenantFixture();
  const providers = [{ id: "main", kind: "demo" }];
  const model = (name: string, fallbacks: string[] = []) => ({ name, fallbacks, deployments: [{ provider: "main" }] });
  await applyFile(fixture, { providers, models: [model("last"), model("middle", ["last"]), model("alone")] });
  await fixture.controlStore.createModel(model("ours", ["middle"]), { actor: "test", ip: null });
  expect(await applyFile(fixture, {})).toBeNull();
  const remaining = (await fixture.controlStore.listModels()).map(({ name, managed_by }) => [name, managed_by]);
  expect(remaining).toEqual([
    ["alone", "suspended"],
    ["last", "console"],
    ["middle", "console"],
    ["ours", "console"],
  ]);
});

async function fillWorkspace({ database, acme, controlStore }: TenantFixture): Promise<void> {
  const [group] = await controlStore.groups(acme.id);
  await sql`
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${bounds.workspaceKeysMax})
    insert into api_keys (id, workspace_id, group_id, name, prefix, last_four, pass_through, limits, tags, capture, set_by_admins,
      service, enabled, managed_by, created_at)
    select 'key_' || n, ${acme.id}, ${group?.id ?? ""}, 'k' || n, '', '', '[]', '{}', '{}', 'none', '', 0, 1, 'console', 0 from numbers
  `.execute(database.kysely);
}

import { describe, expect, test } from "bun:test";
import { dirname } from "node:path";
import type { ConfigFile, WorkspaceConfig } from "@sluice/contract";
import { sql } from "kysely";
import { createAssetStore } from "#assets/index.ts";
import { bounds } from "#core/index.ts";
import { ConfigConflict } from "#directory/index.ts";
import { sluice } from "../command-line.ts";
import { openTenantGround, type TenantGround } from "../console/tenant-ground.ts";
import type { AuditLine } from "../console-ground.ts";

/**
 * The same act through every door that has it: the admin API, the command line beside it on the same data directory, and
 * the config file. One object has one set of rules, whoever writes it.
 */
type Writer = "console" | "command line" | "file";

/** What came of it: null, or the refusal as a person reads it. */
type Outcome = string | null;

const filed: WorkspaceConfig = { slug: "filed", keys: [{ name: "ci", secret: "a-secret-that-the-file-gives-ci" }] };

interface KeyAsked {
  readonly workspace: string;
  readonly name: string;
  readonly group?: string;
  readonly passThrough?: readonly string[];
}

/** Makes one key through a door. The file declares what is in the workspace already by the way. */
async function makeKey(ground: TenantGround, writer: Writer, key: KeyAsked): Promise<Outcome> {
  if (writer === "console") {
    const body = { name: key.name, group: key.group, pass_through: key.passThrough };
    return refusal(await ground.call("administrator", "keys.create", { params: { workspace: key.workspace }, body }));
  }
  if (writer === "command line") {
    const words = ["key", "create", "--name", key.name, "--workspace", key.workspace];
    if (key.group !== undefined) words.push("--group", key.group);
    if (key.passThrough !== undefined) words.push("--pass-through", key.passThrough.join(","));
    return await commandLine(ground, words);
  }
  const declared = {
    name: key.name,
    ...(key.group === undefined ? {} : { group: key.group }),
    ...(key.passThrough === undefined ? {} : { pass_through: [...key.passThrough] }),
  };
  return await applied(ground, { workspaces: [{ slug: key.workspace, keys: [declared] }] });
}

async function commandLine(ground: TenantGround, words: readonly string[]): Promise<Outcome> {
  const { status, stderr } = await sluice(words, dirname(ground.databasePath));
  return status === 0 ? null : stderr.replace(/^sluice: /, "").trimEnd();
}

async function applied(ground: TenantGround, config: ConfigFile): Promise<Outcome> {
  try {
    await ground.controlStore.apply(config, "file sluice.yaml");
    await ground.refresh();
    return null;
  } catch (thrown) {
    if (thrown instanceof ConfigConflict) return thrown.message;
    throw thrown;
  }
}

function refusal(answer: {
  readonly status: number;
  readonly body: { readonly error?: { readonly message: string } };
}) {
  return answer.status < 400 ? null : (answer.body.error?.message ?? "");
}

const idsOf = async ({ database }: TenantGround, name: string) =>
  (await database.kysely.selectFrom("api_keys").select("id").where("name", "=", name).execute()).map(({ id }) => id);

/** What an audit row says, but for what differs from key to key. */
const audited = ({ actor, action, object, before, after }: AuditLine) => ({
  actor,
  action,
  object,
  before: before === null ? null : JSON.parse(before),
  after: after === null ? null : { ...JSON.parse(after), id: "", prefix: "", last_four: "", created_by: "" },
});

const making: readonly {
  readonly rule: string;
  readonly prepare?: (ground: TenantGround) => Promise<void>;
  readonly key: KeyAsked;
  /** By door; a door that is left out lets it pass. */
  readonly refused: Partial<Record<Writer, RegExp>>;
}[] = [
  { rule: "a name nobody has is free", key: { workspace: "acme", name: "fresh" }, refused: {} },
  {
    rule: "the name of a key in use is taken; the file takes that key over",
    prepare: async (ground) => void (await ground.makeKey("admin", { name: "ci" })),
    key: { workspace: "acme", name: "ci" },
    refused: {
      console: /^There is already a key called ci in acme\.$/,
      "command line": /^There is already a key called ci in acme\.$/,
    },
  },
  {
    rule: "the name of a key that the file declares is the file's",
    prepare: async (ground) => void (await applied(ground, { workspaces: [filed] })),
    key: { workspace: "filed", name: "ci" },
    refused: {
      console: /^There is already a key called ci in filed\.$/,
      "command line": /^There is already a key called ci in filed\.$/,
    },
  },
  {
    rule: "a group is one of the key's own workspace",
    key: { workspace: "acme", name: "x", group: "elsewhere" },
    refused: {
      console: /^There is no such group in this workspace\.$/,
      "command line": /^There is no such group in this workspace\.$/,
      file: /^workspaces\[0\]\.keys\[0\]\.group: there is no group "elsewhere" in this workspace$/,
    },
  },
  {
    rule: "a grant names a provider that is there",
    key: { workspace: "acme", name: "x", passThrough: ["nobody"] },
    refused: {
      console: /^`pass_through\.0`: there is no provider "nobody"\.$/,
      "command line": /^`pass_through\.0`: there is no provider "nobody"\.$/,
      file: /^workspaces\[0\]\.keys\[0\]\.pass_through\[0\]: there is no provider "nobody"$/,
    },
  },
  {
    rule: "a name is not blank",
    key: { workspace: "acme", name: "  " },
    refused: { console: /name/, "command line": /^`name`: must not be blank\.$/, file: /name: must not be blank$/ },
  },
  {
    rule: "a workspace has a bounded number of keys in use",
    prepare: fillWorkspace,
    key: { workspace: "acme", name: "one too many" },
    refused: {
      console: /^A workspace has at most 100000 keys in use\. Revoke some first\.$/,
      "command line": /^A workspace has at most 100000 keys in use\. Revoke some first\.$/,
      file: /^workspaces\[0\]\.keys: A workspace has at most 100000 keys in use\. Revoke some first\.$/,
    },
  },
];

describe.each(["console", "command line", "file"] as const)("a new key, by the %s", (writer) => {
  test.each(making)("$rule", async ({ prepare, key, refused }) => {
    await using ground = await openTenantGround();
    await prepare?.(ground);
    const before = await ground.audit();
    const outcome = await makeKey(ground, writer, key);
    const expected = refused[writer];
    if (expected === undefined) expect(outcome).toBeNull();
    else {
      expect(outcome ?? "it was let through").toMatch(expected);
      expect(await ground.audit()).toEqual(before);
    }
  });

  test("a revoked key gives up its name, says of itself that it is revoked, and never opens again", async () => {
    await using ground = await openTenantGround();
    const { key, secret } = (await ground.makeKey("admin", { name: "ci" })).body;
    await ground.call("admin", "keys.revoke", { params: { workspace: "acme", key: key.id } });
    expect(await makeKey(ground, writer, { workspace: "acme", name: "ci" })).toBeNull();
    const [made, ...others] = await idsOf(ground, "ci");
    expect(others).toEqual([]);
    expect(made).not.toBe(key.id);
    expect(await idsOf(ground, "ci (revoked 2026-01-01)")).toEqual([key.id]);
    expect(await ground.authenticate(secret)).toBe("disabled_api_key");
    const [renamed] = (await ground.audit()).filter(
      ({ object, after }) => object === "key acme/ci" && after?.includes("(revoked"),
    );
    expect(renamed).toMatchObject({ action: "update" });
  });

  test("its audit row says who made it, where, and all that it became", async () => {
    await using ground = await openTenantGround();
    const last = (await ground.audit()).at(-1)?.seq ?? 0;
    await makeKey(ground, writer, { workspace: "acme", name: "fresh" });
    const rows = (await ground.audit(last)).filter(({ object }) => object === "key acme/fresh");
    const actors = {
      console: "administrator@example.com",
      "command line": expect.stringMatching(/^command line \(.+@.+\)$/),
      file: "file sluice.yaml",
    };
    const [row] = rows;
    expect(rows).toMatchObject([{ workspace_id: ground.acme.id, actor: actors[writer], action: "create" }]);
    expect(row === undefined ? null : audited(row).after).toMatchObject({
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

describe.each(["console", "command line"] as const)("a key that the file owns, by the %s", (writer) => {
  test.each(["revoke", "rotate"] as const)("cannot be ended or changed: %s", async (act) => {
    await using ground = await openTenantGround();
    await applied(ground, { workspaces: [filed] });
    const [id = ""] = await idsOf(ground, "ci");
    const before = await ground.audit();
    const outcome =
      writer === "console"
        ? refusal(
            await ground.call("administrator", `keys.${act}`, { params: { workspace: "filed", key: id }, body: {} }),
          )
        : await commandLine(ground, ["key", act, id]);
    expect(outcome).toBe("The key ci comes from the config file. Change it there.");
    expect(await ground.audit()).toEqual(before);
    expect(await ground.authenticate(filed.keys?.[0]?.secret ?? "")).toBe(id);
  });

  test("gets its secret there when the file leaves it out, once", async () => {
    await using ground = await openTenantGround();
    await applied(ground, { workspaces: [{ slug: "filed", keys: [{ name: "later", limits: { rpm: 7 } }] }] });
    const [id = ""] = await idsOf(ground, "later");
    const rotate = async () =>
      writer === "console"
        ? refusal(
            await ground.call("administrator", "keys.rotate", { params: { workspace: "filed", key: id }, body: {} }),
          )
        : await commandLine(ground, ["key", "create", "--workspace", "filed", "--name", "later"]);
    expect(await rotate()).toBeNull();
    const shown = await ground.controlStore.key(null, id);
    expect(shown).toMatchObject({ managed_by: "file", state: "active", limits: { rpm: 7 } });
    expect((await ground.audit()).at(-1)).toMatchObject({ action: "rotate", object: "key filed/later" });
    expect(await rotate()).not.toBeNull();
  });
});

describe.each(["console", "command line", "file"] as const)("a new workspace, by the %s", (writer) => {
  const make = async (ground: TenantGround, slug: string): Promise<Outcome> => {
    if (writer === "console")
      return refusal(await ground.call("administrator", "workspaces.create", { body: { slug } }));
    if (writer === "command line") return await commandLine(ground, ["workspace", "create", slug]);
    return await applied(ground, { workspaces: [{ slug }] });
  };

  test("has a group called default, and audit rows of both that say who made it", async () => {
    await using ground = await openTenantGround();
    const last = (await ground.audit()).at(-1)?.seq ?? 0;
    expect(await make(ground, "lab")).toBeNull();
    const actors = {
      console: "administrator@example.com",
      "command line": expect.stringMatching(/^command line \(.+@.+\)$/),
      file: "file sluice.yaml",
    };
    const rows = await ground.audit(last);
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

  test("has a slug to itself; the file takes the workspace over that has it", async () => {
    await using ground = await openTenantGround();
    const outcome = await make(ground, "acme");
    if (writer === "file") expect((await ground.controlStore.workspace(ground.acme.id))?.managed_by).toBe("file");
    else expect(outcome).toBe("There is already a workspace called acme.");
  });
});

test("a workspace that is in use stays, whoever would remove it: the file hands it over with its groups", async () => {
  await using ground = await openTenantGround();
  await applied(ground, { workspaces: [{ slug: "filed" }] });
  const filedId = (await ground.controlStore.workspaceNamed("filed"))?.id ?? "";
  const store = createAssetStore(ground);
  for (const [id, workspaceId] of [["ag_1", filedId] as const, ["ag_2", ground.acme.id] as const]) {
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
  const removal = await ground.call("administrator", "workspaces.remove", { params: { workspace: "acme" } });
  expect(removal).toMatchObject({ status: 409, code: "conflict" });
  expect(await applied(ground, {})).toBeNull();
  expect(await ground.controlStore.workspace(filedId)).toMatchObject({ managed_by: "console", groups: 1 });
  expect((await ground.audit()).slice(-2).map(({ action, object }) => `${action} ${object}`)).toEqual([
    "release group filed/default",
    "release workspace filed",
  ]);
});

test("a secret that still opens after a rotation is no secret for a key of the file", async () => {
  await using ground = await openTenantGround();
  const { key, secret } = (await ground.makeKey("admin", { name: "ci" })).body;
  await ground.call("admin", "keys.rotate", {
    params: { workspace: "acme", key: key.id },
    body: { grace_seconds: 60 },
  });
  expect(await applied(ground, { workspaces: [{ slug: "filed", keys: [{ name: "thief", secret }] }] })).toBe(
    "workspaces[0].keys[0].secret: another key already has this secret",
  );
});

test("a model that another falls back to stays, whoever would remove it: the file hands it over", async () => {
  await using ground = await openTenantGround();
  const providers = [{ id: "main", kind: "demo" }];
  const model = (name: string, fallbacks: string[] = []) => ({ name, fallbacks, deployments: [{ provider: "main" }] });
  await applied(ground, { providers, models: [model("last"), model("middle", ["last"]), model("alone")] });
  await ground.controlStore.createModel(model("ours", ["middle"]), { actor: "test", ip: null });
  expect(await applied(ground, {})).toBeNull();
  const left = (await ground.controlStore.listModels()).map(({ name, managed_by }) => [name, managed_by]);
  expect(left).toEqual([
    ["alone", "suspended"],
    ["last", "console"],
    ["middle", "console"],
    ["ours", "console"],
  ]);
});

async function fillWorkspace({ database, acme, controlStore }: TenantGround): Promise<void> {
  const [group] = await controlStore.groups(acme.id);
  await sql`
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${bounds.workspaceKeysMax})
    insert into api_keys (id, workspace_id, group_id, name, prefix, last_four, pass_through, limits, tags, capture, set_by_admins,
      service, enabled, managed_by, created_at)
    select 'key_' || n, ${acme.id}, ${group?.id ?? ""}, 'k' || n, '', '', '[]', '{}', '{}', 'none', '', 0, 1, 'console', 0 from numbers
  `.execute(database.kysely);
}

import { Failure, orNotFound } from "#core/index.ts";
import type { AuditSource, NotCarried, UndoResult } from "#ports/index.ts";
import { auditedWrite, removeRows } from "#storage/tables.ts";
import { removeBudgetPolicy } from "../budgets/policies.ts";
import { policyRecord } from "../budgets/policy-rows.ts";
import { guardrailsByModel, leaveGuardrails } from "../guardrails/guardrails.ts";
import { keyObject } from "../keys/key-rules.ts";
import { deleteMember } from "../people/members.ts";
import { removeUser } from "../people/users.ts";
import { removeModel } from "../providers/models.ts";
import { removeProvider } from "../providers/providers.ts";
import { findRow, findRows, not, setColumns } from "../rows.ts";
import type { ControlDirectory, ControlWrite } from "../store.ts";
import { removeGroup } from "../workspaces/groups.ts";
import { workspaceOf } from "../workspaces/workspace-rows.ts";
import { removeWorkspace } from "../workspaces/workspaces.ts";
import { checksumsOf, type ImportedObject, objectsOf } from "./import-records.ts";

/**
 * Removes what an import made, except objects that were changed since. Keys that were only used are removed too; their ledger entries stay. Objects
 * that something else needs are kept. Throws `not_found`, and `conflict` for an import that was undone already.
 */
export async function undoImport(options: ControlDirectory, id: string, auditSource: AuditSource): Promise<UndoResult> {
  return await auditedWrite({ ...options, owner: "console" as const }, auditSource, async (context) => {
    const { transaction, log, at } = context;
    const row = orNotFound(await findRow(transaction, "imports", { id }), "import");
    if (row.undone_at !== null) throw new Failure("conflict", `The import ${id} was undone already.`);
    const remaining: NotCarried[] = [];
    const unchanged = await unchangedObjects(context, objectsOf(row), remaining);
    for (const kind of ["budget", "key", "member", "user", "group", "workspace", "model", "provider"] as const) {
      const objects = unchanged.filter((object) => object.kind === kind);
      const named = await namedByPolicies(context, kind);
      if (kind === "model") {
        const unnamed = objects.filter(({ id: name }) => !named.has(name));
        await releaseFallbacks(context, unnamed);
      }
      for (const object of objects) {
        const needed = named.has(object.id) ? "a budget policy names it" : await needOf(context, object);
        if (needed === null) await removals[kind](context, object.id);
        else remaining.push({ object: labelOf(object), reason: needed });
      }
    }
    await setColumns(transaction, "imports", { id }, { undone_at: at });
    log.change(`import ${id}`, { product: row.product }, null);
    return { changes: log.report, remaining };
  });
}

async function unchangedObjects(
  context: ControlWrite,
  objects: readonly ImportedObject[],
  remaining: NotCarried[],
): Promise<readonly ImportedObject[]> {
  const unchanged: ImportedObject[] = [];
  const checksums = await checksumsOf(context, objects);
  for (const [at, object] of objects.entries()) {
    const checksum = checksums[at] ?? null;
    if (checksum === object.checksum) unchanged.push(object);
    else if (checksum !== null) remaining.push({ object: labelOf(object), reason: "it was changed since the import" });
  }
  return unchanged;
}

/** The source of a key is a digest. */
function labelOf({ kind, id, source }: ImportedObject): string {
  return `${kind} ${kind === "key" ? id : source}`;
}

const removals: Readonly<Record<Kind, (context: ControlWrite, id: string) => Promise<void>>> = {
  provider: removeProvider,
  model: removeModel,
  workspace: removeWorkspace,
  budget: (context, id) => removeBudgetPolicy(context, null, id),
  user: (context, id) => removeUser(context, id, null),
  async group(context, id) {
    const row = await findRow(context.transaction, "groups", { id });
    if (row !== undefined) await removeGroup(context, row.workspace_id, id);
  },
  async key(context, id) {
    const row = await findRow(context.transaction, "api_keys", { id });
    if (row === undefined) return;
    const workspace = await workspaceOf(context.transaction, row.workspace_id);
    await leaveGuardrails(context, workspace, [id]);
    await removeRows(context, keyObject(workspace.slug), [row]);
  },
  async member(context, id) {
    const [workspaceId = "", userId = ""] = id.split("/");
    await deleteMember(context, { workspaceId, userId, keys: null });
  },
};

/** Ids of the objects of a kind that budget policies name. Policies of the import are removed before the other objects. */
async function namedByPolicies({ transaction }: ControlWrite, kind: Kind): Promise<ReadonlySet<string>> {
  const namesIn = namesInPolicies[kind];
  if (namesIn === undefined) return new Set();
  const records = (await findRows(transaction, "budget_policies", {})).map(policyRecord);
  return new Set(records.flatMap((record) => namesIn(record) ?? []));
}

type Kind = ImportedObject["kind"];
type PolicyRecord = ReturnType<typeof policyRecord>;

const namesInPolicies: { readonly [kind in Kind]?: (policy: PolicyRecord) => readonly string[] | undefined } = {
  workspace: ({ match }) => match.workspaces,
  group: ({ match }) => match.groups,
  key: ({ match }) => match.keys,
  user: ({ match }) => match.people,
  provider: ({ match }) => match.providers,
  model: ({ budget }) => (budget.fallback === undefined ? [] : [budget.fallback]),
};

/** Why an object must stay; null: it may be removed. */
async function needOf({ transaction }: ControlWrite, { kind, id }: ImportedObject): Promise<string | null> {
  const [workspace_id = "", user_id = ""] = id.split("/");
  switch (kind) {
    case "budget":
      return null;
    case "key":
      return (await findRow(transaction, "tasks", { key_id: id, final: 0 })) === undefined
        ? null
        : "it has a task that has not ended";
    case "member": {
      const keys = await findRows(transaction, "api_keys", { workspace_id });
      return keys.some((key) => key.owner_id === user_id || key.created_by === user_id || key.person_id === user_id)
        ? "they have keys in this workspace"
        : null;
    }
    case "user": {
      const uses = [
        await findRow(transaction, "members", { user_id: id }),
        await findRow(transaction, "admin_tokens", { owner_id: id }),
        await findRow(transaction, "auth_accounts", { user_id: id }),
        await findRow(transaction, "api_keys", { owner_id: id }),
        await findRow(transaction, "api_keys", { created_by: id }),
      ];
      return uses.every((use) => use === undefined)
        ? null
        : "they have signed in, or have other memberships, keys or tokens";
    }
    case "group":
      return (await findRow(transaction, "api_keys", { group_id: id })) === undefined ? null : "it has keys";
    case "workspace": {
      const groups = await findRows(transaction, "groups", { workspace_id: id });
      const uses = [
        await findRow(transaction, "api_keys", { workspace_id: id }),
        await findRow(transaction, "members", { workspace_id: id }),
        await findRow(transaction, "tasks", { workspace_id: id, final: 0 }),
        await findRow(transaction, "asset_groups", { workspace_id: id }),
        await findRow(transaction, "guardrails", { workspace_id: id }),
        await findRow(transaction, "budget_policies", { workspace_id: id }),
      ];
      return groups.length <= 1 && uses.every((use) => use === undefined)
        ? null
        : "it has keys, members, groups, guardrails, budget policies, assets or tasks that stay";
    }
    case "model":
      if ((await guardrailsByModel(transaction)).has(id)) return "a guardrail calls it";
      return (await fallingBackTo({ transaction }, id)) ? "other models fall back to it" : null;
    case "provider":
      return (await findRow(transaction, "deployments", { provider: id })) === undefined
        ? null
        : "models have deployments there";
  }
}

/** Models of the import may fall back to each other, so that none could be removed first. */
async function releaseFallbacks(context: ControlWrite, objects: readonly ImportedObject[]): Promise<void> {
  const removed = new Set(objects.map(({ id }) => id));
  const checking = await guardrailsByModel(context.transaction);
  for (const name of checking.keys()) removed.delete(name);
  const others = await findRows(context.transaction, "models", { managed_by: not("suspended") });
  for (let before = -1; before !== removed.size; ) {
    before = removed.size;
    for (const { name, fallbacks } of others) {
      if (!removed.has(name)) for (const needed of JSON.parse(fallbacks) as string[]) removed.delete(needed);
    }
  }
  await setColumns(context.transaction, "models", { name: [...removed] }, { fallbacks: "[]" });
}

async function fallingBackTo({ transaction }: Pick<ControlWrite, "transaction">, model: string): Promise<boolean> {
  const rows = await findRows(transaction, "models", { managed_by: not("suspended") });
  return rows.some(({ fallbacks }) => (JSON.parse(fallbacks) as string[]).includes(model));
}

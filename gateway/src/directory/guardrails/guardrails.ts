import { guardrailBounds, guardrailFaults, modelOfCheck } from "@sluice/contract/words";
import { Failure, type GuardrailCheck, orNotFound } from "#core/index.ts";
import { patternProblem } from "#guardrails/index.ts";
import { type Connection, insertRows, removeRows, updateRow } from "#storage/tables.ts";
import {
  type Problem,
  refuseExisting,
  refuseFileDeclared,
  refuseFileOwned,
  refuseProblems,
  shortList,
} from "../refusals.ts";
import { findRow, findRows, not } from "../rows.ts";
import { ruleCountProblems, ruleSlug, unknownIds } from "../scoped-rules.ts";
import type { ControlDirectory, ControlWrite } from "../store.ts";
import {
  changedDraft,
  type GuardrailDraft,
  type GuardrailRecord,
  type GuardrailRow,
  guardrailObject,
  guardrailRecord,
  guardrailRow,
  plainCheck,
} from "./guardrail-rows.ts";

/** Guardrails of a workspace, or of the installation (null), ordered by name. */
export async function listGuardrails(
  { database }: ControlDirectory,
  workspaceId: string | null,
): Promise<readonly GuardrailRecord[]> {
  return (await findRows(database.kysely, "guardrails", { workspace_id: workspaceId }, "name")).map(guardrailRecord);
}

/** Guardrails of the installation that apply to calls of the workspace, with the ids of the workspace only. */
export async function inheritedGuardrails(
  { database }: ControlDirectory,
  workspaceId: string,
): Promise<readonly GuardrailRecord[]> {
  const { kysely } = database;
  const where = { workspace_id: null, enabled: 1, managed_by: not("suspended") };
  const all = (await findRows(kysely, "guardrails", where, "name")).map(guardrailRecord);
  const owned = async (table: "groups" | "api_keys", ids: readonly string[]) =>
    new Set((await findRows(kysely, table, { id: ids, workspace_id: workspaceId })).map(({ id }) => id));
  const groups = await owned("groups", [...new Set(all.flatMap((each) => each.groups))]);
  const keys = await owned("api_keys", [...new Set(all.flatMap((each) => each.keys))]);
  return all.flatMap((guardrail) => {
    const own = {
      workspaces: guardrail.workspaces.filter((id) => id === workspaceId),
      groups: guardrail.groups.filter((id) => groups.has(id)),
      keys: guardrail.keys.filter((id) => keys.has(id)),
    };
    return scopeIds(guardrail).length === 0 || scopeIds(own).length > 0 ? [{ ...guardrail, ...own }] : [];
  });
}

export async function createGuardrail(
  context: ControlWrite,
  workspaceId: string | null,
  draft: GuardrailDraft,
): Promise<GuardrailRecord> {
  const { transaction } = context;
  const slug = await ruleSlug(transaction, workspaceId);
  await refuseTakenName(transaction, workspaceId, draft.name);
  refuseProblems(await guardrailProblems(context, workspaceId, draft));
  const row = guardrailRow(context, workspaceId, draft);
  await insertRows(context, guardrailObject(slug), [row]);
  refuseProblems(await countProblems(transaction));
  return guardrailRecord(row);
}

export async function updateGuardrail(
  context: ControlWrite,
  workspaceId: string | null,
  id: string,
  change: Partial<GuardrailDraft>,
): Promise<GuardrailRecord> {
  const { transaction } = context;
  const slug = await ruleSlug(transaction, workspaceId);
  const row = await ownRow(transaction, workspaceId, id);
  refuseFileOwned(row, `guardrail ${row.name}`);
  const before = guardrailRecord(row);
  const draft = changedDraft(before, change);
  if (draft.name !== row.name) await refuseTakenName(transaction, workspaceId, draft.name);
  refuseProblems(await guardrailProblems(context, workspaceId, draft, before));
  const after = guardrailRow(context, workspaceId, draft, row);
  await updateRow(context, guardrailObject(slug), { before: row, after });
  refuseProblems(await countProblems(transaction));
  return guardrailRecord(after);
}

export async function removeGuardrail(context: ControlWrite, workspaceId: string | null, id: string): Promise<void> {
  const slug = await ruleSlug(context.transaction, workspaceId);
  const row = await ownRow(context.transaction, workspaceId, id);
  refuseFileDeclared(row, `guardrail ${row.name}`);
  await removeRows(context, guardrailObject(slug), [row]);
}

async function ownRow(connection: Connection, workspaceId: string | null, id: string): Promise<GuardrailRow> {
  return orNotFound(await findRow(connection, "guardrails", { id, workspace_id: workspaceId }), "guardrail");
}

async function refuseTakenName(connection: Connection, workspaceId: string | null, name: string): Promise<void> {
  const row = await findRow(connection, "guardrails", { workspace_id: workspaceId, name });
  const place = workspaceId === null ? "the installation" : "this workspace";
  refuseExisting(row, `guardrail ${name} of ${place}`, "name");
}

/** The check of a request or a stored guardrail, for calls. Throws `invalid_request` for a pattern that cannot be compiled. */
export function usableCheck(check: GuardrailDraft["check"] | GuardrailRecord["check"]): GuardrailCheck {
  refuseProblems(patternProblems(check));
  return plainCheck(check);
}

/** Problems of regular expressions. The contract does not compile them, because the console would have to load the engine. */
export function patternProblems(check: GuardrailDraft["check"] | GuardrailRecord["check"]): readonly Problem[] {
  if (check.kind !== "patterns") return [];
  return check.patterns.flatMap(({ regex }, index) => {
    const message = patternProblem(regex);
    return message === null ? [] : [{ path: ["check", "patterns", index, "regex"], message }];
  });
}

/**
 * A disabled guardrail may keep ids of `before` that do not exist any more. It cannot be enabled with them, so that the deletion of a
 * group never makes a rule apply to every call.
 */
async function guardrailProblems(
  { transaction }: ControlWrite,
  workspaceId: string | null,
  draft: GuardrailDraft,
  before?: GuardrailRecord,
): Promise<readonly Problem[]> {
  const found: Problem[] = [...guardrailFaults(draft), ...patternProblems(draft.check)];
  const { workspaces = [], groups = [], keys = [], check } = draft;
  if (workspaceId !== null && workspaces.length > 0) {
    found.push({ path: ["workspaces"], message: "can only be set for guardrails of the installation" });
  }
  const model = modelOfCheck(check);
  if (model !== null) {
    const row = await findRow(transaction, "models", { name: model.name, managed_by: not("suspended") });
    const path = ["check", "model"];
    if (row === undefined) found.push({ path, message: `there is no model "${model.name}"` });
    else if (row.type !== model.type) found.push({ path, message: `must be a model of the type ${model.type}` });
  }
  const unchecked = draft.enabled === false && before ? scopeIds(before) : [];
  found.push(...(await unknownIds(transaction, workspaceId, { workspaces, groups, keys }, unchecked)));
  return found;
}

function scopeIds({ workspaces, groups, keys }: Pick<GuardrailRecord, "workspaces" | "groups" | "keys">) {
  return [...workspaces, ...groups, ...keys];
}

/** Call after a write. */
export async function countProblems(connection: Connection): Promise<readonly Problem[]> {
  const rows = await connection
    .selectFrom("guardrails")
    .select(["workspace_id", "kind"])
    .where("managed_by", "!=", "suspended")
    .execute();
  const webhooks = rows.filter(({ kind }) => kind === "webhook");
  return [
    ...ruleCountProblems(rows, "guardrails", guardrailBounds.perCallMax),
    ...ruleCountProblems(webhooks, "guardrails with a webhook", guardrailBounds.webhooksPerCallMax),
  ];
}

/**
 * Call before workspaces, groups or keys are deleted. Takes their ids out of the guardrails that name them. A guardrail that names
 * nothing else is disabled and keeps the last id, so that it does not apply to every call if it is enabled again.
 */
export async function leaveGuardrails(
  context: ControlWrite,
  workspace: { readonly id: string; readonly slug: string },
  deleted: readonly string[],
): Promise<void> {
  const gone = new Set(deleted);
  const rows = [
    ...(await findRows(context.transaction, "guardrails", { workspace_id: null })),
    ...(await findRows(context.transaction, "guardrails", { workspace_id: workspace.id })),
  ];
  for (const before of rows) {
    const definition = JSON.parse(before.definition) as Pick<GuardrailRecord, "workspaces" | "groups" | "keys">;
    const ids = scopeIds(definition);
    if (!ids.some((id) => gone.has(id))) continue;
    const without = (list: readonly string[]) => list.filter((id) => !gone.has(id));
    const { workspaces, groups, keys } = definition;
    const rest = { workspaces: without(workspaces), groups: without(groups), keys: without(keys) };
    const after =
      scopeIds(rest).length === 0
        ? { ...before, enabled: 0 }
        : { ...before, definition: JSON.stringify({ ...definition, ...rest }) };
    await updateRow(context, guardrailObject(workspace.slug), { before, after });
  }
}

/** Throws `conflict` while a guardrail calls the model. */
export async function refuseModelOfGuardrail(connection: Connection, model: string): Promise<void> {
  const names = (await guardrailsByModel(connection)).get(model);
  if (names === undefined) return;
  const message = `Guardrails use the model ${model}: ${shortList(names)}. Change or delete them first.`;
  throw new Failure("conflict", message);
}

/** Names of guardrails by the model that they call. */
export async function guardrailsByModel(connection: Connection): Promise<ReadonlyMap<string, readonly string[]>> {
  const kinds = ["moderation", "classifier"];
  const rows = await findRows(connection, "guardrails", { kind: kinds, managed_by: not("suspended") }, "name");
  const found = new Map<string, string[]>();
  for (const row of rows) {
    const model = modelOfCheck(guardrailRecord(row).check)?.name ?? "";
    found.set(model, [...(found.get(model) ?? []), row.name]);
  }
  return found;
}

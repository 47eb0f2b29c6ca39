import type { ConfigFile } from "@sluice/contract/config-file";
import type { Conflict } from "@sluice/contract/words";
import { type Connection, suspendRows } from "#storage/tables.ts";
import { conflictsAt, refuseConflicts } from "../refusals.ts";
import { applyRows, findRows } from "../rows.ts";
import { fullRuleName, idsOfNames } from "../scoped-rules.ts";
import type { ControlWrite } from "../store.ts";
import { type GuardrailDraft, guardrailObject, guardrailRow } from "./guardrail-rows.ts";
import { countProblems, patternProblems } from "./guardrails.ts";

type Declared = NonNullable<ConfigFile["guardrails"]>[number];

/** Suspends guardrails that the file no longer declares. Call it before applying the models, which a guardrail may need. */
export async function suspendGuardrails(context: ControlWrite, config: ConfigFile): Promise<void> {
  const slugs = await slugsOf(context.transaction);
  const inWorkspaces = (config.workspaces ?? []).flatMap(({ slug, guardrails = [] }) =>
    guardrails.map(({ name }) => `${slug}/${name}`),
  );
  const declared = new Set([...(config.guardrails ?? []).map(({ name }) => `/${name}`), ...inWorkspaces]);
  const owned = await findRows(context.transaction, "guardrails", { managed_by: "file" });
  const vanished = owned.filter(({ workspace_id: id, name }) => {
    return !declared.has(`${id === null ? "" : slugs.get(id)}/${name}`);
  });
  await suspendRows(context, guardrailObject(slugs), vanished);
}

/** Creates and updates the guardrails of the file. Call it after applying the workspaces. */
export async function applyGuardrails(context: ControlWrite, config: ConfigFile): Promise<void> {
  const { transaction } = context;
  const slugs = await slugsOf(transaction);
  const ids = new Map([...slugs].map(([id, slug]) => [slug, id]));
  const existing = await findRows(transaction, "guardrails", {});
  const before = new Map(existing.map((row) => [fullRuleName(row), row]));
  const conflicts: Conflict[] = [];
  const rowOf = async (workspaceId: string | null, guardrail: Declared, path: Conflict["path"]) => {
    const scope = await idsOfNames(transaction, guardrail, workspaceId, ids);
    conflicts.push(...conflictsAt(path, [...patternProblems(guardrail.check), ...scope.problems]));
    const draft: GuardrailDraft = { ...guardrail, ...scope.ids };
    return guardrailRow(
      context,
      workspaceId,
      draft,
      before.get(fullRuleName({ workspace_id: workspaceId, ...guardrail })),
    );
  };
  const wanted = [];
  for (const [index, guardrail] of (config.guardrails ?? []).entries()) {
    wanted.push(await rowOf(null, guardrail, ["guardrails", index]));
  }
  for (const [index, { slug, guardrails = [] }] of (config.workspaces ?? []).entries()) {
    for (const [at, guardrail] of guardrails.entries()) {
      wanted.push(await rowOf(ids.get(slug) ?? "", guardrail, ["workspaces", index, "guardrails", at]));
    }
  }
  refuseConflicts(conflicts);
  await applyRows(context, guardrailObject(slugs), existing, wanted, fullRuleName);
  refuseConflicts(conflictsAt(["guardrails"], await countProblems(transaction)));
}

async function slugsOf(connection: Connection): Promise<ReadonlyMap<string, string>> {
  return new Map((await findRows(connection, "workspaces", {})).map(({ id, slug }) => [id, slug]));
}

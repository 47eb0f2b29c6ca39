import type { AuditSource, EntryOfBalance, ImportDraft, ImportResult, NotCarried } from "#ports/index.ts";
import { auditedWrite, ledgerWriter } from "#storage/tables.ts";
import type { ControlDirectory, ControlWrite } from "../store.ts";
import { importBudgets } from "./import-budgets.ts";
import { importModels, importProviders } from "./import-models.ts";
import { checksumsOf, earlierObjects, type ImportedObject, type Importing, sourceOf } from "./import-records.ts";
import { importUsers } from "./import-users.ts";
import { importWorkspaces } from "./import-workspaces.ts";
import { balancesOf, type Spend } from "./opening-balances.ts";

/**
 * Makes what the draft describes and no earlier import made, in one transaction; with `apply` false the transaction is rolled back.
 * Existing objects never change.
 */
export async function runImport(
  options: ControlDirectory,
  draft: ImportDraft,
  { apply, entryOf }: { readonly apply: boolean; readonly entryOf: EntryOfBalance },
  auditSource: AuditSource,
): Promise<ImportResult> {
  let result: ImportResult | null = null;
  try {
    return await auditedWrite({ ...options, owner: "console" as const }, auditSource, async (context) => {
      result = await importAll(context, draft, entryOf);
      if (!apply) throw rollback;
      return result;
    });
  } catch (thrown) {
    if (thrown !== rollback || result === null) throw thrown;
    return { ...(result as ImportResult), id: null };
  }
}

const rollback = new Error("a plan is rolled back");

async function importAll(context: ControlWrite, draft: ImportDraft, entryOf: EntryOfBalance): Promise<ImportResult> {
  const earlier = await earlierObjects(context, draft.product);
  const made: Omit<ImportedObject, "checksum">[] = [];
  const spends: Spend[] = [];
  const skipped: NotCarried[] = [];
  let unchanged = 0;
  const importing: Importing = {
    context,
    draft,
    earlier(source) {
      const object = earlier.get(sourceOf(source)) ?? null;
      if (object !== null) unchanged++;
      return object;
    },
    made: (object) => void made.push(object),
    spent: (spend) => void spends.push(spend),
    skip: (each) => void skipped.push(each),
  };
  await importProviders(importing);
  await importModels(importing);
  const workspaces = await importWorkspaces(importing);
  await importUsers(importing, workspaces);
  await workspaces.addKeys();
  await importBudgets(importing, workspaces);
  const id = made.length === 0 ? null : await record(context, draft, made);
  const balances = id === null ? [] : balancesOf(spends, id, context.at);
  if (balances.length > 0) await ledgerWriter(context.database)(context.transaction, balances.map(entryOf));
  return { id, changes: context.log.report, unchanged, skipped };
}

/** Returns the id of the import, for undoing it. */
async function record(
  context: ControlWrite,
  { product }: ImportDraft,
  made: readonly Omit<ImportedObject, "checksum">[],
): Promise<string> {
  const { transaction, at, log } = context;
  const id = context.ids.next("imp_");
  const checksums = await checksumsOf(context, made);
  const objects = made.map((object, at): ImportedObject => ({ ...object, checksum: checksums[at] ?? "" }));
  const row = { id, product, at, actor: log.actor, objects: JSON.stringify(objects), undone_at: null };
  await transaction.insertInto("imports").values(row).execute();
  const counts = Object.fromEntries(
    [...Map.groupBy(made, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length]),
  );
  log.change(`import ${id}`, null, { product, made: counts });
  return id;
}

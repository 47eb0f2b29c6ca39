import { createHash } from "node:crypto";
import type { ImportDraft, ImportProduct, NotCarried } from "#ports/index.ts";
import { openedSettings, type Row, sealId } from "#storage/tables.ts";
import { personLimitsView } from "../people/person-limits.ts";
import { modelRecord } from "../providers/models.ts";
import { findRow, findRows } from "../rows.ts";
import type { ControlWrite } from "../store.ts";
import type { Spend } from "./opening-balances.ts";

/** An object that an import made. */
export interface ImportedObject {
  readonly kind: "provider" | "model" | "workspace" | "group" | "key" | "user" | "member" | "budget";
  /** The id, or the name if it has none; of a member, `workspace id/user id`. */
  readonly id: string;
  /** Identifies the object at the other gateway, so that a second import finds it. */
  readonly source: string;
  /** Of its settings when it was made, to notice changes. */
  readonly checksum: string;
}

/** An import under way. */
export interface Importing {
  readonly context: ControlWrite;
  readonly draft: ImportDraft;
  /** The object from an earlier import of this; null: there is none, or it was removed since. Counts it as unchanged. */
  earlier(object: Source): ImportedObject | null;
  made(object: Omit<ImportedObject, "checksum">): void;
  /** Of an object that this import made. */
  spent(spend: Spend): void;
  skip(skipped: NotCarried): void;
}

type Source = Pick<ImportedObject, "kind" | "source">;

export const sourceOf = ({ kind, source }: Pick<ImportedObject, "kind" | "source">): string => `${kind} ${source}`;

/** Objects of earlier imports of this product that still exist, by `sourceOf`. */
export async function earlierObjects(
  context: ControlWrite,
  product: ImportProduct,
): Promise<ReadonlyMap<string, ImportedObject>> {
  const rows = await findRows(context.transaction, "imports", { product, undone_at: null });
  const objects = rows.flatMap(objectsOf);
  const checksums = await checksumsOf(context, objects);
  return new Map(objects.filter((_, at) => checksums[at] !== null).map((object) => [sourceOf(object), object]));
}

export function objectsOf({ objects }: Pick<Row<"imports">, "objects">): readonly ImportedObject[] {
  return JSON.parse(objects);
}

/** A checksum differs after its object was changed. null: it was removed. Using a key is no change. */
export async function checksumsOf(
  context: ControlWrite,
  objects: readonly Pick<ImportedObject, "kind" | "id">[],
): Promise<readonly (string | null)[]> {
  // There may be thousands of keys.
  const ids = objects.filter(({ kind }) => kind === "key").map(({ id }) => id);
  const keys = new Map((await findRows(context.transaction, "api_keys", { id: ids })).map((row) => [row.id, row]));
  const checksums: (string | null)[] = [];
  for (const object of objects) {
    const view = object.kind === "key" ? keyView(keys.get(object.id)) : await viewOf(context, object.kind, object.id);
    checksums.push(view === null ? null : createHash("sha256").update(JSON.stringify(view)).digest("hex"));
  }
  return checksums;
}

async function viewOf(
  context: ControlWrite,
  kind: Exclude<ImportedObject["kind"], "key">,
  id: string,
): Promise<object | null> {
  const { transaction, at } = context;
  switch (kind) {
    case "provider":
      return providerView(context, await findRow(transaction, "providers", { id }));
    case "model":
      return await modelRecord(transaction, id, at);
    case "workspace":
      return (await findRow(transaction, "workspaces", { id })) ?? null;
    case "group":
      return (await findRow(transaction, "groups", { id })) ?? null;
    case "user":
      return userView(await findRow(transaction, "auth_users", { id }));
    case "budget":
      return (await findRow(transaction, "budget_policies", { id })) ?? null;
    case "member":
      return await memberView(context, id);
  }
}

/** Sealed values differ each time they are sealed. */
function providerView({ vault }: ControlWrite, row: Row<"providers"> | undefined) {
  if (row === undefined) return null;
  const { sealed_secret, sealed_settings: _settings, ...rest } = row;
  const secret = sealed_secret === null ? null : vault.open(sealed_secret, sealId(row.id, "secret")).reveal();
  return { ...rest, secret: secret === null ? null : vault.digest(secret), settings: openedSettings(row, vault) };
}

function keyView(row: Row<"api_keys"> | undefined) {
  if (row === undefined) return null;
  const { digest: _digest, prefix: _prefix, last_four: _last, old_digest: _old, old_until: _until, ...rest } = row;
  return rest;
}

function userView(row: Row<"auth_users"> | undefined) {
  if (row === undefined) return null;
  const { id, name, email, administrator, disabled } = row;
  return { id, name, email, administrator, disabled };
}

async function memberView({ transaction }: ControlWrite, id: string) {
  const [workspace_id = "", user_id = ""] = id.split("/");
  const row = await findRow(transaction, "members", { workspace_id, user_id });
  if (row === undefined) return null;
  const limits = await findRow(transaction, "person_limits", { workspace_id, user_id });
  return { role: row.role, ...personLimitsView(limits ?? { limits: null, budget: null }) };
}

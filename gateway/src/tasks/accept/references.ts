import { videoTaskFields } from "@sluice/contract/words";
import { Failure, taskIdOf } from "#core/index.ts";
import { isObject, objectOf } from "#protocols/index.ts";

const taskMaterialMax = videoTaskFields.references.maxItems;

/** What a body refers to that belongs to somebody: each must be the caller's own workspace's. */
export interface References {
  /** Our ids, `as_…`, each once. */
  readonly assetIds: readonly string[];
  /** Tasks that are gone on from (Ark's drafts), our ids, `vt_…`. */
  readonly taskIds: readonly string[];
}

const assetScheme = /^asset:\/\/(.*)$/is;

/**
 * Every `asset://` anywhere in a body, also in members that are the vendor's: an upstream account is shared by workspaces,
 * so what it knows under an id of its own may be another's. Such ids are therefore taken for missing, not passed on.
 */
export function referencesIn(values: readonly unknown[], content: readonly unknown[] | null): References {
  const assetIds = new Set<string>();
  const note = (text: string): void => {
    const id = assetScheme.exec(text)?.[1];
    if (id === undefined) return;
    if (!/^as_[A-Za-z0-9_-]{1,128}$/.test(id)) throw unknownAsset(id);
    assetIds.add(id);
  };
  for (const value of values) forEachText(value, note);
  if (assetIds.size > taskMaterialMax) {
    throw new Failure("invalid_request", `More than ${taskMaterialMax} assets in one task.`);
  }
  const taskIds = (content ?? []).flatMap((item) => draftId(item) ?? []);
  for (const id of taskIds) {
    if (!/^vt_[A-Za-z0-9_-]{1,128}$/.test(id)) throw unknownTask(id);
  }
  return { assetIds: [...assetIds], taskIds };
}

/** The value with each reference replaced by what the upstream is to be given. */
export function withReferences(value: unknown, known: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return known.get(assetScheme.exec(value)?.[1] ?? "") ?? value;
  if (Array.isArray(value)) return value.map((item) => withReferences(item, known));
  if (!isObject(value)) return value;
  const changed = Object.entries(value).map(([name, inner]) => [name, withReferences(inner, known)] as const);
  const draft = draftId(value);
  const upstreamId = draft === null ? undefined : known.get(draft);
  if (upstreamId === undefined) return Object.fromEntries(changed);
  return Object.fromEntries([...changed, ["draft_task", { ...objectOf(value["draft_task"]), id: upstreamId }]]);
}

export function unknownTask(id: string, param = "content"): Failure {
  return new Failure("task_not_found", `There is no video task with the id "${id.slice(0, 128)}".`, { param });
}

function unknownAsset(id: string): Failure {
  return new Failure("asset_not_found", `There is no asset with the id "${id.slice(0, 128)}".`);
}

/** Ark: `{"type":"draft_task","draft_task":{"id":"cgt-…"}}`; callers of ours write our own id. */
function draftId(item: unknown): string | null {
  if (!isObject(item) || !isObject(item["draft_task"])) return null;
  const id = item["draft_task"]["id"];
  return typeof id === "string" ? taskIdOf(id) : "";
}

function forEachText(value: unknown, act: (text: string) => void): void {
  if (typeof value === "string") act(value);
  else if (Array.isArray(value)) for (const item of value) forEachText(item, act);
  else if (isObject(value)) for (const inner of Object.values(value)) forEachText(inner, act);
}

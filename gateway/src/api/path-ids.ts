import { Failure, type FailureCode } from "#core/index.ts";

/** What stands behind a prefix: an id, and the part behind it, if any. */
export function idInPath(path: string, prefix: string): { readonly id: string; readonly part: string | null } {
  const [id = "", part] = path.slice(prefix.length).split("/");
  return { id, part: part ?? null };
}

/** Ids are ours: anything else looks like one that does not exist. */
export function requireId(id: string, prefix: string, code: FailureCode): string {
  if (new RegExp(`^${prefix}[0-9A-Za-z]{1,64}$`).test(id)) return id;
  throw new Failure(code, `There is no such thing as "${id.slice(0, 64).replace(/[^\x21-\x7e]/g, "?")}".`, {
    param: "id",
  });
}

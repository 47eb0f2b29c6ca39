import { type Conflict, pathText } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import type { ManagedBy } from "#storage/tables.ts";

/** `what` is the object as a person would name it: `provider openai`. */
export function refuseFileOwned(row: { readonly managed_by: ManagedBy | "system" }, what: string): void {
  refuseFileDeclared(row, what);
  refuseSuspended(row, what);
}

/** For deletions: what the file no longer declares may be deleted. */
export function refuseFileDeclared(row: { readonly managed_by: ManagedBy | "system" }, what: string): void {
  if (row.managed_by !== "file") return;
  throw new Failure("managed_by_file", `The ${what} comes from the config file. Change it there.`);
}

export function refuseSuspended(row: { readonly managed_by: ManagedBy | "system" }, what: string): void {
  if (row.managed_by !== "suspended") return;
  throw new Failure(
    "managed_by_file",
    `The ${what} is suspended: it is no longer in the config file. Declare it there again, or delete it.`,
  );
}

/** The first conflict as a refusal; `depth` steps of its path lead to the object that was sent. */
export function refuseDraft(conflicts: readonly Conflict[], depth: number): void {
  const [first] = conflicts;
  if (first === undefined) return;
  const param = pathText(first.path.slice(depth));
  throw new Failure("invalid_request", param === "" ? first.message : `\`${param}\`: ${first.message}`, {
    param: param === "" ? null : param,
  });
}

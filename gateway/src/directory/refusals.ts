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

/** A configuration that contradicts itself or what is already there. Nothing of it was applied. */
export class ConfigConflict extends Error {
  override readonly name = "ConfigConflict";
  readonly conflicts: readonly Conflict[];
  /** Of the first conflict. */
  readonly path: Conflict["path"];

  constructor(conflicts: readonly [Conflict, ...Conflict[]]) {
    super(
      conflicts.map(({ path, message }) => (path.length === 0 ? message : `${pathText(path)}: ${message}`)).join("\n"),
    );
    this.conflicts = conflicts;
    this.path = conflicts[0].path;
  }
}

export function refuseConflicts(found: readonly Conflict[]): void {
  const [first, ...rest] = found;
  if (first !== undefined) throw new ConfigConflict([first, ...rest]);
}

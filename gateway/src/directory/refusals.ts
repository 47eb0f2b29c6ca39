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

/** What a rule finds wrong: where in the object, and why. A rule finds problems; whoever writes the object renders them. */
export interface Problem extends Pick<Conflict, "path" | "message"> {
  /** Left out: `invalid_request`. */
  readonly code?: "conflict";
}

/** The first problem as a refusal of the admin API or the command line. */
export function refuseProblems([first]: readonly Problem[]): void {
  if (first === undefined) return;
  const param = first.path.join(".");
  if (param === "") throw new Failure(first.code ?? "invalid_request", first.message);
  throw new Failure(first.code ?? "invalid_request", `\`${param}\`: ${first.message}.`, { param });
}

/** Problems of an object as conflicts of the config file that it stands in, at `place`. */
export function conflictsAt(place: Conflict["path"], problems: readonly Problem[]): readonly Conflict[] {
  return problems.map(({ path, message }) => ({ path: [...place, ...path], message }));
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

import { type Conflict, pathText } from "@sluice/contract/words";
import { Failure, invalidRequest } from "#core/index.ts";
import type { ManagedBy } from "#storage/tables.ts";

/** The first names of a list, and how many more there are. */
export function shortList(names: readonly string[]): string {
  const more = names.length > shortListMax ? ` and ${names.length - shortListMax} more` : "";
  return `${names.slice(0, shortListMax).join(", ")}${more}`;
}

const shortListMax = 5;

/** `label` names the object: `provider openai`. */
export function refuseFileOwned(row: { readonly managed_by: ManagedBy | "system" }, label: string): void {
  refuseFileDeclared(row, label);
  refuseSuspended(row, label);
}

/** For deletions: a suspended object may be deleted. */
export function refuseFileDeclared(row: { readonly managed_by: ManagedBy | "system" }, label: string): void {
  if (row.managed_by === "file") throw managedByFile(label);
}

export function managedByFile(label: string): Failure {
  return new Failure("managed_by_file", `The ${label} comes from the config file. Change it there.`);
}

export function refuseSuspended(row: { readonly managed_by: ManagedBy | "system" }, label: string): void {
  if (row.managed_by !== "suspended") return;
  throw new Failure(
    "managed_by_file",
    `The ${label} is suspended because the config file no longer declares it. Declare it again, or delete it.`,
  );
}

/** Throws `conflict` if there is an object of this name. `label`: `provider openai`. `param`: the field with the name. */
export function refuseExisting(
  row: { readonly managed_by: ManagedBy | "system" } | null | undefined,
  label: string,
  param: string,
): void {
  if (row == null) return;
  refuseSuspended(row, label);
  throw new Failure("conflict", `There is already a ${label}.`, { param });
}

/** An error in a field of an object. Rules return problems; the API and the config file render them. */
export interface Problem extends Pick<Conflict, "path" | "message"> {
  /** Default: `invalid_request`. */
  readonly code?: "conflict";
}

/** Throws the first problem, in the form of the admin API and the command line. */
export function refuseProblems([first]: readonly Problem[]): void {
  if (first === undefined) return;
  const param = first.path.join(".");
  if (param === "") throw new Failure(first.code ?? "invalid_request", first.message);
  throw new Failure(first.code ?? "invalid_request", `\`${param}\`: ${first.message}.`, { param });
}

/** Problems of an object as conflicts of the config file, where the object is at `objectPath`. */
export function conflictsAt(objectPath: Conflict["path"], problems: readonly Problem[]): readonly Conflict[] {
  return problems.map(({ path, message }) => ({ path: [...objectPath, ...path], message }));
}

/** Throws the first conflict of an object that was checked as part of a config file. The first `depth` steps of its path are cut off. */
export function refuseDraft([first]: readonly Conflict[], depth: number): void {
  if (first === undefined) return;
  const param = pathText(first.path.slice(depth));
  if (param === "") throw new Failure("invalid_request", first.message);
  throw invalidRequest(param, `\`${param}\`: ${first.message}`);
}

/** The config file contradicts itself or existing objects. Nothing was applied. */
export class ConfigConflict extends Error {
  override readonly name = "ConfigConflict";
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly [Conflict, ...Conflict[]]) {
    super(
      conflicts.map(({ path, message }) => (path.length === 0 ? message : `${pathText(path)}: ${message}`)).join("\n"),
    );
    this.conflicts = conflicts;
  }
}

export function refuseConflicts(found: readonly Conflict[]): void {
  const [first, ...rest] = found;
  if (first !== undefined) throw new ConfigConflict([first, ...rest]);
}

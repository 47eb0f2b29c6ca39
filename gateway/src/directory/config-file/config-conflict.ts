import { type Conflict, pathText } from "@sluice/contract/words";

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

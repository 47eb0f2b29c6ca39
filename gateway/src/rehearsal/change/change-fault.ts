import { pathText } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";

export type Path = readonly (string | number)[];

/** A wrong name in a change. `path`: within the change. */
export class ChangeFault extends Failure {
  readonly path: Path;
  readonly reason: string;

  constructor(path: Path, reason: string) {
    const param = pathText(["change", ...path]);
    super("invalid_request", `\`${param}\`: ${reason}.`, { param });
    this.path = path;
    this.reason = reason;
  }
}

export function unknownName(path: Path, kind: string, name: string): never {
  refuse(path, `there is no ${kind} "${name}"`);
}

export function refuse(path: Path, reason: string): never {
  throw new ChangeFault(path, reason);
}

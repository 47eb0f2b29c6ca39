import type { Environment, Variables } from "#config/index.ts";
import type { Clock } from "#ports/index.ts";

/** One line of the doctor: the check, its result, and advice. */
export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warn" | "fail";
  readonly detail: string;
  readonly advice: string | null;
}

/** Input of the checks, which change nothing and do not throw for the problems that they detect. */
export interface CheckContext {
  readonly environment: Environment;
  readonly variables: Variables;
  readonly clock: Clock;
  /** Whether providers are contacted. */
  readonly online: boolean;
}

export type Check = (context: CheckContext) => Promise<readonly Finding[]>;

export function ok(check: string, detail: string): Finding {
  return { check, state: "ok", detail, advice: null };
}

export function warn(check: string, detail: string, advice: string): Finding {
  return { check, state: "warn", detail, advice };
}

export function fail(check: string, detail: string, advice: string): Finding {
  return { check, state: "fail", detail, advice };
}

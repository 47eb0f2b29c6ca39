import type { Environment, Variables } from "#config/index.ts";
import type { Clock } from "#ports/index.ts";

/** One line of the doctor: what was looked at, how it is, and what to do when it is not well. */
export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warn" | "fail";
  readonly detail: string;
  readonly advice: string | null;
}

/** What checks look at. They change nothing and never throw for what they are there to find. */
export interface Ground {
  readonly environment: Environment;
  readonly variables: Variables;
  readonly clock: Clock;
  /** Whether providers may be asked. */
  readonly online: boolean;
}

export type Check = (ground: Ground) => Promise<readonly Finding[]>;

export function ok(check: string, detail: string): Finding {
  return { check, state: "ok", detail, advice: null };
}

export function warn(check: string, detail: string, advice: string): Finding {
  return { check, state: "warn", detail, advice };
}

export function fail(check: string, detail: string, advice: string): Finding {
  return { check, state: "fail", detail, advice };
}

import type { Script } from "@sluice/simulator";
import type { Caller, CallResult, CallSpec, Exchange, Turn } from "./call-spec.ts";
import type { Records } from "./settled.ts";
import type { Upstream } from "./upstreams.ts";

/** The context of one case for one pair of caller and upstream. */
export interface CaseContext {
  readonly caller: Caller;
  readonly upstream: Upstream;
  readonly model: string;
  /** The model that is reserved for calls that fail for this reason. */
  failing(purpose: string): string;
  /** Checks the upstream's record and the ledger entry of an answered call, once the whole matrix has been called. */
  checkLater(exchange: Exchange, check: (seen: Records) => void): void;
}

/** One test of a pair. Throws an error that describes what is wrong. */
export interface Case {
  readonly name: string;
  run(context: CaseContext): Promise<void>;
}

/** A user message with a script for the simulated upstream. */
export function scripted(text: string, script: Script): Turn {
  return { by: "user", text: `${text} [[sim ${JSON.stringify(script)}]]` };
}

/** Makes the same call whole and streamed, and checks what both must have in common. */
export async function wholeAndStreamed(
  context: CaseContext,
  ask: CallSpec,
  check: (result: CallResult, mode: "whole" | "stream") => Promise<void> | void,
): Promise<void> {
  for (const mode of ["whole", "stream"] as const) {
    try {
      await check(await context.caller[mode](ask), mode);
    } catch (thrown) {
      throw new Error(`${mode}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { cause: thrown });
    }
  }
}

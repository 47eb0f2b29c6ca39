import type { Script } from "@sluice/simulator";
import type { Ask, Caller, Heard, Said, Taped } from "./ask.ts";
import type { Seen } from "./settled.ts";
import type { Upstream } from "./upstreams.ts";

/** What one case of one pair works with. */
export interface Ground {
  readonly caller: Caller;
  readonly upstream: Upstream;
  readonly model: string;
  /** The model that is kept for calls that fail for this reason. */
  failing(purpose: string): string;
  /** Looks at what the upstream saw and the ledger wrote of an answered call, once the whole matrix has been called. */
  later(exchange: Taped, look: (seen: Seen) => void): void;
}

/** One promise about a pair. Throws what is wrong. */
export interface Case {
  readonly name: string;
  run(ground: Ground): Promise<void>;
}

/** A user's words whose upstream behaves as the script says. */
export function scripted(text: string, script: Script): Said {
  return { by: "user", text: `${text} [[sim ${JSON.stringify(script)}]]` };
}

/** The same call whole and streamed, with what both must have in common. */
export async function bothWays(
  ground: Ground,
  ask: Ask,
  check: (heard: Heard, way: "whole" | "stream") => Promise<void> | void,
): Promise<void> {
  for (const way of ["whole", "stream"] as const) {
    try {
      await check(await ground.caller[way](ask), way);
    } catch (thrown) {
      throw new Error(`${way}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { cause: thrown });
    }
  }
}

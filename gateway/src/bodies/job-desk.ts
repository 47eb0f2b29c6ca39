import type { NewId } from "#protocols/index.ts";
import type { BodyAnswer, BodyAsk, BodyJobKind } from "./body-jobs.ts";

/** What a job works with beside its order. */
export interface JobContext {
  readonly newId: NewId;
}

/** What a job came to. `made`: new bytes; null where it makes none. */
interface Done<Kind extends BodyJobKind> {
  readonly made: Uint8Array | null;
  readonly answer: BodyAnswer<Kind>;
}

/** One job: from a body, what is asked of it, and bytes that come beside it. Throws Failure. */
export type Job<Kind extends BodyJobKind> = (
  body: Uint8Array,
  ask: BodyAsk<Kind>,
  beside: readonly Uint8Array[],
  context: JobContext,
) => Done<Kind>;

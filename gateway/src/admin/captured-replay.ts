import { Failure, type Guardrail } from "#core/index.ts";
import { appliesToCaller, type CapturedAsk, type CapturedOutcome } from "#guardrails/index.ts";
import type { CapturedHead, CapturedTexts } from "#ports/index.ts";
import type { ConsoleDependencies } from "./dependencies.ts";
import type { ReplayTally } from "./replay-tally.ts";

/** Captured requests that are read at once. Their bodies have up to 64 KiB each. */
export const capturesAtOnce = 25;

/** Checks captured requests with a guardrail. The code of live calls checks the bodies, in threads. */
export function capturedReplay({ reports, clock, bodies }: Pick<ConsoleDependencies, "reports" | "clock" | "bodies">) {
  async function examine(
    guardrail: Guardrail,
    { endpoint, isAnswered }: CapturedHead,
    { request, answer, isStream }: CapturedTexts,
    signal: AbortSignal,
  ): Promise<readonly CapturedOutcome[]> {
    const ask = { guardrail, endpoint: endpoint as CapturedAsk["endpoint"], isStream };
    const { outcome } = await bodies.do("inspect-captured", ask, Buffer.from(request ?? ""), {
      beside: [Buffer.from(isAnswered ? (answer ?? "") : "")],
      signal,
    });
    if (outcome instanceof Failure) throw outcome;
    return outcome.answer;
  }

  /** Adds one page of captured requests to the tally. */
  return async function addPage(
    tally: ReplayTally,
    guardrail: Guardrail,
    heads: readonly CapturedHead[],
    signal: AbortSignal,
  ): Promise<void> {
    const own = heads.filter((head) => appliesToCaller(guardrail, head));
    const ids = own.map(({ request_id: id }) => id);
    const texts = new Map((await reports.capturedTexts(ids, clock.now())).map((each) => [each.requestId, each]));
    for (const head of own) {
      signal.throwIfAborted();
      const captured = texts.get(head.request_id);
      if (captured !== undefined) tally.add(head, captured, await examine(guardrail, head, captured, signal));
    }
  };
}

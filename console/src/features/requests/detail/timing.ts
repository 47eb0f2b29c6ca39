import type { AttemptDetail } from "@sluice/contract";
import type { Span } from "../../../components/waterfall.tsx";
import { t } from "../../../language/areas/requests.ts";
import { outcomeTone, outcomeWords } from "../outcome.tsx";
import { statusOf } from "./summary-text.ts";

/**
 * Where the time went, from the beginning of the first attempt: a bar for each attempt, then the parts of the last one. A
 * request with a single attempt shows its parts alone.
 */
export function spansOf(attempts: readonly AttemptDetail[]): readonly Span[] {
  const first = attempts[0];
  const last = attempts.at(-1);
  if (first === undefined || last === undefined) return [];
  // Attempts are dated by the clock of the wall, which may step back.
  const startOf = (attempt: AttemptDetail) => Math.max(0, attempt.at - first.at);
  const parts = partsOf(last, startOf(last));
  if (attempts.length === 1 && parts.length > 1) return parts;
  const bars = attempts.map((attempt, place) => barOf(attempt, place, startOf(attempt), attempt === last));
  return parts.length > 1 ? [...bars, ...parts] : bars;
}

function barOf(attempt: AttemptDetail, place: number, startMs: number, isLast: boolean): Span {
  const { outcome, provider } = attempt;
  const status = statusOf(attempt, isLast);
  return {
    id: attempt.attempt_id,
    label: `Attempt ${place + 1}: ${provider || t("requests.noneChosen")}`,
    startMs,
    endMs: startMs + attempt.total_ms,
    tone: outcomeTone(outcome),
    note: `${outcomeWords[outcome]} ${status}`,
  };
}

/** One after another: what the gateway did before it sent, the wait, the first token, the rest of the answer. */
function partsOf(attempt: AttemptDetail, startMs: number): readonly Span[] {
  const { upstream_ms: upstreamMs, total_ms: totalMs, first_byte_ms: byteMs, first_token_ms: tokenMs } = attempt;
  if (upstreamMs === null) return [];
  const sentMs = within(totalMs - upstreamMs, 0, totalMs);
  const spans: Span[] = [];
  let fromMs = 0;
  const add = (id: string, label: string, toMs: number | null, tone: Span["tone"]) => {
    if (toMs === null) return;
    const endMs = within(toMs, fromMs, totalMs);
    if (endMs > fromMs) {
      spans.push({ id: `part-${id}`, label, startMs: startMs + fromMs, endMs: startMs + endMs, tone });
    }
    fromMs = endMs;
  };
  add("own", t("requests.gatewayPreparesTheCall"), sentMs, "off");
  add("byte", t("requests.upstreamToTheFirstByte"), byteMs, "busy");
  add("token", t("requests.upstreamToTheFirstToken"), tokenMs, "busy");
  const rest =
    byteMs === null
      ? withoutAnswer(attempt)
      : attempt.stream
        ? t("requests.theAnswerStreams")
        : t("requests.theRestOfTheAnswer");
  add("rest", rest, totalMs, byteMs === null ? "bad" : "good");
  return spans;
}

/** A refusal of the upstream's is an answer, of which nothing was passed on. */
function withoutAnswer({ upstream_status: status }: AttemptDetail): string {
  return status === null ? t("requests.upstreamNoAnswer") : t("requests.upstreamUntilItAnswered", { status });
}

function within(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

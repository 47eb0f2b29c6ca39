import type { AttemptDetail } from "@sluice/contract";
import type { Span } from "../../../components/waterfall.tsx";
import { t } from "../../../language/areas/requests.ts";
import { outcomeTone } from "../outcome.tsx";
import { outcomeNote } from "./outcome-note.ts";

/**
 * A timeline from the arrival of the request: the wait before the first attempt, a bar for each attempt, then the phases of the last one.
 * A request with a single attempt shows only its phases.
 */
export function spansOf(attempts: readonly AttemptDetail[]): readonly Span[] {
  const first = attempts[0];
  const last = attempts.at(-1);
  if (first === undefined || last === undefined) return [];
  const waitMs = first.started_after_ms;
  const wait: Span = {
    id: "wait",
    label: t("requests.timing.wait"),
    startMs: 0,
    endMs: waitMs,
    tone: "off",
    note: t("requests.timing.waitNote"),
  };
  const before = waitMs > 0 ? [wait] : [];
  const parts = partsOf(last, last.started_after_ms);
  if (attempts.length === 1 && parts.length > 1) return [...before, ...parts];
  const bars = attempts.map((attempt, place) => barOf(attempt, place, attempt.started_after_ms, attempt === last));
  return [...before, ...bars, ...(parts.length > 1 ? parts : [])];
}

function barOf(attempt: AttemptDetail, place: number, startMs: number, isLast: boolean): Span {
  const { outcome, provider } = attempt;
  return {
    id: attempt.attempt_id,
    label: t("requests.timing.bar", { place: place + 1, provider: provider || t("requests.timing.noProvider") }),
    startMs,
    endMs: startMs + attempt.total_ms,
    tone: outcomeTone(outcome),
    note: outcomeNote(attempt, isLast),
  };
}

/** In order: preparation by the gateway, the wait, the first token, the rest of the answer. */
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
  add("own", t("requests.timing.gateway"), sentMs, "off");
  add("byte", t("requests.timing.firstByte"), byteMs, "busy");
  add("token", t("requests.timing.firstToken"), tokenMs, "busy");
  const rest =
    byteMs === null
      ? withoutAnswer(attempt)
      : attempt.stream
        ? t("requests.timing.streaming")
        : t("requests.timing.rest");
  add("rest", rest, totalMs, byteMs === null ? "bad" : "good");
  return spans;
}

/** An upstream error is an answer too, although it was not forwarded. */
function withoutAnswer({ upstream_status: status, error_code: code }: AttemptDetail): string {
  if (status !== null) return t("requests.timing.answered", { status });
  // Some failures have no status: an unreadable answer, or an error event in a stream.
  return code === "upstream_error" || code === "upstream_truncated"
    ? t("requests.timing.failed")
    : t("requests.timing.noAnswer");
}

function within(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

import type { RehearsalResult } from "@sluice/contract";
import { formatUsd } from "../../../client/format.ts";
import { t } from "../../../language/areas/rehearsals.ts";
import { usdOf } from "./money.ts";

/** `Would have refused 41 of 12,300 requests of 9 people, and saved $3.20.`, then what else would have happened. */
export function sentencesOf(result: RehearsalResult): readonly [string, ...string[]] {
  const moved = result.moved.reduce((sum, { calls }) => sum + calls, 0);
  return [
    mainSentence(result, moved),
    ...(moved > 0 ? [t("rehearsals.sentence.moved", { moved })] : []),
    ...(result.streams_ended > 0 ? [t("rehearsals.sentence.ended", { count: result.streams_ended })] : []),
    ...(result.allowed > 0 && result.calls > 0 ? [t("rehearsals.sentence.letThrough", { count: result.allowed })] : []),
    ...(result.refused_anyway > 0 ? [t("rehearsals.sentence.anyway", { count: result.refused_anyway })] : []),
  ];
}

function mainSentence(result: RehearsalResult, moved: number): string {
  const { calls, refused, people_touched: people, keys_touched: keys, difference_nano_usd: difference } = result;
  const money = moneyWords(usdOf(difference));
  if (calls === 0 && result.allowed > 0) return t("rehearsals.sentence.letThrough", { count: result.allowed });
  if (calls === 0) return t("rehearsals.sentence.none");
  if (refused > 0) return t("rehearsals.sentence.refused", { refused, calls, people, keys, money });
  const isGuarded = result.allowed > 0 || result.guardrails.some(({ found, mode }) => found > 0 && mode === "enforced");
  if (money === "" && moved === 0 && result.streams_ended === 0 && !isGuarded) {
    return t("rehearsals.sentence.nothing", { calls });
  }
  return t("rehearsals.sentence.allowed", { calls, money });
}

/** `Would have stopped 41 requests of 9 people (12 API keys).` */
export function guardrailSentence(guardrail: RehearsalResult["guardrails"][number]): string {
  const { found, people_touched: people, keys_touched: keys, input, output } = guardrail;
  if (found === 0) return t("rehearsals.guardrails.nothing");
  const senders = t(people === 0 ? "rehearsals.guardrails.keys" : "rehearsals.guardrails.senders", { people, keys });
  // An answer is examined only if its request would not have been stopped.
  const stopped = input.blocked + output.blocked;
  if (stopped > 0) return t("rehearsals.guardrails.stopped", { requests: stopped, senders });
  const isMasked = input.masked + output.masked > 0;
  return t(isMasked ? "rehearsals.guardrails.masked" : "rehearsals.guardrails.flagged", { requests: found, senders });
}

/** `, and saved $3.20`; empty without a difference. */
function moneyWords(usd: number): string {
  if (usd === 0) return "";
  const amount = formatUsd(Math.abs(usd));
  return usd < 0 ? t("rehearsals.sentence.saved", { amount }) : t("rehearsals.sentence.added", { amount });
}

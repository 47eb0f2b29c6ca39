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
    ...(result.refused_anyway > 0 ? [t("rehearsals.sentence.anyway", { count: result.refused_anyway })] : []),
  ];
}

function mainSentence(result: RehearsalResult, moved: number): string {
  const { calls, refused, people_touched: people, keys_touched: keys, difference_nano_usd: difference } = result;
  const money = moneyWords(usdOf(difference));
  if (calls === 0) return t("rehearsals.sentence.none");
  if (refused > 0) return t("rehearsals.sentence.refused", { refused, calls, people, keys, money });
  if (money === "" && moved === 0 && result.streams_ended === 0) return t("rehearsals.sentence.nothing", { calls });
  return t("rehearsals.sentence.allowed", { calls, money });
}

/** `, and saved $3.20`; empty without a difference. */
function moneyWords(usd: number): string {
  if (usd === 0) return "";
  const amount = formatUsd(Math.abs(usd));
  return usd < 0 ? t("rehearsals.sentence.saved", { amount }) : t("rehearsals.sentence.added", { amount });
}

import type { AttemptDetail, Explanation } from "@sluice/contract";
import type { Tone } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/requests.ts";
import { outcomeTone, outcomeWords } from "../outcome.tsx";
import { statusOf } from "./outcome-note.ts";
import { isLeftOut, placeWords } from "./plan-words.ts";

type Tried = Pick<AttemptDetail, "deployment" | "outcome" | "http_status" | "upstream_status">;

export interface PlanRow {
  readonly place: number;
  readonly provider: string;
  readonly model: string;
  readonly upstreamModel: string;
  readonly priority: number | null;
  readonly weight: number | null;
  readonly note: string | null;
  readonly leftOut: boolean;
  /** Result of the last attempt at this deployment; null: not tried. */
  readonly result: { readonly status: string; readonly tone: Tone; readonly label: string } | null;
}

/** The plan with the results of its attempts. */
export function planRows({ plan }: Pick<Explanation, "plan">, attempts: readonly Tried[]): readonly PlanRow[] {
  return plan.map((step, place) => {
    const made = attempts.filter((attempt) => attempt.deployment === step.deployment);
    const last = made.at(-1);
    return {
      place,
      provider: step.provider,
      model: step.model,
      upstreamModel: step.upstream_model,
      priority: step.priority,
      weight: step.weight,
      note: placeWords(step),
      leftOut: isLeftOut(step),
      result:
        last === undefined
          ? null
          : {
              status: last.outcome,
              tone: outcomeTone(last.outcome),
              label: triedWords(last, made.length, last === attempts.at(-1)),
            },
    };
  });
}

/** The provider's status if the client received another one or none. */
function triedWords(attempt: Tried, count: number, isLast: boolean): string {
  const outcome = outcomeWords[attempt.outcome];
  const status = statusOf(attempt, isLast);
  return count > 1
    ? t("requests.plan.triedTimes", { outcome, status, count })
    : t("requests.plan.tried", { outcome, status });
}

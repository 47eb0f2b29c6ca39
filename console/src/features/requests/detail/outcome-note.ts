import type { AttemptDetail } from "@sluice/contract";
import { t } from "../../../language/areas/requests.ts";
import { outcomeWords } from "../outcome.tsx";

type Ended = Pick<AttemptDetail, "outcome" | "http_status" | "upstream_status">;

/** For a retried attempt, the provider's status, which the client did not receive. */
export function statusOf(
  { upstream_status, http_status }: Pick<Ended, "http_status" | "upstream_status">,
  isLast: boolean,
): number {
  return isLast ? http_status : (upstream_status ?? http_status);
}

/** "Failed 502 (provider: 500)": both statuses if the client received another status than the provider sent. */
export function outcomeNote(attempt: Ended, isLast: boolean): string {
  const { upstream_status: upstream } = attempt;
  const [outcome, status] = [outcomeWords[attempt.outcome], statusOf(attempt, isLast)];
  return upstream === null || upstream === status
    ? t("requests.timing.note", { outcome, status })
    : t("requests.timing.noteMapped", { outcome, status, upstream });
}

import type { PeriodSpend } from "#api/index.ts";
import type { Principal } from "#core/index.ts";
import { periodStart } from "#limits/index.ts";
import type { Clock, ReportStore } from "#ports/index.ts";

/** What a key has spent since the day, the week and the month began, all in UTC. */
export async function periodSpend(
  { keyUsage }: Pick<ReportStore, "keyUsage">,
  principal: Principal,
  clock: Pick<Clock, "now">,
): Promise<PeriodSpend> {
  const now = clock.now();
  const since = async (period: "day" | "week" | "month"): Promise<number> => {
    const sums = await keyUsage(principal.key.id, periodStart(period, now), now + 1);
    return sums.reduce((spent, { costNanoUsd }) => spent + costNanoUsd, 0);
  };
  const [day, week, month] = await Promise.all([since("day"), since("week"), since("month")]);
  return { day, week, month };
}

import { type ApiDependencies, AskRate, type PeriodSpend } from "#api/index.ts";
import { bounds, type Principal } from "#core/index.ts";
import { Authenticator } from "#identity/index.ts";
import type { AdoptionHooks } from "#ledger/index.ts";
import { Admission, callCounter, type LimitUsage, periodStart } from "#limits/index.ts";
import type { Clock, Observer, ReportStore } from "#ports/index.ts";
import { steadyClock } from "#system/index.ts";
import type { Base } from "./open-base.ts";
import { openCounter } from "./open-counter.ts";
import type { Data } from "./open-data.ts";

export type Governance = Awaited<ReturnType<typeof openGovernance>>;

/** Opens what decides on a call before it is made: keys, limits and budgets, under the configuration in force. */
export async function openGovernance(base: Base, data: Data) {
  const { configSnapshot, control, processes, observer, ending, clock } = base;
  const { journal, reports, feed } = data;
  const counting = await openCounter({ ...base, journal });
  ending.defer("counter", () => counting.close(), bounds.endStepMsMax);
  // Before the counter and the journal are closed: other processes take over at once.
  ending.defer("leases and words to other processes", () => processes.close());
  // What money is counted by: a clock that is set by mistake opens no new month.
  const steady = steadyClock(clock, observer);
  const spending = { reports, settled: (signal: AbortSignal) => journal.drained(signal), observer };
  const admission = new Admission({ counter: counting.counter, clock: steady, spending });
  ending.defer("budgets", () => admission.close());
  data.tellAdopted(adoptionHooks(admission, observer));
  ending.defer("journals of other processes", () => data.stopAdoption());
  const authenticator = new Authenticator({
    ...{ vault: control.vault, clock },
    keyStore: control.controlStore,
    configSnapshot: () => configSnapshot.current,
    changesKnownAtMs: () => feed.currentAtMs,
  });
  const unsubscribe = feed.subscribe((change) => {
    authenticator.changed(change);
    reports.forget();
    if (change.kind === "config") void configSnapshot.refresh().then(base.prepareDemo);
  });
  ending.defer("changes", unsubscribe);
  // What changed between the first reading and the subscription is in this second one, once the feed knows where it begins.
  await feed.catchUp();
  await configSnapshot.refresh();
  return { counting, steady, admission, authenticator, ...ownUsage(admission, reports, clock) };
}

/** What dead processes left counts for the budgets that are known, and what they held is freed. */
function adoptionHooks(admission: Admission, observer: Pick<Observer, "log">): Required<AdoptionHooks> {
  return {
    onStored: (entries) => {
      Promise.resolve(admission.storedElsewhere(entries)).catch((error: unknown) =>
        observer.log("warn", "Budgets are not told what other processes left; they are read again by themselves.", {
          error,
        }),
      );
    },
    onAdopted: async (owner, storedAgoMs) => {
      await admission.adopted(owner, storedAgoMs);
      return true;
    },
  };
}

/** What a key is told of its own use. */
function ownUsage(
  admission: Admission,
  reports: Pick<ReportStore, "keyUsage">,
  clock: Clock,
): Pick<ApiDependencies, "countCall" | "keyUsage" | "periodSpend" | "limitUsage"> {
  const asks = new AskRate(clock);
  return {
    countCall: callCounter(admission),
    keyUsage: (principal, from, to) => {
      asks.take(principal.key.id);
      return reports.keyUsage(principal.key.id, from, to);
    },
    periodSpend: (principal) => {
      asks.take(principal.key.id);
      return periodSpend(reports, principal, clock);
    },
    limitUsage: async ({ scopes }) => (await admission.limitUsages(scopes)).map(limitUsageRow),
  };
}

/** What a key has spent since the day, the week and the month began, all in UTC. */
async function periodSpend(
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

function limitUsageRow({ label, name, period, limit, used, resetsAt }: LimitUsage) {
  return { scope: label, kind: name, period, limit, used, resets_at: resetsAt };
}

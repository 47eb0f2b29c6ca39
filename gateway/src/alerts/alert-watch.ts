import { type AlertKind, alertPage, productName, remarkSentence } from "@sluice/contract/words";
import { bounds, LastingFault } from "#core/index.ts";
import type { ActiveLease, Clock, Leadership, Observer } from "#ports/index.ts";
import type { AlertLog, AlertState, StoredAlert } from "./alert-log.ts";
import type { AlertSender } from "./alert-sender.ts";
import type { AlertSettings, StoredChannel, StoredRule } from "./alert-settings.ts";
import { type BatchSources, batchRowFindings, stuckBatchFindings } from "./batch-findings.ts";
import { billFindings } from "./bill-findings.ts";
import {
  type BudgetSources,
  type BudgetUse,
  budgetFindings,
  readBudgets,
  readTokens,
  tokenFindings,
} from "./budget-findings.ts";
import { type DeliverySources, deliveryFindings } from "./delivery-findings.ts";
import type { DueAlert, DueDelivery, NewDelivery } from "./delivery-queue.ts";
import type { Findings } from "./finding.ts";
import { type GuardrailSources, guardrailFailures, guardrailFindings, shadowFindings } from "./guardrail-findings.ts";
import { keyRequestFindings } from "./key-request-findings.ts";
import type { AlertMessage } from "./messages.ts";
import { quietUntil } from "./quiet-hours.ts";
import type { ReportMessage } from "./reports/report-messages.ts";
import type { ReportRuns } from "./reports/report-runs.ts";
import {
  errorRateFindings,
  latencyFindings,
  providerFindings,
  providerIdleMs,
  spendFindings,
  type TrafficSources,
} from "./traffic-findings.ts";

type Sources = BudgetSources & TrafficSources & DeliverySources & BatchSources & GuardrailSources;

export interface AlertWatchOptions extends Sources {
  readonly settings: AlertSettings;
  readonly log: AlertLog;
  readonly sender: AlertSender;
  readonly runs: Pick<ReportRuns, "find">;
  readonly clock: Clock;
  readonly observer: Observer;
  /** The address of the console, for links; null: unknown. */
  readonly consoleUrl: () => string | null;
  /** Makes sure that one process at a time evaluates rules. Absent: this process does. */
  readonly leadership?: Pick<Leadership, "once">;
}

/** How often rules of a kind are evaluated; others: in each pass. */
const everyMs: Readonly<Partial<Record<AlertKind, number>>> = {
  error_rate: 60_000,
  latency: 60_000,
  spend_anomaly: 5 * 60_000,
  guardrail_findings: 60_000,
  guardrail_failure: 60_000,
  shadow: 60_000,
  batch_rows_failed: 60_000,
  batch_stuck: 60_000,
  bill_difference: 60_000,
};

/** An alert resolves when its condition has not held for this long, so that it does not open and resolve in turns. */
const calmMs: Readonly<Partial<Record<AlertKind, number>>> = {
  error_rate: 5 * 60_000,
  latency: 5 * 60_000,
  spend_anomaly: 15 * 60_000,
  provider_down: 2 * 60_000,
  guardrail_findings: 5 * 60_000,
  guardrail_failure: 5 * 60_000,
  shadow: 86_400_000,
};

/** Rules that read the ledger get this much of a pass. */
const readingMs = 10_000;
/** Facts of an open alert are stored this often. */
const seenMs = 60_000;
/** Resolved alerts are kept this long, and removed this often. */
const historyMs = 92 * 86_400_000;
const pruneMs = 3_600_000;
const pruneRows = 5_000;

/** Data that several rules read in one pass. */
interface OncePerPass {
  readonly channels: readonly StoredChannel[];
  budgets(workspaceId: string | null): Promise<readonly BudgetUse[]>;
  tokens(workspaceId: string | null): ReturnType<typeof readTokens>;
}

/**
 * Evaluates alert rules at intervals, and sends messages.
 *
 * States of an alert: open, from the first pass that finds its condition; worse, at each further threshold; resolved, when the
 * condition no longer holds. All state is in the database, and each change is written with its messages, so that any process can continue
 * after another, and a process that was suspended changes nothing twice.
 */
export class AlertWatch {
  readonly #options: AlertWatchOptions;
  readonly #stopped = new AbortController();
  readonly #fault: LastingFault;
  readonly #ruleFaults = new Map<string, LastingFault>();
  readonly #evaluatedMs = new Map<string, number>();
  /** By kind of alert, and by kind of channel. The open ones are counted by the process that evaluates rules. */
  readonly counts = {
    open: new Map<string, number>(),
    sent: new Map<string, number>(),
    failed: new Map<string, number>(),
  };
  #cancel = (): void => {};
  #running: Promise<unknown> = Promise.resolve();
  #prunedMs = Number.NEGATIVE_INFINITY;

  constructor(options: AlertWatchOptions) {
    this.#options = options;
    this.#fault = this.#faultOf("failed to evaluate alert rules; retrying", "alert rules are evaluated again");
  }

  start(): void {
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#cancel();
    await this.#running;
  }

  /** Evaluates once, and sends everything that is due. */
  async check(lease?: Pick<ActiveLease, "isHeld" | "signal">): Promise<void> {
    const { settings, log } = this.#options;
    const isOurs = () => !this.#stopped.signal.aborted && lease?.isHeld !== false;
    const [rules, channels, open] = await Promise.all([settings.rules(), settings.channels(), log.countOpen("kind")]);
    const enabled = rules.filter((rule) => rule.enabled);
    this.counts.open.clear();
    for (const [kind, count] of open) this.counts.open.set(kind, count);
    const read = this.#once(channels);
    for (const rule of this.#due(enabled)) {
      if (!isOurs()) return;
      await this.#evaluate(rule, channels, read);
    }
    const watched = new Set(enabled.map(({ id }) => id));
    for (const { alert, end } of await log.openWithoutRule()) {
      if (isOurs()) await log.resolve(alert, end);
    }
    this.#forget(watched);
    await this.#prune();
    if (isOurs()) await this.#sendDue(channels, lease?.signal);
  }

  /** The rules to evaluate in this pass. Rules that read the ledger are bounded in number and time; they continue in later passes. */
  *#due(rules: readonly StoredRule[]): Generator<StoredRule> {
    const { clock } = this.#options;
    const startMs = clock.monotonic();
    const evaluatedMs = ({ id }: StoredRule) => this.#evaluatedMs.get(id) ?? Number.NEGATIVE_INFINITY;
    let readings = 0;
    // The oldest first, so that each gets its turn.
    for (const rule of rules.toSorted((one, other) => evaluatedMs(one) - evaluatedMs(other))) {
      const now = clock.monotonic();
      const interval = everyMs[rule.condition.kind];
      if (interval !== undefined) {
        if (now - evaluatedMs(rule) < interval) continue;
        if (readings >= bounds.alertReadingsMax || now - startMs > readingMs) continue;
        readings++;
      }
      this.#evaluatedMs.set(rule.id, now);
      yield rule;
    }
  }

  #forget(rules: ReadonlySet<string>): void {
    for (const id of this.#evaluatedMs.keys()) if (!rules.has(id)) this.#evaluatedMs.delete(id);
    for (const id of this.#ruleFaults.keys()) if (!rules.has(id)) this.#ruleFaults.delete(id);
  }

  #once(channels: readonly StoredChannel[]): OncePerPass {
    const options = this.#options;
    const budgets = oncePerWorkspace((workspaceId) => readBudgets(options, workspaceId));
    return {
      channels,
      async budgets(workspaceId) {
        const all = await budgets(null);
        // The budgets of one workspace may take the places of others.
        return all.truncated && workspaceId !== null ? (await budgets(workspaceId)).uses : all.uses;
      },
      tokens: oncePerWorkspace((workspaceId) => readTokens(options, workspaceId, options.clock.now())),
    };
  }

  async #evaluate(rule: StoredRule, channels: readonly StoredChannel[], read: OncePerPass): Promise<void> {
    let fault = this.#ruleFaults.get(rule.id);
    if (fault === undefined) {
      fault = this.#faultOf("failed to evaluate an alert rule; retrying", "the alert rule is evaluated again");
      this.#ruleFaults.set(rule.id, fault);
    }
    try {
      // Before the findings, so that an alert that another process opens meanwhile is not taken as resolved.
      const open = await this.#options.log.openOf(rule.id);
      await this.#apply(rule, await this.#findings(rule, read), open, channels);
      fault.succeeded();
    } catch (error) {
      // Other rules are still evaluated.
      fault.failed({ rule: rule.id, error });
    }
  }

  async #findings({ workspaceId, condition }: StoredRule, { channels, ...read }: OncePerPass): Promise<Findings> {
    const options = this.#options;
    const now = options.clock.now();
    switch (condition.kind) {
      case "budget":
        return budgetFindings({ workspaceId, condition }, await read.budgets(workspaceId), now);
      case "token_expiry":
        return tokenFindings({ workspaceId, condition }, await read.tokens(workspaceId), options.slugOf, now);
      case "key_request":
        return await keyRequestFindings({ workspaceId }, options, now);
      case "error_rate":
        return await errorRateFindings({ workspaceId, condition }, options, now);
      case "latency":
        return await latencyFindings({ workspaceId, condition }, options, now);
      case "provider_down":
        return await providerFindings({ workspaceId, condition }, options, now);
      case "spend_anomaly":
        return await spendFindings({ workspaceId, condition }, options, now);
      case "delivery_failure":
        return await deliveryFindings({ workspaceId, condition }, options, channels);
      case "guardrail_findings":
        return await guardrailFindings({ workspaceId, condition }, options, now);
      case "guardrail_failure":
        return await guardrailFailures({ workspaceId, condition }, options, now);
      case "shadow":
        return await shadowFindings({ workspaceId }, options, now);
      case "batch_rows_failed":
        return await batchRowFindings({ workspaceId, condition }, options, now);
      case "bill_difference":
        return await billFindings({ workspaceId, condition }, options, now);
      case "batch_stuck":
        return await stuckBatchFindings({ workspaceId, condition }, options, now);
    }
  }

  async #apply(
    rule: StoredRule,
    { found, undecided }: Findings,
    open: readonly StoredAlert[],
    channels: readonly StoredChannel[],
  ): Promise<void> {
    const { log, clock } = this.#options;
    const now = clock.now();
    const isMuted = rule.muted_until !== null && rule.muted_until > now;
    const quietEnd = quietUntil(rule.quiet_hours, now);
    const deliveries: readonly NewDelivery[] = isMuted
      ? []
      : channels
          .filter(({ id, enabled, workspaceId }) => {
            return enabled && workspaceId === rule.workspaceId && rule.channels.includes(id);
          })
          .map((channel) => ({ channel, dueAt: quietEnd ?? now, quiet: quietEnd !== null }));
    const bySubject = new Map(open.map((alert) => [alert.subject, alert]));
    const seen: (AlertState & { readonly id: string })[] = [];
    for (const finding of found) {
      const alert = bySubject.get(finding.subject);
      bySubject.delete(finding.subject);
      if (alert === undefined) {
        await log.openAlert(rule, finding, deliveries, !isMuted);
        continue;
      }
      const { facts, severity } = finding;
      // A figure that goes up and down reports each threshold once per alert.
      const level = calmMs[alert.kind] === undefined ? finding.level : Math.max(finding.level, alert.level);
      const state = { facts, severity, level };
      if (level > alert.level) await log.change(alert, "worse", state, deliveries, !isMuted);
      else if (alert.notifiedAt === null && !isMuted) await log.change(alert, "opened", state, deliveries, true);
      else if (this.#needsReminder(rule, alert, isMuted, now)) {
        await log.change(alert, "reminder", state, deliveries, true);
      } else if (now - alert.lastSeenAt >= seenMs || level < alert.level || severity !== alert.severity) {
        seen.push({ id: alert.id, ...state });
      }
    }
    await log.seen(seen);
    for (const alert of bySubject.values()) {
      const age = now - alert.lastSeenAt;
      const isIdle = alert.kind === "provider_down" && age >= providerIdleMs;
      if (undecided.has(alert.subject) && !isIdle) continue;
      if (age < (calmMs[alert.kind] ?? 0)) continue;
      await log.resolve(alert, { sendResolved: rule.send_resolved, quietEnd });
    }
  }

  #needsReminder(rule: StoredRule, alert: StoredAlert, isMuted: boolean, now: number): boolean {
    if (rule.repeat_hours === null || isMuted || alert.notifiedAt === null) return false;
    return now - alert.notifiedAt >= rule.repeat_hours * 3_600_000;
  }

  async #prune(): Promise<void> {
    const { log, clock } = this.#options;
    if (clock.monotonic() - this.#prunedMs < pruneMs) return;
    this.#prunedMs = clock.monotonic();
    await log.prune(clock.now() - historyMs, pruneRows);
  }

  async #sendDue(channels: readonly StoredChannel[], lost: AbortSignal | undefined): Promise<void> {
    const { log, clock } = this.#options;
    const signal = lost === undefined ? this.#stopped.signal : AbortSignal.any([this.#stopped.signal, lost]);
    const due = await log.leaseDue(clock.now(), bounds.alertLeaseMs, bounds.alertsAtOnceMax);
    const byId = new Map(channels.map((channel) => [channel.id, channel]));
    await Promise.all(due.map((delivery) => this.#send(delivery, byId.get(delivery.channelId), signal)));
  }

  async #send(due: DueDelivery, channel: StoredChannel | undefined, signal: AbortSignal): Promise<void> {
    const { log, sender, clock, observer } = this.#options;
    const tries = due.tries + 1;
    const message = await this.#messageOf(due);
    if (channel === undefined || !channel.enabled || message === null) {
      const problem = remarkSentence("alert", { code: "channel_off", params: {} });
      await log.recordSend(due, { tries, dueAt: null, sentAt: null, problem });
      return;
    }
    const problem = await sender.send(channel, message, signal);
    // Our shutdown interrupted it; the next process tries again.
    if (signal.aborted && problem !== null) return;
    const now = clock.now();
    const again = problem !== null && tries < bounds.alertTriesMax ? now + 30_000 * 4 ** (tries - 1) : null;
    await log.recordSend(due, { tries, dueAt: again, sentAt: problem === null ? now : null, problem });
    countOne(problem === null ? this.counts.sent : this.counts.failed, channel.kind);
    if (problem !== null && again === null) {
      observer.log("warn", "gave up on a message", { ...subjectOf(due), channel: channel.id, problem });
    }
  }

  /** null: its alert or report was deleted. */
  async #messageOf({ id, about }: DueDelivery): Promise<AlertMessage | ReportMessage | null> {
    if ("runId" in about) return await this.#reportMessage(id, about.runId);
    const alert = await this.#options.log.find(about.alertId);
    return alert === null ? null : this.#alertMessage(id, about, alert);
  }

  async #reportMessage(id: string, runId: string): Promise<ReportMessage | null> {
    const { runs, slugOf, consoleUrl, configSnapshot } = this.#options;
    const run = await runs.find(runId);
    if (run === null) return null;
    const { reportId, reportName: name, workspaceId, at, content, csv } = run;
    const workspace = workspaceId === null ? null : slugOf(workspaceId);
    const base = consoleUrl();
    const page = "stopped" in content ? reportsPage(workspace) : content.page;
    const product = productName(configSnapshot().settings);
    const url = base === null ? null : `${base}/console${page}`;
    return { id, reportId, name, workspace, at, content, csv, product, url };
  }

  #alertMessage(id: string, { event, facts, severity, at }: DueAlert, alert: StoredAlert): AlertMessage {
    const { slugOf, consoleUrl, configSnapshot } = this.#options;
    const workspace = alert.workspaceId === null ? null : slugOf(alert.workspaceId);
    const base = consoleUrl();
    return {
      ...{ id, event, facts, severity, at, workspace, alertId: alert.id, kind: alert.kind, ruleName: alert.ruleName },
      product: productName(configSnapshot().settings),
      url: base === null ? null : `${base}/console${alertPage({ kind: alert.kind, facts }, workspace)}`,
    };
  }

  async #checkAsLeader(): Promise<void> {
    const { leadership } = this.#options;
    if (leadership === undefined) await this.check();
    else if ((await leadership.once("alerts", (lease) => this.check(lease))) === null) this.counts.open.clear();
  }

  #schedule(): void {
    if (this.#stopped.signal.aborted) return;
    this.#cancel = this.#options.clock.after(bounds.alertCheckMs, () => {
      this.#running = this.#checkAsLeader()
        .then(
          () => this.#fault.succeeded(),
          (thrown: unknown) => this.#fault.failed({ error: thrown }),
        )
        .then(() => this.#schedule());
    });
  }

  #faultOf(fault: string, over: string): LastingFault {
    const { clock, observer } = this.#options;
    return new LastingFault({ clock, observer, level: "warn", fault, over });
  }
}

function oncePerWorkspace<Reading>(read: (workspaceId: string | null) => Promise<Reading>) {
  const readings = new Map<string | null, Promise<Reading>>();
  return (workspaceId: string | null): Promise<Reading> => {
    const reading = readings.get(workspaceId) ?? read(workspaceId);
    readings.set(workspaceId, reading);
    return reading;
  };
}

function subjectOf({ about }: DueDelivery): Readonly<Record<string, string>> {
  return "runId" in about ? { report_run: about.runId } : { alert: about.alertId };
}

function reportsPage(workspace: string | null): string {
  return `/usage?${new URLSearchParams({ ...(workspace === null ? {} : { workspace }), tab: "scheduled" })}`;
}

function countOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

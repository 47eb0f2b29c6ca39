import { bounds, type GuardrailHour } from "#core/index.ts";
import { type CheckRecord, checkEntryOf } from "#guardrails/index.ts";
import type { Clock, Ids, Journal, LedgerStore, Observer } from "#ports/index.ts";
import type { GuardrailServices } from "#relay/index.ts";
import type { Metrics } from "#telemetry/index.ts";

interface EvidenceOptions {
  readonly journal: Pick<Journal, "check">;
  readonly ledgerStore: Pick<LedgerStore, "countChecks">;
  readonly metrics: Pick<Metrics, "guardrailCheck">;
  readonly observer: Pick<Observer, "log">;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The process. */
  readonly source: string;
}

interface Count {
  readonly of: { -readonly [Member in keyof GuardrailHour]: GuardrailHour[Member] };
  isStored: boolean;
}

/** How often the counts of checks are stored. A process that is killed loses the counts since then, but no finding. */
const countsMs = 5_000;

/**
 * Records checks of guardrails: a finding or a failure in the journal, with its call; every check in the counts of the hour and in the
 * metrics. Nothing that it stores, logs or counts contains the text that was found.
 */
export class GuardrailEvidence {
  readonly #options: EvidenceOptions;
  /** Counts of the current hour, and of earlier ones until they are stored. */
  readonly #counts = new Map<string, Count>();
  #cancel: (() => void) | null = null;

  constructor(options: EvidenceOptions) {
    this.#options = options;
  }

  record(call: Parameters<GuardrailServices["onRecord"]>[0], record: CheckRecord): void {
    const { journal, metrics, observer, clock, ids } = this.#options;
    const { verdict } = record;
    const at = clock.now();
    metrics.guardrailCheck(record);
    this.#count(call.principal.workspace.id, record, at);
    if (verdict === "passed") return;
    const entry = checkEntryOf(call, { ...record, verdict }, { checkId: ids.next("chk_"), at });
    journal.check(entry);
    const { requestId, guardrailName: guardrail, enforced, side, counts, paths, durationMs, error } = entry;
    const fields = { requestId, guardrail, enforced, side, verdict, counts, paths, durationMs, error };
    observer.log(verdict === "failed" ? "warn" : "info", "guardrail", fields);
  }

  #count(workspaceId: string, { guardrail, side, verdict }: CheckRecord, at: number): void {
    const hour = at - (at % hourMs);
    const enforced = guardrail.enforce;
    const key = `${hour} ${workspaceId} ${guardrail.id} ${side} ${verdict} ${enforced}`;
    let counted = this.#counts.get(key);
    if (counted === undefined) {
      const { source } = this.#options;
      const { id: guardrailId, name: guardrailName } = guardrail;
      const of = { hour, source, workspaceId, guardrailId, guardrailName, side, verdict, enforced, checks: 0 };
      counted = { of, isStored: false };
      this.#counts.set(key, counted);
    }
    counted.of.checks++;
    counted.isStored = false;
    this.#cancel ??= this.#options.clock.after(countsMs, () => void this.store());
  }

  /** Stores the counts. They are cumulative, so that storing them again changes nothing. */
  async store(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    const { clock, ledgerStore, observer } = this.#options;
    const unstored = [...this.#counts.values()].filter(({ isStored }) => !isStored);
    for (const count of unstored) count.isStored = true;
    try {
      await ledgerStore.countChecks(unstored.map(({ of }) => of));
      const before = clock.now() - hourMs;
      for (const [key, { of, isStored }] of this.#counts) if (of.hour < before && isStored) this.#counts.delete(key);
    } catch (error) {
      for (const count of unstored) count.isStored = false;
      observer.log("warn", "failed to store counts of guardrails; retrying", { error });
      this.#cancel ??= clock.after(bounds.drainRetryMsMax, () => void this.store());
    }
  }
}

const hourMs = 3_600_000;

import { bounds, type Guardrail, type GuardrailHour, type GuardrailVerdict, oncePerObject } from "#core/index.ts";
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

type GuardedFields = Parameters<GuardrailServices["onRecords"]>[0];

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
  /** The last counts by guardrail and workspace, so that counting needs no key. */
  readonly #recent = oncePerObject((_guardrail: Guardrail) => new Map<string, (Count | undefined)[]>());
  #cancel: (() => void) | null = null;

  constructor(options: EvidenceOptions) {
    this.#options = options;
  }

  record(call: GuardedFields, records: readonly CheckRecord[]): void {
    const { metrics, clock } = this.#options;
    const at = clock.now();
    for (const record of records) {
      metrics.guardrailCheck(record);
      this.#count(call.principal.workspace.id, record, at);
      if (record.verdict !== "passed") this.#keep(call, { ...record, verdict: record.verdict }, at);
    }
  }

  #keep(call: GuardedFields, record: Parameters<typeof checkEntryOf>[1], at: number): void {
    const { journal, observer, ids } = this.#options;
    const entry = checkEntryOf(call, record, { checkId: ids.next("chk_"), at });
    journal.check(entry);
    const { requestId, guardrailName: guardrail, enforced, side, verdict, counts, paths, durationMs, error } = entry;
    const fields = { requestId, guardrail, enforced, side, verdict, counts, paths, durationMs, error };
    observer.log(verdict === "failed" ? "warn" : "info", "guardrail", fields);
  }

  #count(workspaceId: string, { guardrail, side, verdict }: CheckRecord, at: number): void {
    const hour = at - (at % hourMs);
    const recent = this.#recentOf(guardrail, workspaceId);
    const place = verdicts.indexOf(verdict) * 2 + (side === "input" ? 0 : 1);
    let count = recent[place];
    if (count?.of.hour !== hour) {
      count = this.#countOf(hour, workspaceId, { guardrail, side, verdict });
      recent[place] = count;
    }
    count.of.checks++;
    count.isStored = false;
    this.#cancel ??= this.#options.clock.after(countsMs, () => void this.store());
  }

  #recentOf(guardrail: Guardrail, workspaceId: string): (Count | undefined)[] {
    const byWorkspace = this.#recent(guardrail);
    const recent = byWorkspace.get(workspaceId) ?? [];
    if (recent.length === 0) byWorkspace.set(workspaceId, recent);
    return recent;
  }

  #countOf(
    hour: number,
    workspaceId: string,
    { guardrail, side, verdict }: Pick<CheckRecord, "guardrail" | "side" | "verdict">,
  ): Count {
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
    return counted;
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
const verdicts: readonly GuardrailVerdict[] = ["passed", "flagged", "masked", "blocked", "failed"];

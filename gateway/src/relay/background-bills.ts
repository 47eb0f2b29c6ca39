import { bounds, type Catalog } from "#core/index.ts";
import type { AttemptFields, Recorder } from "#ledger/index.ts";
import type { AnswerKeeper, Clock, LedgerStore, Observer } from "#ports/index.ts";
import type { UsageReading } from "#protocols/index.ts";
import type { KeptCall } from "./kept-call.ts";

export interface BackgroundBillsOptions {
  readonly catalog: () => Catalog;
  readonly recorder: Recorder;
  readonly ledgerStore: Pick<LedgerStore, "keeper">;
  readonly clock: Clock;
  readonly observer: Observer;
}

/**
 * An answer that its upstream makes in the background has no usage when it is asked for. It is paid for when somebody
 * comes to see it and it is done, once, however often it is seen.
 */
export class BackgroundBills {
  readonly #options: BackgroundBillsOptions;
  /** Ids that are paid for, or about to be, in the order of their first sight. */
  readonly #seen = new Set<string>();

  constructor(options: BackgroundBillsOptions) {
    this.#options = options;
  }

  settle(call: KeptCall, keeper: AnswerKeeper, seen: { readonly usage: UsageReading | null }): void {
    const { usage } = seen;
    if (usage === null || keeper.paid) return;
    const name = `${call.principal.workspace.id}\n${call.upstreamId}`;
    if (this.#seen.has(name)) return;
    this.#seen.add(name);
    if (this.#seen.size > bounds.keepersMax) {
      for (const oldest of this.#seen) {
        this.#seen.delete(oldest);
        break;
      }
    }
    void this.#settle(call, keeper, usage).catch((error: unknown) => {
      this.#seen.delete(name);
      this.#options.observer.log("error", "The usage of a background answer could not be recorded.", {
        requestId: call.requestId,
        error,
      });
    });
  }

  /** The ledger is asked again: another replica, or this one before a restart, may have recorded it. */
  async #settle(call: KeptCall, keeper: AnswerKeeper, reading: UsageReading): Promise<void> {
    const { ledgerStore, recorder, catalog } = this.#options;
    const { principal, upstreamId } = call;
    const known = await ledgerStore.keeper(principal.workspace.id, upstreamId);
    if (known?.paid === true) return;
    const price = catalog().models.get(keeper.model)?.price ?? null;
    const fields: AttemptFields = {
      requestId: call.requestId,
      workspaceId: principal.workspace.id,
      groupId: principal.group.id,
      keyId: principal.key.id,
      model: keeper.model,
      requestedModel: keeper.model,
      provider: keeper.provider,
      deployment: keeper.deployment,
      upstreamModel: keeper.upstreamModel,
      endpoint: call.speech.endpoint,
      callerDialect: call.speech.bodies,
      upstreamDialect: call.speech.bodies,
      stream: false,
      retryIndex: 0,
      priceVersion: price?.id ?? null,
      inputEstimate: 0,
      reservedNanoUsd: 0,
      userAgent: (call.headers.get("user-agent") ?? "").slice(0, bounds.userAgentBytesMax),
      tags: principal.key.tags,
    };
    recorder.begin(fields, price).settle({
      outcome: "succeeded",
      httpStatus: 200,
      errorCode: null,
      usage: reading.usage,
      usageSource: "upstream",
      rawUsage: reading.raw,
      firstByteMs: null,
      firstTokenMs: null,
      upstreamMs: null,
      overheadMs: null,
      upstreamId,
    });
  }
}

import {
  BoundedMap,
  bounds,
  type Catalog,
  Failure,
  personField,
  tokensOf,
  type UpstreamObject,
  usualTerms,
} from "#core/index.ts";
import type { AttemptFields, Recorder } from "#ledger/index.ts";
import type { Spent } from "#limits/index.ts";
import type { Clock, Journal, Leadership, Observer, UpstreamObjectStore } from "#ports/index.ts";
import { priceTermsOf } from "#providers/index.ts";
import type { Heard } from "../attempt/measured-usage.ts";
import { bookOthers } from "../attempt/other-models.ts";
import type { StoredResponseCall } from "./stored-response-call.ts";

export interface BackgroundSettlementOptions {
  readonly catalog: () => Catalog;
  readonly recorder: Recorder;
  readonly objectStore: Pick<UpstreamObjectStore, "find">;
  readonly journal: Pick<Journal, "drained" | "healthy">;
  /** Of several processes that see an answer done one pays for it. Left out: there is one process. */
  readonly leadership?: Pick<Leadership, "once">;
  readonly clock: Clock;
  readonly observer: Observer;
}

/**
 * An answer that its upstream makes in the background has no usage when it is asked for. It is paid for when somebody
 * comes to see it and it is done, once, however often it is seen.
 */
export class BackgroundSettlement {
  readonly #options: BackgroundSettlementOptions;
  /** Who has paid for an answer, or is about to, in that order. */
  readonly #claimed = new BoundedMap<string, "call" | "viewer">(bounds.upstreamObjectsMax);

  constructor(options: BackgroundSettlementOptions) {
    this.#options = options;
  }

  /** The answer's own call is about to pay for it. False when somebody who came to see it has done so already. */
  claim(workspaceId: string, upstreamId: string): boolean {
    const name = nameOf(workspaceId, upstreamId);
    const seen = this.#claimed.get(name) === "viewer";
    this.#claimed.set(name, "call");
    return !seen;
  }

  /** What the caller's limits are to be told of: nothing when it is paid for already, or not done. Never rejects. */
  async settle(call: StoredResponseCall, response: UpstreamObject, heard: Heard | null): Promise<Spent> {
    const name = nameOf(call.principal.workspace.id, call.upstreamId);
    if (heard === null || heard.told.source === "none" || isPaid(response) || this.#claimed.has(name)) return nothing;
    this.#claimed.set(name, "viewer");
    try {
      return await this.#settleAlone(call, response, heard);
    } catch (error) {
      this.#claimed.delete(name);
      this.#options.observer.log("error", "The usage of a background answer could not be recorded.", {
        requestId: call.requestId,
        error,
      });
      return nothing;
    }
  }

  /** Nobody else settles the same answer until the ledger knows of this; only then may others ask it. */
  #settleAlone(call: StoredResponseCall, response: UpstreamObject, heard: Heard): Promise<Spent> {
    const { leadership, journal } = this.#options;
    if (leadership === undefined) return this.#settle(call, response, heard);
    const { promise, resolve, reject } = Promise.withResolvers<Spent>();
    const { workspace } = call.principal;
    const settled = leadership.once(`bill ${workspace.id} ${call.upstreamId}`, async ({ signal }) => {
      resolve(await this.#settle(call, response, heard));
      await journal.drained(signal).catch(() => undefined);
    });
    settled.then((done) => {
      if (done !== null) return;
      // Another process is at it. Should it die of it, whoever comes next pays.
      this.#claimed.delete(nameOf(workspace.id, call.upstreamId));
      resolve(nothing);
    }, reject);
    return promise;
  }

  /** The ledger is asked again: another replica, or this one before a restart, may have recorded it. */
  async #settle(call: StoredResponseCall, response: UpstreamObject, { told, raw }: Heard): Promise<Spent> {
    const { objectStore, recorder, catalog, journal, clock } = this.#options;
    const { principal, upstreamId } = call;
    // Whoever sees it next pays for it.
    if (!journal.healthy) throw new Failure("ledger_unavailable", "The ledger cannot be written.");
    const [known] = await objectStore.find(principal.workspace.id, [upstreamId]);
    if (known !== undefined && isPaid(known)) return nothing;
    const price = catalog().models.get(response.model)?.price ?? null;
    const fields: AttemptFields = {
      requestId: call.requestId,
      workspaceId: principal.workspace.id,
      groupId: principal.group.id,
      keyId: principal.key.id,
      ...personField(principal),
      model: response.model,
      requestedModel: response.model,
      provider: response.provider,
      deployment: response.deployment,
      upstreamModel: response.upstreamModel,
      endpoint: call.protocol.endpoint,
      callerDialect: call.protocol.wireDialect,
      upstreamDialect: call.protocol.wireDialect,
      stream: false,
      retryIndex: 0,
      priceVersion: price?.id ?? null,
      inputEstimate: 0,
      reservedNanoUsd: 0,
      userAgent: (call.headers.get("user-agent") ?? "").slice(0, bounds.userAgentBytesMax),
      tags: principal.key.tags,
    };
    const provider = catalog().providers.get(response.provider);
    const terms = provider === undefined ? usualTerms : priceTermsOf(provider);
    const others = bookOthers({ catalog, recorder }, fields, told, terms, "succeeded");
    // Its call has an entry, and was a request that succeeded, when it was asked for.
    const entry = recorder.beside(
      fields,
      { price, terms },
      {
        outcome: "succeeded",
        httpStatus: 200,
        upstreamStatus: 200,
        errorCode: null,
        usage: told.usage,
        usageSource: told.source,
        served: told.served,
        rawUsage: raw,
        firstByteMs: null,
        firstTokenMs: null,
        upstreamMs: null,
        overheadMs: null,
        upstreamId,
        objects: [
          {
            id: upstreamId,
            kind: "response",
            inputTokens: tokensOf(told.usage),
            expiresAt: clock.now() + bounds.responseKeptMs,
          },
        ],
      },
    );
    return { tokens: tokensOf(entry.usage) + others };
  }
}

/** Its usage is in the ledger; else it is still being made in the background. */
export function isPaid({ inputTokens }: UpstreamObject): boolean {
  return inputTokens !== null;
}

function nameOf(workspaceId: string, upstreamId: string): string {
  return `${workspaceId}\n${upstreamId}`;
}

const nothing: Spent = { tokens: 0 };

import { createHash } from "node:crypto";
import { type AdjustmentReason, blankEntry, type LedgerEntry, type NanoUsd } from "#core/index.ts";
import type { LedgerStore, UsageOwner, UsageShare } from "#ports/index.ts";

/** Money to book without a call. */
interface Adjustment {
  /** Identifies what is adjusted. An adjustment of this id is booked once, however often it is accepted. */
  readonly id: string;
  readonly reason: AdjustmentReason;
  /** Usage class that it corrects, or the id of the import. */
  readonly adjusts: string;
  /** Time to which the cost belongs (Unix milliseconds). It counts in the budgets of this time. */
  readonly at: number;
  /** "" if it is not the cost of one provider. */
  readonly provider: string;
  /** The vendor's name of the model; left out if the adjustment is not about one of its models. */
  readonly upstreamModel?: string;
  /** May be negative. */
  readonly costNanoUsd: NanoUsd;
  /** User id of the person who accepted it. */
  readonly acceptedBy?: string | undefined;
}

/** An adjustment that all users of some models share. */
export interface SharedAdjustment extends Adjustment {
  readonly models: readonly string[];
}

/** An adjustment of what one owner used. "" for a group or key: of the workspace or group as a whole. */
export interface OwnedAdjustment extends Adjustment {
  /** "" if it is not the cost of one model. */
  readonly model: string;
  readonly owner: UsageOwner;
}

export interface AdjustmentOptions {
  readonly store: Pick<LedgerStore, "insert" | "page" | "shares">;
  /** Updates the budgets that are being counted; see `Admission.storedElsewhere`. Left out: no gateway runs in this process. */
  readonly onBooked?: (entries: readonly LedgerEntry[]) => Promise<void>;
}

export type Adjustments = ReturnType<typeof createAdjustments>;

/**
 * Books adjustments as separate ledger entries: the endpoint is `adjustment`, `calls` is 0, and there is no usage and no price version.
 * All other entries stay unchanged.
 */
export function createAdjustments({ store, onBooked }: AdjustmentOptions) {
  const book = async (adjustments: readonly OwnedAdjustment[]): Promise<number> => {
    const entries = adjustments.filter(({ costNanoUsd }) => costNanoUsd !== 0).map(adjustmentEntry);
    if (entries.length === 0) return 0;
    const booked = await store.insert(entries);
    if (booked > 0) await onBooked?.(entries);
    return booked;
  };
  const isBooked = async (id: string): Promise<boolean> =>
    (await store.page({ requestId: requestIdOf(id) }, null, 1)).entries.length > 0;
  return {
    /** Resolves to the number of new entries. Nothing is booked twice. */
    book,
    /** Resolves to true if the adjustment of this id has an entry. Its owner may have another group or other tags by now. */
    isBooked,
    /**
     * Splits an amount over all users of the models at the provider on the day (UTC) of `at`, by cost. Resolves to the number of new
     * entries; 0 if it was booked before, and null if the models had no users that day, so that no one can be charged.
     */
    async split({ models, ...adjustment }: SharedAdjustment): Promise<number | null> {
      // Calls that were recorded since then would change the shares.
      if (await isBooked(adjustment.id)) return 0;
      const { provider, at, costNanoUsd } = adjustment;
      const from = at - (at % dayMs);
      const shares = await store.shares({ provider, models, from, to: from + dayMs });
      if (shares.length === 0) return null;
      const amounts = splitByWeight(costNanoUsd, weightsOf(shares));
      return await book(
        shares.map(({ model, ...owner }, index) => ({ ...adjustment, model, owner, costNanoUsd: amounts[index] ?? 0 })),
      );
    },
  };
}

const dayMs = 86_400_000;

/** By cost. If nothing cost anything, by the number of attempts. */
function weightsOf(shares: readonly UsageShare[]): readonly number[] {
  const costs = shares.map(({ costNanoUsd }) => costNanoUsd);
  return costs.some((cost) => cost > 0) ? costs : shares.map(({ attempts }) => attempts);
}

/**
 * Splits an amount in proportion to the weights, exactly: the rest of rounding goes to the largest remainders. Without any weight, the
 * parts are equal.
 */
export function splitByWeight(amount: number, weights: readonly number[]): readonly number[] {
  const positive = weights.some((weight) => weight > 0) ? weights : weights.map(() => 1);
  const whole = positive.reduce((sum, weight) => sum + BigInt(weight), 0n);
  const size = BigInt(Math.abs(amount));
  const parts = positive.map((weight, index) => {
    const product = size * BigInt(weight);
    return { index, part: Number(product / whole), rest: product % whole };
  });
  let left = Math.abs(amount) - parts.reduce((sum, { part }) => sum + part, 0);
  for (const share of parts.toSorted((a, b) => (a.rest === b.rest ? a.index - b.index : a.rest < b.rest ? 1 : -1))) {
    if (left === 0) break;
    share.part += 1;
    left -= 1;
  }
  return parts.map(({ part }) => (amount < 0 && part !== 0 ? -part : part));
}

/** For a caller that writes it together with other rows; see `book`. */
export function adjustmentEntry(adjustment: OwnedAdjustment): LedgerEntry {
  const { id, owner, at, provider, upstreamModel = "", model, reason, adjusts, acceptedBy, costNanoUsd } = adjustment;
  const { workspaceId, groupId, keyId, personId, tags } = owner;
  const part = JSON.stringify([id, workspaceId, groupId, keyId, personId ?? "", tags, model]);
  return {
    ...blankEntry,
    attemptId: `adj_${digestOf(part)}`,
    requestId: requestIdOf(id),
    at,
    endedAt: at,
    workspaceId,
    groupId,
    keyId,
    ...(personId === undefined ? {} : { personId }),
    ...(acceptedBy === undefined ? {} : { actorId: acceptedBy }),
    model,
    requestedModel: model,
    provider,
    deployment: "",
    upstreamModel,
    endpoint: "adjustment",
    callerDialect: "any",
    upstreamDialect: "any",
    userAgent: "",
    tags,
    adjustment: reason,
    adjusts,
    calls: 0,
    outcome: "succeeded",
    httpStatus: 200,
    costNanoUsd,
    costSource: "adjustment",
    totalMs: 0,
  };
}

/** The entries of one adjustment share it. */
function requestIdOf(id: string): string {
  return `adj_${digestOf(id)}`;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

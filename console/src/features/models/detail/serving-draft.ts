import type { BodyInput, ConsoleModel } from "@sluice/contract";
import { t } from "../../../language/areas/models.ts";
import type { ModelType } from "../../catalog/price-words.ts";
import type { Faults } from "../../catalog/use-faults.ts";
import { deploymentsBody, type Priorities, prioritiesOf, samePriorities } from "./priorities.ts";

/** The draft of how a model is served. */
export interface ServingDraft {
  readonly priorities: Priorities;
  readonly fallbacks: readonly string[];
  readonly type: ModelType;
  readonly ownedBy: string;
  /** Tokens; null: the gateway's default. */
  readonly outputMax: number | null;
  /** Tokens; null: from the price list. */
  readonly contextWindow: number | null;
}

export function servingOf(model: ConsoleModel): ServingDraft {
  return {
    priorities: prioritiesOf(model.deployments),
    fallbacks: model.fallbacks,
    type: model.type,
    ownedBy: model.owned_by,
    outputMax: model.max_output_tokens,
    contextWindow: model.context_window_origin === "set" ? model.context_window : null,
  };
}

/** Only the fields that differ from the stored model; empty without changes. */
export function servingBody(
  draft: ServingDraft,
  stored: ServingDraft,
): Omit<NonNullable<BodyInput<"models.update">>, "price"> {
  const ownedBy = draft.ownedBy.trim();
  return {
    ...(samePriorities(draft.priorities, stored.priorities) ? {} : { deployments: deploymentsBody(draft.priorities) }),
    ...(sameServing(draft.fallbacks, stored.fallbacks) ? {} : { fallbacks: [...draft.fallbacks] }),
    ...(draft.type === stored.type ? {} : { type: draft.type }),
    ...(ownedBy === stored.ownedBy ? {} : { owned_by: ownedBy }),
    ...(draft.outputMax === stored.outputMax ? {} : { max_output_tokens: draft.outputMax }),
    ...(draft.contextWindow === stored.contextWindow ? {} : { context_window: draft.contextWindow }),
  };
}

/** Why it cannot be saved, if no field shows it; null: no reason. */
export function servingBlocked(draft: ServingDraft): string | null {
  return draft.priorities.length === 0 ? t("models.deployments.atLeastOne") : null;
}

export function servingFaults(draft: ServingDraft): Faults {
  return draft.ownedBy.trim() === "" ? { owned_by: t("models.about.ownedByMissing") } : {};
}

/** Whether two versions are equal, to detect changes by others. */
export function sameServing(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

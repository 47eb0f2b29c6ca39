import type { ConsoleModel, ConsolePriceVersion, PriceConfig } from "@sluice/contract";
import { type PriceMember, type UsageClassRow, usageTable } from "@sluice/contract/words";
import {
  type Actor,
  type ConfigSnapshot,
  chargeOf,
  type Model,
  noUsage,
  type PriceVersion,
  priceConfigOf,
  pricesOf,
  type Usage,
} from "#core/index.ts";
import { matches } from "#identity/index.ts";
import type { ModelRecord, ModelUsage } from "#ports/index.ts";
import { type PriceSource, priceTermsOf, retirementOf } from "#providers/index.ts";
import type { HealthReading } from "./health.ts";

/** What a view needs in addition to the record. */
export interface ModelSurroundings {
  readonly health: HealthReading;
  readonly lastWeek: ReadonlyMap<string, Pick<ModelUsage, "requests" | "costUsd" | "usage">>;
  readonly configSnapshot: ConfigSnapshot;
  /** Whether the viewer may know of a model. Fallbacks that they may not know of are hidden too. */
  readonly isVisible: (name: string) => boolean;
  /** The price list of vendors' models. */
  readonly known: Pick<PriceSource, "entry">;
  /** The endpoints at which a model can be called. */
  readonly endpointsOf: (model: Model) => readonly string[];
  readonly untranslatedEndpointsOf: (model: Model) => readonly string[];
}

/** A model as the console shows it. The caller removes the deployments for viewers who may not see them. */
export function modelView(record: ModelRecord, surroundings: ModelSurroundings) {
  const { health, lastWeek, configSnapshot, isVisible, known, endpointsOf, untranslatedEndpointsOf } = surroundings;
  const model = configSnapshot.models.get(record.name);
  const [first] = record.deployments;
  const kind = configSnapshot.providers.get(first?.provider ?? "")?.kind;
  const entry = first === undefined || kind === undefined ? null : known.entry(kind, first.upstreamModel);
  const week = lastWeek.get(record.name);
  const retiresAt = first === undefined || kind === undefined ? null : retirementOf(kind, first.upstreamModel);
  const view: ConsoleModel = {
    name: record.name,
    type: record.type,
    owned_by: record.ownedBy,
    endpoints: model === undefined ? [] : [...endpointsOf(model)],
    untranslated_endpoints: model === undefined ? [] : [...untranslatedEndpointsOf(model)],
    fallbacks: record.fallbacks.filter(isVisible),
    max_output_tokens: record.outputTokensMax,
    price: record.price === null ? null : priceConfigOf(record.price),
    price_version: record.price?.id ?? null,
    price_origin: record.price === null ? null : (record.price.origin ?? "set"),
    next_price:
      record.nextPrice === null
        ? null
        : {
            from: record.nextPrice.effectiveFrom,
            price: priceConfigOf(record.nextPrice),
            origin: record.nextPrice.origin ?? "set",
          },
    price_guessed: record.price?.origin === "catalogue" && entry?.guessed === true,
    context_window: record.contextWindow ?? entry?.contextWindow ?? null,
    context_window_origin: record.contextWindow !== null ? "set" : entry?.contextWindow == null ? null : "catalogue",
    deprecated: entry?.deprecated === true || retiresAt !== null,
    retires_at: retiresAt,
    unpriced: record.unpriced,
    calls: callsOf(record, model),
    deployments: record.deployments.map((deployment) => ({
      id: deployment.id,
      provider: deployment.provider,
      upstream_model: deployment.upstreamModel,
      priority: deployment.priority,
      weight: deployment.weight,
      enabled: deployment.enabled,
      capabilities: deployment.capabilities,
      health: health.ofDeployment(deployment.id),
    })),
    unpriced_usage: unpricedUsage(record, model, { usage: week?.usage ?? {}, priceList: entry?.price ?? null }),
    last_week: { requests: week?.requests ?? 0, cost_usd: week?.costUsd ?? 0 },
    managed_by: record.managedBy,
    created_at: record.createdAt,
  };
  return view;
}

/**
 * Usage classes (columns of usage) that were used and that the price does not cover: those without a price, and those charged like
 * plain tokens although the vendor charges more by the price list.
 */
function unpricedUsage(
  { price }: ModelRecord,
  model: Model | undefined,
  { usage: used, priceList }: { readonly usage: Partial<Usage>; readonly priceList: PriceConfig | null },
): string[] {
  if (price === null || model?.deployments.every(({ provider }) => priceTermsOf(provider).costSource === "vendor")) {
    return [];
  }
  const usage: Usage = { ...noUsage, ...used };
  const free = new Set<string>(chargeOf(price.table, usage).unpriced);
  const own = priceConfigOf(price);
  const { table: vendors } = pricesOf(priceList ?? {});
  const rows: readonly UsageClassRow[] = usageTable;
  return rows.flatMap(({ name, column, price: member, costsAs }) => {
    if (usage[name as keyof Usage] === 0) return [];
    const plain = vendors[costsAs as keyof typeof vendors] ?? Number.POSITIVE_INFINITY;
    const isDearer = (vendors[name as keyof typeof vendors] ?? 0) > plain;
    return free.has(name) || (isDearer && own[member as PriceMember] === undefined) ? [column] : [];
  });
}

/** Whether a model without a price may be called is in the config snapshot, which applies the settings. */
function callsOf(record: ModelRecord, model: Model | undefined): ConsoleModel["calls"] {
  if (record.price !== null) return "priced";
  if (model === undefined || model.blocked === "always") return "blocked";
  if (model.blocked === "in_budgets") return "blocked_in_budgets";
  return model.price === null ? "free" : "borrowed_price";
}

export function priceVersionView(version: PriceVersion, current: string | null): ConsolePriceVersion {
  return {
    id: version.id,
    effective_from: version.effectiveFrom,
    price: priceConfigOf(version),
    current: version.id === current,
    origin: version.origin ?? "set",
  };
}

/** The models that somebody may know of: all for an administrator, else those that one of their workspaces may call. */
export function visibleModels(actor: Actor | null, configSnapshot: ConfigSnapshot): (name: string) => boolean {
  if (actor === null) return () => false;
  if (actor.administrator) return () => true;
  const patterns = [...actor.roles.keys()].flatMap((id) => {
    const workspace = configSnapshot.workspaces.get(id);
    return workspace === undefined ? [] : [workspace.models];
  });
  return (name) => patterns.some((each) => matches(each, name));
}

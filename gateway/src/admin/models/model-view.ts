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

/** What a view needs beside the record. */
export interface ModelSurroundings {
  readonly health: HealthReading;
  readonly lastWeek: ReadonlyMap<string, Pick<ModelUsage, "requests" | "costUsd" | "usage">>;
  readonly configSnapshot: ConfigSnapshot;
  /** Which models whoever looks may know of: another one is not told as a fallback either. */
  readonly isVisible: (name: string) => boolean;
  /** What the price list says of vendors' models. */
  readonly known: Pick<PriceSource, "entry">;
  /** Where a model can be called. */
  readonly endpointsOf: (model: Model) => readonly string[];
  readonly untranslatedEndpointsOf: (model: Model) => readonly string[];
}

/** A model as the console shows it. How it is served is left out for those who may not see it by whoever answers. */
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
 * What was used and the price leaves out: classes that cost nothing, and those that cost as much as the plain ones of their side
 * although their vendor charges more for them, by the price list. Columns of usage.
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

/** The config snapshot says what the settings make of a model without a price. */
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

/** Which models somebody may know of: all for an administrator, else what some workspace of theirs may call. */
export function visibleModels(actor: Actor | null, configSnapshot: ConfigSnapshot): (name: string) => boolean {
  if (actor === null) return () => false;
  if (actor.administrator) return () => true;
  const patterns = [...actor.roles.keys()].flatMap((id) => {
    const workspace = configSnapshot.workspaces.get(id);
    return workspace === undefined ? [] : [workspace.models];
  });
  return (name) => patterns.some((each) => matches(each, name));
}

import type { ConsoleModel, ConsolePriceVersion, Health, PriceConfig } from "@sluice/contract";
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
import type { ModelRecord, ReportStore } from "#ports/index.ts";
import { priceTermsOf, retirementOf } from "#providers/index.ts";
import type { DeploymentState } from "#routing/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { priceListInUse } from "./price-list-reading.ts";

const hourMs = 3_600_000;
const weekMs = 168 * hourMs;

interface Use {
  readonly attempts: number;
  readonly failed: number;
}

/** Health of deployments and providers, from the router and the last hour of the ledger. If reports fail, only the figures are missing. */
export async function readHealth({
  router,
  reports,
  clock,
}: Pick<ConsoleDependencies, "router" | "clock"> & { readonly reports: Pick<ReportStore, "deploymentUse"> }) {
  const uses = await reports.deploymentUse(clock.now() - hourMs).catch(() => null);
  const states = new Map(router.states().map((state) => [state.deploymentId, state]));
  const summed = (isCounted: (use: NonNullable<typeof uses>[number]) => boolean): Use | null => {
    const counted = uses?.filter(isCounted);
    if (counted === undefined) return null;
    return {
      attempts: counted.reduce((sum, use) => sum + use.attempts, 0),
      failed: counted.reduce((sum, use) => sum + use.failed, 0),
    };
  };
  const of = (deployments: readonly string[], use: Use | null): Health =>
    healthOf(
      deployments.flatMap((id) => states.get(id) ?? []),
      use,
    );
  return {
    ofDeployment: (id: string) =>
      of(
        [id],
        summed((use) => use.deployment === id),
      ),
    /** The worst of its deployments. Calls of deleted deployments count too. */
    ofProvider: (id: string, deployments: readonly string[]) =>
      of(
        deployments,
        summed((use) => use.provider === id),
      ),
  };
}

function healthOf(states: readonly DeploymentState[], use: Use | null): Health {
  const latencies = states.flatMap((state) => state.latencyMs ?? []);
  const coolingMs = Math.max(0, ...states.map((state) => state.coolingMs));
  return {
    state: stateOf(states, coolingMs, use),
    breaker: worstBreaker(states),
    cooling_ms: coolingMs,
    in_flight: states.reduce((sum, state) => sum + state.inFlight, 0),
    latency_ms: latencies.length === 0 ? null : latencies.reduce((sum, each) => sum + each, 0) / latencies.length,
    last_hour: use,
  };
}

/** `down` if all deployments are down, `unhealthy` if some are. */
function stateOf(states: readonly DeploymentState[], coolingMs: number, use: Use | null): Health["state"] {
  const open = states.filter((state) => state.breaker === "open").length;
  if (open > 0 && open === states.length) return "down";
  if (open > 0 || coolingMs > 0 || states.some((state) => state.breaker === "half-open")) return "unhealthy";
  const answers = states.some((state) => state.latencyMs !== null) || (use !== null && use.attempts > use.failed);
  if (!answers) return "unknown";
  return use !== null && isDegraded(use) ? "degraded" : "healthy";
}

/** A few failures may be chance. */
function isDegraded({ attempts, failed }: Use): boolean {
  return failed >= degradedFailuresMin && failed / attempts >= degradedShare;
}

const degradedFailuresMin = 3;
const degradedShare = 0.05;

const breakersWorstFirst = ["open", "half-open", "closed"] as const;

function worstBreaker(states: readonly DeploymentState[]): Health["breaker"] {
  return breakersWorstFirst.find((breaker) => states.some((state) => state.breaker === breaker)) ?? null;
}

/**
 * A model as the console shows it. Health and figures are computed for administrators only; the caller removes the deployments for other
 * viewers. `only`: a single model; null: any.
 */
export async function modelViews(dependencies: ConsoleDependencies, actor: Actor, only: string | null) {
  const { clock, reports, endpointsOf, untranslatedEndpointsOf } = dependencies;
  const now = clock.now();
  const used = actor.administrator ? await reports.modelUsage(only, now - weekMs, now) : [];
  const lastWeek = new Map(used.map((each) => [each.model, each] as const));
  const nothingUsed = { deploymentUse: async () => [] };
  const health = await readHealth(actor.administrator ? dependencies : { ...dependencies, reports: nothingUsed });
  const { prices } = await priceListInUse(dependencies);
  const configSnapshot = dependencies.configSnapshot();
  const isVisible = visibleModels(actor, configSnapshot);
  return (record: ModelRecord): ConsoleModel => {
    const model = configSnapshot.models.get(record.name);
    const [first] = record.deployments;
    const kind = configSnapshot.providers.get(first?.provider ?? "")?.kind;
    const entry = first === undefined || kind === undefined ? null : prices.entry(kind, first.upstream_model);
    const week = lastWeek.get(record.name);
    const retiresAt = first === undefined || kind === undefined ? null : retirementOf(kind, first.upstream_model);
    return {
      name: record.name,
      type: record.type,
      owned_by: record.owned_by,
      endpoints: model === undefined ? [] : [...endpointsOf(model)],
      untranslated_endpoints: model === undefined ? [] : [...untranslatedEndpointsOf(model)],
      fallbacks: record.fallbacks.filter(isVisible),
      max_output_tokens: record.max_output_tokens,
      price: record.price === null ? null : priceConfigOf(record.price),
      price_version: record.price?.id ?? null,
      price_origin: record.price === null ? null : (record.price.origin ?? "set"),
      list_price: entry?.price == null ? null : { price: entry.price, guessed: entry.guessed },
      next_price:
        record.next_price === null
          ? null
          : {
              from: record.next_price.effectiveFrom,
              price: priceConfigOf(record.next_price),
              origin: record.next_price.origin ?? "set",
            },
      price_guessed: record.price?.origin === "price_list" && entry?.guessed === true,
      context_window: record.context_window ?? entry?.contextWindow ?? null,
      context_window_origin:
        record.context_window !== null ? "set" : entry?.contextWindow == null ? null : "price_list",
      deprecated: entry?.deprecated === true || retiresAt !== null,
      retires_at: retiresAt,
      unpriced: record.unpriced,
      calls: callsOf(record, model),
      deployments: record.deployments.map((deployment) => ({
        ...deployment,
        health: health.ofDeployment(deployment.id),
      })),
      unpriced_usage: unpricedUsage(record, model, { usage: week?.usage ?? {}, priceList: entry?.price ?? null }),
      last_week: {
        requests: week?.requests ?? 0,
        failed_requests: week?.failedRequests ?? 0,
        cost_usd: week?.costUsd ?? 0,
      },
      managed_by: record.managed_by,
      created_at: record.created_at,
    };
  };
}

/**
 * Used usage classes (columns of usage) that the price does not cover: classes without a price, and classes charged like plain tokens
 * although the price list has a higher price.
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
    const hasHigherPrice = (vendors[name as keyof typeof vendors] ?? 0) > plain;
    return free.has(name) || (hasHigherPrice && own[member as PriceMember] === undefined) ? [column] : [];
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

/** Administrators see all models, others the models that one of their workspaces may call. */
export function visibleModels(actor: Actor, configSnapshot: ConfigSnapshot): (name: string) => boolean {
  if (actor.administrator) return () => true;
  const patterns = [...actor.roles.keys()].flatMap((id) => {
    const workspace = configSnapshot.workspaces.get(id);
    return workspace === undefined ? [] : [workspace.models];
  });
  return (name) => patterns.some((each) => matches(each, name));
}

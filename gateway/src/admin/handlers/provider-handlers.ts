import type { ConsoleProvider, Health, ProviderKindForm, UpstreamModel } from "@sluice/contract";
import { type ConfigSnapshot, Failure, type Provider } from "#core/index.ts";
import type { ProviderRecord } from "#directory/index.ts";
import {
  kindForm,
  type ProviderKind,
  providerKind,
  providerKinds,
  retirementOf,
  shownSettings,
  suggestedModel,
  typesOf,
} from "#providers/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { readHealth } from "../models/health.ts";
import { priceListInUse } from "../models/price-list-reading.ts";
import { changedProvider, newProvider } from "../models/provider-change.ts";
import { tryProvider } from "../models/provider-trial.ts";
import type { Handlers } from "./calls.ts";

/** The calls about providers. */
export function providerHandlers(dependencies: ConsoleDependencies) {
  const { controlStore } = dependencies;
  const shown = async (records: readonly ProviderRecord[]) => {
    const health = await readHealth(dependencies);
    const deployments = deploymentsByProvider(dependencies.configSnapshot());
    return records.map((record) => {
      const own = deployments.get(record.id) ?? [];
      return providerView(record, own.length, health.ofProvider(record.id, own));
    });
  };
  const changed = async (record: ProviderRecord) => {
    await dependencies.changesSeen();
    const [view] = await shown([record]);
    if (view === undefined) throw noProvider();
    return view;
  };
  return {
    "providers.kinds": () => ({ data: providerKinds.map(kindView), next: null }),
    "providers.list": async () => ({ data: await shown(await controlStore.listProviders()), next: null }),
    "providers.create": async ({ body, auditSource }) =>
      changed(await controlStore.createProvider(newProvider(body), auditSource)),
    "providers.show": async ({ params }) => {
      const record = await controlStore.provider(params.provider);
      const [view] = record === null ? [] : await shown([record]);
      if (view === undefined) throw noProvider();
      return view;
    },
    "providers.update": async ({ params, body, auditSource }) =>
      changed(
        await controlStore.updateProvider(params.provider, (before) => changedProvider(before, body), auditSource),
      ),
    "providers.remove": async ({ params, auditSource }) => {
      await controlStore.removeProvider(params.provider, auditSource);
      await dependencies.changesSeen();
      return {};
    },
    "providers.test": async ({ params, body, signal }) => {
      const subject = await subjectOf(dependencies, params.provider);
      const { configSnapshot } = dependencies;
      return await tryProvider(
        dependencies.probe,
        { ...subject, configSnapshot: configSnapshot(), model: body.upstream_model ?? null },
        signal,
      );
    },
    "providers.upstreamModels": async ({ params, signal }) => ({
      data: await upstreamModels(dependencies, params.provider, signal),
      next: null,
    }),
    "providers.import": async ({ params, body, auditSource }) => {
      const { kind } = await subjectOf(dependencies, params.provider);
      const { prices } = await priceListInUse(dependencies);
      const wanted = body.models.map(({ upstream_model, name, type, owned_by, max_output_tokens }) => ({
        upstreamModel: upstream_model,
        name,
        type,
        ownedBy: owned_by ?? null,
        price: prices.price(kind.id, upstream_model),
        outputTokensMax: max_output_tokens ?? null,
      }));
      const { created, extended, refused } = await controlStore.importModels(params.provider, wanted, auditSource);
      await dependencies.changesSeen();
      return { created, extended, refused };
    },
  } satisfies Partial<Handlers>;
}

/** Reads the database, so that a change made a moment ago on another replica counts. */
async function subjectOf(
  dependencies: ConsoleDependencies,
  id: string,
): Promise<{ readonly provider: Provider; readonly kind: ProviderKind }> {
  await dependencies.changesSeen();
  const provider = dependencies.configSnapshot().providers.get(id);
  if (provider === undefined) throw noProvider();
  const kind = providerKind(provider.kind);
  if (kind !== null) return { provider, kind };
  throw new Failure("conflict", `Its kind ${provider.kind} is not known to this version of the gateway.`);
}

async function upstreamModels(
  dependencies: ConsoleDependencies,
  id: string,
  signal: AbortSignal,
): Promise<UpstreamModel[]> {
  const { provider, kind } = await subjectOf(dependencies, id);
  const listing = await dependencies.probe.listModels(provider, kind, signal);
  if (listing === null) {
    throw new Failure("conflict", `Providers of the kind ${kind.id} tell no models. Name them yourself.`);
  }
  if (listing.models === null || listing.problem !== null) {
    const advice = listing.advice === null ? "" : ` ${listing.advice}`;
    throw new Failure("upstream_error", `${listing.problem ?? "No list of models came."}${advice}`);
  }
  const served = servedAs(dependencies.configSnapshot(), id);
  const { prices } = await priceListInUse(dependencies);
  return listing.models.map((model) => {
    const entry = prices.entry(kind.id, model.id);
    const retiresAt = model.retiresAt ?? retirementOf(kind.id, model.id);
    return {
      id: model.id,
      owned_by: model.ownedBy,
      created_at: model.createdAt,
      served_as: served.get(model.id) ?? [],
      suggested: suggestedModel(kind, model),
      price: entry?.price ?? null,
      price_guessed: entry?.price != null && entry.guessed,
      context_window: model.contextWindow ?? entry?.contextWindow ?? null,
      max_output_tokens: model.outputTokensMax,
      deprecated: model.deprecated || entry?.deprecated === true || retiresAt !== null,
      retires_at: retiresAt,
    };
  });
}

/** Our models by the upstream model name of their deployments. */
function servedAs(configSnapshot: ConfigSnapshot, provider: string): ReadonlyMap<string, string[]> {
  const served = new Map<string, string[]>();
  for (const model of configSnapshot.models.values()) {
    for (const deployment of model.deployments) {
      if (deployment.provider.id !== provider) continue;
      served.set(deployment.upstreamModel, [...(served.get(deployment.upstreamModel) ?? []), model.name]);
    }
  }
  return served;
}

function deploymentsByProvider(configSnapshot: ConfigSnapshot): ReadonlyMap<string, string[]> {
  const ids = new Map<string, string[]>();
  for (const model of configSnapshot.models.values()) {
    for (const { id, provider } of model.deployments) {
      const known = ids.get(provider.id);
      if (known === undefined) ids.set(provider.id, [id]);
      else known.push(id);
    }
  }
  return ids;
}

function noProvider(): Failure {
  return new Failure("not_found", "There is no such provider.", { param: "provider" });
}

/** A provider as the console shows it: whether it has a secret, never the secret itself. */
function providerView(record: ProviderRecord, deployments: number, health: Health): ConsoleProvider {
  return {
    id: record.id,
    kind: record.kind,
    base_url: record.baseUrl,
    has_api_key: record.hasApiKey,
    allow_private_network: record.allowPrivateNetwork,
    timeouts: record.timeouts,
    disconnect: record.disconnect,
    enabled: record.enabled,
    settings: shownSettings(record.kind, record.settings),
    deployments,
    health,
    managed_by: record.managedBy,
    created_at: record.createdAt,
  };
}

/** The fields of the form for a provider of this kind. */
function kindView(kind: ProviderKind): ProviderKindForm {
  const form = kindForm(kind);
  return {
    kind: kind.id,
    title: kind.title,
    base_url: kind.baseUrl,
    base_url_help: form.baseUrlHelp,
    api_key: form.apiKey,
    api_key_help: form.apiKeyHelp,
    dialects: [...new Set(kind.lanes.map((lane) => lane.dialect))],
    types: [...typesOf(kind)],
    lists_models: kind.listsModels !== false,
    fields: form.fields.map(({ name, label, type, required, help, placeholder, options }) => ({
      name,
      label,
      type,
      required,
      help,
      placeholder,
      options: options === null ? null : [...options],
    })),
  };
}

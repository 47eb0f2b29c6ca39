import type { UpstreamModel } from "@sluice/contract";
import { type Catalog, Failure, type Provider } from "#core/index.ts";
import type { ControlStore, ProviderRecord } from "#ports/index.ts";
import { type ProviderKind, providerKind, providerKinds, starterPrice, suggestedModel } from "#providers/index.ts";
import { type HealthSources, readHealth } from "../supply/health.ts";
import { changedProvider, newProvider } from "../supply/provider-change.ts";
import { type ProviderTrials, tryProvider } from "../supply/provider-trial.ts";
import { kindView, providerView } from "../supply/provider-view.ts";
import type { Handlers } from "./handler.ts";

export interface ProviderCallsHouse extends HealthSources {
  readonly controlStore: ControlStore;
  readonly catalog: () => Catalog;
  /** Resolves when this process goes by everything that was written until now. */
  readonly changesSeen: () => Promise<void>;
  readonly probe: ProviderTrials;
}

type ProviderRouteId =
  | "providers.kinds"
  | "providers.list"
  | "providers.create"
  | "providers.show"
  | "providers.update"
  | "providers.remove"
  | "providers.test"
  | "providers.upstreamModels"
  | "providers.import";

/** The calls about providers. */
export function providerCalls(house: ProviderCallsHouse): Handlers<ProviderRouteId> {
  const { controlStore } = house;
  const shown = async (records: readonly ProviderRecord[]) => {
    const health = await readHealth(house);
    const deployments = deploymentsByProvider(house.catalog());
    return records.map((record) => {
      const own = deployments.get(record.id) ?? [];
      return providerView(record, own.length, health.ofProvider(record.id, own));
    });
  };
  const changed = async (record: ProviderRecord) => {
    await house.changesSeen();
    const [view] = await shown([record]);
    if (view === undefined) throw noProvider();
    return view;
  };
  return {
    "providers.kinds": () => ({ data: providerKinds.map(kindView), next: null }),
    "providers.list": async () => ({ data: await shown(await controlStore.listProviders()), next: null }),
    "providers.create": async ({ body, doer }) => changed(await controlStore.createProvider(newProvider(body), doer)),
    "providers.show": async ({ params }) => {
      const record = await controlStore.provider(params.provider);
      const [view] = record === null ? [] : await shown([record]);
      if (view === undefined) throw noProvider();
      return view;
    },
    "providers.update": async ({ params, body, doer }) =>
      changed(await controlStore.updateProvider(params.provider, (before) => changedProvider(before, body), doer)),
    "providers.remove": async ({ params, doer }) => {
      await controlStore.removeProvider(params.provider, doer);
      await house.changesSeen();
      return {};
    },
    "providers.test": async ({ params, body, signal }) => {
      const subject = await subjectOf(house, params.provider);
      const { catalog } = house;
      return await tryProvider(
        house.probe,
        { ...subject, catalog: catalog(), model: body.upstream_model ?? null },
        signal,
      );
    },
    "providers.upstreamModels": async ({ params, signal }) => ({
      data: await upstreamModels(house, params.provider, signal),
      next: null,
    }),
    "providers.import": async ({ params, body, doer }) => {
      const { kind } = await subjectOf(house, params.provider);
      const wanted = body.models.map(({ upstream_model, name, type }) => ({
        upstreamModel: upstream_model,
        name,
        type,
        price: starterPrice(kind, upstream_model),
      }));
      const { created, extended, refused } = await controlStore.importModels(params.provider, wanted, doer);
      await house.changesSeen();
      return { created: [...created], extended: [...extended], refused: [...refused] };
    },
  };
}

/** As it is stored now: a provider that was changed a moment ago on another replica is tried as it was changed. */
async function subjectOf(
  house: ProviderCallsHouse,
  id: string,
): Promise<{ readonly provider: Provider; readonly kind: ProviderKind }> {
  await house.changesSeen();
  const provider = house.catalog().providers.get(id);
  if (provider === undefined) throw noProvider();
  const kind = providerKind(provider.kind);
  if (kind !== null) return { provider, kind };
  throw new Failure("conflict", `Its kind ${provider.kind} is not known to this version of the gateway.`);
}

async function upstreamModels(house: ProviderCallsHouse, id: string, signal: AbortSignal): Promise<UpstreamModel[]> {
  const { provider, kind } = await subjectOf(house, id);
  const listing = await house.probe.listModels(provider, kind, signal);
  if (listing === null) {
    throw new Failure("conflict", `Providers of the kind ${kind.id} tell no models. Name them yourself.`);
  }
  if (listing.models === null || listing.problem !== null) {
    const advice = listing.advice === null ? "" : ` ${listing.advice}`;
    throw new Failure("upstream_error", `${listing.problem ?? "No list of models came."}${advice}`);
  }
  const served = servedAs(house.catalog(), id);
  return listing.models.map((model) => ({
    id: model.id,
    owned_by: model.ownedBy,
    created_at: model.createdAt,
    served_as: served.get(model.id) ?? [],
    suggested: suggestedModel(kind, model),
  }));
}

/** Our models by the upstream's names that lead to them. */
function servedAs(catalog: Catalog, provider: string): ReadonlyMap<string, string[]> {
  const served = new Map<string, string[]>();
  for (const model of catalog.models.values()) {
    for (const deployment of model.deployments) {
      if (deployment.provider.id !== provider) continue;
      served.set(deployment.upstreamModel, [...(served.get(deployment.upstreamModel) ?? []), model.name]);
    }
  }
  return served;
}

function deploymentsByProvider(catalog: Catalog): ReadonlyMap<string, string[]> {
  const ids = new Map<string, string[]>();
  for (const model of catalog.models.values()) {
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

import { type Deployment, type Model, oncePerObject, servedPrice } from "#core/index.ts";
import { type EndpointProtocol, governBody, patchRequest } from "#protocols/index.ts";
import { type BatchAdapter, batchesOf, governingFor, type ProviderKind, priceTermsOf } from "#providers/index.ts";
import { matchLane } from "./attempt/lane-match.ts";
import { bearsSeals } from "./attempt/outbound.ts";
import type { Call } from "./call.ts";

/** An account that runs calls of a model as a batch of its vendor. */
export interface BatchPlace {
  /** The model at the vendor's batch price. */
  readonly model: Model;
  /** The version of its normal price. */
  readonly priceVersion: string | null;
  readonly deployment: Deployment;
  readonly kind: ProviderKind;
  readonly adapter: BatchAdapter;
}

/** The first deployment of a model that runs batches of this protocol. null: there is none. */
export function batchPlaceOf(model: Model, protocol: EndpointProtocol): BatchPlace | null {
  const places = placesOf(model);
  let place = places.get(protocol.endpoint);
  if (place === undefined) {
    place = findPlace(model, protocol);
    places.set(protocol.endpoint, place);
  }
  return place;
}

const placesOf = oncePerObject((_: Model) => new Map<string, BatchPlace | null>());

function findPlace(model: Model, protocol: EndpointProtocol): BatchPlace | null {
  for (const deployment of model.deployments.toSorted((a, b) => a.priority - b.priority)) {
    const { provider, upstreamModel, enabled } = deployment;
    const match = enabled && provider.enabled ? matchLane(deployment, protocol) : null;
    const adapter = match === null || match.translated ? null : batchesOf(match.kind, provider);
    if (match === null || adapter === null || !adapter.endpoints.has(protocol.endpoint)) continue;
    const terms = priceTermsOf(provider);
    const price = servedPrice({ price: model.price, terms, upstreamModel }, { tier: "batch" })?.version ?? null;
    return { model: { ...model, price }, priceVersion: model.price?.id ?? null, deployment, kind: match.kind, adapter };
  }
  return null;
}

/** The body of a row in a batch of the vendor. null: its call needs more than another model name, so it cannot be part of one. */
export function batchBodyOf(call: Call, { deployment, kind }: BatchPlace): Uint8Array | null {
  const { body, facts, protocol } = call;
  const { continues, objects = [], namedModels, governed = [] } = facts;
  if (!(body instanceof Uint8Array) || continues !== null || objects.length > 0 || namedModels !== undefined)
    return null;
  if (bearsSeals(call)) return null;
  const patched = patchRequest(protocol.wire, body, facts, deployment.upstreamModel);
  const governing = governingFor(deployment.provider, governed, kind.memberRules ?? {});
  return governing.names.length === 0 ? patched : governBody(patched, governing).made;
}

import { type Catalog, type Deployment, type Model, passedModel, pricePerCall } from "#core/index.ts";
import type { OutboundMethod, Spooled } from "#ports/index.ts";
import type { RequestFacts } from "#protocols/index.ts";
import { governingFor, passThroughOf } from "#providers/index.ts";
import type { Call } from "../call.ts";
import type { PassedPlace } from "./passed-place.ts";

/** What a call that is passed through is booked by. */
export interface PassedPrice {
  readonly model: Model;
  readonly deployment: Deployment;
  /** `unknown`: whatever it costs is not counted, so nobody with a budget may make it. */
  readonly by: "model" | "call" | "nothing" | "unknown";
}

/** A call for a provider's own API: read as far as it is understood, and passed as it is. */
export interface PassedCall {
  readonly call: Call;
  readonly place: PassedPlace;
  readonly price: PassedPrice;
  /** The body was understood: `call.facts` says what governs it. */
  readonly isRead: boolean;
  readonly method: OutboundMethod;
  /** What its provider's signature goes over is bytes. */
  readonly body: Uint8Array | Spooled | null;
}

/**
 * The price of the model that this provider serves under the name that the call says; else the provider's price for a call. To
 * count tokens costs nothing.
 */
export function passedPrice(catalog: Catalog, place: PassedPlace, facts: RequestFacts | null): PassedPrice {
  const { provider, protocol } = place;
  const upstreamModel = facts?.model ?? place.path?.model ?? "";
  const plain: Deployment = {
    id: "",
    provider,
    upstreamModel,
    priority: 1,
    weight: 1,
    enabled: true,
    contextWindow: null,
  };
  if (facts !== null && counting.has(protocol.endpoint)) return { ...withoutModel(plain, null), by: "nothing" };
  const sold = facts === null || !isPlain(place, facts) ? undefined : soldAt(catalog, provider.id, upstreamModel);
  if (sold !== undefined) return { ...sold, by: "model" };
  const { pricePerCall: nanoUsd } = passThroughOf(provider);
  return nanoUsd === null
    ? { ...withoutModel(plain, null), by: "unknown" }
    : { ...withoutModel(plain, pricePerCall(nanoUsd)), by: "call" };
}

const counting: ReadonlySet<string> = new Set(["count-tokens", "input-tokens", "gemini-count-tokens"]);

function withoutModel(deployment: Deployment, price: Model["price"]): Pick<PassedPrice, "model" | "deployment"> {
  return {
    model: {
      name: passedModel,
      type: "chat",
      ownedBy: "",
      createdAt: 0,
      deployments: [deployment],
      fallbacks: [],
      contextWindow: null,
      outputTokensMax: 0,
      price,
    },
    deployment,
  };
}

/**
 * What is made later is told to nobody here; what chooses another model or tier costs something else than the model's price, and
 * nothing is taken out of a body that is passed through.
 */
function isPlain({ provider, kind }: PassedPlace, facts: RequestFacts): boolean {
  if (facts.background === true || (facts.namedModels ?? []).length > 0) return false;
  return (
    facts.choosing === undefined || governingFor(provider, facts.choosing, kind.memberRules ?? {}).names.length === 0
  );
}

interface Sold {
  readonly model: Model;
  readonly deployment: Deployment;
}

/** By catalog: what has a price, by its provider and its name there. Of several models of one name the first. */
const known = new WeakMap<Catalog, ReadonlyMap<string, Sold>>();

function soldAt(catalog: Catalog, provider: string, upstreamModel: string): Sold | undefined {
  let sold = known.get(catalog);
  if (sold === undefined) {
    sold = soldIn(catalog);
    known.set(catalog, sold);
  }
  return sold.get(`${provider}\n${upstreamModel}`);
}

function soldIn({ models }: Catalog): ReadonlyMap<string, Sold> {
  const sold = new Map<string, Sold>();
  for (const model of models.values()) {
    if (model.price === null) continue;
    for (const deployment of model.deployments) {
      const name = `${deployment.provider.id}\n${deployment.upstreamModel}`;
      if (!sold.has(name)) sold.set(name, { model, deployment });
    }
  }
  return sold;
}

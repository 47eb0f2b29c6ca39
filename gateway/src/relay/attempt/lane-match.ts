import { type Deployment, type EndpointId, type Model, oncePerObject, type Provider } from "#core/index.ts";
import {
  type DialectTraits,
  type EndpointProtocol,
  isEmbeddingDialect,
  isEmbeddingEndpoint,
  upstreamSide,
} from "#protocols/index.ts";
import {
  keepsThreads,
  type Lane,
  lanesOf,
  laneTraits,
  laneUrl,
  type ProviderKind,
  providerKind,
} from "#providers/index.ts";
import type { Call } from "../call.ts";

/** How a call reaches a deployment: by a lane of the caller's dialect, or translated. */
export interface LaneMatch {
  readonly kind: ProviderKind;
  readonly lane: Lane;
  readonly translated: boolean;
  /** Differences of the lane for this account and model. */
  readonly traits: DialectTraits;
  /** Requests are changed by the lane before they are sent. */
  readonly adjusts: boolean;
  /** URLs for whole answers and for streams, set with the first request. */
  url: string | null;
  streamUrl: string | null;
}

export function urlOf(match: LaneMatch, { provider, upstreamModel }: Deployment, stream: boolean): string {
  if (stream) match.streamUrl ??= laneUrl(provider, match.lane, upstreamModel, true);
  else match.url ??= laneUrl(provider, match.lane, upstreamModel, false);
  return (stream ? match.streamUrl : match.url) as string;
}

/** null: a call of this protocol cannot be served there. */
export function matchLane(deployment: Deployment, protocol: EndpointProtocol): LaneMatch | null {
  const matches = matchesOf(deployment);
  let match = matches.get(protocol.endpoint);
  if (match === undefined) {
    match = findMatch(deployment, protocol);
    matches.set(protocol.endpoint, match);
  }
  return match;
}

/** Whether a deployment can serve calls of a protocol. One function for each protocol, because the router caches by it. */
export const canServeOf = oncePerObject((protocol: EndpointProtocol) => {
  return (deployment: Deployment): boolean => matchLane(deployment, protocol) !== null;
});

/** The call begins a message thread, and this account keeps none. */
export function leavesThreadOut({ facts }: Call, { kind }: Pick<LaneMatch, "kind">, provider: Provider): boolean {
  return facts.storesAs === "thread_message" && !keepsThreads(provider, kind);
}

export function serves(models: readonly Model[], protocol: EndpointProtocol): boolean {
  return models.some((model) => enabledOf(model).some((deployment) => matchLane(deployment, protocol) !== null));
}

/** Whether calls of this protocol are not translated at any deployment of the model that is tried first. */
export function passes(model: Model, protocol: EndpointProtocol): boolean {
  const enabled = enabledOf(model);
  const first = Math.min(...enabled.map(({ priority }) => priority));
  const tried = enabled.filter(({ priority }) => priority === first);
  return tried.length > 0 && tried.every((deployment) => matchLane(deployment, protocol)?.translated === false);
}

function enabledOf({ deployments }: Model): readonly Deployment[] {
  return deployments.filter(({ enabled, provider }) => enabled && provider.enabled);
}

const matchesOf = oncePerObject((_: Deployment) => new Map<EndpointId, LaneMatch | null>());

/** Each can be translated into the others. */
const generating: ReadonlySet<EndpointId> = new Set(["chat", "messages", "responses", "generate", "interactions"]);

const generated: ReadonlySet<EndpointId> = new Set([...generating, "responses-compact"]);

function findMatch(deployment: Deployment, protocol: EndpointProtocol): LaneMatch | null {
  const kind = providerKind(deployment.provider.kind);
  if (kind === null) return null;
  const { provider, upstreamModel } = deployment;
  const lanes = lanesOf(kind, provider).filter((lane) => lane.fits?.(upstreamModel) ?? true);
  const by = (lane: Lane, translated: boolean): LaneMatch => {
    const adjusts = lane.adjust !== undefined && (lane.adjusts?.(provider) ?? true);
    const traits = laneTraits(kind, provider, lane, upstreamModel);
    return { kind, lane, translated, traits, adjusts, url: null, streamUrl: null };
  };
  const own = lanes.find((lane) => lane.endpoint === protocol.endpoint);
  if (protocol.wireDialect === "openai-images") {
    const lane = own ?? editingLane(lanes, protocol);
    return lane === null ? null : by(lane, own === undefined || own.dialect !== protocol.wireDialect);
  }
  if (isEmbeddingEndpoint(protocol.endpoint)) {
    const lane = own ?? lanes.find(makesVectors);
    return lane === undefined ? null : by(lane, lane.dialect !== protocol.wireDialect);
  }
  if (own?.dialect === protocol.wireDialect) return by(own, false);
  if (own?.dialect === "mistral-fim") return by(own, true);
  if (protocol.codec === null || !generated.has(protocol.endpoint)) return null;
  const lane = own ?? lanes.find(({ endpoint }) => generating.has(endpoint));
  return lane === undefined || upstreamSide(lane.dialect).codec === null ? null : by(lane, true);
}

function makesVectors({ endpoint, dialect }: Lane): boolean {
  return isEmbeddingEndpoint(endpoint) && isEmbeddingDialect(dialect);
}

/** Some vendors edit images at the endpoint that makes them. */
function editingLane(lanes: readonly Lane[], { wireDialect }: EndpointProtocol): Lane | null {
  const making = lanes.find(({ endpoint }) => endpoint === "images");
  if (making === undefined) return null;
  return making.dialect !== wireDialect || making.traits?.editsWhereItMakes === true ? making : null;
}

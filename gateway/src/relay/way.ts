import type { Deployment, EndpointId, Model } from "#core/index.ts";
import { type DialectTraits, isEmbeddingDialect, isEmbeddingEndpoint, upstreamSide } from "#protocols/index.ts";
import { type Lane, lanesOf, laneTraits, type ProviderKind, providerKind } from "#providers/index.ts";
import type { Speech } from "./call.ts";

/** How a call gets to a deployment: by a lane of its own dialect, or translated into the dialect of another. */
export interface Way {
  readonly kind: ProviderKind;
  readonly lane: Lane;
  readonly translated: boolean;
  /** What is different about the lane, for this account and this model. */
  readonly traits: DialectTraits;
  /** Requests are changed by the lane before they are sent. */
  readonly adjusts: boolean;
}

/** null: a call of this speech cannot be served there. */
export function wayOf(deployment: Deployment, speech: Speech): Way | null {
  let known = ways.get(deployment);
  if (known === undefined) {
    known = new Map();
    ways.set(deployment, known);
  }
  let way = known.get(speech.endpoint);
  if (way === undefined) {
    way = findWay(deployment, speech);
    known.set(speech.endpoint, way);
  }
  return way;
}

/** The endpoints at which this model can be called, as far as its enabled deployments go. */
export function servedEndpoints(model: Model, speeches: readonly Speech[]): readonly EndpointId[] {
  const deployments = model.deployments.filter((deployment) => deployment.enabled && deployment.provider.enabled);
  return speeches
    .filter((speech) => deployments.some((deployment) => wayOf(deployment, speech) !== null))
    .map((speech) => speech.endpoint);
}

/** Whether any of the models can be called with this speech. */
export function serves(models: readonly Model[], speech: Speech): boolean {
  return models.some((model) => servedEndpoints(model, [speech]).length > 0);
}

/** By deployment object: a new catalog brings new objects. */
const ways = new WeakMap<Deployment, Map<EndpointId, Way | null>>();

/** What a model is asked at these endpoints is the same thing, so that each can be translated into the others. */
const generating: ReadonlySet<EndpointId> = new Set(["chat", "messages", "responses", "generate"]);

/** What can be asked of a model that generates: a compaction is the wish for a summary. */
const generated: ReadonlySet<EndpointId> = new Set([...generating, "responses-compact"]);

function findWay(deployment: Deployment, speech: Speech): Way | null {
  const kind = providerKind(deployment.provider.kind);
  if (kind === null) return null;
  const lanes = lanesOf(kind, deployment.provider).filter((lane) => lane.fits?.(deployment.upstreamModel) ?? true);
  const own = lanes.find((lane) => lane.endpoint === speech.endpoint);
  if (speech.bodies === "openai-images") {
    const way = imageWay(lanes, own, speech);
    return way === null ? null : wayBy({ kind, deployment, ...way });
  }
  const by = (lane: Lane, translated: boolean): Way => wayBy({ kind, deployment, lane, translated });
  if (isEmbeddingEndpoint(speech.endpoint)) {
    const lane = own ?? lanes.find(makesVectors);
    return lane === undefined ? null : by(lane, lane.dialect !== speech.bodies);
  }
  if (own?.dialect === speech.bodies) return by(own, false);
  if (own?.dialect === "mistral-fim") return by(own, true);
  if (speech.codec === null || !generated.has(speech.endpoint)) return null;
  const lane = own ?? lanes.find(({ endpoint }) => generating.has(endpoint));
  if (lane === undefined || upstreamSide(lane.dialect).codec === null) return null;
  return by(lane, true);
}

function wayBy({ kind, deployment, lane, translated }: Pick<Way, "kind" | "lane" | "translated"> & For): Way {
  const { provider, upstreamModel } = deployment;
  const adjusts = lane.adjust !== undefined && (lane.adjusts?.(provider) ?? true);
  return { kind, lane, translated, traits: laneTraits(kind, provider, lane, upstreamModel), adjusts };
}

interface For {
  readonly deployment: Deployment;
}

/** Vectors are asked for where they are made, whichever endpoint of the vendor that is. */
function makesVectors({ endpoint, dialect }: Lane): boolean {
  return isEmbeddingEndpoint(endpoint) && isEmbeddingDialect(dialect);
}

/** Pictures are also changed where they are made, if the vendor takes the ones to change with the words. */
function imageWay(
  lanes: readonly Lane[],
  own: Lane | undefined,
  speech: Speech,
): Pick<Way, "lane" | "translated"> | null {
  if (own !== undefined) return { lane: own, translated: own.dialect !== speech.bodies };
  const making = lanes.find(({ endpoint }) => endpoint === "images");
  if (making === undefined || (making.dialect === speech.bodies && making.traits?.editsWhereItMakes !== true))
    return null;
  return { lane: making, translated: true };
}

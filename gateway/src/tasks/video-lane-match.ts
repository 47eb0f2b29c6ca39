import {
  type Deployment,
  type Model,
  type Provider,
  unknownCapabilities,
  type VideoCapabilities,
} from "#core/index.ts";
import { type ProviderKind, providerKind } from "#providers/index.ts";

export type VideoAdapter = NonNullable<ProviderKind["video"]>;

/** How a deployment makes videos, and what it takes. */
export interface VideoLaneMatch {
  readonly provider: Provider;
  readonly kind: ProviderKind;
  readonly adapter: VideoAdapter;
  /** What the adapter knows of the model, and over it what the operator said of the deployment. */
  readonly capabilities: VideoCapabilities;
}

/** Whether any of the model's deployments, as far as they are enabled, makes videos. */
export function makesVideos(model: Model): boolean {
  return model.deployments.some(
    (deployment) => deployment.enabled && deployment.provider.enabled && matchVideoLane(deployment) !== null,
  );
}

/** What the enabled deployments of these models take. */
export function capabilitiesOf(models: readonly Model[]): readonly VideoCapabilities[] {
  return models.flatMap(({ deployments }) =>
    deployments.flatMap((deployment) => {
      const match = deployment.enabled && deployment.provider.enabled ? matchVideoLane(deployment) : null;
      return match === null ? [] : [match.capabilities];
    }),
  );
}

/** null: it makes none. */
export function matchVideoLane(deployment: Deployment): VideoLaneMatch | null {
  const known = matches.get(deployment);
  if (known !== undefined) return known;
  const match = findMatch(deployment);
  matches.set(deployment, match);
  return match;
}

/** Of an account whose deployment may be gone meanwhile. */
export function videoKindOf(kindId: string): { readonly kind: ProviderKind; readonly adapter: VideoAdapter } | null {
  const kind = providerKind(kindId);
  return kind?.video === undefined ? null : { kind, adapter: kind.video };
}

/** By deployment object: a new config snapshot brings new objects. */
const matches = new WeakMap<Deployment, VideoLaneMatch | null>();

function findMatch(deployment: Deployment): VideoLaneMatch | null {
  const found = videoKindOf(deployment.provider.kind);
  if (found === null) return null;
  const { kind, adapter } = found;
  const told = adapter.capabilities(deployment.upstreamModel);
  return {
    provider: deployment.provider,
    kind,
    adapter,
    capabilities: { ...unknownCapabilities, ...told, ...deployment.capabilities },
  };
}

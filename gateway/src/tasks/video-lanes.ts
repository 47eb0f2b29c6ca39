import { type Deployment, Failure, type Model, unknownCapabilities, type VideoCapabilities } from "#core/index.ts";
import { accountObjectsIn, type ProviderKind, paidMembersIn, providerKind } from "#providers/index.ts";
import type { VideoRequest } from "./accept/validate-video.ts";

export type VideoAdapter = NonNullable<ProviderKind["video"]>;

/** The adapter and capabilities of a deployment for videos. */
export type VideoLaneMatch = NonNullable<ReturnType<typeof findMatch>>;

const isEnabled = (deployment: Deployment): boolean => deployment.enabled && deployment.provider.enabled;

export function makesVideos(model: Model): boolean {
  return model.deployments.some((deployment) => isEnabled(deployment) && matchVideoLane(deployment) !== null);
}

export function videoLanesOf(models: readonly Model[]): readonly VideoLaneMatch[] {
  const deployments = models.flatMap((model) => model.deployments.filter(isEnabled));
  return deployments.flatMap((deployment) => matchVideoLane(deployment) ?? []);
}

/** null: the deployment makes no videos. */
export function matchVideoLane(deployment: Deployment): VideoLaneMatch | null {
  const cached = matches.get(deployment);
  if (cached !== undefined) return cached;
  const match = findMatch(deployment);
  matches.set(deployment, match);
  return match;
}

export function videoKindOf(kindId: string): { readonly kind: ProviderKind; readonly adapter: VideoAdapter } | null {
  const kind = providerKind(kindId);
  return kind?.video === undefined ? null : { kind, adapter: kind.video };
}

/** A new config snapshot has new deployment objects. */
const matches = new WeakMap<Deployment, VideoLaneMatch | null>();

function findMatch(deployment: Deployment) {
  const found = videoKindOf(deployment.provider.kind);
  if (found === null) return null;
  const { kind, adapter } = found;
  const builtIn = adapter.capabilities(deployment.upstreamModel);
  // The operator's settings override the adapter's.
  const capabilities: VideoCapabilities = { ...unknownCapabilities, ...builtIn, ...deployment.capabilities };
  return { provider: deployment.provider, kind, adapter, capabilities };
}

/** A value that a deployment does not accept. `allowed` describes what it accepts. */
interface Mismatch {
  readonly param: string;
  readonly value: string;
  readonly allowed: readonly string[];
}

/**
 * Throws unsupported_by_model if no deployment makes videos, invalid_request with the parameter and the allowed values if
 * no deployment accepts the request.
 */
export function checkCapabilities(models: readonly Model[], request: VideoRequest): void {
  const lanes = videoLanesOf(models);
  const name = models[0]?.name ?? "";
  if (lanes.length === 0 && models.some((model) => model.deployments.some(isEnabled))) {
    throw new Failure("unsupported_by_model", `The model "${name}" makes no videos.`, { param: "model" });
  }
  const found = lanes.map((lane) => mismatches(request, lane));
  const [first] = found;
  if (first === undefined || found.some((list) => list.length === 0)) return;
  // A parameter that every deployment rejects: changing it alone may help.
  const shared = first.find(({ param }) => found.every((list) => list.some((other) => other.param === param)));
  const shown = shared ?? first[0];
  if (shown === undefined) return;
  const all = found.flatMap((list) => list.filter(({ param }) => param === shown.param));
  const allowed = [...new Set((shared === undefined ? [shown] : all).flatMap((mismatch) => mismatch.allowed))];
  throw new Failure(
    "invalid_request",
    `The parameter "${shown.param}" ${shown.param === "prompt" ? "contains" : "is"} ${shown.value}, which the model "${name}" does not support. Allowed: ${allowed.join(", ")}.`,
    { param: shown.param },
  );
}

export function supports(deployment: Deployment, request: VideoRequest): boolean {
  const match = matchVideoLane(deployment);
  return match !== null && mismatches(request, match).length === 0;
}

/** Replaces "auto" or "adaptive" with the vendor's own name for it. */
export function vendorRatio(ratio: string | null, capabilities: VideoCapabilities): string | null {
  if (ratio === null || !isAutoRatio(ratio) || capabilities.ratios.includes(ratio)) return ratio;
  return capabilities.ratios.find(isAutoRatio) ?? ratio;
}

const isAutoRatio = (ratio: string): boolean => ratio === "adaptive" || ratio === "auto";

function mismatches(request: VideoRequest, { capabilities, adapter, provider }: VideoLaneMatch): readonly Mismatch[] {
  const { ratio, resolution, durationSeconds, audio, seed } = request.params;
  const { ratios } = capabilities;
  const found: Mismatch[] = [];
  const refuse = (param: string, value: unknown, allowed: readonly string[]): void => {
    found.push({ param, value: JSON.stringify(value), allowed });
  };
  const vendorValue = vendorRatio(ratio, capabilities);
  if (vendorValue !== null && ratios.length > 0 && !ratios.includes(vendorValue)) refuse("ratio", ratio, ratios);
  const resolutions = capabilities.resolutions.map((text) => text.toLowerCase());
  if (resolution !== null && resolutions.length > 0 && !resolutions.includes(resolution)) {
    refuse("resolution", resolution, resolutions);
  }
  if (durationSeconds !== null && !supportsDuration(durationSeconds, capabilities)) {
    refuse("duration", durationSeconds, allowedDurations(capabilities));
  }
  if (audio === true && capabilities.audio === false) refuse("audio", true, ["false"]);
  // -1 means a random seed, the default.
  if (seed !== null && seed !== -1 && capabilities.seed === false) refuse("seed", seed, ["none"]);
  const count = (role: string): number => request.material.filter((material) => material.role === role).length;
  if (count("first_frame") > 0 && capabilities.firstFrame === false) refuse("image", "given", ["none"]);
  if (count("last_frame") > 0 && capabilities.lastFrame === false) refuse("last_frame", "given", ["none"]);
  if (request.params.remixOf !== undefined && adapter.remixes !== true) refuse("remix_of", "given", ["none"]);
  const { referencesMax } = capabilities;
  if (referencesMax !== null && count("reference") > referencesMax) {
    refuse("references", count("reference"), [referencesMax === 0 ? "none" : `at most ${referencesMax}`]);
  }
  // Vendor fields that raise the price must use our own fields, which are priced.
  for (const { path, value, instead, takes: taken } of paidMembersIn(
    request.vendorFields,
    provider,
    adapter.paidMembers,
  )) {
    const words = taken.map((one) => JSON.stringify(one));
    refuse(path, value, instead === null ? [...words, "none"] : [...words, `none; use "${instead}"`]);
  }
  const { content, vendorFields } = request;
  for (const { path, value } of accountObjectsIn({ ...vendorFields, content }, provider)) {
    refuse(path, value, ['none; name a file of yours by its "file_id" in "image", "last_frame" or "references"']);
  }
  for (const { pattern, instead } of adapter.paidWords ?? []) {
    const [words, value] = pattern.exec(request.params.prompt ?? "") ?? [];
    const field = instead === "duration" ? durationSeconds?.toString() : resolution;
    if (words === undefined || value?.toLowerCase() === field) continue;
    refuse("prompt", words.trim(), [`none; use "${instead}"`]);
  }
  return found;
}

function supportsDuration(seconds: number, { durations, durationMin, durationMax }: VideoCapabilities): boolean {
  if (durations.includes(seconds)) return true;
  if (durationMin === null && durationMax === null) return durations.length === 0;
  return seconds > 0 && seconds >= (durationMin ?? 1) && seconds <= (durationMax ?? Number.POSITIVE_INFINITY);
}

function allowedDurations({ durations, durationMin, durationMax }: VideoCapabilities): readonly string[] {
  const listed = durations.map(String);
  if (durationMin === null && durationMax === null) return listed;
  if (durationMax === null) return [...listed, `at least ${durationMin}`];
  return [...listed, `${durationMin ?? 1} to ${durationMax}`];
}

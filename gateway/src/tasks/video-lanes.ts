import { type Deployment, Failure, type Model, unknownCapabilities, type VideoCapabilities } from "#core/index.ts";
import { type ProviderKind, paidMembersIn, providerKind } from "#providers/index.ts";
import type { VideoRequest } from "./accept/validate-video.ts";

export type VideoAdapter = NonNullable<ProviderKind["video"]>;

/** How a deployment makes videos, and what it takes. */
export type VideoLaneMatch = NonNullable<ReturnType<typeof findMatch>>;

const isEnabled = (deployment: Deployment): boolean => deployment.enabled && deployment.provider.enabled;

/** Whether any of the model's deployments, as far as they are enabled, makes videos. */
export function makesVideos(model: Model): boolean {
  return model.deployments.some((deployment) => isEnabled(deployment) && matchVideoLane(deployment) !== null);
}

/** How the enabled deployments of these models make videos, those that do. */
export function videoLanesOf(models: readonly Model[]): readonly VideoLaneMatch[] {
  const deployments = models.flatMap((model) => model.deployments.filter(isEnabled));
  return deployments.flatMap((deployment) => matchVideoLane(deployment) ?? []);
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

function findMatch(deployment: Deployment) {
  const found = videoKindOf(deployment.provider.kind);
  if (found === null) return null;
  const { kind, adapter } = found;
  const told = adapter.capabilities(deployment.upstreamModel);
  // What the adapter knows of the model, and over it what the operator said of the deployment.
  const capabilities: VideoCapabilities = { ...unknownCapabilities, ...told, ...deployment.capabilities };
  return { provider: deployment.provider, kind, adapter, capabilities };
}

/** One value that a deployment does not take. `allowed` is what it takes instead, in words. */
interface Mismatch {
  readonly param: string;
  readonly value: string;
  readonly allowed: readonly string[];
}

/**
 * Throws unsupported_by_model when no deployment of the models makes videos, and invalid_request, with the parameter and
 * the values that are taken, when none of those that do takes what is asked for.
 */
export function checkTakeable(models: readonly Model[], request: VideoRequest): void {
  const lanes = videoLanesOf(models);
  const name = models[0]?.name ?? "";
  if (lanes.length === 0 && models.some((model) => model.deployments.some(isEnabled))) {
    throw new Failure("unsupported_by_model", `The model "${name}" makes no videos.`, { param: "model" });
  }
  const found = lanes.map((lane) => mismatches(request, lane));
  const [first] = found;
  if (first === undefined || found.some((list) => list.length === 0)) return;
  // The one that stands in the way everywhere, if there is one: changing it alone helps.
  const shared = first.find(({ param }) => found.every((list) => list.some((other) => other.param === param)));
  const told = shared ?? first[0];
  if (told === undefined) return;
  const all = found.flatMap((list) => list.filter(({ param }) => param === told.param));
  const allowed = [...new Set((shared === undefined ? [told] : all).flatMap((mismatch) => mismatch.allowed))];
  throw new Failure(
    "invalid_request",
    `The parameter "${told.param}" ${told.param === "prompt" ? "says" : "is"} ${told.value}, which the model "${name}" does not take. Allowed: ${allowed.join(", ")}.`,
    { param: told.param },
  );
}

/** Whether this deployment may be asked at all. */
export function takes(deployment: Deployment, request: VideoRequest): boolean {
  const match = matchVideoLane(deployment);
  return match !== null && mismatches(request, match).length === 0;
}

/** The vendor's own word for "as the material is", where it has one. */
export function ratioFor(ratio: string | null, capabilities: VideoCapabilities): string | null {
  if (ratio === null || !isFree(ratio) || capabilities.ratios.includes(ratio)) return ratio;
  return capabilities.ratios.find(isFree) ?? ratio;
}

const isFree = (ratio: string): boolean => ratio === "adaptive" || ratio === "auto";

function mismatches(request: VideoRequest, { capabilities, adapter, provider }: VideoLaneMatch): readonly Mismatch[] {
  const { ratio, resolution, durationSeconds, audio, seed } = request.asked;
  const { ratios } = capabilities;
  const found: Mismatch[] = [];
  const refuse = (param: string, value: unknown, allowed: readonly string[]): void => {
    found.push({ param, value: JSON.stringify(value), allowed });
  };
  const wanted = ratioFor(ratio, capabilities);
  if (wanted !== null && ratios.length > 0 && !ratios.includes(wanted)) refuse("ratio", ratio, ratios);
  const resolutions = capabilities.resolutions.map((text) => text.toLowerCase());
  if (resolution !== null && resolutions.length > 0 && !resolutions.includes(resolution)) {
    refuse("resolution", resolution, resolutions);
  }
  if (durationSeconds !== null && !takesDuration(durationSeconds, capabilities)) {
    refuse("duration", durationSeconds, allowedDurations(capabilities));
  }
  if (audio === true && capabilities.audio === false) refuse("audio", true, ["false"]);
  // -1 is "any seed" with the vendors that have the word, and so is none at all.
  if (seed !== null && seed !== -1 && capabilities.seed === false) refuse("seed", seed, ["none"]);
  const count = (role: string): number => request.material.filter((material) => material.role === role).length;
  if (count("first_frame") > 0 && capabilities.firstFrame === false) refuse("image", "given", ["none"]);
  if (count("last_frame") > 0 && capabilities.lastFrame === false) refuse("last_frame", "given", ["none"]);
  if (request.asked.remixOf !== undefined && adapter.remixes !== true) refuse("remix_of", "given", ["none"]);
  const { referencesMax } = capabilities;
  if (referencesMax !== null && count("reference") > referencesMax) {
    refuse("references", count("reference"), [referencesMax === 0 ? "none" : `at most ${referencesMax}`]);
  }
  // What costs more goes by our own fields, which are priced.
  for (const { path, value, instead, takes: taken } of paidMembersIn(request.more, provider, adapter.paidMembers)) {
    const words = taken.map((one) => JSON.stringify(one));
    refuse(path, value, instead === null ? [...words, "none"] : [...words, `none, with "${instead}" in its place`]);
  }
  for (const { pattern, instead } of adapter.paidWords ?? []) {
    const [words, value] = pattern.exec(request.asked.prompt ?? "") ?? [];
    const field = instead === "duration" ? durationSeconds?.toString() : resolution;
    if (words === undefined || value?.toLowerCase() === field) continue;
    refuse("prompt", words.trim(), [`none, with "${instead}" in its place`]);
  }
  return found;
}

function takesDuration(seconds: number, { durations, durationMin, durationMax }: VideoCapabilities): boolean {
  const unbounded = durationMin === null && durationMax === null;
  if (durations.includes(seconds)) return true;
  if (durations.length > 0 && unbounded) return false;
  if (unbounded) return true;
  return seconds > 0 && seconds >= (durationMin ?? 1) && seconds <= (durationMax ?? Number.POSITIVE_INFINITY);
}

function allowedDurations({ durations, durationMin, durationMax }: VideoCapabilities): readonly string[] {
  const listed = durations.map(String);
  if (durationMin === null && durationMax === null) return listed;
  if (durationMax === null) return [...listed, `at least ${durationMin}`];
  return [...listed, `${durationMin ?? 1} to ${durationMax}`];
}

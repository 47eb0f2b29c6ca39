import { bounds, Failure, type Provider, type VideoMaterial, type VideoTurn } from "#core/index.ts";
import { objectOf } from "#protocols/index.ts";
import { ratioFor } from "../accept/check-capabilities.ts";
import { withReferences } from "../accept/references.ts";
import type { VideoRequest } from "../accept/validate-video.ts";
import type { VideoTasksOptions } from "../options.ts";
import type { VideoLaneMatch } from "../video-lane-match.ts";

export interface VideoTurnDependencies {
  readonly workspaceId: string;
  readonly assets: VideoTasksOptions["assets"];
  /** Ids at the upstream of the tasks that are gone on from, by ours. */
  readonly upstreamIds: ReadonlyMap<string, string>;
}

/** Bytes that are to stand in the place of an address or a reference. */
export interface PlacedMedia {
  readonly url: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

export interface TurnFor {
  readonly turn: VideoTurn;
  readonly media: readonly PlacedMedia[];
}

/** The request as this account's upstream is to be asked: assets and earlier tasks by the names that it knows. */
export async function videoTurnFor(
  request: VideoRequest,
  match: VideoLaneMatch,
  provider: Provider,
  { workspaceId, assets, upstreamIds }: VideoTurnDependencies,
): Promise<TurnFor> {
  const media: PlacedMedia[] = [];
  const known = new Map(upstreamIds);
  const types = new Map<string, VideoMaterial["type"]>();
  if (assets !== null) {
    for (const id of request.references.assetIds) {
      const { url, type, inline } = await assets.resolve(workspaceId, id, provider);
      if (inline !== null) media.push({ url, ...inline });
      if (sizeOf(media) > bounds.inlinedBytesMax) throw tooMuch();
      known.set(id, url);
      types.set(`asset://${id}`, type);
    }
  }
  const { asked: said, prompt, material, content, more, wantsLastFrame } = request;
  const { remixOf, ...asked } = said;
  const remixed = remixOf === undefined ? undefined : upstreamIds.get(remixOf);
  const replaced = content?.map((item) => withReferences(item, known)) ?? null;
  const turn: VideoTurn = {
    ...asked,
    ...(remixed === undefined ? {} : { remixOf: remixed }),
    prompt,
    ratio: ratioFor(asked.ratio, match.capabilities),
    // An asset knows best what it is.
    material: material.map((one) => ({
      ...one,
      type: types.get(one.url.toLowerCase().startsWith("asset:") ? one.url : "") ?? one.type,
      url: String(withReferences(one.url, known)),
    })),
    content: replaced,
    more: objectOf(withReferences(more, known)),
    wantsLastFrame,
  };
  return { turn, media };
}

export function sizeOf(media: readonly PlacedMedia[]): number {
  return media.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

function tooMuch(): Failure {
  return new Failure(
    "invalid_request",
    `The assets of this task are more than the ${bounds.inlinedBytesMax} bytes that are sent inside a request, and this gateway has no public address under which an upstream could fetch them: set SLUICE_PUBLIC_URL.`,
  );
}

import type { Provider, VideoMaterial, VideoTurn } from "#core/index.ts";
import type { AssetResolver } from "#ports/index.ts";
import { objectOf } from "#protocols/index.ts";
import { ratioFor } from "./check-capabilities.ts";
import { withReferences } from "./references.ts";
import type { VideoRequest } from "./validate-video.ts";
import type { VideoWay } from "./video-way.ts";

export interface TurnMeans {
  readonly workspaceId: string;
  readonly assets: AssetResolver | null;
  /** Ids at the upstream of the tasks that are gone on from, by ours. */
  readonly upstreamIds: ReadonlyMap<string, string>;
}

/** The request as this account's upstream is to be asked: assets and earlier tasks by the names that it knows. */
export async function videoTurnFor(
  request: VideoRequest,
  way: VideoWay,
  provider: Provider,
  { workspaceId, assets, upstreamIds }: TurnMeans,
): Promise<VideoTurn> {
  const known = new Map(upstreamIds);
  const types = new Map<string, VideoMaterial["type"]>();
  if (assets !== null) {
    for (const id of request.references.assetIds) {
      const { url, type } = await assets.resolve(workspaceId, id, provider);
      known.set(id, url);
      types.set(`asset://${id}`, type);
    }
  }
  const { asked, prompt, material, content, more, wantsLastFrame } = request;
  const replaced = content?.map((item) => withReferences(item, known)) ?? null;
  return {
    ...asked,
    prompt,
    ratio: ratioFor(asked.ratio, way.capabilities),
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
}

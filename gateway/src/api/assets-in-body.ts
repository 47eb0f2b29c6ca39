import { mentionsAssets, outcomeOf } from "#bodies/index.ts";
import type { Principal } from "#core/index.ts";
import type { Face } from "./face.ts";

export interface BodyWithAssets {
  /** What was given, to be used from now on in its place. */
  readonly sent: Uint8Array;
  /** The same where there was nothing to be put in its place. */
  readonly body: Uint8Array;
}

/**
 * A JSON body with its references to assets put in their place: what belongs to the caller's workspace and is Active.
 * Throws asset_not_found, and invalid_request for one that is not Active, and for too many.
 */
export async function withAssets(face: Face, principal: Principal, body: Uint8Array): Promise<BodyWithAssets> {
  if (!mentionsAssets(body)) return { sent: body, body };
  const found = await face.bodies.do("assets", null, body);
  const urls: [id: string, url: string][] = [];
  for (const id of outcomeOf(found).answer) {
    urls.push([id, (await face.assets.portable(principal.workspace.id, id)).url]);
  }
  if (urls.length === 0) return { sent: found.body, body: found.body };
  const put = await face.bodies.do("put-assets", urls, found.body);
  return { sent: put.body, body: outcomeOf(put).made ?? put.body };
}

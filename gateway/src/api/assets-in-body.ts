import { type BodyMarks, type CarriedMedia, mentionsAssets, outcomeOf } from "#bodies/index.ts";
import { bounds, Failure, type HeldMemory, type Principal } from "#core/index.ts";
import type { ApiDependencies } from "./dependencies.ts";

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
export async function withAssets(
  dependencies: ApiDependencies,
  principal: Principal,
  { body, marks }: { readonly body: Uint8Array; readonly marks: BodyMarks | null },
  place: HeldMemory,
): Promise<BodyWithAssets> {
  if (!(marks?.assets ?? mentionsAssets(body))) return { sent: body, body };
  const found = await dependencies.bodies.do("assets", null, body, { owner: principal });
  const urls: [id: string, url: string][] = [];
  const media: CarriedMedia[] = [];
  const beside: Uint8Array[] = [];
  let size = 0;
  for (const id of outcomeOf(found).answer) {
    const { url, inline } = await dependencies.assets.portable(principal.workspace.id, id);
    urls.push([id, url]);
    if (inline === null) continue;
    size += inline.bytes.length;
    if (size > bounds.inlinedBytesMax) throw tooMuch();
    // In base64, in the body, and in what goes upstream.
    place.hold(2 * found.body.length + 4 * size);
    media.push({ url, mediaType: inline.mediaType });
    beside.push(inline.bytes);
  }
  if (urls.length === 0) return { sent: found.body, body: found.body };
  const put = await dependencies.bodies.do("put-assets", { urls, media }, found.body, { beside, owner: principal });
  return { sent: put.body, body: outcomeOf(put).made ?? put.body };
}

function tooMuch(): Failure {
  return new Failure(
    "invalid_request",
    `The assets that the body refers to are more than the ${bounds.inlinedBytesMax} bytes that are sent inside a request.`,
  );
}

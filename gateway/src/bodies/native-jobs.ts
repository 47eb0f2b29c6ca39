import type { Provider, WireDialectId } from "#core/index.ts";
import type { OutboundMethod } from "#ports/index.ts";
import {
  type CallEndpointId,
  endpointProtocols,
  type GovernedMembers,
  governBody,
  inlineMediaUrls,
  mayHoldForeignSeals,
  mayHoldMediaUrls,
  mediaUrlsIn,
  type PathFacts,
  patchRequest,
  type RequestFacts,
  removeForeignSeals,
  type UsageConvention,
  upstreamSide,
  withoutByteOrderMark,
} from "#protocols/index.ts";
import { type OutboundDraft, providerKind } from "#providers/index.ts";
import { mentionsAssets } from "./asset-references.ts";
import { type CarriedMedia, carriedMedia } from "./carried-media.ts";
import type { JobContext } from "./translation-jobs.ts";

/** Results of a quick check for rare contents of a body. A full search is more expensive, and almost no body needs it. */
export interface BodyMarks {
  readonly seals: boolean;
  readonly addresses: boolean;
  readonly assets: boolean;
}

interface ReadAsk {
  readonly endpoint: CallEndpointId;
  readonly dialect: WireDialectId;
  readonly path: PathFacts | null;
}

export function readBody(body: Uint8Array, { endpoint, dialect, path }: ReadAsk) {
  const facts = endpointProtocols[endpoint].wire.readRequest(body, path);
  const marks: BodyMarks = {
    seals: mayHoldForeignSeals(body, dialect),
    addresses: mayHoldMediaUrls(body),
    assets: mentionsAssets(body),
  };
  return { made: null, answer: { facts, marks } };
}

interface PatchAsk {
  readonly endpoint: CallEndpointId;
  readonly facts: RequestFacts;
  readonly upstreamModel: string;
}

/** Makes the body for an upstream of the caller's dialect. */
export function patchBody(body: Uint8Array, { endpoint, facts, upstreamModel }: PatchAsk) {
  return { made: patchRequest(endpointProtocols[endpoint].wire, body, facts, upstreamModel), answer: null };
}

/** Makes the body without the encrypted content of other vendors. */
export function patchUnsealed(
  body: Uint8Array,
  ask: PatchAsk & { readonly dialect: WireDialectId },
  _beside: readonly Uint8Array[],
  { warn }: JobContext,
) {
  return { made: removeForeignSeals(patchBody(body, ask).made, ask, warn), answer: null };
}

/** Makes the body without governed members. Answers with the names of those it left out. */
export function leaveOut(body: Uint8Array, ask: GovernedMembers) {
  const { made, left } = governBody(body, ask);
  return { made, answer: left };
}

interface ReplyAsk {
  readonly endpoint: CallEndpointId | null;
  readonly dialect: WireDialectId;
  readonly usage: UsageConvention | undefined;
}

/** Reads a whole reply. */
export function readReply(reply: Uint8Array, { endpoint, dialect, usage }: ReplyAsk) {
  const listener = endpoint === null ? upstreamSide(dialect).replyReader : endpointProtocols[endpoint].wire;
  return { made: null, answer: listener.readReply(withoutByteOrderMark(reply), usage) };
}

/**
 * Replaces addresses in the body by their media. `media` null: nothing was fetched yet; then it makes no body and answers with the
 * addresses to fetch.
 */
export function inlineMedia(body: Uint8Array, media: readonly CarriedMedia[] | null, beside: readonly Uint8Array[]) {
  const urls = mediaUrlsIn(body);
  if (media === null) return { made: null, answer: [...new Set(urls.map(({ url }) => url))] };
  return { made: inlineMediaUrls(body, urls, carriedMedia(media, beside)), answer: [] };
}

interface AdjustAsk {
  /** Without its secret. */
  readonly provider: Provider;
  /** Its index among the lanes of the kind. */
  readonly lane: number;
  readonly upstreamModel: string;
  readonly stream: boolean;
  readonly method: OutboundMethod;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Changes the request as its lane needs. */
export function adjustBody(
  body: Uint8Array,
  { lane: index, ...request }: AdjustAsk,
  _beside: readonly Uint8Array[],
  { warn }: JobContext,
) {
  const lane = providerKind(request.provider.kind)?.lanes[index];
  if (lane === undefined) throw new Error(`There is no lane ${index}.`);
  const draft: OutboundDraft = { ...request, headers: { ...request.headers }, body };
  lane.adjust?.(draft, warn);
  const { method, url, headers } = draft;
  return { made: draft.body, answer: { method, url, headers } };
}

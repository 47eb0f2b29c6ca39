import {
  callerSide,
  governBody,
  holdsSeals,
  mayNameMedia,
  mediaUrlsIn,
  patchedRequest,
  unsealBody,
  upstreamSide,
  withMediaInPlace,
  withoutMark,
} from "#protocols/index.ts";
import { type OutboundDraft, providerKind } from "#providers/index.ts";
import { mentionsAssets } from "./asset-references.ts";
import type { Job } from "./body-jobs.ts";
import { carriedMedia } from "./carried-media.ts";

export const readBody: Job<"read"> = (body, { endpoint, dialect, path }) => {
  const facts = callerSide(endpoint).wire.readRequest(body, path);
  const marks = { seals: holdsSeals(body, dialect), addresses: mayNameMedia(body), assets: mentionsAssets(body) };
  return { made: null, answer: { facts, marks } };
};

export const patchBody: Job<"patch"> = (body, { endpoint, facts, upstreamModel }) => ({
  made: patchedRequest(callerSide(endpoint).wire, body, facts, upstreamModel),
  answer: null,
});

export const patchUnsealed: Job<"unseal"> = (body, { endpoint, dialect, facts, upstreamModel }) => {
  const patched = patchedRequest(callerSide(endpoint).wire, body, facts, upstreamModel);
  const warnings: string[] = [];
  const made = unsealBody(patched, { dialect, upstreamModel }, (what) => void warnings.push(what));
  return { made, answer: warnings };
};

export const leaveOut: Job<"govern"> = (body, ask) => {
  const { made, left } = governBody(body, ask);
  return { made, answer: left };
};

export const readReply: Job<"reply"> = (reply, { endpoint, dialect, usage }) => {
  const listener = endpoint === null ? upstreamSide(dialect).listener : callerSide(endpoint).wire;
  return { made: null, answer: listener.readReply(withoutMark(reply), usage) };
};

export const inlineMedia: Job<"inline"> = (body, media, beside) => {
  const urls = mediaUrlsIn(body);
  if (media === null) return { made: null, answer: [...new Set(urls.map(({ url }) => url))] };
  return { made: withMediaInPlace(body, urls, carriedMedia(media, beside)), answer: [] };
};

export const adjustBody: Job<"adjust"> = (body, ask) => {
  const { provider, upstreamModel, stream, method, url } = ask;
  const lane = providerKind(provider.kind)?.lanes[ask.lane];
  if (lane === undefined) throw new Error("a lane that is not there");
  const warnings: string[] = [];
  const headers = { ...ask.headers };
  const draft: OutboundDraft = { provider, upstreamModel, stream, method, url, headers, body };
  lane.adjust?.(draft, (what) => void warnings.push(what));
  return { made: draft.body, answer: { method: draft.method, url: draft.url, headers, warnings } };
};

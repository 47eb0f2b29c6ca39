import { callerSide, governBody, holdsSeals, mediaUrlsIn, upstreamSide, withMediaInPlace } from "#protocols/index.ts";
import { carriedMedia } from "./carried-media.ts";
import type { Job } from "./job-desk.ts";

export const readBody: Job<"read"> = (body, { endpoint, path }) => {
  const { wire, codec } = callerSide(endpoint);
  const facts = wire.readRequest(body, path);
  return { made: null, answer: { facts, seals: codec !== null && holdsSeals(body) } };
};

export const patchBody: Job<"patch"> = (body, { endpoint, facts, upstreamModel }) => ({
  made: callerSide(endpoint).wire.patchRequest(body, facts, upstreamModel),
  answer: null,
});

export const leaveOut: Job<"govern"> = (body, ask) => {
  const { made, left } = governBody(body, ask);
  return { made, answer: left };
};

export const readReply: Job<"reply"> = (reply, { endpoint, dialect }) => {
  const listener = endpoint === null ? upstreamSide(dialect).listener : callerSide(endpoint).wire;
  return { made: null, answer: listener.readReply(reply) };
};

export const inlineMedia: Job<"inline"> = (body, media, beside) => {
  const urls = mediaUrlsIn(body);
  if (media === null) return { made: null, answer: [...new Set(urls.map(({ url }) => url))] };
  return { made: withMediaInPlace(body, urls, carriedMedia(media, beside)), answer: [] };
};

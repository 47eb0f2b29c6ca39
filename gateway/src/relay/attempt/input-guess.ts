import { isAscii } from "node:buffer";
import { bounds, type CacheWrites, type InputTokens, noWrites } from "#core/index.ts";
import { asBuffer, cacheWrites, inlineMedia, noMedia } from "#protocols/index.ts";
import type { Call } from "../call.ts";

/** Text: four bytes a token, and half a token for each byte outside of ASCII (a Chinese character has three), with a quarter more. */
const bytesPerToken = 4;
const margin = 5 / 4;

/** The probable input in the body of a call, with a margin. */
export function guessInput({ facts, body }: Pick<Call, "facts" | "body">): InputTokens {
  if (facts.inputTokensMax !== undefined) return { text: 0, image: 0, audio: facts.inputTokensMax };
  if (!(body instanceof Uint8Array)) return { text: Math.ceil(facts.inputEstimate * margin), image: 0, audio: 0 };
  const media = facts.namesMedia === false ? noMedia : inlineMedia(asBuffer(body));
  // The whole body: schemas of answers and other settings are input, too. An endpoint may read a part of it several times.
  const read = facts.namesMedia === true ? 0 : facts.inputEstimate;
  const textTokens = Math.max(read, (body.length - media.bytes) / bytesPerToken);
  const text = Math.ceil(textTokens * (1 + nonAsciiShare(body)) * margin) + media.document;
  const { image, audio } = media;
  return { text, image, audio };
}

/** Whether a call asks for a prompt cache to be written. */
export function asksToCache({ facts, body, protocol }: Pick<Call, "facts" | "body" | "protocol">): CacheWrites {
  if (facts.inputTokensMax !== undefined || !(body instanceof Uint8Array)) return noWrites();
  return cacheWrites(asBuffer(body), protocol.wireDialect);
}

/** Of a large body some parts are sampled. */
function nonAsciiShare(bytes: Uint8Array): number {
  const parts = bytes.length > sampleBytes * samples ? samples : 1;
  if (parts === 1 && isAscii(bytes)) return 0;
  const size = parts === 1 ? bytes.length : sampleBytes;
  const step = parts === 1 ? 0 : (bytes.length - size) / (parts - 1);
  let count = 0;
  for (let part = 0; part < parts; part++) {
    const from = Math.floor(part * step);
    for (let at = from; at < from + size; at++) if ((bytes[at] as number) >= 0x80) count++;
  }
  return size === 0 ? 0 : count / (size * parts);
}

const samples = 64;
const sampleBytes = 512;

/** Of a file that the vendor keeps, by its size and its media type or name: text, a picture, or what may be packed text. */
export function guessFile(bytes: number, type: string): number {
  if (/^image\/|\.(?:png|jpe?g|gif|webp)$/i.test(type)) return bounds.pictureTokensMax;
  const isText = /^text\/|^application\/(?:json|xml)|\.(?:txt|md|jsonl?|csv|html?|xml|[cm]?[jt]sx?|py)$/i.test(type);
  return Math.ceil(isText ? (bytes * margin) / bytesPerToken : (bytes * 4) / 3);
}

import type { AnswerBlock, CacheHint, MediaPart, MediaSource, TextPart, TurnPart } from "#core/index.ts";
import { readDataUri } from "./data-uri.ts";

export function textPart(text: string, cache: CacheHint | null = null): TextPart {
  return { kind: "text", text, cache };
}

export function mediaPart(
  kind: MediaPart["kind"],
  source: MediaSource,
  more: Partial<Pick<MediaPart, "name" | "detail" | "cache">> = {},
): MediaPart {
  return { kind, source, name: null, detail: null, cache: null, ...more };
}

/** The content of a data URI, or the URL. */
export function urlSource(url: string): MediaSource {
  return readDataUri(url) ?? { kind: "url", url, mediaType: null };
}

export function isMedia(part: TurnPart): part is MediaPart {
  return part.kind === "image" || part.kind === "document" || part.kind === "audio" || part.kind === "video";
}

/** The texts of text parts, without other parts. */
export function textsIn(parts: readonly (TurnPart | AnswerBlock)[]): string[] {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
}

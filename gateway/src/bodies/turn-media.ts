import type { MediaPart, Turn, TurnMessage, TurnPart } from "#core/index.ts";
import { MediaRoom } from "#protocols/index.ts";

/**
 * Addresses of pictures and documents in the turn that its upstream does not read by itself, each once. `fetchesUrls` says
 * otherwise than the dialect of this one.
 */
export function addressesIn(turn: Turn, fetchesUrls: boolean | undefined, dialect: ReadsAddresses): readonly string[] {
  const { namedMedia = null } = dialect;
  const takesUrl = fetchesUrls === undefined ? dialect.takesUrl : fetchesUrls ? null : none;
  if (takesUrl === null && namedMedia === null) return [];
  const urls = new Set<string>();
  const takes = ({ kind }: MediaPart, url: string): boolean =>
    (takesUrl?.(url) ?? true) && (namedMedia?.has(kind) ?? true);
  for (const { parts } of turn.messages) for (const part of parts) collect(part, takes, urls);
  return [...urls];
}

/** What a dialect's own vendor reads by its address. */
interface ReadsAddresses {
  /** null: all addresses. */
  readonly takesUrl: ((url: string) => boolean) | null;
  /** Absent: media of all kinds. */
  readonly namedMedia?: ReadonlySet<MediaPart["kind"]>;
}

/** The turn with what stands at addresses put in its place, in base64. Throws Failure invalid_request when it is too much. */
export function withMedia(
  turn: Turn,
  found: ReadonlyMap<string, { readonly mediaType: string; readonly data: string }>,
): Turn {
  const room = new MediaRoom();
  const put = <Part extends TurnPart>(part: Part): Part => {
    if (part.kind === "tool-result") return { ...part, parts: part.parts.map(put) };
    if (!isMedia(part) || part.source.kind !== "url") return part;
    const media = found.get(part.source.url);
    if (media === undefined) return part;
    room.take(media.data.length);
    return { ...part, source: { kind: "base64", ...media } };
  };
  const inlined = (message: TurnMessage): TurnMessage => ({ ...message, parts: message.parts.map(put) });
  return { ...turn, messages: turn.messages.map(inlined) };
}

function collect(part: TurnPart, takes: (part: MediaPart, url: string) => boolean, into: Set<string>): void {
  if (part.kind === "tool-result") {
    for (const inner of part.parts) collect(inner, takes, into);
    return;
  }
  if (!isMedia(part) || part.source.kind !== "url") return;
  const { url } = part.source;
  if (/^https?:\/\//i.test(url) && !takes(part, url)) into.add(url);
}

function isMedia(part: TurnPart): part is MediaPart {
  return "source" in part;
}

const none = (): boolean => false;

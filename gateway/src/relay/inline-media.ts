import { asFailure, bounds, Failure, type MediaPart, type Turn, type TurnMessage, type TurnPart } from "#core/index.ts";
import type { Transport } from "#ports/index.ts";

/** What stands at one address. */
export interface FetchedMedia {
  readonly mediaType: string;
  /** base64 */
  readonly data: string;
  /** In bytes. */
  readonly size: number;
}

export interface MediaFetch {
  readonly transport: Transport;
  readonly signal: AbortSignal;
  /** Addresses that the upstream reads by itself. */
  readonly takesUrl: (url: string) => boolean;
}

/** Whether the turn holds pictures or documents by an address that the upstream does not read. */
export function needsInline(turn: Turn, takesUrl: (url: string) => boolean): boolean {
  return turn.messages.some(({ parts }) => parts.some((part) => addressesOf(part, takesUrl).length > 0));
}

/**
 * The turn with what stands at addresses put in its place, for upstreams that read no addresses. An address comes from the
 * caller, so it goes through the guard like every other and is never let into a private network; one that moves is
 * followed a few times, through the guard each time. Throws Failure invalid_request when it cannot be had.
 */
export async function inlineMedia(turn: Turn, fetch: MediaFetch): Promise<Turn> {
  const urls = new Set(
    turn.messages.flatMap(({ parts }) => parts.flatMap((part) => addressesOf(part, fetch.takesUrl))),
  );
  if (urls.size > bounds.inlinedMediaMax) {
    throw new Failure("invalid_request", `More than ${bounds.inlinedMediaMax} addresses of media in one call.`, {
      param: "messages",
    });
  }
  const found = new Map<string, FetchedMedia>();
  let size = 0;
  // One after the other: their sum is bounded.
  for (const url of urls) {
    const media = await fetchMedia(url, fetch, bounds.inlinedBytesMax - size);
    size += media.size;
    found.set(url, media);
  }
  return { ...turn, messages: turn.messages.map((message) => inlined(message, found)) };
}

function addressesOf(part: TurnPart, takesUrl: (url: string) => boolean): string[] {
  if (part.kind === "tool-result") return part.parts.flatMap((inner) => addressesOf(inner, takesUrl));
  if (!isMedia(part) || part.source.kind !== "url") return [];
  const { url } = part.source;
  return /^https?:\/\//i.test(url) && !takesUrl(url) ? [url] : [];
}

function isMedia(part: TurnPart): part is MediaPart {
  return "source" in part;
}

function inlined(message: TurnMessage, found: ReadonlyMap<string, FetchedMedia>): TurnMessage {
  const put = <Part extends TurnPart>(part: Part): Part => {
    if (part.kind === "tool-result") return { ...part, parts: part.parts.map(put) };
    if (!isMedia(part) || part.source.kind !== "url") return part;
    const media = found.get(part.source.url);
    return media === undefined
      ? part
      : { ...part, source: { kind: "base64", mediaType: media.mediaType, data: media.data } };
  };
  return { ...message, parts: message.parts.map(put) };
}

/** One address of a caller's, through the guard. Throws Failure invalid_request when it cannot be had. */
export async function fetchMedia(
  url: string,
  { transport, signal }: Pick<MediaFetch, "transport" | "signal">,
  bytesMax: number,
): Promise<FetchedMedia> {
  let next = url;
  for (let moves = 0; moves <= bounds.inlinedMovesMax; moves++) {
    try {
      const answer = await transport.send(
        {
          method: "GET",
          url: next,
          headers: { accept: "*/*", "user-agent": "sluice" },
          body: null,
          connectMs: bounds.inlinedFetchMs,
          headersMs: bounds.inlinedFetchMs,
          totalMs: bounds.inlinedFetchMs * 2,
          allowPrivateNetwork: false,
        },
        signal,
      );
      const { status, headers } = answer;
      if (status >= 300 && status < 400) {
        answer.body.cancel();
        next = new URL(headers.get("location") ?? "", next).href;
        // Within this process there are upstreams too, at addresses of another scheme.
        if (!/^https?:/.test(next)) throw notHad("it moves to where no pictures are");
        continue;
      }
      if (status !== 200) {
        answer.body.cancel();
        throw notHad(`its host answered ${status}`);
      }
      const bytes = await answer.body.readAll(Math.max(1, bytesMax), "idle", bounds.inlinedFetchMs);
      const mediaType = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
      return {
        mediaType: mediaType === "" ? "application/octet-stream" : mediaType,
        data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64"),
        size: bytes.length,
      };
    } catch (thrown) {
      const failure = asFailure(thrown);
      if (failure.code === "client_closed" || failure.code === "invalid_request") throw failure;
      throw notHad("it could not be reached, or is too large", failure);
    }
  }
  throw notHad("it moves too often");
}

/** The caller's own mistake, or its host's: no other deployment is asked, and none is to blame. */
function notHad(why: string, cause?: unknown): Failure {
  return new Failure("invalid_request", `A picture or document could not be fetched from its address: ${why}.`, {
    param: "messages",
    cause,
  });
}

import { asFailure, bounds, type CallSignal, Failure } from "#core/index.ts";
import type { Transport } from "#ports/index.ts";

/** What stands at one address. */
export interface FetchedBytes {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

interface MediaFetch {
  readonly transport: Transport;
  readonly signal: CallSignal;
}

/**
 * What stands at addresses, for upstreams that read none. An address comes from the caller, so it goes through the guard
 * like every other and is never let into a private network; one that moves is followed a few times, through the guard
 * each time. Throws Failure invalid_request when one cannot be had.
 */
export async function fetchAll(urls: readonly string[], fetch: MediaFetch): Promise<ReadonlyMap<string, FetchedBytes>> {
  if (urls.length > bounds.inlinedMediaMax) {
    throw new Failure("invalid_request", `More than ${bounds.inlinedMediaMax} addresses of media in one call.`, {
      param: "messages",
    });
  }
  const found = new Map<string, FetchedBytes>();
  let size = 0;
  // One after the other: their sum is bounded.
  for (const url of urls) {
    const media = await fetchBytes(url, fetch, bounds.inlinedBytesMax - size);
    size += media.bytes.length;
    found.set(url, media);
  }
  return found;
}

/** One address of a caller's, through the guard. Throws Failure invalid_request when it cannot be had. */
export async function fetchBytes(
  url: string,
  { transport, signal }: MediaFetch,
  bytesMax: number,
): Promise<FetchedBytes> {
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
      return { mediaType: mediaType === "" ? "application/octet-stream" : mediaType, bytes };
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

import type { Provider } from "#core/index.ts";
import { mediaUrlsIn, withMediaInPlace } from "#protocols/index.ts";
import { mayFetch } from "#providers/index.ts";
import type { Call } from "./call.ts";
import type { CallTally } from "./call-tally.ts";
import type { RelayHouse } from "./house.ts";
import { fetchAll, inBase64 } from "./inline-media.ts";

/**
 * A body for an upstream in a private network, with what stands at its addresses in their place: the upstream would fetch
 * them from where no caller may look. Fetched here, they go through the guard. Throws Failure invalid_request.
 */
export function inlinedForPrivate(
  house: RelayHouse,
  call: Call,
  body: Uint8Array,
  { provider, tally }: { readonly provider: Provider; readonly tally: CallTally },
): Uint8Array | Promise<Uint8Array> {
  if (mayFetch(provider) || !withMedia.has(call.speech.endpoint)) return body;
  const urls = mediaUrlsIn(body);
  if (urls.length === 0) return body;
  const beganMs = house.clock.monotonic();
  return fetchAll([...new Set(urls.map(({ url }) => url))], { transport: house.transport, signal: call.signal }).then(
    (found) => {
      // What others' hosts take is not our own time.
      tally.awayMs += house.clock.monotonic() - beganMs;
      const media = new Map(
        [...found].map(([url, { mediaType, bytes }]) => [url, { mediaType, data: inBase64(bytes) }]),
      );
      return withMediaInPlace(body, urls, media);
    },
  );
}

const withMedia: ReadonlySet<string> = new Set(["chat", "responses", "responses-compact", "messages", "count-tokens"]);

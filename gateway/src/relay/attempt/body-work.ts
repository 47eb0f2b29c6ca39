import { type BodyAsk, type BodyJobKind, type BodyOutcome, outcomeOf } from "#bodies/index.ts";
import { asFailure, bounds, type CallSignal, Failure, type Provider } from "#core/index.ts";
import type { Clock, Transport } from "#ports/index.ts";
import { mayHoldMediaUrls } from "#protocols/index.ts";
import { type Lane, mayFetch } from "#providers/index.ts";
import type { Call } from "../call.ts";
import type { AttemptParts } from "./call-tally.ts";

/**
 * Runs a job on the call's body, or on `body`. The call has its body again afterwards, even after a failure: another deployment may be
 * tried with it. If no thread could do the job, the body is lost and the call fails. `body` of the result: the given one.
 */
export async function workOnBody<Kind extends BodyJobKind>(
  { dependencies, call, warnings }: Pick<AttemptParts, "dependencies" | "call" | "warnings">,
  kind: Kind,
  ask: BodyAsk<Kind>,
  { body = call.body, beside = [] }: { readonly body?: Call["body"]; readonly beside?: readonly Uint8Array[] } = {},
): Promise<BodyOutcome<Kind> & { readonly body: Uint8Array }> {
  if (!(body instanceof Uint8Array)) throw new Error("The call's body was released.");
  const isOwn = body === call.body;
  try {
    const { signal, principal: owner } = call;
    const done = await dependencies.bodies.do(kind, ask, body, {
      beside,
      signal,
      owner,
      warn: (warning) => warnings.add(warning),
    });
    // null: it was released meanwhile.
    if (isOwn && call.body !== null) call.body = done.body;
    return { ...outcomeOf(done), body: done.body };
  } catch (thrown) {
    if (isOwn && call.body instanceof Uint8Array && call.body.length === 0) call.body = null;
    throw asFailure(thrown);
  }
}

/** Runs a job on an upstream's whole reply. */
export async function workOnReply<Kind extends BodyJobKind>(
  { dependencies, call, warnings }: Pick<AttemptParts, "dependencies" | "call" | "warnings">,
  kind: Kind,
  ask: BodyAsk<Kind>,
  reply: Uint8Array,
): Promise<BodyOutcome<Kind>> {
  return outcomeOf(
    await dependencies.bodies.do(kind, ask, reply, { owner: call.principal, warn: (warning) => warnings.add(warning) }),
  );
}

/** The bytes of a job that had everything it needs. */
export function madeBy({ made }: { readonly made: Uint8Array | null }): Uint8Array {
  if (made === null) throw new Error("The job made no bytes.");
  return made;
}

/** Whether the gateway has to fetch media at addresses in the body. */
export function mayNeedInlining({ facts, marks, protocol }: Call, provider: Provider, lane: Lane): boolean {
  if (facts.mayHoldMedia === false || marks?.addresses === false) return false;
  const isFetched = mayFetch(provider) && lane.traits?.fetchesUrls !== false;
  return !isFetched && withMedia.has(protocol.endpoint);
}

const withMedia: ReadonlySet<string> = new Set([
  ...["chat", "responses", "responses-compact", "input-tokens", "messages", "count-tokens"],
]);

/**
 * Replaces addresses in a body by the media, for an upstream that cannot fetch (Claude on Bedrock), or is in a private network and could
 * fetch from there. Throws Failure invalid_request.
 */
export async function inlined(parts: AttemptParts, body: Uint8Array): Promise<Uint8Array> {
  if (body.length <= bounds.readInPlaceBytesMax && !mayHoldMediaUrls(body)) return body;
  const found = await workOnBody(parts, "inline", null, { body });
  if (found.answer.length === 0) return found.body;
  const { media, bytes } = await fetchAll(found.answer, parts);
  return madeBy(await workOnBody(parts, "inline", media, { body: found.body, beside: bytes }));
}

/** Fetches media from the caller's addresses, in their order. Throws Failure invalid_request. */
export async function fetchAll(
  urls: readonly string[],
  { dependencies: { transport, clock }, call: { signal }, tally }: MediaFetch,
) {
  if (urls.length > bounds.inlinedMediaMax) {
    throw new Failure("invalid_request", `More than ${bounds.inlinedMediaMax} addresses of media in one call.`, {
      param: "messages",
    });
  }
  const beganMs = clock.monotonic();
  const media: { url: string; mediaType: string }[] = [];
  const bytes: Uint8Array[] = [];
  let size = 0;
  // One after the other: their sum is bounded.
  for (const url of urls) {
    const fetched = await fetchBytes(url, { transport, signal }, bounds.inlinedBytesMax - size);
    size += fetched.bytes.length;
    media.push({ url, mediaType: fetched.mediaType });
    bytes.push(fetched.bytes);
  }
  tally.awayMs += clock.monotonic() - beganMs;
  return { media, bytes };
}

interface MediaFetch {
  readonly dependencies: { readonly transport: Transport; readonly clock: Pick<Clock, "monotonic"> };
  readonly call: { readonly signal: CallSignal };
  readonly tally: { awayMs: number };
}

/** Never from a private network, also after a redirect. Throws Failure invalid_request. */
export async function fetchBytes(
  url: string,
  { transport, signal }: { readonly transport: Transport; readonly signal: CallSignal },
  bytesMax: number,
): Promise<{ readonly mediaType: string; readonly bytes: Uint8Array }> {
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
        // The demo upstream in this process has another scheme.
        if (!/^https?:/.test(next)) throw notFetched("its host redirects to an unsupported scheme");
        continue;
      }
      if (status !== 200) {
        answer.body.cancel();
        throw notFetched(`its host answered ${status}`);
      }
      const bytes = await answer.body.readAll(Math.max(1, bytesMax), "idle", bounds.inlinedFetchMs);
      const mediaType = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
      return { mediaType: mediaType === "" ? "application/octet-stream" : mediaType, bytes };
    } catch (thrown) {
      const failure = asFailure(thrown);
      if (failure.code === "client_closed" || failure.code === "invalid_request") throw failure;
      throw notFetched("it could not be reached, or is too large", failure);
    }
  }
  throw notFetched("its host redirects too often");
}

function notFetched(why: string, cause?: unknown): Failure {
  return new Failure("invalid_request", `A picture or document could not be fetched from its address: ${why}.`, {
    param: "messages",
    cause,
  });
}

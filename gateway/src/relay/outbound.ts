import { bounds } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";
import { laneUrl, type OutboundDraft } from "#providers/index.ts";
import type { Pick } from "#routing/index.ts";
import { adjustDraft } from "./adjusted-draft.ts";
import type { AttemptEntry } from "./attempt-entry.ts";
import type { Call } from "./call.ts";
import type { CallTally } from "./call-tally.ts";
import { checkObjects } from "./check-objects.ts";
import { bearsSeals, unsealedBody } from "./foreign-seals.ts";
import { withQuery } from "./forwarded-query.ts";
import { governedRequest } from "./governed-request.ts";
import type { RelayHouse } from "./house.ts";
import { ownIdempotencyKeys } from "./idempotency-key.ts";
import { inlinedWhereNotFetched } from "./inline-native.ts";
import { forwardedHeaders, neutralHeaders, vendorVersions } from "./request-headers.ts";
import type { Translator, Warnings } from "./translator.ts";
import type { Way } from "./way.ts";
import { madeBy, workOnCall } from "./work-on-call.ts";

export interface OutboundParts {
  readonly call: Call;
  readonly pick: Pick;
  readonly way: Way;
  readonly entry: AttemptEntry;
  readonly translation: Translator | null;
  readonly tally: CallTally;
  /** Of a call that is not translated. */
  readonly warnings: Warnings;
}

/** Sends one attempt: the caller's own bytes on a lane of its dialect, else the turn as the lane's dialect says it. */
export async function sendAttempt(
  house: RelayHouse,
  parts: OutboundParts,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  const { call, pick, way, entry, translation, warnings } = parts;
  const { provider, upstreamModel } = pick.deployment;
  const { lane, kind } = way;
  const { facts } = call;
  const headers = translation === null ? forwardedHeaders(call.headers, provider) : neutralHeaders(call.headers);
  ownIdempotencyKeys(headers, { workspaceId: call.principal.workspace.id, upstreamModel });
  Object.assign(headers, vendorVersions(call));
  headers["x-attempt-id"] = entry.attemptId;
  headers["user-agent"] ??= "sluice";
  checkObjects(house, call, provider);
  const made = bodyOf(house, parts);
  const whole = made instanceof Promise ? await made : made;
  const warn = translation?.warn ?? ((what: string) => void warnings.add(what));
  const governed =
    whole instanceof Uint8Array
      ? governedRequest(house, call, whole, { provider, kind, translated: translation !== null, warn })
      : whole;
  const cleared = governed instanceof Promise ? await governed : governed;
  const inlined =
    translation === null && cleared instanceof Uint8Array
      ? inlinedWhereNotFetched(house, call, cleared, { provider, lane, tally: parts.tally })
      : cleared;
  const body = inlined instanceof Promise ? await inlined : inlined;
  headers["content-type"] = body instanceof Uint8Array ? "application/json" : body.contentType;
  const url = laneUrl(provider, lane, upstreamModel, facts.stream);
  const draft: OutboundDraft = {
    provider,
    upstreamModel,
    stream: facts.stream,
    method: "POST",
    url: translation === null ? withQuery(url, call.query) : url,
    headers,
    body: body instanceof Uint8Array ? body : null,
  };
  const adjusting = adjustDraft(house, draft, { call, way, warn });
  if (adjusting !== undefined) await adjusting;
  const token = kind.tokens === undefined ? null : await house.tokens.tokenOf(provider, kind.tokens, signal);
  const authorized = kind.authorize(draft, { now: house.clock.now(), token });
  if (authorized !== undefined) await authorized;
  entry.sending();
  return house.transport.send(
    {
      method: draft.method,
      url: draft.url,
      headers: draft.headers,
      body: draft.body ?? (body instanceof Uint8Array ? null : body),
      connectMs: provider.timeouts.connectMs,
      headersMs: facts.stream ? provider.timeouts.headersMs : provider.timeouts.wholeHeadersMs,
      totalMs: provider.timeouts.totalMs,
      allowPrivateNetwork: provider.allowPrivateNetwork,
      ownConnection: facts.images > 0,
    },
    signal,
  );
}

function bodyOf(house: RelayHouse, parts: OutboundParts) {
  const { call, pick, translation } = parts;
  if (translation !== null) return translation.body();
  const { body, facts, speech } = call;
  if (body === null) throw new Error("a call is sent after its answer has begun");
  const { upstreamModel } = pick.deployment;
  if (!(body instanceof Uint8Array)) {
    return { contentType: body.contentType, size: body.size(upstreamModel), open: () => body.open(upstreamModel) };
  }
  if (bearsSeals(call)) return unsealedBody(house, parts, body);
  if (body.length > bounds.readInPlaceBytesMax) {
    return workOnCall(house.bodies, call, "patch", { endpoint: speech.endpoint, facts, upstreamModel }).then(madeBy);
  }
  return speech.wire.patchRequest(body, facts, upstreamModel);
}

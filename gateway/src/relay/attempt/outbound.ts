import { bounds, type CallSignal } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";
import {
  type Governing,
  holdsSeals,
  patchedPieces,
  patchedRequest,
  patchesAtOnce,
  unsealBody,
} from "#protocols/index.ts";
import { type OutboundDraft, withQuery } from "#providers/index.ts";
import type { Call } from "../call.ts";
import { checkObjects } from "../kept-state.ts";
import type { Translator } from "../translation/translator.ts";
import type { AttemptParts } from "./call-tally.ts";
import { dropThreadBetas, governingOf, withoutGoverned } from "./governed-request.ts";
import { inlined, mayNeedInlining } from "./inline-media.ts";
import { urlOf } from "./lane-match.ts";
import { addAttemptHeaders, addVendorVersions, forwardedHeaders, neutralHeaders } from "./request-headers.ts";
import type { BegunAttempt } from "./run-attempt.ts";
import { madeBy, workOnBody } from "./work-on-body.ts";

/**
 * Sends one attempt: the caller's own bytes if the lane speaks its dialect, else the translated turn. Most calls are sent before this
 * returns. `translator` null: caller and upstream speak the same dialect. Throws Failure, or rejects with one.
 */
export function sendAttempt(
  attempt: BegunAttempt,
  translator: Translator | null,
  signal: CallSignal,
): Promise<OutboundAnswer> {
  const { dependencies, call, selection, match, entry } = attempt;
  const { deployment } = selection;
  const { provider, upstreamModel } = deployment;
  const { stream } = call.facts;
  const headers = translator === null ? forwardedHeaders(call.headers, provider) : neutralHeaders(call.headers);
  addAttemptHeaders(headers, attempt, entry.attemptId);
  addVendorVersions(headers, call);
  dropThreadBetas(headers, attempt);
  checkObjects(dependencies, call, provider);
  const governing = governingOf(attempt);
  const form = translator === null && !(call.body instanceof Uint8Array) ? call.body : null;
  headers["content-type"] = form?.contentType ?? "application/json";
  const pieces =
    form === null
      ? passedPieces(attempt, governing)
      : { size: form.size(upstreamModel), open: () => form.open(upstreamModel) };
  const whole = pieces === null ? wholeBody(attempt, translator, governing) : null;
  const url = urlOf(match, deployment, stream);
  const draft: OutboundDraft = {
    provider,
    upstreamModel,
    stream,
    method: "POST",
    url: translator === null ? withQuery(url, call.query) : url,
    headers,
    body: whole instanceof Promise ? null : whole,
  };
  const { providerClient } = dependencies;
  const authorize = () => providerClient.authorize(match.kind, draft, signal);
  const send = (): Promise<OutboundAnswer> => {
    entry.sending();
    const { connectMs, headersMs, totalMs } = provider.timeouts;
    const clocks = { connectMs, headersMs, totalMs, ownConnection: call.facts.images > 0 };
    return providerClient.send(draft, clocks, signal, draft.body ?? pieces);
  };
  const later = whole instanceof Promise ? adjustLater(attempt, draft, whole) : adjust(attempt, draft);
  const authorizing = later === undefined ? authorize() : later.then(authorize);
  return authorizing === undefined ? send() : authorizing.then(send);
}

async function adjustLater(parts: AttemptParts, draft: OutboundDraft, body: Promise<Uint8Array>): Promise<void> {
  draft.body = await body;
  await adjust(parts, draft);
}

/** A long body in pieces that are not copied. null: it is short or signed, or more than its model's name is changed. */
function passedPieces({ call, selection, match }: AttemptParts, governing: Governing | null) {
  const { body, facts, protocol } = call;
  const { provider, upstreamModel } = selection.deployment;
  const { lane, kind, translated, adjusts } = match;
  if (translated || !(body instanceof Uint8Array) || body.length <= bounds.sendAtOnceBytesMax) return null;
  if (adjusts || kind.signsBody === true || governing !== null) return null;
  if (mayNeedInlining(call, provider, lane) || bearsSeals(call)) return null;
  return patchesAtOnce(protocol.wire, facts) ? patchedPieces(protocol.wire, body, facts, upstreamModel) : null;
}

function wholeBody(
  parts: AttemptParts,
  translator: Translator | null,
  governing: Governing | null,
): Uint8Array | Promise<Uint8Array> {
  const { call, selection, match } = parts;
  const inlines = translator === null && mayNeedInlining(call, selection.deployment.provider, match.lane);
  const made = translator === null ? patchedBody(parts) : translator.body();
  return governing === null && !inlines ? made : clearedBody(parts, made, governing, inlines);
}

async function clearedBody(
  parts: AttemptParts,
  made: Uint8Array | Promise<Uint8Array>,
  governing: Governing | null,
  inlines: boolean,
): Promise<Uint8Array> {
  const body = governing === null ? await made : await withoutGoverned(parts, await made, governing);
  return inlines ? inlined(parts, body) : body;
}

/** The caller's body with the upstream's model; a large one is worked on in a thread. */
export function patchedBody(parts: AttemptParts): Uint8Array | Promise<Uint8Array> {
  const { dependencies, call, selection, warnings } = parts;
  const { body, facts, protocol } = call;
  const { endpoint, wire, wireDialect: dialect } = protocol;
  const { upstreamModel } = selection.deployment;
  if (!(body instanceof Uint8Array)) throw new Error("a call is sent after its answer has begun");
  const ask = { endpoint, facts, upstreamModel };
  if (!bearsSeals(call)) {
    const inPlaceMax = patchesAtOnce(wire, facts) ? bounds.sendAtOnceBytesMax : bounds.readInPlaceBytesMax;
    if (body.length <= inPlaceMax) return patchedRequest(wire, body, facts, upstreamModel);
    return workOnBody(dependencies.bodies, call, "patch", ask).then(madeBy);
  }
  if (body.length <= bounds.unsealInPlaceBytesMax) {
    return unsealBody(patchedRequest(wire, body, facts, upstreamModel), { dialect, upstreamModel }, warnings.add);
  }
  return workOnBody(dependencies.bodies, call, "unseal", { ...ask, dialect }).then((done) => {
    for (const what of done.answer) warnings.add(what);
    return madeBy(done);
  });
}

/**
 * Whether a body may hold what one of our translations sealed, because another vendor answered an earlier turn. An upstream of the
 * caller's dialect cannot read the seal.
 */
export function bearsSeals({ body, protocol, marks }: Pick<Call, "body" | "protocol" | "marks">): boolean {
  if (!(body instanceof Uint8Array)) return false;
  return marks?.seals ?? holdsSeals(body, protocol.wireDialect);
}

/** Changes the request as its kind needs; a large body in a thread. Throws Failure invalid_request. */
function adjust(parts: AttemptParts, draft: OutboundDraft): Promise<void> | undefined {
  const { lane, adjusts } = parts.match;
  const { body } = draft;
  if (!adjusts || lane.adjust === undefined) return undefined;
  const inPlaceMax = lane.walks === true ? bounds.unsealInPlaceBytesMax : bounds.readInPlaceBytesMax;
  if (body !== null && body.length > inPlaceMax) return adjustBeside(parts, draft, body);
  lane.adjust(draft, parts.warnings.add);
  return undefined;
}

async function adjustBeside(
  { dependencies, call, match, warnings }: AttemptParts,
  draft: OutboundDraft,
  body: Uint8Array,
): Promise<void> {
  const { upstreamModel, stream, method, url, headers } = draft;
  const provider = { ...draft.provider, secret: null };
  const lane = match.kind.lanes.indexOf(match.lane);
  const ask = { provider, lane, upstreamModel, stream, method, url, headers: { ...headers } };
  const { answer, made } = await workOnBody(dependencies.bodies, call, "adjust", ask, { body });
  draft.body = madeBy({ made });
  draft.method = answer.method;
  draft.url = answer.url;
  for (const name of Object.keys(headers)) if (!(name in answer.headers)) delete headers[name];
  Object.assign(headers, answer.headers);
  for (const what of answer.warnings) warnings.add(what);
}

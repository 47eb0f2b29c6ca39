import { bounds } from "#core/index.ts";
import type { OutboundBody } from "#ports/index.ts";
import { patchedPieces, patchedRequest, patchesAtOnce, type Warn } from "#protocols/index.ts";
import type { Selection } from "#routing/index.ts";
import type { Call } from "../call.ts";
import type { RelayDependencies } from "../dependencies.ts";
import { bearsSeals, unsealedBody } from "../translation/foreign-seals.ts";
import type { Translator, Warnings } from "../translation/translator.ts";
import type { CallTally } from "./call-tally.ts";
import { governedRequest, governingOf } from "./governed-request.ts";
import { inlinedWhereNotFetched, mayNeedInlining } from "./inline-native.ts";
import type { LaneMatch } from "./lane-match.ts";
import { madeBy, workOnCall } from "./work-on-call.ts";

export interface BodyParts {
  readonly call: Call;
  readonly selection: Selection;
  readonly match: LaneMatch;
  readonly translation: Translator | null;
  readonly tally: CallTally;
  /** Of a call that is not translated. */
  readonly warnings: Warnings;
}

export interface TypedBody {
  readonly contentType: string;
  readonly body: OutboundBody;
}

/**
 * What one attempt sends: the caller's own bytes with another model in them, or the turn as the lane's dialect says it. A
 * long body that is passed as it is stays where it is, and is sent in pieces of itself. Throws Failure.
 */
export function outboundBody(
  dependencies: RelayDependencies,
  parts: BodyParts,
  warn: Warn,
): TypedBody | Promise<TypedBody> {
  const pieces = passedPieces(dependencies, parts);
  if (pieces !== null) return json(pieces);
  const { call, selection, translation } = parts;
  const { upstreamModel } = selection.deployment;
  if (translation === null && call.body !== null && !(call.body instanceof Uint8Array)) {
    const form = call.body;
    return {
      contentType: form.contentType,
      body: { size: form.size(upstreamModel), open: () => form.open(upstreamModel) },
    };
  }
  const made = translation === null ? patchedBody(dependencies, parts) : translation.body();
  return made instanceof Promise
    ? made.then((whole) => clearedBody(dependencies, parts, whole, warn))
    : clearedBody(dependencies, parts, made, warn);
}

/** Without what this account may not get, and with what it cannot fetch. */
function clearedBody(
  dependencies: RelayDependencies,
  parts: BodyParts,
  whole: Uint8Array,
  warn: Warn,
): TypedBody | Promise<TypedBody> {
  const { call, selection, match, translation, tally } = parts;
  const { provider } = selection.deployment;
  const { lane, kind } = match;
  const translated = translation !== null;
  const inlined = (cleared: Uint8Array): TypedBody | Promise<TypedBody> => {
    if (translated) return json(cleared);
    const made = inlinedWhereNotFetched(dependencies, call, cleared, { provider, lane, tally });
    return made instanceof Promise ? made.then(json) : json(made);
  };
  const governed = governedRequest(dependencies, call, whole, { provider, kind, translated, warn });
  return governed instanceof Promise ? governed.then(inlined) : inlined(governed);
}

/** null: the body is short, or more than its model's name is different in what is sent, or it is signed. */
function passedPieces(dependencies: RelayDependencies, { call, selection, match, translation }: BodyParts) {
  const { body, facts, protocol } = call;
  const { provider, upstreamModel } = selection.deployment;
  const { lane, kind } = match;
  if (translation !== null || !(body instanceof Uint8Array) || body.length <= bounds.sendAtOnceBytesMax) return null;
  if (match.adjusts || kind.signsBody === true || mayNeedInlining(call, provider, lane) || bearsSeals(call))
    return null;
  if (governingOf(dependencies, call, { provider, kind, translated: false }) !== null) return null;
  return patchesAtOnce(protocol.wire, facts) ? patchedPieces(protocol.wire, body, facts, upstreamModel) : null;
}

/** Where much would have to be copied or looked through, in a thread. */
function patchedBody(dependencies: RelayDependencies, parts: BodyParts): Uint8Array | Promise<Uint8Array> {
  const { call, selection } = parts;
  const { body, facts, protocol } = call;
  const { upstreamModel } = selection.deployment;
  if (!(body instanceof Uint8Array)) throw new Error("a call is sent after its answer has begun");
  if (bearsSeals(call)) return unsealedBody(dependencies, parts, body);
  const inPlaceMax = patchesAtOnce(protocol.wire, facts) ? bounds.sendAtOnceBytesMax : bounds.readInPlaceBytesMax;
  if (body.length > inPlaceMax) {
    return workOnCall(dependencies.bodies, call, "patch", { endpoint: protocol.endpoint, facts, upstreamModel }).then(
      madeBy,
    );
  }
  return patchedRequest(protocol.wire, body, facts, upstreamModel);
}

function json(body: OutboundBody): TypedBody {
  return { contentType: "application/json", body };
}

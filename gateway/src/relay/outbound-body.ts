import { bounds } from "#core/index.ts";
import type { OutboundBody } from "#ports/index.ts";
import { patchedPieces, patchedRequest, patchesAtOnce, type Warn } from "#protocols/index.ts";
import type { Pick } from "#routing/index.ts";
import type { Call } from "./call.ts";
import type { CallTally } from "./call-tally.ts";
import { bearsSeals, unsealedBody } from "./foreign-seals.ts";
import { governedRequest, governingOf } from "./governed-request.ts";
import type { RelayHouse } from "./house.ts";
import { inlinedWhereNotFetched, mayNeedInlining } from "./inline-native.ts";
import type { Translator, Warnings } from "./translator.ts";
import type { Way } from "./way.ts";
import { madeBy, workOnCall } from "./work-on-call.ts";

export interface BodyParts {
  readonly call: Call;
  readonly pick: Pick;
  readonly way: Way;
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
export async function outboundBody(house: RelayHouse, parts: BodyParts, warn: Warn): Promise<TypedBody> {
  const pieces = passedPieces(house, parts);
  if (pieces !== null) return json(pieces);
  const { call, pick, way, translation, tally } = parts;
  const { provider, upstreamModel } = pick.deployment;
  const { lane, kind } = way;
  if (translation === null && call.body !== null && !(call.body instanceof Uint8Array)) {
    const form = call.body;
    return {
      contentType: form.contentType,
      body: { size: form.size(upstreamModel), open: () => form.open(upstreamModel) },
    };
  }
  const made = translation === null ? patchedBody(house, parts) : translation.body();
  const whole = made instanceof Promise ? await made : made;
  const governed = governedRequest(house, call, whole, { provider, kind, translated: translation !== null, warn });
  const cleared = governed instanceof Promise ? await governed : governed;
  if (translation !== null) return json(cleared);
  return json(await inlinedWhereNotFetched(house, call, cleared, { provider, lane, tally }));
}

/** null: the body is short, or more than its model's name is different in what is sent, or it is signed. */
function passedPieces(house: RelayHouse, { call, pick, way, translation }: BodyParts) {
  const { body, facts, speech } = call;
  const { provider, upstreamModel } = pick.deployment;
  const { lane, kind } = way;
  if (translation !== null || !(body instanceof Uint8Array) || body.length <= bounds.sendAtOnceBytesMax) return null;
  if (way.adjusts || kind.signsBody === true || mayNeedInlining(call, provider, lane) || bearsSeals(call)) return null;
  if (governingOf(house, call, { provider, kind, translated: false }) !== null) return null;
  return patchesAtOnce(speech.wire, facts) ? patchedPieces(speech.wire, body, facts, upstreamModel) : null;
}

/** Where much would have to be copied or looked through, in a thread. */
function patchedBody(house: RelayHouse, parts: BodyParts): Uint8Array | Promise<Uint8Array> {
  const { call, pick } = parts;
  const { body, facts, speech } = call;
  const { upstreamModel } = pick.deployment;
  if (!(body instanceof Uint8Array)) throw new Error("a call is sent after its answer has begun");
  if (bearsSeals(call)) return unsealedBody(house, parts, body);
  const inPlaceMax = patchesAtOnce(speech.wire, facts) ? bounds.sendAtOnceBytesMax : bounds.readInPlaceBytesMax;
  if (body.length > inPlaceMax) {
    return workOnCall(house.bodies, call, "patch", { endpoint: speech.endpoint, facts, upstreamModel }).then(madeBy);
  }
  return patchedRequest(speech.wire, body, facts, upstreamModel);
}

function json(body: OutboundBody): TypedBody {
  return { contentType: "application/json", body };
}

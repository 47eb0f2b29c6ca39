import { outcomeOf } from "#bodies/index.ts";
import { bounds } from "#core/index.ts";
import type { OutboundDraft } from "#providers/index.ts";
import type { Call } from "../call.ts";
import type { RelayDependencies } from "../dependencies.ts";
import type { LaneMatch } from "./lane-match.ts";
import { madeBy, workOnCall } from "./work-on-call.ts";

export interface AdjustedFor {
  readonly call: Call;
  readonly match: LaneMatch;
  readonly warn: (what: string) => void;
}

/**
 * Makes a request one as its kind wants it. For a large body this is done in a thread, since it is scanned and written
 * anew. Throws Failure invalid_request.
 */
export function adjustDraft(
  dependencies: RelayDependencies,
  draft: OutboundDraft,
  how: AdjustedFor,
): Promise<void> | undefined {
  const { lane, adjusts } = how.match;
  const { body } = draft;
  if (!adjusts || lane.adjust === undefined) return undefined;
  const inPlaceMax = lane.walks === true ? bounds.unsealInPlaceBytesMax : bounds.readInPlaceBytesMax;
  if (body !== null && body.length > inPlaceMax) return adjustBeside(dependencies, draft, body, how);
  lane.adjust(draft, how.warn);
  return undefined;
}

async function adjustBeside(
  dependencies: RelayDependencies,
  draft: OutboundDraft,
  body: Uint8Array,
  how: AdjustedFor,
): Promise<void> {
  const { call, match, warn } = how;
  const { upstreamModel, stream, method, url, headers } = draft;
  const provider = { ...draft.provider, secret: null };
  const ask = {
    provider,
    lane: match.kind.lanes.indexOf(match.lane),
    upstreamModel,
    stream,
    method,
    url,
    headers: { ...headers },
  };
  // Where nothing was changed yet it is the caller's own body, which another deployment may be tried with.
  const done =
    call.body === body
      ? await workOnCall(dependencies.bodies, call, "adjust", ask)
      : outcomeOf(await dependencies.bodies.do("adjust", ask, body, { signal: call.signal }));
  draft.body = madeBy(done);
  draft.method = done.answer.method;
  draft.url = done.answer.url;
  for (const name of Object.keys(headers)) if (!(name in done.answer.headers)) delete headers[name];
  Object.assign(headers, done.answer.headers);
  for (const what of done.answer.warnings) warn(what);
}

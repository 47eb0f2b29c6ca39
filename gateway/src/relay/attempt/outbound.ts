import type { CallSignal } from "#core/index.ts";
import type { OutboundAnswer, OutboundBody } from "#ports/index.ts";
import type { RequestClocks } from "#provider-client/index.ts";
import type { OutboundDraft } from "#providers/index.ts";
import type { RelayDependencies } from "../dependencies.ts";
import { checkObjects } from "../kept-state.ts";
import { adjustDraft } from "./adjusted-draft.ts";
import type { AttemptEntry } from "./attempt-entry.ts";
import { withQuery } from "./forwarded-query.ts";
import { betasWithoutThreads, leavesThreadOut } from "./governed-request.ts";
import { ownIdempotencyKeys } from "./idempotency-key.ts";
import { urlOf } from "./lane-match.ts";
import { type BodyParts, outboundBody, type TypedBody } from "./outbound-body.ts";
import { addVendorVersions, continueTrace, forwardedHeaders, neutralHeaders } from "./request-headers.ts";

export interface OutboundOptions extends BodyParts {
  readonly entry: AttemptEntry;
}

/**
 * Sends one attempt: the caller's own bytes on a lane of its dialect, else the turn as the lane's dialect says it. Where nothing has
 * to be waited for, it is sent before this returns. Throws Failure.
 */
export function sendAttempt(
  dependencies: RelayDependencies,
  options: OutboundOptions,
  signal: CallSignal,
): Promise<OutboundAnswer> {
  const { call, selection, entry, translation, warnings } = options;
  const { provider, upstreamModel } = selection.deployment;
  const headers = translation === null ? forwardedHeaders(call.headers, provider) : neutralHeaders(call.headers);
  ownIdempotencyKeys(headers, { workspaceId: call.principal.workspace.id, upstreamModel });
  addVendorVersions(headers, call);
  const { attemptId } = entry;
  continueTrace(headers, dependencies.tracing, { requestId: call.requestId, attemptId, provider });
  headers["x-attempt-id"] = attemptId;
  headers["user-agent"] ??= "sluice";
  checkObjects(dependencies, call, provider);
  const betas = headers["anthropic-beta"];
  if (betas !== undefined && leavesThreadOut(call.facts, { provider, kind: options.match.kind })) {
    const left = betasWithoutThreads(betas);
    if (left === null) delete headers["anthropic-beta"];
    else headers["anthropic-beta"] = left;
  }
  const warn = translation?.warn ?? ((what: string) => void warnings.add(what));
  const sending: Sending = { dependencies, options, signal, headers, warn };
  const made = outboundBody(dependencies, options, warn);
  return made instanceof Promise ? made.then((typed) => sendBody(sending, typed)) : sendBody(sending, made);
}

interface Sending {
  readonly dependencies: RelayDependencies;
  readonly options: OutboundOptions;
  readonly signal: CallSignal;
  readonly headers: Record<string, string>;
  readonly warn: (what: string) => void;
}

function sendBody(sending: Sending, { contentType, body }: TypedBody): Promise<OutboundAnswer> {
  const { dependencies, options, signal, headers, warn } = sending;
  const { call, selection, match, translation } = options;
  const { provider, upstreamModel } = selection.deployment;
  const { kind } = match;
  const { stream } = call.facts;
  headers["content-type"] = contentType;
  const url = urlOf(match, selection.deployment, stream);
  const draft: OutboundDraft = {
    provider,
    upstreamModel,
    stream,
    method: "POST",
    url: translation === null ? withQuery(url, call.query) : url,
    headers,
    body: body instanceof Uint8Array ? body : null,
  };
  const authorize = (): Promise<OutboundAnswer> =>
    after(dependencies.providerClient.authorize(kind, draft, signal), () => sendDraft(sending, draft, body));
  return after(adjustDraft(dependencies, draft, { call, match, warn }), authorize);
}

function sendDraft(
  { dependencies, options, signal }: Sending,
  draft: OutboundDraft,
  body: OutboundBody,
): Promise<OutboundAnswer> {
  const { entry, call } = options;
  const { connectMs, headersMs, totalMs } = draft.provider.timeouts;
  entry.sending();
  const clocks: RequestClocks = {
    connectMs,
    headersMs,
    totalMs,
    ownConnection: call.facts.images > 0,
  };
  const sent = draft.body ?? (body instanceof Uint8Array ? null : body);
  return dependencies.providerClient.send(draft, clocks, signal, sent);
}

/** At once where nothing has to be waited for. */
function after<T>(pending: Promise<void> | undefined, next: () => Promise<T>): Promise<T> {
  return pending === undefined ? next() : pending.then(next);
}

import type { OutboundAnswer } from "#ports/index.ts";
import type { RequestClocks } from "#provider-client/index.ts";
import { laneUrl, type OutboundDraft } from "#providers/index.ts";
import type { RelayDependencies } from "../dependencies.ts";
import { adjustDraft } from "./adjusted-draft.ts";
import type { AttemptEntry } from "./attempt-entry.ts";
import { checkObjects } from "./check-objects.ts";
import { withQuery } from "./forwarded-query.ts";
import { ownIdempotencyKeys } from "./idempotency-key.ts";
import { type BodyParts, outboundBody } from "./outbound-body.ts";
import { forwardedHeaders, neutralHeaders, vendorVersions } from "./request-headers.ts";

export interface OutboundOptions extends BodyParts {
  readonly entry: AttemptEntry;
}

/** Sends one attempt: the caller's own bytes on a lane of its dialect, else the turn as the lane's dialect says it. */
export async function sendAttempt(
  dependencies: RelayDependencies,
  options: OutboundOptions,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  const { call, selection, match, entry, translation, warnings } = options;
  const { provider, upstreamModel } = selection.deployment;
  const { lane, kind } = match;
  const { facts } = call;
  const headers = translation === null ? forwardedHeaders(call.headers, provider) : neutralHeaders(call.headers);
  ownIdempotencyKeys(headers, { workspaceId: call.principal.workspace.id, upstreamModel });
  Object.assign(headers, vendorVersions(call));
  headers["x-attempt-id"] = entry.attemptId;
  headers["user-agent"] ??= "sluice";
  checkObjects(dependencies, call, provider);
  const warn = translation?.warn ?? ((what: string) => void warnings.add(what));
  const { contentType, body } = await outboundBody(dependencies, options, warn);
  headers["content-type"] = contentType;
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
  const adjusting = adjustDraft(dependencies, draft, { call, match, warn });
  if (adjusting !== undefined) await adjusting;
  const authorizing = dependencies.providerClient.authorize(kind, draft, signal);
  if (authorizing !== undefined) await authorizing;
  entry.sending();
  const { connectMs, headersMs, wholeHeadersMs, totalMs } = provider.timeouts;
  const clocks: RequestClocks = {
    connectMs,
    headersMs: facts.stream ? headersMs : wholeHeadersMs,
    totalMs,
    ownConnection: facts.images > 0,
  };
  const sent = draft.body ?? (body instanceof Uint8Array ? null : body);
  return dependencies.providerClient.send(draft, clocks, signal, sent);
}

import type { OutboundAnswer } from "#ports/index.ts";
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
  const token = kind.tokens === undefined ? null : await dependencies.tokens.tokenOf(provider, kind.tokens, signal);
  const authorized = kind.authorize(draft, { now: dependencies.clock.now(), token });
  if (authorized !== undefined) await authorized;
  entry.sending();
  return dependencies.transport.send(
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

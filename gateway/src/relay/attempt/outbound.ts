import { createHash } from "node:crypto";
import { bounds, type CallSignal, type Deployment, Failure, type HeaderReader, type Provider } from "#core/index.ts";
import type { FormBody, OutboundBody, Tracing } from "#ports/index.ts";
import {
  canPatchQuickly,
  type GovernedMembers,
  governedMembers,
  isVendorVersion,
  isVersionDate,
  mayHoldForeignSeals,
  type NamedModel,
  patchRequest,
  patchRequestPieces,
  removeForeignSeals,
  threadLeftOut,
} from "#protocols/index.ts";
import {
  callerHeaders,
  governingFor,
  isBlockedHeader,
  type OutboundDraft,
  sendsOwnTrace,
  withQuery,
} from "#providers/index.ts";
import type { Call } from "../call.ts";
import type { Translator } from "../translation/translator.ts";
import { checkNetwork } from "../vendor-objects/object-bodies.ts";
import { checkObjects } from "./attempt-objects.ts";
import { inlined, madeBy, mayNeedInlining, workOnBody } from "./body-work.ts";
import type { AttemptParts } from "./call-tally.ts";
import { leavesThreadOut, urlOf } from "./lane-match.ts";
import type { RunningAttempt } from "./run-attempt.ts";

/**
 * Sends one attempt: the caller's own bytes if the lane speaks its dialect, else the translated turn. Most calls are sent before this
 * returns. `translator` null: caller and upstream speak the same dialect. Throws Failure, or rejects with one.
 */
export function sendAttempt(
  attempt: RunningAttempt,
  translator: Translator | null,
  signal: CallSignal,
): Promise<void> | undefined {
  const { dependencies, call, selection, match, entry } = attempt;
  const { deployment } = selection;
  const { provider, upstreamModel } = deployment;
  const { stream } = call.facts;
  const headers = translator === null ? ownForwardedHeaders(call, provider) : neutralHeaders(call.headers);
  addAttemptHeaders(headers, attempt, entry.attemptId);
  addVendorVersions(headers, call);
  dropThreadBetas(headers, attempt);
  checkObjects(dependencies, call, provider);
  if (call.facts.opensNetwork === true && !match.translated) checkNetwork(provider, "tools");
  const governing = governingOf(attempt);
  const form = translator === null && !(call.body instanceof Uint8Array) ? call.body : null;
  headers["content-type"] = form?.contentType ?? "application/json";
  const pieces = form === null ? passedPieces(attempt, governing) : openedForm(form, upstreamModel);
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
  const adjusting = whole instanceof Promise ? adjustLater(attempt, draft, whole) : adjust(attempt, draft);
  if (adjusting !== undefined) return beginLater(attempt, draft, pieces, signal, adjusting);
  const authorizing = providerClient.authorize(match.kind, draft, signal);
  if (authorizing !== undefined) return beginAuthorized(attempt, draft, pieces, signal, authorizing);
  begin(attempt, draft, pieces, signal);
  return undefined;
}

async function beginLater(
  attempt: RunningAttempt,
  draft: OutboundDraft,
  pieces: OutboundBody | null,
  signal: CallSignal,
  adjusting: Promise<void>,
): Promise<void> {
  await adjusting;
  await attempt.dependencies.providerClient.authorize(attempt.match.kind, draft, signal);
  begin(attempt, draft, pieces, signal);
}

async function beginAuthorized(
  attempt: RunningAttempt,
  draft: OutboundDraft,
  pieces: OutboundBody | null,
  signal: CallSignal,
  authorizing: Promise<void>,
): Promise<void> {
  await authorizing;
  begin(attempt, draft, pieces, signal);
}

function openedForm(form: FormBody, upstreamModel: string): OutboundBody {
  return { size: form.size(upstreamModel), open: () => form.open(upstreamModel) };
}

function begin(attempt: RunningAttempt, draft: OutboundDraft, pieces: OutboundBody | null, signal: CallSignal): void {
  const { connectMs, headersMs, totalMs } = draft.provider.timeouts;
  const { beforeSending } = attempt.dependencies;
  const limits = { connectMs, headersMs, totalMs, beforeSending, ownConnection: attempt.call.facts.images > 0 };
  attempt.entry.sending();
  attempt.dependencies.providerClient.begin(draft, limits, signal, draft.body ?? pieces, attempt);
}

async function adjustLater(parts: AttemptParts, draft: OutboundDraft, body: Promise<Uint8Array>): Promise<void> {
  draft.body = await body;
  await adjust(parts, draft);
}

/** The caller's body in pieces that are not copied. null: it is signed, or more than its model's name is changed. */
function passedPieces({ call, selection, match }: AttemptParts, governing: GovernedMembers | null) {
  const { body, facts, protocol } = call;
  const { provider, upstreamModel } = selection.deployment;
  const { lane, kind, translated, adjusts } = match;
  if (translated || !(body instanceof Uint8Array) || adjusts || kind.signsBody === true || governing !== null)
    return null;
  if (mayNeedInlining(call, provider, lane) || bearsSeals(call)) return null;
  return canPatchQuickly(protocol.wire, facts) ? patchRequestPieces(protocol.wire, body, facts, upstreamModel) : null;
}

function wholeBody(
  parts: AttemptParts,
  translator: Translator | null,
  governing: GovernedMembers | null,
): Uint8Array | Promise<Uint8Array> {
  const { call, selection, match } = parts;
  const inlines = translator === null && mayNeedInlining(call, selection.deployment.provider, match.lane);
  const made = translator === null ? patchedBody(parts) : translator.body();
  return governing === null && !inlines ? made : clearedBody(parts, made, governing, inlines);
}

async function clearedBody(
  parts: AttemptParts,
  made: Uint8Array | Promise<Uint8Array>,
  governing: GovernedMembers | null,
  inlines: boolean,
): Promise<Uint8Array> {
  const body = governing === null ? await made : await withoutGoverned(parts, await made, governing);
  return inlines ? inlined(parts, body) : body;
}

/** The caller's body with the upstream's model; a large one is worked on in a thread. */
export function patchedBody(parts: AttemptParts): Uint8Array | Promise<Uint8Array> {
  const { call, selection } = parts;
  const { body, facts, protocol } = call;
  const { endpoint, wire } = protocol;
  const { upstreamModel } = selection.deployment;
  if (!(body instanceof Uint8Array)) throw new Error("a call is sent after its answer has begun");
  if (!bearsSeals(call)) {
    const inPlaceMax = canPatchQuickly(wire, facts) ? bounds.sendAtOnceBytesMax : bounds.readInPlaceBytesMax;
    if (body.length <= inPlaceMax) return patchRequest(wire, body, facts, upstreamModel);
    return workOnBody(parts, "patch", { endpoint, facts, upstreamModel }).then(({ made }) => made);
  }
  return unsealedBody(parts, body);
}

function unsealedBody(parts: AttemptParts, body: Uint8Array): Uint8Array | Promise<Uint8Array> {
  const { call, selection, warnings } = parts;
  const { facts, protocol } = call;
  const { endpoint, wire, wireDialect: dialect } = protocol;
  const { upstreamModel } = selection.deployment;
  if (body.length <= bounds.unsealInPlaceBytesMax) {
    return removeForeignSeals(patchRequest(wire, body, facts, upstreamModel), { dialect, upstreamModel }, (warning) =>
      warnings.add(warning),
    );
  }
  return workOnBody(parts, "unseal", { endpoint, facts, upstreamModel, dialect }).then(({ made }) => made);
}

/**
 * Whether a body may hold what one of our translations sealed, because another vendor answered an earlier turn. An upstream of the
 * caller's dialect cannot read the seal.
 */
export function bearsSeals({ body, protocol, marks }: Pick<Call, "body" | "protocol" | "marks">): boolean {
  if (!(body instanceof Uint8Array)) return false;
  return marks?.seals ?? mayHoldForeignSeals(body, protocol.wireDialect);
}

/** Changes the request as its kind needs; a large body in a thread. Throws Failure invalid_request. */
function adjust(parts: AttemptParts, draft: OutboundDraft): Promise<void> | undefined {
  const { lane, adjusts } = parts.match;
  const { body } = draft;
  if (!adjusts || lane.adjust === undefined) return undefined;
  const inPlaceMax = lane.walks === true ? bounds.unsealInPlaceBytesMax : bounds.readInPlaceBytesMax;
  if (body !== null && body.length > inPlaceMax) return adjustBeside(parts, draft, body);
  adjustHere(parts, draft);
  return undefined;
}

function adjustHere({ match, warnings }: AttemptParts, draft: OutboundDraft): void {
  match.lane.adjust?.(draft, (warning) => warnings.add(warning));
}

async function adjustBeside(parts: AttemptParts, draft: OutboundDraft, body: Uint8Array): Promise<void> {
  const { match } = parts;
  const { upstreamModel, stream, method, url, headers } = draft;
  const provider = { ...draft.provider, secret: null };
  const lane = match.kind.lanes.indexOf(match.lane);
  const ask = { provider, lane, upstreamModel, stream, method, url, headers: { ...headers } };
  const { answer, made } = await workOnBody(parts, "adjust", ask, { body });
  draft.body = madeBy({ made });
  draft.method = answer.method;
  draft.url = answer.url;
  for (const name of Object.keys(headers)) if (!(name in answer.headers)) delete headers[name];
  Object.assign(headers, answer.headers);
}

/**
 * Members that this account does not get: they would choose a model past the grant, or cost more than its price. null for almost every
 * body. Throws Failure model_not_found.
 */
function governingOf(parts: AttemptParts): GovernedMembers | null {
  const { call, selection, match } = parts;
  const { governed, namedModels } = call.facts;
  const { provider } = selection.deployment;
  const { kind, translated } = match;
  if (namedModels !== undefined && !translated) checkNamedModels(parts, namedModels);
  const dropsThread = !translated && leavesThreadOut(call, match, provider);
  if (governed === undefined && !dropsThread) return null;
  // In another dialect a member may have another name.
  const names = translated ? [...governedMembers] : (governed ?? []);
  const governing = governingFor(provider, names, kind.memberRules ?? {});
  if (dropsThread) return { ...governing, names: [...governing.names, "thread"] };
  return governing.names.length === 0 ? null : governing;
}

function dropThreadBetas(headers: Record<string, string>, { call, match, selection }: AttemptParts): void {
  const betas = headers["anthropic-beta"];
  if (betas === undefined || !leavesThreadOut(call, match, selection.deployment.provider)) return;
  const left = betas.split(",").filter((beta) => !beta.trim().startsWith("message-threads-"));
  if (left.length === 0) delete headers["anthropic-beta"];
  else headers["anthropic-beta"] = left.join(",");
}

/** Throws Failure invalid_request. */
async function withoutGoverned(parts: AttemptParts, body: Uint8Array, governing: GovernedMembers): Promise<Uint8Array> {
  const done = await workOnBody(parts, "govern", governing, { body });
  for (const name of done.answer) {
    parts.warnings.add(name === "thread" ? threadLeftOut : `${name} is governed by the gateway and was left out`);
  }
  return done.made ?? done.body;
}

/** Other models that the body names need a grant, too: under a name of ours that leads to them at this account. */
function checkNamedModels({ dependencies, call, selection }: AttemptParts, named: readonly NamedModel[]): void {
  const { models } = dependencies.configSnapshot();
  const { id: account } = selection.deployment.provider;
  const leadsTo = ({ provider, upstreamModel }: Deployment, name: string): boolean =>
    provider.id === account && upstreamModel === name;
  for (const { param, model: name } of named) {
    const granted = [...models.values()].some(
      (model) => call.mayCall(model.name) && model.deployments.some((one) => leadsTo(one, name)),
    );
    if (granted) continue;
    throw new Failure("model_not_found", `The model "${name.slice(0, 128)}", which ${param} names, does not exist.`, {
      param,
      retry: "other",
    });
  }
}

/** Most clients repeat their headers, so they are compared with the account's list once. */
function ownForwardedHeaders({ headers, forwarded }: Call, provider: Provider): Record<string, string> {
  if (forwarded === undefined) return forwardedHeaders(headers, provider);
  if (forwarded.provider !== provider) {
    forwarded.headers = forwardedHeaders(headers, provider);
    forwarded.provider = provider;
  }
  return { ...forwarded.headers };
}

export function forwardedHeaders(headers: HeaderReader, provider: Provider): Record<string, string> {
  const list = callerHeaders(provider);
  const out: Record<string, string> = {};
  let connection: string | null = null;
  headers.forEach((value, name) => {
    if (list.accepts(name)) out[name] = value;
    else if (name === "connection") connection = value;
  });
  return withoutOwned(out, connection);
}

/** RFC 9110, 7.6.1: what `Connection` names belongs to the caller's connection to us. */
function withoutOwned(out: Record<string, string>, connection: string | null): Record<string, string> {
  if (connection === null || connection.length <= "keep-alive".length) return out;
  for (const name of connection.split(",")) delete out[name.trim().toLowerCase()];
  return out;
}

/** Versions of other vendors' APIs that a caller of Messages names. */
function addVendorVersions(out: Record<string, string>, { headers, protocol }: Call): void {
  if (protocol.wireDialect !== "anthropic-messages") return;
  for (const [name, value] of headers) {
    if (name === "anthropic-version" || !isVendorVersion(name) || !isVersionDate(value)) continue;
    if (!isBlockedHeader(name)) out[name] = value;
  }
}

/** Headers that mean the same to every vendor, for a translated call. */
export function neutralHeaders(headers: HeaderReader): Record<string, string> {
  const out: Record<string, string> = {};
  copyHeaders(out, headers, neutral);
  return withoutOwned(out, headers.get("connection"));
}

export function copyHeaders(out: Record<string, string>, from: HeaderReader, names: readonly string[]): void {
  for (const name of names) {
    const value = from.get(name);
    if (value !== null) out[name] = value;
  }
}

const neutral = ["idempotency-key", "traceparent", "tracestate", "x-client-request-id"] as const;

export function addAttemptHeaders(
  headers: Record<string, string>,
  { dependencies, call, selection }: Pick<AttemptParts, "dependencies" | "call" | "selection">,
  attemptId: string,
): void {
  const { provider, upstreamModel } = selection.deployment;
  ownIdempotencyKeys(headers, call.principal.workspace.id, upstreamModel);
  continueTrace(headers, dependencies.tracing, { requestId: call.requestId, attemptId, provider });
  headers["x-attempt-id"] = attemptId;
  headers["user-agent"] ??= "sluice";
}

/**
 * The parent span at the account is the attempt. A trace of our own goes only to accounts whose settings name `traceparent`: it shows
 * that two calls belong together.
 */
export function continueTrace(
  headers: Record<string, string>,
  tracing: Pick<Tracing, "outbound"> | undefined,
  attempt: { readonly requestId: string; readonly attemptId: string; readonly provider: Provider },
): void {
  if (tracing === undefined) return;
  if (headers["traceparent"] === undefined && !sendsOwnTrace(attempt.provider)) return;
  const trace = tracing.outbound(attempt.requestId, attempt.attemptId);
  if (trace === null) return;
  headers["traceparent"] = trace.traceparent;
  if (trace.tracestate === null) delete headers["tracestate"];
  else if (headers["tracestate"] !== undefined) headers["tracestate"] = trace.tracestate;
}

/**
 * Replaces a caller's `idempotency-key` by one of its workspace and model. Vendors repeat the first answer for a key, so tenants of
 * one account would get each other's answers, and they refuse another request under a known key. The form is a UUID (RFC 9562,
 * version 8), which every vendor takes.
 */
export function ownIdempotencyKeys(headers: Record<string, string>, workspaceId: string, upstreamModel: string): void {
  for (const name of idempotencyKeys) {
    const key = headers[name];
    if (key === undefined) continue;
    if (key === "") delete headers[name];
    else headers[name] = ownKey(JSON.stringify([workspaceId, upstreamModel, key]));
  }
}

/** The second where an operator lists it. */
const idempotencyKeys = ["idempotency-key", "x-idempotency-key"] as const;

function ownKey(text: string): string {
  const bytes = createHash("sha256").update(text).digest();
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex", 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

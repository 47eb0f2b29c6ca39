import type { GuardrailSide } from "@sluice/contract/words";
import { bounds, type CallSignal, Failure, LeaveSignal } from "#core/index.ts";
import { CallGuard, GuardedStream, guardrailsHeader, isAwaited, policyOf } from "#guardrails/index.ts";
import {
  type EndpointProtocol,
  encodedText,
  isEventStreamType,
  isJsonType,
  isUtf8Text,
  type RequestFacts,
  readFormContent,
  readMultipartType,
  textsOf,
} from "#protocols/index.ts";
import type { Call, CallListener, CallResult, Delivery, GuardedFields, RelayDependencies } from "./call.ts";
import { checkWithModel } from "./guardrail-models.ts";
import type { PassThroughCall } from "./pass-through/pass-through-call.ts";

type Guarded = GuardedFields & { readonly protocol: Pick<EndpointProtocol, "wireDialect" | "dialect"> };

/** null: no guardrail applies to the caller. `run`: calls a model without guardrails. */
export function guardOf(
  dependencies: RelayDependencies,
  fields: GuardedFields & { readonly signal?: CallSignal },
  run: (call: Call) => Promise<CallResult>,
): CallGuard | null {
  const { requestId, principal, signal: left } = fields;
  const policy = policyOf(dependencies.configSnapshot(), principal);
  if (policy === null) return null;
  const { guardrails, clock } = dependencies;
  return new CallGuard({
    policy,
    secret: () => guardrails.secretOf(principal.workspace.id),
    nowMs: () => clock.monotonic(),
    cpuMs: guardrails.cpuMs,
    checkMsMax: guardrails.checkMsMax,
    remote: (guardrail, texts, side) =>
      withTimeout(dependencies, guardrail.timeoutMs, isAwaited(guardrail) ? left : undefined, (signal) => {
        const { check } = guardrail;
        if (check.kind !== "moderation" && check.kind !== "classifier") {
          return guardrails.webhook({ requestId, principal }, guardrail, texts, side, signal);
        }
        return checkWithModel(dependencies, run, { requestId, principal }, { check, guardrail }, texts, signal);
      }),
    async inspectLarge(ask, body) {
      const { body: same, outcome } = await dependencies.bodies.do("inspect", ask, body, { owner: principal });
      return { body: same, outcome: outcome instanceof Failure ? outcome : outcome.answer };
    },
    onRecords: (records) => guardrails.onRecords(fields, records),
  });
}

/** `left` is aborted when the caller has gone: rejects with Failure client_closed then. */
async function withTimeout<Result>(
  { clock }: Pick<RelayDependencies, "clock">,
  ms: number,
  left: CallSignal | undefined,
  run: (signal: CallSignal) => Promise<Result>,
): Promise<Result> {
  const signal = new LeaveSignal();
  const timeout = Promise.withResolvers<never>();
  const stop = clock.after(ms, () => {
    signal.abort();
    timeout.reject(new Error(`no verdict within ${ms} ms`));
  });
  const leave = (): void => {
    signal.abort();
    timeout.reject(new Failure("client_closed", "The caller went away."));
  };
  if (left?.aborted === true) leave();
  else left?.addEventListener("abort", leave);
  try {
    return await Promise.race([run(signal), timeout.promise]);
  } finally {
    stop();
    left?.removeEventListener("abort", leave);
  }
}

/** The call with its body checked and masked. Throws or rejects with Failure. */
export function checkedCall(guard: CallGuard, call: Call): Call | Promise<Call> {
  if (guard.side("input").all.length === 0) return call;
  if (usualQuery.test(call.query)) return checkedContent(guard, call);
  return checkUrl(guard, call.query).then(() => checkedContent(guard, call));
}

function checkedContent(guard: CallGuard, call: Call): Call | Promise<Call> {
  const { body, protocol } = call;
  if (body === null) return call;
  if (!(body instanceof Uint8Array)) return checkedForm(guard, call, body);
  const made = guard.checkBody(protocol.wireDialect, "input", body);
  return made instanceof Promise ? made.then((later) => withBody(call, later)) : withBody(call, made);
}

/** Masked text changes the offsets of members. */
function withBody(call: Call, body: Uint8Array): Call {
  if (body === call.body) return call;
  return { ...call, body, facts: factsOf(call, body), marks: null };
}

function factsOf({ protocol, facts }: Call, body: Uint8Array): RequestFacts {
  return protocol.wire.readRequest(
    body,
    facts.modelSpan === null ? { model: facts.model, stream: facts.stream } : null,
  );
}

async function checkedForm(
  guard: CallGuard,
  call: Call,
  form: Exclude<Call["body"], Uint8Array | null>,
): Promise<Call> {
  if (form.size(call.facts.model) > bounds.formConvertBytesMax) failed(guard, "input", "the form is too long");
  else await checkForm(guard, await form.bytes(bounds.formConvertBytesMax), form.boundary);
  return call;
}

/** Checks fields, file names and text files. They cannot be masked: a guardrail that would do so refuses the call. */
async function checkForm(guard: CallGuard, form: Uint8Array, boundary: string): Promise<void> {
  const { fields, files } = readFormContent(form, boundary);
  const read = files.map(({ filename, data }) => ({ filename, text: encodedText(data) }));
  const texts = {
    fields: fields.filter(({ name }) => name !== "model").map(({ name, value }) => ({ [name]: value })),
    files: read,
  };
  await checkUnchangeable(guard, texts, "forms");
  if (read.some(({ text }) => text === null)) guard.unreadable("input");
}

/** Rejects with Failure also if a guardrail would mask it. `kind`: in the plural, for the message. */
export async function checkUnchangeable(guard: CallGuard, texts: unknown, kind: string): Promise<void> {
  const text = JSON.stringify(texts);
  // A large one is moved to a thread and back.
  if (Buffer.from(await guard.checkBody("any", "input", Buffer.from(text))).toString() === text) return;
  const message = `A guardrail masks something in this request, and ${kind} cannot be changed.`;
  throw new Failure("guardrail_blocked", message);
}

/** Queries of the vendors' clients, which contain no text. */
const usualQuery = /^(?:alt=sse|beta=true)?$/;

/** Paths of the vendors' APIs without an id, which contain no text. */
const usualPath = /^(?:\/(?:[a-z_]{1,32}|v\d{1,2}(?:alpha|beta)?))*$/;

export async function checkUrl(guard: CallGuard, query: string, path = ""): Promise<void> {
  const members = [...new URLSearchParams(usualQuery.test(query) ? "" : query)].map(([name, value]) => ({
    [name]: value,
  }));
  const segments = usualPath.test(path) ? [] : path.split("/").map(decoded);
  if (members.length > 0 || segments.length > 0) await checkUnchangeable(guard, [...members, ...segments], "URLs");
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** A call of a provider's own API. In an unknown dialect, every string is a text. */
export async function checkedPassThrough(guard: CallGuard, passed: PassThroughCall): Promise<PassThroughCall> {
  const { call, body } = passed;
  if (guard.side("input").all.length === 0) return passed;
  const { pathname, search } = new URL(passed.route.target.url);
  await checkUrl(guard, search.slice(1), pathname);
  if (body === null) return passed;
  if (isCompressed(call.headers.get("content-encoding"))) {
    failed(guard, "input", compressed);
    return passed;
  }
  const type = call.headers.get("content-type") ?? "";
  const isForm = /^multipart\/form-data/i.test(type);
  const isText = isJsonType(type) || /^text\//i.test(type);
  const size = body instanceof Uint8Array ? body.length : body.size;
  if (size > (isForm ? bounds.formConvertBytesMax : bounds.plainBodyBytesMax)) {
    if (isText) failed(guard, "input", "the body is too long");
    else guard.unreadable("input");
    return passed;
  }
  const bytes =
    body instanceof Uint8Array ? body : new Uint8Array(await new Response(body.read(0, size)).arrayBuffer());
  if (isForm) {
    await checkForm(guard, bytes, readMultipartType(type, "Send a form.").boundary);
    return passed;
  }
  if (!isText && !isUtf8Text(bytes)) {
    guard.unreadable("input");
    return passed;
  }
  const made = await guard.checkBody(isJsonType(type) ? call.protocol.wireDialect : "any", "input", bytes);
  if (made === bytes) return passed;
  if (!(body instanceof Uint8Array)) body.discard();
  const facts = passed.isRead ? factsOf(call, made) : call.facts;
  return { ...passed, body: made, call: { ...call, facts, body: call.body === null ? null : made } };
}

/** Checks the answer before its caller gets it. */
export class GuardedListener implements CallListener {
  readonly #guard: CallGuard;
  readonly #call: Guarded;
  readonly #listener: CallListener;

  constructor(guard: CallGuard, call: Guarded, listener: CallListener) {
    this.#guard = guard;
    this.#call = call;
    this.#listener = listener;
  }

  answered(result: CallResult): void {
    let checked: CallResult | Promise<CallResult>;
    try {
      checked = checkedResult(this.#guard, this.#call, result);
    } catch (thrown) {
      this.failed(thrown);
      return;
    }
    if (checked instanceof Promise) {
      checked.then((later) => this.#listener.answered(later)).catch((thrown: unknown) => this.failed(thrown));
    } else this.#listener.answered(checked);
  }

  failed(thrown: unknown): void {
    this.#listener.failed(thrown);
  }
}

/** The result as its caller may have it. */
export function checkedResult(guard: CallGuard, call: Guarded, result: CallResult): CallResult | Promise<CallResult> {
  if ("failure" in result) return withHeader(guard, result);
  const { body } = result;
  if (!guard.readsAnswers || (body instanceof Uint8Array && body.length === 0)) return withHeader(guard, result);
  try {
    if (isCompressed(result.headers["content-encoding"])) {
      failed(guard, "output", compressed);
      return withHeader(guard, result);
    }
    if (!(body instanceof Uint8Array)) return checkedStream(guard, call, result, body);
    const made = checkedBytes(guard, call, result.headers["content-type"] ?? "", body);
    if (!(made instanceof Promise)) return withHeader(guard, changed(result, made));
    return made.then(
      (later) => withHeader(guard, changed(result, later)),
      (thrown: unknown) => refused(guard, thrown),
    );
  } catch (thrown) {
    if (!(body instanceof Uint8Array)) body.cancel();
    return refused(guard, thrown);
  }
}

function checkedBytes(
  guard: CallGuard,
  { protocol }: Guarded,
  type: string,
  body: Uint8Array,
): Uint8Array | Promise<Uint8Array> {
  if (type === "" || isJsonType(type)) return guard.checkBody(protocol.wireDialect, "output", body);
  // The declared type may be wrong.
  if (/^text\//i.test(type) || isUtf8Text(body)) return guard.checkText("output", body);
  guard.unreadable("output");
  return body;
}

function checkedStream(
  guard: CallGuard,
  { protocol, requestId }: Guarded,
  result: Delivery,
  body: Exclude<Delivery["body"], Uint8Array>,
): CallResult {
  const type = result.headers["content-type"] ?? "";
  if (!isEventStreamType(type)) {
    if (amazonStreamType.test(type)) failed(guard, "output", "a stream of Amazon's events cannot be checked");
    else guard.unreadable("output");
    return withHeader(guard, result);
  }
  const encoder = new TextEncoder();
  const errorEvent = (failure: Failure) => encoder.encode(protocol.dialect.renderStreamError(failure, requestId));
  const stream = new GuardedStream({
    ...{ guard, body, shape: textsOf(protocol.wireDialect).stream, errorEvent },
    keepAlive: protocol.dialect.keepAlive,
  });
  return withHeader(guard, { ...result, body: stream });
}

/** They hold text, unlike other binary answers. */
const amazonStreamType = /^application\/vnd\.amazon\.eventstream/i;

function isCompressed(encoding: string | null | undefined): boolean {
  return !/^(?:identity)?$/i.test(encoding?.trim() ?? "");
}

const compressed = "the body is compressed";

/** Records that a body could not be checked. Throws Failure if a guardrail refuses it then. */
export function failed(guard: CallGuard, side: GuardrailSide, reason: string): void {
  guard.failed(side, new Error(reason), guard.nowMs);
}

function changed(result: Delivery, body: Uint8Array): Delivery {
  return body === result.body ? result : { ...result, body };
}

function refused(guard: CallGuard, thrown: unknown): CallResult {
  if (!(thrown instanceof Failure)) throw thrown;
  return withHeader(guard, { failure: thrown, headers: {} });
}

function withHeader<Result extends CallResult>(guard: CallGuard, result: Result): Result {
  const header = guardrailsHeader(guard.records);
  if (header !== "") result.headers["x-sluice-guardrails"] = header;
  return result;
}

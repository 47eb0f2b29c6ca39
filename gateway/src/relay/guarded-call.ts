import { bounds, type CallSignal, Failure, LeaveSignal } from "#core/index.ts";
import { CallGuard, GuardedStream, guardrailsHeader, policyOf } from "#guardrails/index.ts";
import type { Spooled } from "#ports/index.ts";
import {
  type EndpointProtocol,
  isEventStreamType,
  isJsonType,
  type RequestFacts,
  readFormContent,
  textsOf,
} from "#protocols/index.ts";
import type { Call, CallResult, Delivery, GuardedFields, RelayDependencies } from "./call.ts";
import type { CallListener } from "./call-run.ts";
import { checkWithModel } from "./guardrail-models.ts";
import type { PassThroughCall } from "./pass-through/pass-through-call.ts";

type Guarded = GuardedFields & { readonly protocol: Pick<EndpointProtocol, "wireDialect" | "dialect"> };

/** null: no guardrail applies to the caller. `run`: calls a model without guardrails. */
export function guardOf(
  dependencies: RelayDependencies,
  { requestId, principal }: GuardedFields,
  run: (call: Call) => Promise<CallResult>,
): CallGuard | null {
  const policy = policyOf(dependencies.configSnapshot(), principal);
  if (policy === null) return null;
  const { guardrails, clock } = dependencies;
  return new CallGuard({
    policy,
    secret: () => guardrails.secretOf(principal.workspace.id),
    nowMs: () => clock.monotonic(),
    remote: (guardrail, texts, side) =>
      withTimeout(dependencies, guardrail.timeoutMs, (signal) => {
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
    onRecord: (record) => guardrails.onRecord({ requestId, principal }, record),
  });
}

async function withTimeout<Result>(
  { clock }: Pick<RelayDependencies, "clock">,
  ms: number,
  run: (signal: CallSignal) => Promise<Result>,
): Promise<Result> {
  const signal = new LeaveSignal();
  const timeout = Promise.withResolvers<never>();
  const stop = clock.after(ms, () => {
    signal.abort();
    timeout.reject(new Error(`no verdict within ${ms} ms`));
  });
  try {
    return await Promise.race([run(signal), timeout.promise]);
  } finally {
    stop();
  }
}

/** The call with its body checked and masked. Throws or rejects with Failure. */
export function checkedCall(guard: CallGuard, call: Call): Call | Promise<Call> {
  const { body, protocol } = call;
  if (guard.side("input").all.length === 0 || body === null) return call;
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

/** The fields of a form are checked. They cannot be masked: a guardrail that would do so refuses the call. */
async function checkedForm(
  guard: CallGuard,
  call: Call,
  form: Exclude<Call["body"], Uint8Array | null>,
): Promise<Call> {
  const { fields, files } = readFormContent(await form.bytes(bounds.formConvertBytesMax), form.boundary);
  const bytes = Buffer.from(
    JSON.stringify({
      fields: Object.fromEntries(fields.filter(({ name }) => name !== "model").map(({ name, value }) => [name, value])),
      files: files.map(({ filename }) => ({ filename, b64_json: "file" })),
    }),
  );
  const made = await guard.checkBody("any", "input", bytes);
  if (made === bytes) return call;
  throw new Failure("guardrail_blocked", "A guardrail masks what this form contains, and forms cannot be changed.");
}

/** A call of a provider's own API. In an unknown dialect, every string is a text. */
export async function checkedPassThrough(guard: CallGuard, passed: PassThroughCall): Promise<PassThroughCall> {
  const { call, body } = passed;
  if (guard.side("input").all.length === 0 || body === null) return passed;
  const type = call.headers.get("content-type") ?? "";
  const isJson = isJsonType(type);
  if (!isJson && !/^text\//i.test(type)) {
    guard.unreadable("input");
    return passed;
  }
  const bytes = body instanceof Uint8Array ? body : await bytesOf(body);
  const { wireDialect } = call.protocol;
  const made = await (isJson ? guard.checkBody(wireDialect, "input", bytes) : guard.checkText("input", bytes));
  if (made === bytes) return passed;
  if (!(body instanceof Uint8Array)) body.discard();
  const facts = passed.isRead ? factsOf(call, made) : call.facts;
  return { ...passed, body: made, call: { ...call, facts, body: call.body === null ? null : made } };
}

/** Throws Failure guardrail_failed if it is too long to be checked. */
async function bytesOf(body: Spooled): Promise<Uint8Array> {
  if (body.size > bounds.plainBodyBytesMax) {
    throw new Failure("guardrail_failed", "The body is too long for the guardrails that apply to this key.", {
      status: 413,
    });
  }
  return new Uint8Array(await new Response(body.read(0, body.size)).arrayBuffer());
}

/** Checks what the caller is to get. */
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
      checked.then(
        (later) => this.#listener.answered(later),
        (thrown: unknown) => this.failed(thrown),
      );
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
    if (!(body instanceof Uint8Array)) return checkedStream(guard, call, result, body);
    const made = checkedBytes(guard, call, result.headers["content-type"] ?? "", body);
    if (!(made instanceof Promise)) return withHeader(guard, changed(result, made));
    return made.then(
      (later) => withHeader(guard, changed(result, later)),
      (thrown: unknown) => refused(guard, thrown),
    );
  } catch (thrown) {
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
  if (/^text\//i.test(type)) return guard.checkText("output", body);
  guard.unreadable("output");
  return body;
}

function checkedStream(
  guard: CallGuard,
  { protocol, requestId }: Guarded,
  result: Delivery,
  body: Exclude<Delivery["body"], Uint8Array>,
): CallResult {
  if (!isEventStreamType(result.headers["content-type"] ?? "")) {
    try {
      guard.unreadable("output");
    } catch (thrown) {
      body.cancel();
      throw thrown;
    }
    return withHeader(guard, result);
  }
  const encoder = new TextEncoder();
  const errorEvent = (failure: Failure) => encoder.encode(protocol.dialect.renderStreamError(failure, requestId));
  const stream = new GuardedStream({ guard, body, shape: textsOf(protocol.wireDialect).stream, errorEvent });
  return withHeader(guard, { ...result, body: stream });
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
  return header === "" ? result : { ...result, headers: { ...result.headers, "x-sluice-guardrails": header } };
}

import { type BodyBytes, wholeOf } from "#bodies/index.ts";
import {
  asFailure,
  type CallSignal,
  Failure,
  ledgerUnavailable,
  type NanoUsd,
  onlyCounts,
  type Principal,
  type StoredFile,
} from "#core/index.ts";
import { type CallGuard, policyOf } from "#guardrails/index.ts";
import type { Permit } from "#limits/index.ts";
import type { Dialect, EndpointProtocol, NamedObject } from "#protocols/index.ts";
import { providerKind } from "#providers/index.ts";
import { refusalHeaders } from "./attempt/answer-headers.ts";
import { adoptMasked, findKeptState, lookUpKeptState } from "./attempt/attempt-objects.ts";
import { CallTally } from "./attempt/call-tally.ts";
import { UsageForecast } from "./attempt/estimate.ts";
import { CallEstimate } from "./attempt/hold.ts";
import { serves } from "./attempt/lane-match.ts";
import { findNamedFiles, storedFiles } from "./attempt/named-files.ts";
import { checkPricedUse } from "./attempt/priced-usage.ts";
import type {
  Call,
  CallListener,
  CallResult,
  GuardedFields,
  Refusal,
  RelayDependencies,
  RelayOptions,
} from "./call.ts";
import { CallRun, namesKept } from "./call-run.ts";
import { checkFile, checkNamedFiles, type UploadedFile } from "./checked-file.ts";
import {
  checkedCall,
  checkedPassThrough,
  checkedResult,
  checkUnchangeable,
  checkUrl,
  GuardedListener,
  guardOf,
} from "./guarded-call.ts";
import { passThrough } from "./pass-through/pass-through.ts";
import {
  dialectOf,
  type PassThroughCall,
  PassThroughEstimate,
  type PassThroughRoute,
  passThroughRoute,
} from "./pass-through/pass-through-call.ts";
import { checkCallObjects, checkPathObjects, endedResponse } from "./pass-through/pass-through-objects.ts";
import { discard, explainCall, notAdmitted, refuse, reportUnexpected } from "./refusals.ts";
import { askResponseOwner, type StoredResponseCall } from "./stored-responses/stored-responses.ts";
import { UpstreamObjects } from "./upstream-objects.ts";
import { listObjects } from "./vendor-objects/list-objects.ts";
import { withFileCopies } from "./vendor-objects/object-bodies.ts";
import { type ObjectRequest, objectRoute } from "./vendor-objects/object-route.ts";

export class Relay {
  readonly #dependencies: RelayDependencies;

  constructor(options: RelayOptions) {
    this.#dependencies = {
      ...options,
      forecast: new UsageForecast(),
      beforeSending: () => {
        if (!options.journal.flush()) throw ledgerUnavailable();
      },
      live: new Set(),
      upstreamObjects: new UpstreamObjects(options),
    };
  }

  get liveStreams(): number {
    return this.#dependencies.live.size;
  }

  /** Ends every stream with an error in its caller's dialect. */
  abortStreams(failure: Failure): void {
    for (const stream of [...this.#dependencies.live]) stream.abort(failure);
  }

  /**
   * Judges a call that is to run later: throws or rejects with what `run` would refuse it for, apart from limits and guardrails. Returns
   * the most that it may cost.
   */
  judge(call: Call): NanoUsd | Promise<NanoUsd> {
    if (call.models.length === 0) throw new Failure("model_not_found", "The model does not exist.");
    checkPricedUse(call);
    if (!serves(call.models, call.protocol)) {
      const message = `The model "${call.models[0]?.name}" cannot be used on this endpoint.`;
      throw new Failure("unsupported_by_model", message, { param: "model" });
    }
    if (!namesKept(call)) return this.#mostOf(call);
    return findKeptState(this.#dependencies, call).then((kept) => {
      call.kept = kept;
      return this.#mostOf(call);
    });
  }

  /** Whether a guardrail checks calls of this caller. */
  hasGuardrails(principal: Principal): boolean {
    return policyOf(this.#dependencies.configSnapshot(), principal) !== null;
  }

  #mostOf(call: Call): NanoUsd {
    const estimate = new CallEstimate(this.#dependencies, call, call.models);
    try {
      return estimate.money().most;
    } finally {
      estimate.end();
    }
  }

  /** A call of a model: admitted, sent to one deployment after the other, settled. */
  run(call: Call): Promise<CallResult> {
    return new Promise((answered, failed) => this.start(call, { answered, failed }));
  }

  /** The same, with the outcome passed to `listener`, perhaps within this call. */
  start(call: Call, listener: CallListener): void {
    if (this.hasGuardrails(call.principal)) this.#startGuarded(call, listener);
    else new CallRun(this.#dependencies, call, listener).start();
  }

  #guardOf(fields: GuardedFields & { readonly signal?: CallSignal }): CallGuard | null {
    return guardOf(this.#dependencies, fields, (call) => {
      return new Promise((answered, failed) => new CallRun(this.#dependencies, call, { answered, failed }).start());
    });
  }

  #startGuarded(call: Call, unguarded: CallListener): void {
    const guard = this.#guardOf(call) as CallGuard;
    const listener = new GuardedListener(guard, call, unguarded);
    const refuse = (thrown: unknown): void => {
      notAdmitted(this.#dependencies, call, thrown).then(
        (refusal) => listener.answered(refusal),
        (error: unknown) => listener.failed(error),
      );
    };
    const run = (checked: Call): void => {
      checked.guard = guard;
      new CallRun(this.#dependencies, checked, listener).start();
    };
    try {
      // A caller at its limit causes no calls of models that judge.
      if (guard.side("input").remote.length > 0) {
        this.#dependencies.admission.check(call.principal, onlyCounts(call.protocol.endpoint));
      }
      const checked = checkedCall(guard, call);
      if (checked instanceof Promise) checked.then(run, refuse);
      else run(checked);
    } catch (thrown) {
      refuse(thrown);
    }
  }

  /** The route of a call to a provider's own API. Throws Failure. */
  passThroughRoute(providerId: string, path: string, query: string): PassThroughRoute {
    return passThroughRoute(this.#dependencies, providerId, path, query);
  }

  /** The dialect of errors of that provider's own API; null: there is no such provider. */
  passThroughDialect(providerId: string): Dialect | null {
    const kind = providerKind(this.#dependencies.configSnapshot().providers.get(providerId)?.kind ?? "");
    return kind === null ? null : dialectOf(kind);
  }

  /** The route of a call for an object that a vendor stores. Throws Failure. */
  objectRoute(request: ObjectRequest): Promise<PassThroughRoute> {
    return objectRoute(this.#dependencies, request);
  }

  /** A page of the workspace's own objects, each as its vendor shows it. */
  async listObjects(request: ObjectRequest, requestId: string, protocol: EndpointProtocol): Promise<CallResult> {
    const guard = this.#guardOf({ ...request, requestId });
    try {
      if (guard !== null && guard.side("input").all.length > 0) await checkUrl(guard, request.query);
      const result = await listObjects(this.#dependencies, request, requestId);
      return guard === null ? result : await checkedResult(guard, { ...request, requestId, protocol }, result);
    } catch (thrown) {
      return { failure: asFailure(thrown), headers: {} };
    }
  }

  /** A call for a provider's own API: admitted, sent once, settled. */
  async pass(passed: PassThroughCall): Promise<CallResult> {
    const guard = this.#guardOf(passed.call);
    if (guard === null) return await this.#pass(passed);
    let checked: PassThroughCall;
    try {
      checked = await checkedPassThrough(guard, passed);
    } catch (thrown) {
      if (passed.body !== null && !(passed.body instanceof Uint8Array)) passed.body.discard();
      return notAdmitted(this.#dependencies, passed.call, thrown);
    }
    checked.call.guard = guard;
    const object = passed.route.owned?.object ?? null;
    if (object !== null) adoptMasked(this.#dependencies, guard, passed.call.principal, [object]);
    const result = await this.#pass({ ...checked, isAnswerChecked: guard.readsAnswers });
    return await checkedResult(guard, passed.call, result);
  }

  async #pass(passed: PassThroughCall): Promise<CallResult> {
    const { call, price } = passed;
    // The closure must not keep bytes in memory until the stream's end.
    const spooled = passed.body instanceof Uint8Array ? null : passed.body;
    const discardAll = (): void => {
      discard(call);
      spooled?.discard();
    };
    const estimate = new PassThroughEstimate(this.#dependencies, call, price, passed.isRead);
    let tally: CallTally;
    try {
      if (passed.isRead && namesKept(call)) {
        await findNamedFiles(this.#dependencies, call);
        call.kept = await lookUpKeptState(this.#dependencies, call);
      }
      await checkCallObjects(this.#dependencies, passed);
      const permit = await this.#admitOne(passed, estimate);
      const onOver = (): void => {
        discardAll();
        explainCall(this.#dependencies, call, null, tally);
      };
      tally = new CallTally(permit, estimate, { onOver });
    } catch (thrown) {
      estimate.end();
      discardAll();
      return notAdmitted(this.#dependencies, call, thrown);
    }
    try {
      const ended = endedResponse(passed);
      if (ended !== null) {
        await this.#dependencies.background().refresh(call.principal.workspace.id, ended, call.signal);
      }
      const delivery = await passThrough(this.#dependencies, await withFileCopies(this.#dependencies, passed), tally);
      if (tally.handover !== null) await tally.handover;
      return delivery;
    } catch (thrown) {
      const failure = asFailure(thrown);
      reportUnexpected(this.#dependencies, call, failure);
      tally.end();
      return { failure, headers: refusalHeaders(call.protocol.dialect, tally, this.#dependencies.clock.now()) };
    }
  }

  async #admitOne({ call, price }: PassThroughCall, estimate: PassThroughEstimate): Promise<Permit> {
    const { admission } = this.#dependencies;
    const permit = await admission.admit(call.principal, estimate, call.requestId);
    const place = { model: price.model.name, provider: price.deployment.provider.id, tags: call.tags };
    try {
      await admission.enter(permit, call.principal, place, estimate);
      return permit;
    } catch (thrown) {
      permit.release();
      throw thrown;
    }
  }

  /** Checks a request that no relay sends. Returns the body as it may be sent; null: no guardrail applies. Throws Failure. */
  async checkBody(fields: GuardedFields, body: BodyBytes): Promise<Uint8Array | null> {
    const guard = this.#guardOf(fields);
    return guard === null ? null : await guard.checkBody("any", "input", wholeOf(body));
  }

  /**
   * Checks texts of a request that no relay sends and that cannot be masked. `kind`: in the plural, for the message. `hasMedia`: the
   * request also has a file that cannot be read. Throws Failure.
   */
  async checkTexts(fields: GuardedFields, texts: unknown, kind: string, hasMedia = false): Promise<void> {
    const guard = this.#guardOf(fields);
    if (guard === null || guard.side("input").all.length === 0) return;
    await checkUnchangeable(guard, texts, kind);
    if (hasMedia) guard.unreadable("input");
  }

  /** Checks the name and, if it is text, the content of a file that its caller uploads. Throws Failure. */
  async checkFile(fields: GuardedFields, file: UploadedFile): Promise<void> {
    const guard = this.#guardOf(fields);
    if (guard !== null) await checkFile(guard, file);
  }

  /** The caller's files that a request names which no relay sends, by name; checked with the caller's guardrails. Throws Failure. */
  async filesNamed(fields: GuardedFields, objects: readonly NamedObject[]): Promise<ReadonlyMap<string, StoredFile>> {
    const files = await storedFiles(this.#dependencies, fields.principal, objects);
    const guard = files.size === 0 ? null : this.#guardOf(fields);
    if (guard !== null) await checkNamedFiles(this.#dependencies, { guard, files });
    return files;
  }

  async ask(call: StoredResponseCall): Promise<CallResult> {
    const guard = this.#guardOf(call);
    if (guard === null) return await askResponseOwner(this.#dependencies, call);
    try {
      if (guard.side("input").all.length > 0) await checkUrl(guard, call.query);
    } catch (thrown) {
      return { failure: asFailure(thrown), headers: {} };
    }
    const result = await askResponseOwner(this.#dependencies, call);
    if (!("failure" in result)) {
      const { principal, upstreamId, signal } = call;
      const options = { waits: false, signal };
      const found = await this.#dependencies.upstreamObjects.find(principal.workspace.id, [upstreamId], options);
      adoptMasked(this.#dependencies, guard, principal, found.values());
    }
    return await checkedResult(guard, call, result);
  }

  /** Records a call that is refused before any attempt. `why`: the message for admins, where the caller gets another one. */
  refuse(call: Call, failure: Failure, why?: string): Refusal {
    refuse(this.#dependencies, call, failure, { why });
    return { failure, headers: {} };
  }

  /**
   * The refusal of a call that is not allowed with any body: by its limits or, at a provider's own API, by the objects of its path. null:
   * not refused. Nothing is reserved.
   */
  async refusedUnread(call: Call, route: PassThroughRoute | null = null): Promise<Refusal | null> {
    try {
      this.#dependencies.admission.check(call.principal, onlyCounts(call.protocol.endpoint));
      if (route !== null) await checkPathObjects(this.#dependencies, call, route);
      return null;
    } catch (thrown) {
      return notAdmitted(this.#dependencies, call, thrown);
    }
  }
}

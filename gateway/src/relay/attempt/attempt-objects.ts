import {
  type AttemptObject,
  bounds,
  type Deployment,
  Failure,
  isObjectId,
  type Model,
  noSuchObject,
  type Principal,
  type Provider,
  responseObjects,
  tokensOf,
  type UpstreamObject,
  type WireDialectId,
} from "#core/index.ts";
import type { CallGuard } from "#guardrails/index.ts";
import type { NamedObject, ReplyFacts } from "#protocols/index.ts";
import { allowsObject, keepsThreads } from "#providers/index.ts";
import type { Call, RelayDependencies } from "../call.ts";
import type { KeptState } from "../upstream-objects.ts";
import type { MeasuredUsage } from "./attempt-money.ts";
import type { AttemptParts } from "./call-tally.ts";
import { leavesThreadOut, matchLane } from "./lane-match.ts";

/** Objects that the upstream keeps because of one attempt, for later calls that name them. */
export class AttemptObjects {
  readonly #parts: AttemptParts;
  /** Kept under the id of the answer; null: nothing. */
  readonly #keeps: UpstreamObject["kind"] | null;
  #answerId: string | null = null;
  #made: readonly string[] = [];
  #items: readonly string[] = [];
  #passed: readonly AttemptObject[] = none;
  #sealed: string | null = null;
  /** The upstream adds the answer to these. */
  readonly #conversations: readonly AttemptObject[];

  constructor(parts: AttemptParts) {
    const { call, selection, match } = parts;
    this.#parts = parts;
    const { provider } = selection.deployment;
    const isKept = !match.translated && !leavesThreadOut(call, match, provider);
    this.#keeps = isKept ? call.facts.storesAs : null;
    this.#conversations = call.kept === undefined ? none : conversationsIn(call.kept);
  }

  get answerId(): string | null {
    return this.#answerId;
  }

  /** The answer's id: later calls about it must find its account. */
  answer(id: string | null): void {
    if (id === null || this.#keeps === null || !isObjectId(id)) return;
    this.#answerId = id;
    this.remember(this.record(null));
  }

  /** Ids of what the upstream made on the way to the answer, and of the answer's items. */
  made({ createdIds, items }: Pick<ReplyFacts, "createdIds" | "items">): void {
    if (createdIds !== undefined && createdIds.length > 0) this.#made = createdIds.filter(isObjectId);
    if (items !== undefined) this.#items = items;
  }

  /** Adds objects that a pass-through call created or deleted. */
  passed(objects: readonly AttemptObject[]): void {
    this.#passed = [...this.#passed, ...objects.filter(({ id }) => isObjectId(id))];
  }

  /** For the attempt's record. `used` null: not measured yet. */
  record(used: MeasuredUsage | null): readonly AttemptObject[] | undefined {
    if (this.#isEmpty()) return undefined;
    const masked = this.#masked();
    const now = this.#parts.dependencies.clock.now();
    const kind = namesAnswer.has(this.#parts.match.lane.dialect) ? "resource" : "container";
    const inputTokens = used === null || used.source === "none" ? null : tokensOf(used.usage);
    // A sound is part of the answer, and an unfinished answer is the answer: neither has more tokens than that.
    const answerTokens = kind === "resource" ? inputTokens : null;
    const more = { kind, inputTokens: answerTokens, expiresAt: now + bounds.storedContainerMs } as const;
    const objects: AttemptObject[] = [...this.#made.map((id) => ({ id, ...more })), ...this.#withMasked(masked)];
    // It has grown by this answer, and is input as a whole each time.
    if (inputTokens !== null)
      for (const conversation of this.#conversations) objects.push({ ...conversation, inputTokens, ...masked });
    if (this.#answerId !== null && this.#keeps === "response") {
      const usage = inputTokens === null ? null : (used?.usage ?? null);
      const more = { expiresAt: now + bounds.storedResponseMs, ...masked };
      objects.push(...responseObjects(this.#answerId, this.#items, usage, more));
    } else if (this.#answerId !== null && this.#keeps !== null) {
      objects.push({
        id: this.#answerId,
        kind: this.#keeps,
        inputTokens,
        expiresAt: now + this.#lifeMs(used),
        ...masked,
      });
    }
    return objects.length === 0 ? undefined : objects;
  }

  #withMasked(masked: Pick<AttemptObject, "masked">): readonly AttemptObject[] {
    return this.#passed.map((object) => (object.kind === "conversation" ? { ...object, ...masked } : object));
  }

  /** Sealed once: the values do not change after the request. */
  #masked(): Pick<AttemptObject, "masked"> {
    const { dependencies, call } = this.#parts;
    const values = call.guard?.conversationValues() ?? null;
    if (values === null) return {};
    this.#sealed ??= dependencies.guardrails.seal(call.principal.workspace.id, values);
    return { masked: this.#sealed };
  }

  #isEmpty(): boolean {
    if (this.#answerId !== null && this.#keeps !== null) return false;
    return this.#made.length === 0 && this.#passed.length === 0 && this.#conversations.length === 0;
  }

  /** The vendor does not store a thread's answer by a fallback model. */
  #lifeMs(used: MeasuredUsage | null): number {
    if (this.#keeps !== "thread_message") return bounds.storedResponseMs;
    return used?.served?.byFallback === true ? 0 : bounds.storedThreadMs;
  }

  /** For the next call, which may come before the record is in the database. */
  remember(objects: readonly AttemptObject[] | undefined): void {
    if (objects === undefined) return;
    const { dependencies, call, selection } = this.#parts;
    const { workspace, key, person } = call.principal;
    const { id, provider, upstreamModel } = selection.deployment;
    const made = {
      workspaceId: workspace.id,
      keyId: key.id,
      personId: person ?? null,
      session: call.session?.id ?? null,
      provider: provider.id,
      deployment: id,
      model: selection.model.name,
      upstreamModel,
      createdAt: dependencies.clock.now(),
    };
    for (const object of objects) dependencies.upstreamObjects.remember({ ...made, ...object });
  }
}

const none: readonly AttemptObject[] = [];
/** Dialects in which other ids name the answer or a part of it: a sound, a token that continues it. */
const namesAnswer: ReadonlySet<WireDialectId> = new Set(["openai-chat", "gemini-interactions"]);

function conversationsIn({ found }: KeptState): readonly AttemptObject[] {
  return [...found.values()]
    .filter(({ kind }) => kind === "conversation")
    .map(({ id, kind, inputTokens, expiresAt }) => ({ id, kind, inputTokens, expiresAt }));
}

/**
 * Looks up all objects that a call names, before it is planned. The object that it continues must belong to its workspace. Other
 * objects are checked for each account (`checkObjects`), because an account of one workspace may have objects without a record here.
 */
export async function findKeptState(dependencies: RelayDependencies, call: Call): Promise<KeptState> {
  const { continues } = call.facts;
  const kept = await lookUpKeptState(dependencies, call);
  if (continues === null) return kept;
  const continued = kept.found.get(continues.id);
  if (continued?.kind !== continues.kind) throw notContinued(call, continues);
  const models =
    continued.kind === "thread_message" ? threadModels(call, continued) : modelsAt(call, continued.provider);
  if (models.length === 0) throw notContinued(call, continues);
  return { ...kept, models, provider: continued.provider };
}

/** The same, without requiring anything. */
export async function lookUpKeptState(dependencies: RelayDependencies, call: Call): Promise<KeptState> {
  const { continues } = call.facts;
  const objects = (call.facts.objects ?? []).filter(({ id }) => call.files?.has(id) !== true);
  const named = continues === null ? objects : [continues, ...objects];
  const found = await dependencies.upstreamObjects.find(
    call.principal.workspace.id,
    named.map(({ id }) => id),
    { waits: continues !== null || mayBeRefused(dependencies, call, objects), signal: call.signal },
  );
  if (call.guard !== undefined) adoptMasked(dependencies, call.guard, call.principal, found.values());
  const first = [...found.values()].find(({ provider }) => modelsAt(call, provider).length > 0);
  return { found, models: call.models, provider: first?.provider ?? null };
}

/** Lets a guard restore what the same caller masked in earlier calls of the conversation. */
export function adoptMasked(
  { guardrails }: Pick<RelayDependencies, "guardrails">,
  guard: CallGuard,
  { workspace, key, person }: Principal,
  objects: Iterable<UpstreamObject>,
): void {
  for (const { masked, keyId, personId } of objects) {
    if (masked == null || (keyId !== key.id && (personId === null || personId !== person))) continue;
    const values = guardrails.unseal(workspace.id, masked);
    if (values !== null) guard.adopt(values);
  }
}

/**
 * At an account that several workspaces share, a call may name what its own workspace made and what the operator has listed. Throws
 * Failure not_found.
 */
export function checkObjects(dependencies: RelayDependencies, call: Call, provider: Provider): void {
  const { objects } = call.facts;
  if (objects === undefined || objects.length === 0 || !dependencies.sharesAccount(provider.id)) return;
  for (const { param, id } of objects) {
    if (call.copyNames?.has(id) === true) continue;
    if (allowsObject(provider, id) || call.kept?.found.get(id)?.provider === provider.id) continue;
    throw noSuchObject({ param, id }).with({ retry: "other" });
  }
}

/** A thread continues with the model that answered it, at its account. Empty: the caller has to start a new thread. */
function threadModels({ models }: Call, { provider: account, upstreamModel }: UpstreamObject): readonly Model[] {
  const isThere = ({ enabled, provider, upstreamModel: name }: Deployment): boolean =>
    enabled && provider.enabled && provider.id === account && name === upstreamModel;
  const model = models.find(({ deployments }) => deployments.some(isThere));
  return model === undefined ? [] : [model];
}

function modelsAt({ models }: Call, account: string): readonly Model[] {
  return models.filter(({ deployments }) => deployments.some(({ provider }) => provider.id === account));
}

function mayBeRefused(
  { sharesAccount }: RelayDependencies,
  { models }: Call,
  objects: readonly NamedObject[],
): boolean {
  const refuses = ({ provider }: Deployment): boolean =>
    sharesAccount(provider.id) && objects.some(({ id }) => !allowsObject(provider, id));
  return models.some(({ deployments }) => deployments.some(refuses));
}

function notContinued(call: Call, { id, kind, param }: NamedObject): Failure {
  const shown = id.slice(0, 128);
  if (kind !== "thread_message") {
    const what = kind === "interaction" ? "interaction" : "response";
    return new Failure("invalid_request", `There is no ${what} with the id "${shown}" to continue.`, { param });
  }
  const [model] = call.models;
  if (model === undefined || !modelKeepsThreads(model, call)) {
    return new Failure("unsupported_by_model", "This model's provider keeps no threads. Send the whole conversation.", {
      param: "thread",
      details: { details: { error_code: "thread_unsupported_request", unsupported: ["thread"] } },
    });
  }
  return new Failure("not_found", `Thread not found: no message "${shown}" can be continued.`, {
    param: "thread.previous_message_id",
    details: { details: { error_code: "thread_not_found" } },
  });
}

function modelKeepsThreads({ deployments }: Model, { protocol }: Call): boolean {
  return deployments.some((deployment) => {
    const match = matchLane(deployment, protocol);
    return match !== null && !match.translated && keepsThreads(deployment.provider, match.kind);
  });
}

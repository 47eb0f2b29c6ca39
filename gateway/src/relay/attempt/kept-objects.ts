import { bounds, isObjectId, type KeptObject, keptResponse, tokensOf, type UpstreamObject } from "#core/index.ts";
import type { AttemptFields } from "#ledger/index.ts";
import type { ReplyFacts } from "#protocols/index.ts";
import type { RelayDependencies } from "../dependencies.ts";
import type { KeptState } from "../upstream-objects.ts";
import type { AttemptParts } from "./call-tally.ts";
import { leavesThreadOut } from "./governed-request.ts";
import type { Measured } from "./measured-usage.ts";

/** Objects that the upstream keeps because of one attempt. */
export class KeptObjects {
  readonly #dependencies: Pick<RelayDependencies, "upstreamObjects" | "clock">;
  readonly #fields: AttemptFields;
  /** Kept under the id of the answer; null: nothing. */
  readonly #keeps: UpstreamObject["kind"] | null;
  #answerId: string | null = null;
  #made: readonly string[] = [];
  #items: readonly string[] = [];
  #passed: readonly KeptObject[] = none;
  /** The upstream adds the answer to these. */
  readonly #conversations: readonly KeptObject[];

  constructor({ dependencies, call, selection, match }: AttemptParts, fields: AttemptFields) {
    this.#dependencies = dependencies;
    this.#fields = fields;
    const { provider } = selection.deployment;
    const isKept = !match.translated && !leavesThreadOut(call, match, provider);
    this.#keeps = isKept ? call.facts.keeps : null;
    this.#conversations = call.kept === undefined ? none : conversationsIn(call.kept);
  }

  get answerId(): string | null {
    return this.#answerId;
  }

  /** The answer's id: later calls about it must find its account. */
  answer(id: string | null): void {
    if (id === null || this.#keeps === null || !isObjectId(id)) return;
    this.#answerId = id;
    this.remember(null);
  }

  /** Ids of what the upstream made on the way to the answer, and of the answer's items. */
  made({ made, items }: Pick<ReplyFacts, "made" | "items">): void {
    if (made !== undefined && made.length > 0) this.#made = made.filter(isObjectId);
    if (items !== undefined) this.#items = items;
  }

  /** What a call that is passed through has made or deleted. */
  passed(objects: readonly KeptObject[]): void {
    this.#passed = [...this.#passed, ...objects.filter(({ id }) => isObjectId(id))];
  }

  /** For the attempt's record. `used` null: not known yet. */
  record(used: Measured | null): readonly KeptObject[] | undefined {
    if (this.#isEmpty()) return undefined;
    const now = this.#dependencies.clock.now();
    const kind = this.#fields.upstreamDialect === "openai-chat" ? "resource" : "container";
    const inputTokens = used === null || used.source === "none" ? null : tokensOf(used.usage);
    // A sound is part of the answer, and has no more tokens than that.
    const soundTokens = kind === "resource" ? inputTokens : null;
    const more = { kind, inputTokens: soundTokens, expiresAt: now + bounds.containerKeptMs } as const;
    const objects: KeptObject[] = [...this.#made.map((id) => ({ id, ...more })), ...this.#passed];
    // It has grown by this answer, and is input as a whole each time.
    if (inputTokens !== null)
      for (const conversation of this.#conversations) objects.push({ ...conversation, inputTokens });
    if (this.#answerId !== null && this.#keeps === "response") {
      const usage = inputTokens === null ? null : (used?.usage ?? null);
      objects.push(...keptResponse(this.#answerId, this.#items, usage, now + bounds.responseKeptMs));
    } else if (this.#answerId !== null && this.#keeps !== null) {
      objects.push({ id: this.#answerId, kind: this.#keeps, inputTokens, expiresAt: now + this.#lifeMs(used) });
    }
    return objects.length === 0 ? undefined : objects;
  }

  #isEmpty(): boolean {
    if (this.#answerId !== null && this.#keeps !== null) return false;
    return this.#made.length === 0 && this.#passed.length === 0 && this.#conversations.length === 0;
  }

  /** The vendor does not store a thread's answer by a fallback model. */
  #lifeMs(used: Measured | null): number {
    if (this.#keeps !== "thread_message") return bounds.responseKeptMs;
    return used?.served?.byFallback === true ? 0 : bounds.threadKeptMs;
  }

  /** For the next call, which may come before the record is in the database. */
  remember(used: Measured | null): void {
    const objects = this.record(used);
    if (objects === undefined) return;
    const { upstreamObjects, clock } = this.#dependencies;
    const { workspaceId, keyId, personId = null, provider, deployment, model, upstreamModel } = this.#fields;
    const made = { workspaceId, keyId, personId, provider, deployment, model, upstreamModel, createdAt: clock.now() };
    for (const object of objects) upstreamObjects.remember({ ...made, ...object });
  }
}

const none: readonly KeptObject[] = [];

function conversationsIn({ found }: KeptState): readonly KeptObject[] {
  return [...found.values()]
    .filter(({ kind }) => kind === "conversation")
    .map(({ id, kind, inputTokens, expiresAt }) => ({ id, kind, inputTokens, expiresAt }));
}

import type { RehearsalResult } from "@sluice/contract/console";
import type { Guardrail, Workspace } from "#core/index.ts";
import {
  appliesToCaller,
  type CapturedAsk,
  type CapturedOutcome,
  inspectCaptured,
  isLocating,
} from "#guardrails/index.ts";
import {
  type Connection,
  type PastCapture,
  type PastCheck,
  type PastChecksQuery,
  type PastEntry,
  pastCaptures,
  pastEndpoints,
  pastRefusals,
  pastVerdicts,
  refusalsOf,
} from "#storage/in-thread.ts";
import type { RehearsedGuardrail } from "../change/rehearsed-changes.ts";
import type { Caller } from "./callers.ts";
import { GuardrailTally, type UnnamedGuardrail } from "./guardrail-tally.ts";
import { Refusal } from "./refusal.ts";
import type { Unknown } from "./tally.ts";

interface GuardrailReplayOptions {
  readonly guardrails: readonly RehearsedGuardrail[];
  /** The rehearsed period. */
  readonly span: Omit<PastChecksQuery, "guardrailIds">;
  /** Captured bodies that have expired by then are not read. */
  readonly now: number;
  /** Checks of calls that ran, and of requests that were refused then. */
  readonly checksMax: number;
  readonly workspaces: ReadonlyMap<string, Workspace>;
  readonly callerOf: (entry: PastEntry) => Caller;
  readonly unknown: (code: Unknown, calls?: number) => void;
}

interface Rehearsed {
  readonly changed: RehearsedGuardrail;
  readonly refusal: Refusal;
  readonly tally: GuardrailTally;
}

/** Captured bodies have up to 64 KiB each. */
const capturesAtOnce = 25;
const refusalsAtOnce = 50;

/**
 * Checks the captured bodies of past calls with the guardrails of a change, by the code of live calls. Each is checked alone. A
 * request that an enforced one blocks is refused in the replay; answers and masked values only count.
 */
export class GuardrailReplay {
  /** Requests that the guardrails block. */
  readonly blocked = new Map<string, Refusal>();
  readonly #options: GuardrailReplayOptions;
  readonly #all: readonly Rehearsed[];
  #checks = 0;
  #refusedChecks = 0;
  #allowed = 0;
  #lastRefusal: PastCheck | null = null;

  constructor(options: GuardrailReplayOptions) {
    this.#options = options;
    this.#all = options.guardrails.map((changed) => {
      const scopeId = (changed.after ?? changed.before)?.id ?? changed.name;
      const refusal = new Refusal({ scope: "guardrail", scopeId, limit: "guardrail" }, changed.label);
      return { changed, refusal, tally: new GuardrailTally() };
    });
  }

  get refusals(): readonly Refusal[] {
    return this.#all.map(({ refusal }) => refusal);
  }

  /** Checks the calls that begin in a page of entries. */
  async read(connection: Connection, entries: readonly PastEntry[]): Promise<void> {
    if (this.#all.length === 0) return;
    const outcomes = new Map(entries.map(({ requestId, outcome }) => [requestId, outcome]));
    const begun = entries.filter(({ at, retryIndex, calls, outcome }) => {
      return at >= this.#options.span.from && retryIndex === 0 && calls > 0 && outcome !== "rejected";
    });
    for (let from = 0; from < begun.length; from += capturesAtOnce) {
      const some = begun.slice(from, from + capturesAtOnce);
      const isBeyond = this.#checks >= this.#options.checksMax;
      const ids = some.filter((entry) => this.#checkedAt(entry).length > 0).map(({ requestId }) => requestId);
      const captures = isBeyond ? null : await pastCaptures(connection, ids, this.#options.now);
      for (const entry of some) this.#examine(entry, captures, outcomes.get(entry.requestId) === "succeeded");
    }
  }

  #examine(entry: PastEntry, captures: ReadonlyMap<string, PastCapture> | null, isAnswered: boolean): void {
    const { unknown, callerOf } = this.#options;
    const applied = this.#all.filter(({ changed: { after } }) => after !== null && appliesTo(after, entry));
    for (const { tally } of applied) tally.calls++;
    const checked = this.#checkedAt(entry);
    if (checked.length < applied.length) unknown("checks_not_run");
    if (checked.length === 0) return;
    const capture = captures?.get(entry.requestId);
    if (capture?.request == null) {
      unknown(captures === null ? "captures_bound" : "not_captured");
      return;
    }
    this.#checks += checked.length;
    for (const { changed, refusal, tally } of checked) {
      const { after } = changed;
      if (after === null) continue;
      const outcomes = inspect(after, entry.endpoint, capture, isAnswered);
      tally.add(entry, callerOf(entry), capture, outcomes);
      if (after.enforce && isBlocked(outcomes) && !this.blocked.has(entry.requestId)) {
        this.blocked.set(entry.requestId, refusal);
      }
    }
  }

  /** The guardrails that apply to a call and find places in its bodies. */
  #checkedAt(entry: PastEntry): readonly Rehearsed[] {
    return this.#all.filter(({ changed: { after } }) => {
      return after !== null && isLocating(after.check) && appliesTo(after, entry);
    });
  }

  /** Reads a page of requests that the guardrails refused then. False: there are no more. */
  async readRefusals(connection: Connection): Promise<boolean> {
    const guardrailIds = this.#all.flatMap(({ changed: { before } }) => (before === null ? [] : [before.id]));
    if (guardrailIds.length === 0) return false;
    const { span, now, checksMax, unknown } = this.#options;
    if (this.#lastRefusal === null) await this.#readRecorded(connection, guardrailIds);
    const query = { ...span, guardrailIds, after: this.#lastRefusal, limit: refusalsAtOnce };
    const page = await pastRefusals(connection, query);
    const byRequest = Map.groupBy(
      await refusalsOf(connection, [...new Set(page.map(({ requestId }) => requestId))]),
      ({ requestId }) => requestId,
    );
    const unclear: PastCheck[][] = [];
    for (const check of page) {
      const checks = byRequest.get(check.requestId) ?? [];
      // Once for each request.
      if (checks.find(({ guardrailId }) => guardrailIds.includes(guardrailId))?.id !== check.id) continue;
      const others = checks.some(
        ({ guardrailId, verdict }) => verdict === "blocked" && !guardrailIds.includes(guardrailId),
      );
      if (!others) unclear.push(checks);
    }
    for (let from = 0; from < unclear.length; from += capturesAtOnce) {
      const some = unclear.slice(from, from + capturesAtOnce);
      const isBeyond = this.#refusedChecks >= checksMax;
      const ids = isBeyond ? [] : some.flatMap(([check]) => check?.requestId ?? []);
      const captures = await pastCaptures(connection, ids, now);
      const endpoints = await pastEndpoints(connection, ids);
      for (const checks of some) {
        const id = checks[0]?.requestId ?? "";
        const [capture, endpoint] = [captures.get(id), endpoints.get(id)];
        const isComplete = capture?.request != null && endpoint !== undefined;
        const isCertain = this.#judge(checks, isComplete ? { endpoint, capture } : null);
        if (isBeyond && !isCertain) unknown("captures_bound");
      }
    }
    this.#lastRefusal = page.at(-1) ?? this.#lastRefusal;
    return page.length === refusalsAtOnce;
  }

  async #readRecorded(connection: Connection, guardrailIds: readonly string[]): Promise<void> {
    for (const { guardrailId, verdict, requests } of await pastVerdicts(connection, {
      ...this.#options.span,
      guardrailIds,
    })) {
      const recorded = this.#all.find(({ changed }) => changed.before?.id === guardrailId)?.tally.recorded;
      if (recorded !== undefined && verdict !== "failed") recorded[verdict as keyof typeof recorded] += requests;
    }
  }

  /** Counts a request that the guardrails refused then, if they would let it through. False: that is unknown. */
  #judge(checks: readonly PastCheck[], refused: RefusedRequest | null): boolean {
    const refusing = this.#all.filter(({ changed: { before } }) =>
      checks.some(({ guardrailId, verdict }) => {
        return guardrailId === before?.id && (verdict === "blocked" || before.onError === "block");
      }),
    );
    if (refusing.length === 0) return true;
    if (refused !== null) this.#refusedChecks += refusing.length;
    const verdicts = refusing.map(({ changed: { after } }) => allows(after, checks[0], refused));
    if (verdicts.includes(false)) return true;
    const ours = new Set(this.#all.map(({ changed: { before } }) => before?.id));
    // The failed check of another guardrail may have refused the request, too.
    const isCertain = !verdicts.includes(null) && checks.every(({ guardrailId }) => ours.has(guardrailId));
    for (const { tally } of refusing) {
      if (isCertain) tally.allowed++;
      else tally.allowedUnknown++;
    }
    if (isCertain) this.#allowed++;
    this.#options.unknown(isCertain ? "allowed_cost" : "allowed_unknown");
    return isCertain;
  }

  result(): { readonly guardrails: readonly UnnamedGuardrail[]; readonly allowed: RehearsalResult["allowed"] } {
    const { workspaces } = this.#options;
    const guardrails = this.#all.map(({ changed: { name, workspaceId, after }, tally }): UnnamedGuardrail => {
      const slug = workspaceId === null ? null : (workspaces.get(workspaceId)?.slug ?? workspaceId);
      return {
        name,
        workspace: workspaceId === null || slug === null ? null : { id: workspaceId, slug },
        mode: after === null ? "removed" : after.enforce ? "enforced" : "shadow",
        not_run: after === null || isLocating(after.check) ? null : after.check.kind,
        ...tally.sums(),
      };
    });
    return { guardrails, allowed: this.#allowed };
  }
}

/** A request that a guardrail refused then, with its captured body. */
interface RefusedRequest {
  readonly endpoint: string;
  readonly capture: PastCapture;
}

type Place = Pick<PastEntry, "workspaceId" | "groupId" | "keyId">;

function appliesTo(guardrail: Guardrail, { workspaceId, groupId, keyId }: Place): boolean {
  return appliesToCaller(guardrail, { workspace: { id: workspaceId }, group: { id: groupId }, key: { id: keyId } });
}

/** Whether the guardrail lets a refused request through; null: unknown. */
function allows(after: Guardrail | null, check: PastCheck | undefined, refused: RefusedRequest | null): boolean | null {
  if (after === null || check === undefined || !after.enforce) return true;
  if (!after.on.includes("input") || !appliesTo(after, check)) return true;
  if (after.action === "flag" && after.unreadable === "pass") return true;
  if (!isLocating(after.check) || refused === null) return null;
  const { endpoint, capture } = refused;
  const outcomes = inspect(after, endpoint, capture, false);
  if (isBlocked(outcomes)) return false;
  const isWhole =
    !capture.isCut.input && outcomes.every(({ isRedacted, isUnreadable }) => !isRedacted && !isUnreadable);
  return isWhole ? true : null;
}

function isBlocked(outcomes: readonly CapturedOutcome[]): boolean {
  return outcomes.some(({ side, verdict }) => side === "input" && verdict === "blocked");
}

function inspect(
  guardrail: Guardrail,
  endpoint: string,
  { request, answer, isStream }: PastCapture,
  isAnswered: boolean,
) {
  const ask = { guardrail, endpoint: endpoint as CapturedAsk["endpoint"], isStream };
  const bytes = (text: string | null) => (text === null ? null : Buffer.from(text));
  return inspectCaptured(ask, bytes(request), isAnswered ? bytes(answer) : null);
}

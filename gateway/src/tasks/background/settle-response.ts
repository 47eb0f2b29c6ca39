import {
  bounds,
  keptResponse,
  type LedgerEntry,
  settle,
  type Task,
  type TaskState,
  type Usage,
  usualTerms,
} from "#core/index.ts";
import { rawUsageWithin, wholeUsage } from "#ledger/index.ts";
import type { ReplyFacts } from "#protocols/index.ts";
import { priceTermsOf } from "#providers/index.ts";
import { type Measured, measuredReply, pricesAt, usedByOthers } from "#relay/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { endings } from "../settle/settle.ts";
import type { TaskPass } from "../task-pass.ts";

/**
 * Ends the task of a background response: the entry of the attempt that began it goes into the ledger with what the answer used, at
 * the price of that moment. `facts` null: nobody can say what became of it, so it costs what was expected of it.
 */
export async function settleResponse(
  dependencies: TaskDependencies,
  pass: TaskPass,
  facts: ReplyFacts | null,
): Promise<void> {
  const { clock, holds, observer } = dependencies;
  const { task } = pass;
  const open = openEntryOf(task);
  const now = clock.now();
  const state = stateOf(facts);
  const told = measured(open, task, facts);
  const usage = wholeUsage(told.usage);
  const ending = endings[state];
  const entry: LedgerEntry = {
    ...open,
    endedAt: now,
    outcome: ending.outcome,
    httpStatus: ending.status,
    errorCode: ending.code,
    usage,
    usageSource: told.source,
    rawUsage: rawUsageWithin(facts?.usage?.raw ?? null),
    ...settle({ ...(await pricing(dependencies, task)), usage, served: told.served }),
    totalMs: Math.max(open.totalMs, now - open.at),
    ...(state === "expired" || open.upstreamId === null
      ? {}
      : { objects: keptResponse(open.upstreamId, facts?.items ?? [], usage, now + bounds.responseKeptMs) }),
  };
  const entries = [...othersOf(dependencies, task, entry, told), entry];
  const step = {
    state,
    usage: told.source === "none" ? null : usage,
    rawUsage: entry.rawUsage,
    costNanoUsd: entry.costNanoUsd,
    finishedAt: now,
    dueAt: null,
    error: ending.code === null ? null : { code: ending.code, message: messages[state] },
  };
  if (!(await pass.finish(step, entries, null))) return;
  // As with videos: what it cost is told before what was set aside for it is given back.
  try {
    for (const one of entries) observer.attemptEnd(one);
  } finally {
    holds.settle({ ...task, ...step });
  }
}

/** The ledger entry of its attempt, as far as the call that began it could say. */
export function openEntryOf({ request }: Pick<Task, "request">): LedgerEntry {
  return JSON.parse(request);
}

type EndState = Extract<TaskState, "succeeded" | "failed" | "cancelled" | "expired">;

const messages: Readonly<Record<EndState, string>> = {
  succeeded: "",
  failed: "The upstream could not make the response.",
  cancelled: "The response was cancelled.",
  expired: "The upstream did not say how the response ended.",
};

function stateOf(facts: ReplyFacts | null): EndState {
  if (facts === null) return "expired";
  return facts.status === "failed" || facts.status === "cancelled" ? facts.status : "succeeded";
}

/** What the answer says it used. Where it says nothing: a failure is free, and of the rest what was expected counts. */
function measured({ usage: expected }: LedgerEntry, { startedAt }: Task, facts: ReplyFacts | null): Measured {
  const estimate: Measured = { usage: expected, source: "estimated" };
  if (facts === null) return estimate;
  const told = measuredReply(facts, () => expected.inputUncached);
  if (told.source === "upstream") return { ...told, usage: withCounted(told.usage, expected) };
  if (facts.status === "failed") return told;
  // What was made until then is hardly ever shown. What only waited made nothing.
  const most = facts.status === "cancelled" && startedAt === null ? 0 : expected.output;
  const output =
    facts.status !== "cancelled" && told.source !== "none" ? told.usage.output : Math.max(most, told.usage.output);
  return {
    ...told,
    usage: withCounted({ ...expected, ...(told.source === "none" ? {} : told.usage), output }, expected),
    source: "estimated",
  };
}

/** What is charged by the request, and what was asked for and is not told. */
function withCounted(told: Usage, { inputUncached: _, output: __, ...counted }: Usage): Usage {
  const missing = Object.entries(counted).filter(([name, count]) => count > 0 && told[name as keyof Usage] === 0);
  return { ...told, ...Object.fromEntries(missing) };
}

/** By the version that was in force when the call was made; another model that the upstream took by the one in force now. */
async function pricing(
  { configSnapshot, ledger }: TaskDependencies,
  { priceVersion: id, account, upstreamModel }: Task,
) {
  const price = id === null ? null : await ledger.price(id);
  if (id !== null && price === null) throw new Error(`there is no price version ${id}`);
  if (account === null) return { price, terms: usualTerms, upstreamModel };
  return {
    price,
    terms: priceTermsOf(account),
    upstreamModel,
    priceOf: pricesAt(configSnapshot(), account.providerId),
  };
}

/** Entries of what other models used for it. */
function othersOf(
  { configSnapshot, ids }: TaskDependencies,
  { account }: Task,
  entry: LedgerEntry,
  told: Measured,
): LedgerEntry[] {
  const terms = account === null ? usualTerms : priceTermsOf(account);
  return usedByOthers(configSnapshot(), entry, told).map(({ fields, price, usage: used, served }) => {
    const usage = wholeUsage(used);
    return {
      ...fields,
      attemptId: ids.next("att_"),
      calls: 0,
      usage,
      usageSource: "upstream",
      rawUsage: null,
      ...settle({ price, usage, served, terms, upstreamModel: fields.upstreamModel }),
      upstreamId: null,
      objects: [],
    };
  });
}

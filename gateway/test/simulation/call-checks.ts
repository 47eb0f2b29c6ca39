import { type LedgerEntry, type PriceTable, periodStart, pricedClasses, tokensOf, type Usage } from "#core/index.ts";
import type { CallHistory, HeldBudget, PlayedCall } from "./call-history.ts";
import { highestOutputPico } from "./call-simulation.ts";
import { scopeOf } from "./persistent-ledger.ts";
import type { TrueUsage } from "./scripted-answers.ts";
import { eventTokensMax, reportsCorrectUsage, type Served } from "./scripted-upstream.ts";
import { streamEnds } from "./simulated-call.ts";

/** Every fault in a history, one sentence each. A correct history has none. */
export async function faultsOf(history: CallHistory): Promise<string[]> {
  const wrong = [...history.problems, ...history.ledger.faults];
  const report = (fault: string): void => void wrong.push(fault);
  const served = history.simulations.flatMap(({ upstream }) => upstream.served);
  const entries = new Map(history.ledger.entries.map((entry) => [entry.attemptId, entry]));
  checkEntries(history, served, entries, report);
  checkMoney(history, served, report);
  checkTimes(history, report);
  for (const call of history.calls) checkCaller(history, call, report);
  checkReleased(history, report);
  for (const limitUsage of await history.limitUsages()) {
    const ledger = spent(history, limitUsage);
    if (limitUsage.used !== ledger)
      report(`${limitUsage.name}: the budget has ${limitUsage.used}, the ledger ${ledger}`);
  }
  return wrong;
}

type Report = (fault: string) => void;

/** Dialects that show searches apart from the usage, or count each call as one search. */
const showsSearches: ReadonlySet<string> = new Set(["openai-chat", "openai-responses", "gemini"]);

/** Each request to an upstream has exactly one entry, which matches what the upstream knows. */
function checkEntries(
  history: CallHistory,
  served: readonly Served[],
  entries: ReadonlyMap<string, LedgerEntry>,
  report: Report,
): void {
  const sent = new Set<string>();
  for (const one of served) {
    if (sent.has(one.attemptId)) report(`${one.attemptId} was sent twice`);
    sent.add(one.attemptId);
    const entry = entries.get(one.attemptId);
    if (entry === undefined) report(`${one.attemptId} was served and has no entry`);
    else checkEntry(one, entry, (fault) => report(`${describe(one, entry)}: ${fault}`));
  }
  if (!history.sendsAgain) checkRepeats(served, entries, report);
  for (const entry of entries.values()) {
    const price = entry.priceVersion === null ? undefined : history.prices.get(entry.priceVersion);
    const cost = price === undefined ? 0 : exactCost(price.table, entry.usage);
    if (cost !== entry.costNanoUsd)
      report(`${entry.attemptId} is recorded at ${entry.costNanoUsd}, and its usage costs ${cost}`);
    const unsent = !sent.has(entry.attemptId) && entry.outcome !== "interrupted";
    if (unsent && entry.costNanoUsd > 0) report(`${entry.attemptId} was never sent and costs ${entry.costNanoUsd}`);
  }
}

/**
 * A request that may have been executed is not sent again, unless the operator allows it or the upstream reported a
 * failure.
 */
function checkRepeats(served: readonly Served[], entries: ReadonlyMap<string, LedgerEntry>, report: Report): void {
  for (const { attemptId, call, usage, behavior } of served) {
    const entry = entries.get(attemptId);
    const reportedFailure = behavior.kind === "answer" && behavior.breaks?.how === "error";
    if (usage === null || reportedFailure || entry?.outcome === "interrupted") continue;
    const later = [...entries.values()].some(
      ({ tags, retryIndex }) => tags["call"] === String(call) && retryIndex > (entry?.retryIndex ?? 0),
    );
    if (later) report(`call ${call} was sent again after ${attemptId}, which may have been executed`);
  }
}

function checkEntry(one: Served, entry: LedgerEntry, report: Report): void {
  const { behavior, usage: actual } = one;
  const { usage, outcome, costNanoUsd } = entry;
  if (actual === null) {
    // A caller that disconnected, or a process that was killed, did not learn of the refusal.
    if (costNanoUsd > 0 && outcome === "failed") report("a refused request is charged");
    return;
  }
  const output = one.read.reduce((sum, { event }) => sum + event.output, 0);
  const refusedInBand = behavior.kind === "answer" && behavior.breaks?.how === "error" && output === 0;
  if (costNanoUsd === 0 && !refusedInBand) report("a request that may be charged is recorded at 0");
  if (costNanoUsd === 0) return;
  if (entry.usageSource === "upstream" && one.read.some(({ event }) => event.reportsUsage)) {
    if (!same(usage, actual)) report(`is recorded as ${usageText(usage)}, and was ${usageText(actual)}`);
  }
  if (outcome === "interrupted" && entry.errorCode === "interrupted") {
    checkKilled(one, entry, report);
    return;
  }
  if (outcome === "succeeded") {
    if (!one.complete && !one.read.some(({ event }) => event.mayEnd))
      report("is recorded as an answer, and had no end");
    if (reportsCorrectUsage(one.usageReport) && one.complete && !same(usage, actual))
      report(`is recorded as ${usageText(usage)}, and was ${usageText(actual)}`);
    if (!reportsCorrectUsage(one.usageReport) && one.usageReport !== "half" && usage.inputUncached === 0)
      report("its input is free");
    if (usage.output === 0) report("its output is free");
    if (one.asksSearch && usage.webSearches === 0 && showsSearches.has(one.dialect)) report("its searches are free");
  }
  const searches = one.read.reduce((sum, { event }) => sum + (event.searches ?? 0), 0);
  if (usage.webSearches < searches) report(`is recorded with ${usage.webSearches} searches, and ${searches} were read`);
  if (usage.output < output) report(`is recorded with ${usage.output} tokens of output, and ${output} were read`);
  // The usage of an unstreamed answer without numbers is estimated from its size.
  const isStream = one.read.some(({ event }) => event.output > 0);
  if (isStream && usage.output > actual.output) report(`is recorded with ${usage.output} of ${actual.output} tokens`);
  if (one.read.some(({ event }) => event.reportsInput)) {
    if (inputOf(usage) !== inputOf(actual))
      report(`is recorded with ${inputOf(usage)} of input, and ${inputOf(actual)} were reported`);
  } else if (inputOf(usage) === 0) report("its input is free");
}

/** A killed process leaves its last checkpoint, which is at most a second or 64 events old. */
function checkKilled(one: Served, { usage }: LedgerEntry, report: Report): void {
  if (usage.inputUncached + usage.cacheRead + usage.cacheWrite5m === 0) report("its input is free");
  const lastMs = one.read.at(-1)?.ms ?? 0;
  const checkpointed = one.read
    .slice(0, -64)
    .concat(one.read.slice(-64).filter(({ ms }) => ms < lastMs - 2_500))
    .reduce((sum, { event }) => sum + event.output, 0);
  if (usage.output < checkpointed)
    report(`is recorded with ${usage.output} tokens of output, and ${checkpointed} were read long before`);
}

/** No budget is exceeded by more than a call may cost beyond its reservation. */
function checkMoney(history: CallHistory, served: readonly Served[], report: Report): void {
  const beyond = new Map<PlayedCall, number>();
  const eventNanoUsd = (eventTokensMax * 2 * highestOutputPico) / 1_000;
  for (const call of history.calls) {
    const { permit, request } = call;
    if (permit === null) continue;
    const entries = entriesOf(history, call);
    const cost = entries.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
    const excess = Math.max(0, cost - permit.held);
    beyond.set(call, excess);
    const [last, ...failed] = entries.toSorted((one, other) => other.retryIndex - one.retryIndex);
    // If the caller requested a stream but got an unstreamed answer, the complete answer is the last piece.
    const isWhole = served.some(
      ({ attemptId, behavior }) => attemptId === last?.attemptId && behavior.kind === "answer" && behavior.otherForm,
    );
    const piece = isWhole ? (last?.costNanoUsd ?? 0) : eventNanoUsd;
    const allowed =
      failed.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0) +
      (request.stream ? piece : 0) +
      (last === undefined ? 0 : allowedForInput(last, history));
    if (last !== undefined && excess > allowed) {
      report(
        `call ${request.number} cost ${excess} more than the ${permit.held} it reserved, and ${allowed} is allowed`,
      );
    }
  }
  const budgets = new Map(history.calls.flatMap(({ held }) => held.map((one) => [one.key, one])));
  for (const [key, budget] of budgets) {
    const holders = history.calls.filter(({ held, permit }) => permit !== null && held.some((one) => one.key === key));
    const limits = holders.flatMap(({ held }) => held.filter((one) => one.key === key).map(({ limit }) => limit));
    const numbers = new Set(holders.map(({ request }) => String(request.number)));
    const excess = holders.reduce((sum, call) => sum + (beyond.get(call) ?? 0), 0);
    const all = spent(history, budget);
    const free = all - spent(history, budget, (entry) => numbers.has(entry.tags["call"] ?? ""));
    if (holders.length > 0 && all > Math.max(...limits) + excess + free) {
      report(`${key}: ${all} spent of ${Math.max(...limits)}, ${excess} beyond reservations, ${free} by others`);
    }
  }
}

/**
 * The input is estimated: all of it may cost more than reserved, and it may be so long that output costs twice as much.
 */
function allowedForInput({ usage, costNanoUsd, priceVersion }: LedgerEntry, history: CallHistory): number {
  const table = history.prices.get(priceVersion ?? "")?.table;
  if (table === undefined) return 0;
  const input = exactCost(table, { ...usage, output: 0, webSearches: 0 });
  const isLong = inputOf(usage) > (table.longContext?.above ?? Number.POSITIVE_INFINITY);
  return isLong ? input + (costNanoUsd - input) / 2 : input;
}

/** No part takes longer than the whole. */
function checkTimes(history: CallHistory, report: Report): void {
  for (const call of history.calls) {
    const entries = entriesOf(history, call).toSorted((one, other) => one.retryIndex - other.retryIndex);
    let freeMs = 0;
    for (const entry of entries) {
      const { totalMs, firstByteMs, firstTokenMs, upstreamMs, overheadMs } = entry;
      const { startedAfterMs } = entry;
      const name = `call ${call.request.number}, ${entry.attemptId}`;
      const within = (part: number | null, whole: number | null, what: string): void => {
        if (part !== null && whole !== null && part > whole) report(`${name}: ${what} (${part} > ${whole})`);
      };
      within(firstByteMs, firstTokenMs, "its first token came before its first byte");
      within(firstByteMs, totalMs, "its first byte came after its end");
      within(firstTokenMs, totalMs, "its first token came after its end");
      within(upstreamMs, totalMs, "its upstream time is longer than its total time");
      within(
        overheadMs,
        firstByteMs === null ? null : startedAfterMs + firstByteMs,
        "its overhead is longer than its time to the first byte",
      );
      for (const part of [totalMs, firstByteMs, firstTokenMs, upstreamMs, overheadMs, startedAfterMs]) {
        if (part !== null && part < 0) report(`${name}: a time is below zero`);
      }
      if (entry.outcome !== "interrupted") {
        within(freeMs, startedAfterMs, "it began before the previous attempt had ended");
        freeMs = startedAfterMs + totalMs;
        const drained = call.disconnected && entry.provider === "chat-b";
        if (call.endedMs !== null && !drained) within(freeMs, call.endedMs - call.startedMs, "it ended after its call");
      }
    }
  }
}

/** The entries match what the caller received. */
function checkCaller(history: CallHistory, call: PlayedCall, report: Report): void {
  const { request, status, text, disconnected, killed } = call;
  const good = entriesOf(history, call).filter(({ outcome }) => outcome === "succeeded");
  if (good.length > 1) report(`call ${request.number} succeeded ${good.length} times`);
  if (disconnected || killed || status === null) return;
  if (call.endedMs === null) report(`call ${request.number} never ended`);
  if (status !== 200) {
    if (good.length > 0) report(`call ${request.number} got status ${status}, and is recorded as an answer`);
    return;
  }
  const ends = streamEnds[request.endpoint];
  // Between equal dialects an answer passes unchanged, even when the caller requested the other form.
  if (!call.streamed) {
    if (good.length !== 1) report(`call ${request.number} got an answer, and is not recorded as one`);
    return;
  }
  const [isGood, isBad] = [ends.good.test(text), ends.bad.test(text)];
  if (!isBad && !isGood) report(`call ${request.number}: its stream has no end`);
  if (!isBad && isGood && good.length !== 1)
    report(`call ${request.number} was complete, and is not recorded as an answer`);
  if (isBad && good.length > 0) report(`call ${request.number} got an error, and is recorded as an answer`);
}

/** Everything is released. */
function checkReleased({ simulation, simulations }: CallHistory, report: Report): void {
  const remaining = {
    reservations: simulation.outstanding(),
    streams: simulation.relay.liveStreams,
    "repeated endings": simulation.admission.repeatedEndings,
    "pending settlements": simulation.admission.unsettled,
    "bytes reserved for callers": simulation.memory.bytes,
    "attempts in flight": simulation.router.states().reduce((sum, { inFlight }) => sum + inFlight, 0),
    "open attempts": simulation.journal.open.size,
    "open streams of upstreams": simulations.reduce((sum, one) => sum + (one.killed ? 0 : one.upstream.openStreams), 0),
  };
  for (const [what, count] of Object.entries(remaining)) if (count !== 0) report(`${count} ${what} remain`);
}

function entriesOf(history: CallHistory, { request }: PlayedCall): readonly LedgerEntry[] {
  return history.ledger.entries.filter(({ tags }) => tags["call"] === String(request.number));
}

function spent(
  history: CallHistory,
  { kind, id, period, start }: Pick<HeldBudget, "kind" | "id" | "start" | "period">,
  of: (entry: LedgerEntry) => boolean = () => true,
): number {
  const within = (entry: LedgerEntry) => scopeOf(entry, kind) === id && periodStart(period, entry.at) === start;
  return history.ledger.entries.reduce((sum, entry) => sum + (within(entry) && of(entry) ? entry.costNanoUsd : 0), 0);
}

/** Computes costs again in whole numbers, with separate code. */
function exactCost(table: PriceTable, usage: Usage): number {
  const { longContext } = table;
  const prices =
    longContext !== undefined && inputOf(usage) > longContext.above ? { ...table, ...longContext.prices } : table;
  const pico = pricedClasses.reduce((sum, name) => sum + BigInt(usage[name]) * BigInt(prices[name] ?? 0), 0n);
  return Number((pico + 500n) / 1_000n);
}

function inputOf({
  inputUncached,
  cacheRead,
  cacheWrite5m,
}: Pick<Usage, "inputUncached" | "cacheRead" | "cacheWrite5m">) {
  return inputUncached + cacheRead + cacheWrite5m;
}

function same(usage: Usage, actual: TrueUsage): boolean {
  const classes = ["inputUncached", "cacheRead", "cacheWrite5m", "output", "webSearches"] as const;
  return classes.every((name) => usage[name] === actual[name]) && tokensOf(usage) === inputOf(actual) + actual.output;
}

function usageText({ inputUncached, cacheRead, cacheWrite5m, output, webSearches }: TrueUsage): string {
  return `${inputUncached}+${cacheRead}+${cacheWrite5m} in, ${output} out, ${webSearches} searches`;
}

function describe(
  { attemptId, call, provider, behavior, usageReport }: Served,
  { outcome, errorCode, stream }: LedgerEntry,
): string {
  const broken =
    behavior.kind === "answer" && behavior.breaks !== null ? `, ${behavior.breaks.how} at ${behavior.breaks.at}` : "";
  const how = `${behavior.kind}${usageReport === null ? "" : ` (usage ${usageReport}${broken})`}`;
  return `call ${call}, ${attemptId} at ${provider}${stream ? ", stream" : ""}: ${how}, recorded ${outcome} ${errorCode ?? ""}`;
}

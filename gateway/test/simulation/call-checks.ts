import { type LedgerEntry, type PriceTable, pricedClasses, tokensOf, type Usage } from "#core/index.ts";
import { periodStart } from "#limits/index.ts";
import { streamEnds } from "./asked-call.ts";
import type { CallHistory, HeldBudget, PlayedCall } from "./call-history.ts";
import { dearestOutputPico } from "./call-simulation.ts";
import { scopeOf } from "./kept-ledger.ts";
import { eventTokensMax, type Served, tellsTruly } from "./scripted-upstream.ts";
import type { TrueUsage } from "./upstream-voices.ts";

/** What is wrong with a history that has been played: nothing. Each fault in a sentence. */
export async function faultsOf(history: CallHistory): Promise<string[]> {
  const wrong = [...history.problems, ...history.ledger.faults];
  const say = (words: string): void => void wrong.push(words);
  const served = history.simulations.flatMap(({ upstream }) => upstream.served);
  const entries = new Map(history.ledger.entries.map((entry) => [entry.attemptId, entry]));
  checkEntries(history, served, entries, say);
  checkMoney(history, served, say);
  checkTimes(history, say);
  for (const call of history.calls) checkCaller(history, call, say);
  checkRest(history, say);
  for (const limitUsage of await history.limitUsages()) {
    const ledger = spent(history, limitUsage);
    if (limitUsage.used !== ledger) say(`${limitUsage.name}: the budget says ${limitUsage.used}, the ledger ${ledger}`);
  }
  return wrong;
}

type Say = (words: string) => void;

/** Dialects whose answers show searches beside the usage, or where each call is one. */
const shownBeside: ReadonlySet<string> = new Set(["openai-chat", "openai-responses", "gemini"]);

/** Each request that an upstream had is one entry, and says what the upstream knows. */
function checkEntries(
  history: CallHistory,
  served: readonly Served[],
  entries: ReadonlyMap<string, LedgerEntry>,
  say: Say,
): void {
  const known = new Set<string>();
  for (const one of served) {
    if (known.has(one.attemptId)) say(`${one.attemptId} was sent twice`);
    known.add(one.attemptId);
    const entry = entries.get(one.attemptId);
    if (entry === undefined) say(`${one.attemptId} was served and is in no entry`);
    else checkEntry(one, entry, (words) => say(`${describe(one, entry)}: ${words}`));
  }
  if (!history.sendsAgain) checkRepeats(served, entries, say);
  for (const entry of entries.values()) {
    const price = entry.priceVersion === null ? undefined : history.prices.get(entry.priceVersion);
    const cost = price === undefined ? 0 : exactCost(price.table, entry.usage);
    if (cost !== entry.costNanoUsd) say(`${entry.attemptId} costs ${entry.costNanoUsd}, and its usage ${cost}`);
    const unsent = !known.has(entry.attemptId) && entry.outcome !== "interrupted";
    if (unsent && entry.costNanoUsd > 0) say(`${entry.attemptId} was never sent and costs ${entry.costNanoUsd}`);
  }
}

/** What may have been done is sent to nobody else, unless the operator says so or the upstream said that it failed. */
function checkRepeats(served: readonly Served[], entries: ReadonlyMap<string, LedgerEntry>, say: Say): void {
  for (const { attemptId, call, usage, deed } of served) {
    const entry = entries.get(attemptId);
    const saidSo = deed.kind === "answer" && deed.breaks?.how === "error";
    if (usage === null || saidSo || entry?.outcome === "interrupted") continue;
    const later = [...entries.values()].some(
      ({ tags, retryIndex }) => tags["call"] === String(call) && retryIndex > (entry?.retryIndex ?? 0),
    );
    if (later) say(`call ${call} was sent again after ${attemptId}, which may have been done`);
  }
}

function checkEntry(one: Served, entry: LedgerEntry, say: Say): void {
  const { deed, usage: truth } = one;
  const { usage, outcome, costNanoUsd } = entry;
  if (truth === null) {
    // A caller that left, or a process that died, did not hear of the refusal.
    if (costNanoUsd > 0 && outcome === "failed") say("what was refused costs something");
    return;
  }
  const output = one.read.reduce((sum, { event }) => sum + event.output, 0);
  const refusedInBand = deed.kind === "answer" && deed.breaks?.how === "error" && output === 0;
  if (costNanoUsd === 0 && !refusedInBand) say("what may be charged is booked at 0");
  if (costNanoUsd === 0) return;
  if (entry.usageSource === "upstream" && one.read.some(({ event }) => event.tellsAll)) {
    if (!same(usage, truth)) say(`is booked as ${told(usage)}, and was ${told(truth)}`);
  }
  if (outcome === "interrupted" && entry.errorCode === "interrupted") {
    checkKilled(one, entry, say);
    return;
  }
  if (outcome === "succeeded") {
    if (!one.complete && !one.read.some(({ event }) => event.mayEnd)) say("is booked as an answer, and had no end");
    if (tellsTruly(one.telling) && one.complete && !same(usage, truth))
      say(`is booked as ${told(usage)}, and was ${told(truth)}`);
    if (!tellsTruly(one.telling) && one.telling !== "half" && usage.inputUncached === 0) say("its input is free");
    if (usage.output === 0) say("its output is free");
    if (one.asksSearch && usage.webSearches === 0 && shownBeside.has(one.dialect)) say("its searches are free");
  }
  const searches = one.read.reduce((sum, { event }) => sum + (event.searches ?? 0), 0);
  if (usage.webSearches < searches) say(`is booked with ${usage.webSearches} searches, and ${searches} were seen`);
  if (usage.output < output) say(`is booked with ${usage.output} tokens of output, and ${output} were read`);
  // A whole answer without numbers is guessed by its size.
  const isStream = one.read.some(({ event }) => event.output > 0);
  if (isStream && usage.output > truth.output) say(`is booked with ${usage.output} of ${truth.output} tokens`);
  if (one.read.some(({ event }) => event.tellsInput)) {
    if (inputOf(usage) !== inputOf(truth))
      say(`is booked with ${inputOf(usage)} of input, ${inputOf(truth)} were told`);
  } else if (inputOf(usage) === 0) say("its input is free");
}

/** Of a process that was killed the last checkpoint is known, a second old at most, or 64 events. */
function checkKilled(one: Served, { usage }: LedgerEntry, say: Say): void {
  if (usage.inputUncached + usage.cacheRead + usage.cacheWrite5m === 0) say("its input is free");
  const lastMs = one.read.at(-1)?.ms ?? 0;
  const surely = one.read
    .slice(0, -64)
    .concat(one.read.slice(-64).filter(({ ms }) => ms < lastMs - 2_500))
    .reduce((sum, { event }) => sum + event.output, 0);
  if (usage.output < surely)
    say(`is booked with ${usage.output} tokens of output, and ${surely} were read long before`);
}

/** No budget is exceeded by more than what a call may cost beyond what was held for it. */
function checkMoney(history: CallHistory, served: readonly Served[], say: Say): void {
  const beyond = new Map<PlayedCall, number>();
  const eventNanoUsd = (eventTokensMax * 2 * dearestOutputPico) / 1_000;
  for (const call of history.calls) {
    const { permit, asked } = call;
    if (permit === null) continue;
    const entries = entriesOf(history, call);
    const cost = entries.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
    const excess = Math.max(0, cost - permit.held);
    beyond.set(call, excess);
    const [last, ...failed] = entries.toSorted((one, other) => other.retryIndex - one.retryIndex);
    // Where a stream was asked for and the answer came as a whole, that is the one piece.
    const isWhole = served.some(
      ({ attemptId, deed }) => attemptId === last?.attemptId && deed.kind === "answer" && deed.unasked,
    );
    const piece = isWhole ? (last?.costNanoUsd ?? 0) : eventNanoUsd;
    const allowed =
      failed.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0) +
      (asked.stream ? piece : 0) +
      (last === undefined ? 0 : beyondGuess(last, history));
    if (last !== undefined && excess > allowed) {
      say(`call ${asked.number} cost ${excess} more than the ${permit.held} it held, and ${allowed} may be`);
    }
  }
  const budgets = new Map(history.calls.flatMap(({ held }) => held.map((one) => [one.key, one])));
  for (const [key, budget] of budgets) {
    const holders = history.calls.filter(({ held, permit }) => permit !== null && held.some((one) => one.key === key));
    const limits = holders.flatMap(({ held }) => held.filter((one) => one.key === key).map(({ limit }) => limit));
    const numbers = new Set(holders.map(({ asked }) => String(asked.number)));
    const excess = holders.reduce((sum, call) => sum + (beyond.get(call) ?? 0), 0);
    const all = spent(history, budget);
    const free = all - spent(history, budget, (entry) => numbers.has(entry.tags["call"] ?? ""));
    if (holders.length > 0 && all > Math.max(...limits) + excess + free) {
      say(`${key}: ${all} spent of ${Math.max(...limits)}, ${excess} beyond holds, ${free} by others`);
    }
  }
}

/** Input is guessed: all of it may be dearer than held, and so long that output costs twice as much. */
function beyondGuess({ usage, costNanoUsd, priceVersion }: LedgerEntry, history: CallHistory): number {
  const table = history.prices.get(priceVersion ?? "")?.table;
  if (table === undefined) return 0;
  const input = exactCost(table, { ...usage, output: 0, webSearches: 0 });
  const isLong = inputOf(usage) > (table.longContext?.above ?? Number.POSITIVE_INFINITY);
  return isLong ? input + (costNanoUsd - input) / 2 : input;
}

/** No part is longer than its whole. */
function checkTimes(history: CallHistory, say: Say): void {
  for (const call of history.calls) {
    const entries = entriesOf(history, call).toSorted((one, other) => one.retryIndex - other.retryIndex);
    let freeMs = 0;
    for (const entry of entries) {
      const { totalMs, firstByteMs, firstTokenMs, upstreamMs, overheadMs } = entry;
      const { startedAfterMs } = entry;
      const name = `call ${call.asked.number}, ${entry.attemptId}`;
      const within = (part: number | null, whole: number | null, what: string): void => {
        if (part !== null && whole !== null && part > whole) say(`${name}: ${what} (${part} > ${whole})`);
      };
      within(firstByteMs, firstTokenMs, "its first token came before its first byte");
      within(firstByteMs, totalMs, "its first byte came after its end");
      within(firstTokenMs, totalMs, "its first token came after its end");
      within(upstreamMs, totalMs, "it was longer with the upstream than it lasted");
      within(overheadMs, firstByteMs === null ? null : startedAfterMs + firstByteMs, "our own part is more than all");
      for (const part of [totalMs, firstByteMs, firstTokenMs, upstreamMs, overheadMs, startedAfterMs]) {
        if (part !== null && part < 0) say(`${name}: a time is below zero`);
      }
      if (entry.outcome !== "interrupted") {
        within(freeMs, startedAfterMs, "it began before the one before it had ended");
        freeMs = startedAfterMs + totalMs;
        const drained = call.left && entry.provider === "chat-b";
        if (call.endedMs !== null && !drained) within(freeMs, call.endedMs - call.startedMs, "it outlasted its call");
      }
    }
  }
}

/** What the caller heard is what is booked. */
function checkCaller(history: CallHistory, call: PlayedCall, say: Say): void {
  const { asked, status, text, left, killed } = call;
  const good = entriesOf(history, call).filter(({ outcome }) => outcome === "succeeded");
  if (good.length > 1) say(`call ${asked.number} succeeded ${good.length} times`);
  if (left || killed || status === null) return;
  if (call.endedMs === null) say(`call ${asked.number} never ended`);
  if (status !== 200) {
    if (good.length > 0) say(`call ${asked.number} was told ${status}, and is booked as an answer`);
    return;
  }
  const ends = streamEnds[asked.endpoint];
  // Between equals an answer passes as it is, also where the caller asked for the other kind.
  if (!call.streamed) {
    if (good.length !== 1) say(`call ${asked.number} had an answer, and is booked as none`);
    return;
  }
  const [isGood, isBad] = [ends.good.test(text), ends.bad.test(text)];
  if (!isBad && !isGood) say(`call ${asked.number}: its stream has no end`);
  if (!isBad && isGood && good.length !== 1) say(`call ${asked.number} came to a good end, and is booked as none`);
  if (isBad && good.length > 0) say(`call ${asked.number} was told of an error, and is booked as an answer`);
}

/** Everything is given back. */
function checkRest({ simulation, simulations }: CallHistory, say: Say): void {
  const left = {
    reservations: simulation.outstanding(),
    streams: simulation.relay.liveStreams,
    "repeated endings": simulation.admission.repeatedEndings,
    "settlements not taken": simulation.admission.unsettled,
    "bytes held for callers": simulation.memory.bytes,
    "attempts in flight": simulation.router.states().reduce((sum, { inFlight }) => sum + inFlight, 0),
    "open attempts": simulation.journal.open.size,
    "open streams of upstreams": simulations.reduce((sum, one) => sum + (one.killed ? 0 : one.upstream.openStreams), 0),
  };
  for (const [what, count] of Object.entries(left)) if (count !== 0) say(`${count} ${what} are left`);
}

function entriesOf(history: CallHistory, { asked }: PlayedCall): readonly LedgerEntry[] {
  return history.ledger.entries.filter(({ tags }) => tags["call"] === String(asked.number));
}

function spent(
  history: CallHistory,
  { kind, id, period, start }: Pick<HeldBudget, "kind" | "id" | "start" | "period">,
  of: (entry: LedgerEntry) => boolean = () => true,
): number {
  const within = (entry: LedgerEntry) => scopeOf(entry, kind) === id && periodStart(period, entry.at) === start;
  return history.ledger.entries.reduce((sum, entry) => sum + (within(entry) && of(entry) ? entry.costNanoUsd : 0), 0);
}

/** The prices again, in whole numbers, by other code. */
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

function same(usage: Usage, truth: TrueUsage): boolean {
  const classes = ["inputUncached", "cacheRead", "cacheWrite5m", "output", "webSearches"] as const;
  return classes.every((name) => usage[name] === truth[name]) && tokensOf(usage) === inputOf(truth) + truth.output;
}

function told({ inputUncached, cacheRead, cacheWrite5m, output, webSearches }: TrueUsage): string {
  return `${inputUncached}+${cacheRead}+${cacheWrite5m} in, ${output} out, ${webSearches} searches`;
}

function describe(
  { attemptId, call, provider, deed, telling }: Served,
  { outcome, errorCode, stream }: LedgerEntry,
): string {
  const broken = deed.kind === "answer" && deed.breaks !== null ? `, ${deed.breaks.how} at ${deed.breaks.at}` : "";
  const how = `${deed.kind}${telling === null ? "" : ` (usage ${telling}${broken})`}`;
  return `call ${call}, ${attemptId} at ${provider}${stream ? ", stream" : ""}: ${how}, booked ${outcome} ${errorCode ?? ""}`;
}

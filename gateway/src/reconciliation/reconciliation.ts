import { type BillClass, type BillingKind, isReadFromVendor } from "@sluice/contract/words";
import { type ConfigSnapshot, Failure, invalidRequest, LastingFault, orNotFound, type Secret } from "#core/index.ts";
import type { BillingAccount } from "#directory/index.ts";
import type { Adjustments } from "#ledger/index.ts";
import type { AuditSource, Clock, Leadership, Observer, ReportStore } from "#ports/index.ts";
import type { ProviderClient } from "#provider-client/index.ts";
import { type BillLine, type BillRows, dayAt, dayMs, dayStart } from "./bill.ts";
import type { BillDay, BillDayTotals, BillStore, DecisionAction, StoredDecision } from "./bill-store.ts";
import { type ComparedDay, type ComparedLine, compareDay } from "./compare.ts";
import { readBill } from "./sources/read-bill.ts";
import { badFile } from "./sources/tables.ts";
import { readVendorBill } from "./vendor-bills.ts";

/** Default share of the larger amount up to which differences are ignored, and days until a vendor's bill is complete. */
const defaultTolerance = 0.005;
const defaultLagDays = 2;
/** Complete days are read again, because vendors correct them. */
const againDays = 7;
const watchedDays = 14;
/** When a failed reading is repeated. */
const againMs = 3_600_000;
/** The most days of one uploaded bill or one manual reading. */
const daysMax = 62;

export interface ReconciliationOptions {
  readonly store: BillStore;
  readonly accounts: () => Promise<readonly BillingAccount[]>;
  readonly reports: Pick<ReportStore, "billedUsage">;
  readonly adjustments: Pick<Adjustments, "split">;
  /** null: bills are not read from vendors, as in a command. `reveal`: reads a key that is a secret reference. */
  readonly vendors: { readonly client: ProviderClient; readonly reveal: (key: Secret) => Promise<Secret> } | null;
  readonly configSnapshot: () => ConfigSnapshot;
  /** null: `readDue` is not used. */
  readonly leadership: Pick<Leadership, "once"> | null;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/** A line of a day's comparison. */
export interface LineName {
  readonly provider: string;
  readonly day: string;
  readonly model: string;
  readonly usageClass: BillClass;
}

interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** Days, such as `2026-11-28`, both included. */
interface DaySpan {
  readonly from: string;
  readonly to: string;
}

/** `explained`: an administrator explained the difference. */
export type LineView = ComparedLine & {
  readonly state: "matched" | "different" | "explained";
  readonly decisions: readonly StoredDecision[];
};

export type ShownDay = BillDayTotals & { readonly lines: readonly LineView[] };

/** Who acts: `userId` is stored with adjustments. */
export interface Acting {
  readonly userId: string;
  readonly auditSource: AuditSource;
}

/** Compares vendors' bills with the ledger. */
export class Reconciliation {
  readonly #options: ReconciliationOptions;
  readonly #fault: LastingFault;

  constructor(options: ReconciliationOptions) {
    this.#options = options;
    const { clock, observer } = options;
    const fault = "failed to read a vendor's bill; retrying";
    this.#fault = new LastingFault({
      clock,
      observer,
      level: "warn",
      fault,
      over: "vendors' bills are readable again",
    });
  }

  /** Reads the bills that are due, in one process of the installation. Each provider has one reading a day (UTC). Never rejects. */
  async readDue(stopping: AbortSignal): Promise<void> {
    try {
      if ((await this.#due()).length === 0) return;
      await this.#options.leadership?.once("reconciliation", async (lease) => {
        const signal = AbortSignal.any([lease.signal, stopping]);
        let hasFailed = false;
        // Another process may have read some in the meantime.
        for (const account of await this.#due()) {
          if (signal.aborted) return;
          try {
            await this.#readWindow(account, signal);
          } catch (thrown) {
            if (signal.aborted) return;
            hasFailed = true;
            this.#fault.failed({ provider: account.providerId, error: thrown });
          }
        }
        if (!hasFailed) this.#fault.succeeded();
      });
    } catch (thrown) {
      if (!stopping.aborted) this.#fault.failed({ error: thrown });
    }
  }

  async #due(): Promise<readonly BillingAccount[]> {
    const { accounts, store, clock } = this.#options;
    const sources = (await accounts()).filter(({ kind }) => isReadFromVendor(kind));
    if (sources.length === 0) return sources;
    const readings = await store.readings();
    const now = clock.now();
    return sources.filter(({ providerId }) => {
      const last = readings.get(providerId);
      if (last === undefined || dayAt(last.readAt) !== dayAt(now)) return true;
      return last.problem !== null && last.readAt <= now - againMs;
    });
  }

  async #readWindow(account: BillingAccount, signal: AbortSignal): Promise<TimeSpan> {
    const today = dayStart(dayAt(this.#options.clock.now()));
    const to = today - ((account.lag_days ?? defaultLagDays) - 1) * dayMs;
    const span = { from: to - againDays * dayMs, to };
    await this.#read(account, span, signal);
    return span;
  }

  /**
   * Reads the bill of some days from the vendor now; null: of the last complete days. Resolves to the first and the last day. Throws
   * not_found, conflict and upstream_error.
   */
  async read(provider: string, days: DaySpan | null, signal: AbortSignal): Promise<DaySpan> {
    const account = await this.#account(provider);
    if (days !== null) {
      await this.#read(account, { from: dayStart(days.from), to: dayStart(days.to) + dayMs }, signal);
      return days;
    }
    const { from, to } = await this.#readWindow(account, signal);
    return { from: dayAt(from), to: dayAt(to - dayMs) };
  }

  async #read(account: BillingAccount, { from, to }: TimeSpan, signal: AbortSignal): Promise<void> {
    const { store, vendors, configSnapshot } = this.#options;
    const { providerId, kind, adminKey: key, base_url: baseUrl, account: part = {} } = account;
    if (!isReadFromVendor(kind) || key === null || vendors === null) {
      throw new Failure("conflict", `Bills of ${providerId} are files (${kind}). Upload one.`);
    }
    const provider = orNotFound(configSnapshot().providers.get(providerId), "provider", "provider");
    refuseLongTime(from, to);
    try {
      const adminKey = await vendors.reveal(key);
      const reading = { kind, provider, adminKey, baseUrl, account: part, from, to, signal };
      const bill = await readVendorBill(vendors.client, reading);
      const days = Array.from({ length: (to - from) / dayMs }, (_, n) => dayAt(from + n * dayMs));
      await this.#compareDays(account, await summed(bill, this.#options.clock), days);
      await store.noteReading(providerId, null);
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const problem = thrown instanceof Failure ? thrown.message : "The bill could not be read or compared.";
      await store.noteReading(providerId, problem);
      throw thrown;
    }
  }

  /** Compares a bill from a file. It replaces earlier bills of its days. `format` null: the kind of the billing source. */
  async putFile(provider: string, text: string, format: BillingKind | null): Promise<DaySpan> {
    const account = await this.#account(provider);
    const bill = await summed(readBill(format ?? account.kind, text), this.#options.clock);
    const days = [...new Set(bill.map(({ day }) => day))].toSorted();
    const [from, to] = [days[0], days.at(-1)];
    if (from === undefined || to === undefined) throw invalidRequest("text", "The bill has no rows of this provider.");
    refuseLongTime(dayStart(from), dayStart(to) + dayMs);
    const problem = await this.#deletedProblem(from);
    if (problem !== null) throw invalidRequest("text", problem);
    await this.#compareDays(account, bill, days);
    await this.#options.store.noteReading(provider, null);
    return { from, to };
  }

  /** Providers with a billing source, and their last reading. */
  async sources() {
    const readings = await this.#options.store.readings();
    return (await this.#options.accounts()).map(({ providerId: provider, kind, tolerance_percent, lag_days }) => ({
      ...{ provider, kind, tolerancePercent: tolerance_percent ?? defaultTolerance * 100 },
      lagDays: lag_days ?? defaultLagDays,
      readAt: readings.get(provider)?.readAt ?? null,
      problem: readings.get(provider)?.problem ?? null,
    }));
  }

  /** Compared days. `provider` null: every provider. `to`: the last day. */
  days(provider: string | null, from: string, to: string): Promise<readonly BillDayTotals[]> {
    return this.#options.store.days(provider, from, to);
  }

  /** The unexplained share of the bill of each provider with a billing source, in the last two weeks. */
  async differences(): Promise<readonly { readonly provider: string; readonly ratio: number }[]> {
    const now = this.#options.clock.now();
    const days = await this.#options.store.days(null, dayAt(now - watchedDays * dayMs), dayAt(now));
    const byProvider = Map.groupBy(days, ({ provider }) => provider);
    return (await this.#options.accounts()).flatMap(({ providerId: provider }) => {
      const own = byProvider.get(provider);
      if (own === undefined) return [];
      const sum = (amountOf: (day: BillDayTotals) => number) => own.reduce((all, day) => all + amountOf(day), 0);
      const billed = sum((day) => Math.max(Math.abs(day.ourNanoUsd), Math.abs(day.theirNanoUsd)));
      const differing = sum((day) => day.differingNanoUsd);
      return [{ provider, ratio: billed === 0 ? Math.sign(differing) : differing / billed }];
    });
  }

  async show(provider: string, day: string): Promise<ShownDay> {
    const stored = orNotFound(await this.#options.store.day(provider, day), "compared day", "day");
    return await this.#shown(stored);
  }

  async line(name: LineName): Promise<ComparedLine> {
    return lineIn(await this.#compareAgain(name), name);
  }

  async #shown({ bill: _, lines, ...day }: BillDay): Promise<ShownDay> {
    const decisions = await this.#options.store.decisions(day.provider, day.day);
    return {
      ...day,
      lines: lines.map((line) => ({
        ...line,
        state: line.isMatched ? "matched" : isExplained(line, decisions) ? "explained" : "different",
        decisions: decisions.filter((each) => isOf(each, line)),
      })),
    };
  }

  async #compareDays(account: BillingAccount, bill: readonly BillLine[], days: readonly string[]): Promise<void> {
    const byDay = Map.groupBy(bill, ({ day }) => day);
    const deletedBefore = await this.#options.store.deletedBefore();
    for (const day of days) {
      // Without its entries, all of the day would seem to be missing in the ledger.
      if (dayStart(day) < deletedBefore) continue;
      const { providerId: provider, kind: source } = account;
      const isStored = (await this.#options.store.day(provider, day)) !== null;
      const lines = byDay.get(day) ?? [];
      const compared = await this.#compare(account, day, lines);
      if (compared.lines.length === 0 && !isStored) continue;
      const readAt = this.#options.clock.now();
      await this.#options.store.putDay({ ...compared, provider, day, source, readAt, bill: lines });
    }
  }

  async #compare(account: BillingAccount, day: string, bill: readonly BillLine[]): Promise<ComparedDay> {
    const { reports } = this.#options;
    const provider = account.providerId;
    const [from, to] = [dayStart(day), dayStart(day) + dayMs];
    const entries = await reports.billedUsage({ provider, from, to });
    const before = await reports.billedUsage({ provider, from: from - dayMs, to: from });
    return await this.#undecided(provider, day, compareDay({ bill, entries, before, tolerance: toleranceOf(account) }));
  }

  /** Sums up the differences that no one has explained. */
  async #undecided(provider: string, day: string, compared: ComparedDay): Promise<ComparedDay> {
    const decisions = await this.#options.store.decisions(provider, day);
    const open = compared.lines.filter((line) => !line.isMatched && !isExplained(line, decisions));
    return { ...compared, differingNanoUsd: open.reduce((sum, line) => sum + Math.abs(line.differenceNanoUsd), 0) };
  }

  /** null: the ledger has all entries of the day. */
  async #deletedProblem(day: string): Promise<string | null> {
    if (dayStart(day) >= (await this.#options.store.deletedBefore())) return null;
    return `The entries of ${day} were deleted after their retention, so a bill cannot be compared with them.`;
  }

  /** Compares a stored bill with the ledger again. The comparison of a day with deleted entries stays. */
  async #compareAgain({ provider, day }: Pick<LineName, "provider" | "day">): Promise<BillDay> {
    const account = await this.#account(provider);
    const { store } = this.#options;
    const stored = orNotFound(await store.day(provider, day), "compared day", "day");
    const isDeleted = (await this.#deletedProblem(day)) !== null;
    const found = isDeleted
      ? await this.#undecided(provider, day, stored)
      : await this.#compare(account, day, stored.bill);
    const compared = { ...stored, ...found };
    await store.putDay(compared);
    return compared;
  }

  /**
   * Books the difference of a line as an adjustment, split over all users of the model on that day. Accepting a line again books only what
   * has changed since. Throws `conflict` if there is no difference, if the model had no users, or if entries of the day were deleted.
   */
  async accept(name: LineName, { userId, auditSource }: Acting): Promise<ShownDay> {
    const { store, adjustments } = this.#options;
    const { provider, day, model, usageClass } = name;
    const problem = await this.#deletedProblem(day);
    if (problem !== null) throw new Failure("conflict", problem);
    const earlier = (await store.decisions(provider, day)).filter(
      (each) => isOf(each, name) && each.action === "adjusted",
    );
    for (let turn = earlier.length; turn < earlier.length + turnsMax; turn++) {
      const compared = await this.#compareAgain(name);
      const line = lineIn(compared, name);
      if (line.isMatched) {
        if (turn > earlier.length) return await this.#shown(compared);
        throw new Failure("conflict", "The bill and the ledger agree on this line.");
      }
      const amountNanoUsd = line.differenceNanoUsd;
      const booked = await adjustments.split({
        id: JSON.stringify(["reconciliation", provider, day, usageClass, model, turn]),
        ...{ reason: usageClass === "credit" ? "credit" : "reconciliation", adjusts: usageClass, provider },
        ...{ upstreamModel: model, at: dayStart(day) + dayMs / 2, costNanoUsd: amountNanoUsd, acceptedBy: userId },
        models: line.ourModels.length > 0 ? line.ourModels : await this.#chargedModels(name),
      });
      if (booked === null) {
        throw new Failure(
          "conflict",
          `No one used ${model === "" ? "this provider" : model} on ${day}, so no one can be charged. Mark the difference as explained.`,
        );
      }
      // 0: another acceptance was first, or this one was interrupted.
      if (booked === 0) continue;
      await store.addDecision({ ...name, action: "adjusted", amountNanoUsd, note: "" }, auditSource);
      return await this.#shown(await this.#compareAgain(name));
    }
    throw new Failure("conflict", "Other acceptances of this line are running. Try again.");
  }

  /** A charge without a model, such as a credit, belongs to all models of the day. A model that was never called belongs to none. */
  async #chargedModels({ provider, day, model }: LineName): Promise<readonly string[]> {
    if (model !== "") return [];
    const from = dayStart(day);
    const entries = await this.#options.reports.billedUsage({ provider, from, to: from + dayMs });
    return [...new Set(entries.filter(({ adjustment }) => adjustment === null).map((entry) => entry.model))];
  }

  /** Marks the difference of a line as explained, until it changes. */
  explain(name: LineName, note: string, acting: Acting): Promise<ShownDay> {
    return this.#decide(name, "explained", note, acting);
  }

  /** Records that the vendor's price was set. */
  notePrice(name: LineName, note: string, acting: Acting): Promise<ShownDay> {
    return this.#decide(name, "priced", note, acting);
  }

  async #decide(name: LineName, action: DecisionAction, note: string, { auditSource }: Acting): Promise<ShownDay> {
    const line = lineIn(await this.#compareAgain(name), name);
    const amountNanoUsd = line.differenceNanoUsd;
    await this.#options.store.addDecision({ ...name, action, amountNanoUsd, note }, auditSource);
    return await this.#shown(await this.#compareAgain(name));
  }

  async #account(provider: string): Promise<BillingAccount> {
    const account = (await this.#options.accounts()).find(({ providerId }) => providerId === provider);
    if (account !== undefined) return account;
    if (!this.#options.configSnapshot().providers.has(provider)) orNotFound(null, "provider", "provider");
    throw new Failure("conflict", `The provider ${provider} has no billing source. Set its \`billing\`.`);
  }
}

const turnsMax = 20;

function toleranceOf({ tolerance_percent: percent }: BillingAccount): number {
  return percent === undefined ? defaultTolerance : percent / 100;
}

function refuseLongTime(from: number, to: number): void {
  if (to - from <= daysMax * dayMs && to > from) return;
  throw new Failure("invalid_request", `A bill is compared for 1 to ${daysMax} days at a time.`, { param: "from" });
}

/** How long rows are added up without a pause, in milliseconds. */
const sliceMs = 5;
const rowsAtOnce = 32;
/** The most models, classes and tiers of a bill, over all days. */
const sumsMax = 100_000;

/**
 * Adds up rows of the same model, class and tier: bills have rows by hour or by project. Other work runs in between, because a file may
 * have millions of rows.
 */
export async function summed(bill: BillRows, clock: Pick<Clock, "monotonic">): Promise<readonly BillLine[]> {
  let sliceEndMs = clock.monotonic() + sliceMs;
  let rows = 0;
  const sums = new Map<string, { -readonly [Member in keyof BillLine]: BillLine[Member] }>();
  const plus = (one: number | null, other: number | null) => (one === null ? other : one + (other ?? 0));
  for (const line of bill) {
    if (++rows % rowsAtOnce === 0 && clock.monotonic() >= sliceEndMs) {
      await new Promise((resolve) => setImmediate(resolve));
      sliceEndMs = clock.monotonic() + sliceMs;
    }
    if (line === null) continue;
    const name = JSON.stringify([line.day, line.model, line.usageClass, line.tier]);
    const sum = sums.get(name);
    if (sum === undefined) {
      if (sums.size >= sumsMax) throw badFile(`it has more than ${sumsMax} models and classes`);
      sums.set(name, { ...line });
    } else {
      sum.units = plus(sum.units, line.units);
      sum.costNanoUsd = plus(sum.costNanoUsd, line.costNanoUsd);
      sum.requests = plus(sum.requests, line.requests);
    }
  }
  return [...sums.values()];
}

type ModelClass = Pick<LineName, "model" | "usageClass">;

function isOf(one: ModelClass, { model, usageClass }: ModelClass): boolean {
  return one.model === model && one.usageClass === usageClass;
}

function lineIn({ lines }: BillDay, name: LineName): ComparedLine {
  return orNotFound(
    lines.find((line) => isOf(line, name)),
    "line",
    "model",
  );
}

/** A note holds for the amount that it was written for. */
function isExplained(line: ComparedLine, decisions: readonly StoredDecision[]): boolean {
  const note = decisions.findLast((each) => isOf(each, line));
  return note?.action === "explained" && note.amountNanoUsd === line.differenceNanoUsd;
}

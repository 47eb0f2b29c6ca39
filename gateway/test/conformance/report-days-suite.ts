import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type UsageDimension, usageDimensions } from "@sluice/contract";
import fc from "fast-check";
import { type LedgerEntry, nanoToUsd } from "#core/index.ts";
import type { RequestFilter, UsageFilter } from "#ports/index.ts";
import { type ReportFixture, runsOn } from "./report-fixture.ts";
import { complete, day, expectFigures, hour, matching } from "./report-store-suite.ts";
import { ledgerEntry, newYear, refusedEntry } from "./store-fixture.ts";

/** A time long after every entry, when all their days are over. */
const later = newYear + 400 * day;
const days = 6;
/** A time soon after the entries: the sums of hours are kept for two months. */
const soon = newYear + (days + 1) * day;

/** Guarantees of every implementation for reports while days and hours are summed, changed and summed again. */
export function reportDaysSuite(name: string, open: (count: number) => Promise<ReportFixture>): void {
  describe(`sums of days: ${name}`, () => {
    let fixture: ReportFixture;
    const entriesById = new Map<string, LedgerEntry>();
    beforeAll(async () => {
      fixture = await open(0);
    });
    afterAll(() => fixture[Symbol.asyncDispose]());

    test("reports the same by days as by entries, for any order of inserts, folds and sums, in every time zone", async () => {
      // One key changes its owner within an hour, another one within a day.
      const ownerChanges = [0, 1, 2 * hour].map((ms, n) => ({
        n: n + 2,
        at: newYear + day + ms,
        model: 1,
        key: 2,
        refused: false,
      }));
      await applyStep(fixture, entriesById, { insert: ownerChanges });
      let previousQuestion: Question | null = null;
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 6 }), anyQuestion, async (steps, question) => {
          for (const step of steps) await applyStep(fixture, entriesById, step);
          await checkReports(fixture, [...entriesById.values()], question);
          await checkEntries(fixture, [...entriesById.values()], question);
          if (previousQuestion !== null) await checkEntries(fixture, [...entriesById.values()], previousQuestion);
          // An earlier question may be answered from stored sums of days, which must be correct after every change.
          await checkAgain(fixture, [...entriesById.values()], previousQuestion);
          previousQuestion = question;
        }),
        { numRuns: runsOn(name, 40) },
      );
      await sumAll(fixture);
      expect((await fixture.ledgerStore.check()).faults).toEqual([]);
      await fc.assert(
        fc.asyncProperty(anyQuestion, (question) => checkReports(fixture, [...entriesById.values()], question)),
        { numRuns: runsOn(name, 40) },
      );
      expect((await readySums(fixture)).count).toBeGreaterThan(2);
    });

    test("discards the stored sum of a day after any change of it: a late entry, a fold or a sum", async () => {
      const questions = (["key", "model", "none"] as const).flatMap((by) =>
        [day, hour].map((stepMs) => ({
          ...{ workspaceId: null, by, stepMs },
          ...{ from: newYear + 7 * hour, to: newYear + (days - 1) * day + 5 * hour },
        })),
      );
      const checkAll = async () => {
        for (const question of questions) {
          const expected = matching([...entriesById.values()], question);
          // The second time, the answer comes from what the first time stored.
          for (let turn = 0; turn < 2; turn++) {
            const { totals, lines } = await fixture.reports.usage(question);
            expectFigures(totals, expected);
            expect(lines.reduce((sum, line) => sum + line.totals.attempts, 0)).toBe(totals.attempts);
            const inSteps = lines.flatMap(({ points }) => points.map(({ figures }) => figures.attempts));
            expect(inSteps.reduce((sum, attempts) => sum + attempts, 0)).toBe(totals.attempts);
          }
        }
      };
      // One moment in a day that is read from its summary, and one in a day that the period cuts.
      const moments = [newYear + day + 3 * hour, newYear + 9 * hour];
      const insertAt = (n: number, at: number) => ({ insert: [{ n, at, model: n % 3, key: n % 7, refused: false }] });
      for (const at of moments) await applyStep(fixture, entriesById, insertAt(8_000, at));
      await sumAll(fixture);
      await checkAll();
      for (const [n, at] of moments.entries()) {
        await applyStep(fixture, entriesById, insertAt(8_001 + n, at));
        await checkAll();
        await foldAll(fixture);
        await checkAll();
        await sumAll(fixture);
        await checkAll();
      }
      // An entry arrives after an operator emptied the tables and before the days are summed again.
      await fixture.database.kysely.deleteFrom("summed_days").execute();
      await fixture.database.kysely.deleteFrom("summed_hours").execute();
      for (const at of moments) await applyStep(fixture, entriesById, insertAt(8_010, at));
      await sumAll(fixture);
      await checkAll();
    });

    test("removes pruned rejections from the sums of their days", async () => {
      await sumAll(fixture);
      await fixture.ledgerStore.prune(newYear + 3 * day);
      for (const [id, entry] of entriesById)
        if (entry.at < newYear + 3 * day && entry.provider === "") entriesById.delete(id);
      const whole = { workspaceId: null, by: "none", stepMs: day, from: newYear, to: newYear + days * day } as const;
      for (const summed of [false, true]) {
        if (summed) await sumAll(fixture);
        expectFigures((await fixture.reports.usage(whole)).totals, matching([...entriesById.values()], whole));
      }
      expect((await fixture.ledgerStore.check()).faults).toEqual([]);
    });

    test("sums a day once it is over, and again only after a change", async () => {
      await sumAll(fixture);
      const today = newYear + 500 * day;
      await fixture.ledgerStore.insert([entryOf({ n: 9_001, at: today, model: 1, key: 1, refused: false })]);
      await foldAll(fixture);
      const last = async () => (await readySums(fixture)).last;
      const before = await last();
      expect(await fixture.ledgerStore.sumDay(today + day)).toBe(0);
      expect(await last()).toBe(before);
      expect(await fixture.ledgerStore.sumDay(today + day + 3 * hour)).toBe(1);
      expect(await last()).toBe(today);
      expect(await fixture.ledgerStore.sumDay(today + 2 * day)).toBe(0);
      await fixture.ledgerStore.insert([entryOf({ n: 9_002, at: today + 1, model: 1, key: 1, refused: false })]);
      await foldAll(fixture);
      expect(await last()).toBe(before);
      expect(await fixture.ledgerStore.sumDay(today + 3 * day)).toBe(1);
      expect(await last()).toBe(today);
    });

    test("sums an hour once it is over, again only after a change, and forgets it after two months", async () => {
      await sumAll(fixture);
      const { ledgerStore, database } = fixture;
      const start = newYear + 300 * day;
      const insert = async (n: number, at: number) => {
        await ledgerStore.insert([entryOf({ n, at, model: 1, key: 1, refused: false })]);
        await foldAll(fixture);
      };
      const ready = async () =>
        (
          await database.kysely
            .selectFrom("summed_hours")
            .select("hour")
            .where("hour", ">=", start)
            .whereRef("summed", "=", "touched")
            .orderBy("hour")
            .execute()
        ).map((row) => (row.hour - start) / hour);
      await insert(9_010, start + 22 * hour);
      await insert(9_011, start + 25 * hour);
      expect(await ledgerStore.sumHours(start + 23 * hour)).toBe(0);
      // The hours of each day, newest first; hours without calls in between too.
      const now = start + 26 * hour + hour / 4;
      expect([await ledgerStore.sumHours(now), await ledgerStore.sumHours(now)]).toEqual([2, 2]);
      expect(await ledgerStore.sumHours(now)).toBe(0);
      expect(await ready()).toEqual([22, 23, 24, 25]);
      await insert(9_012, start + 22 * hour + 1);
      expect(await ready()).toEqual([23, 24, 25]);
      expect(await ledgerStore.sumHours(now + hour / 20)).toBe(0);
      expect(await ledgerStore.sumHours(now + hour / 4)).toBe(1);
      expect(await ready()).toEqual([22, 23, 24, 25]);
      expect((await ledgerStore.check()).faults).toEqual([]);
      expect(await ledgerStore.sumHours(start + 64 * day)).toBe(0);
      expect(await ready()).toEqual([24, 25]);
      const left = await database.kysely
        .selectFrom("usage_hours")
        .select("hour")
        .where("hour", "<", start + day)
        .execute();
      expect(left).toEqual([]);
    });

    test("finds requests of a rare model, provider or group, in summed hours, changed ones and later ones", async () => {
      await using own = await open(0);
      const start = newYear + 10 * hour;
      const hours = 14;
      const rareAt = (n: number) => n % 611 === 3 || Math.floor((n * hours) / 6_500) === 5;
      const call = (n: number, at: number, isRare: boolean) => {
        const place = { workspaceId: `ws_${n % 2}`, keyId: `key_${isRare ? n % 400 : n % 40}` };
        const rare = { model: "rare", provider: "rare", groupId: "grp_rare" };
        return ledgerEntry(`rare_${n}`, { at, ...place, ...(isRare ? rare : { groupId: "grp_1" }) });
      };
      const entries = Array.from({ length: 6_500 }, (_, n) =>
        call(n, start + Math.floor((n * hours * hour) / 6_500), rareAt(n)),
      );
      await own.ledgerStore.insert(entries);
      await foldAll(own);
      while ((await own.ledgerStore.sumHours(start + (hours - 1) * hour)) > 0);
      // One in a summed hour that had none.
      const late = call(7_000, start + 2 * hour + 1, true);
      await own.ledgerStore.insert([late]);
      const newestFirst = [...entries, late].toSorted((a, b) => b.at - a.at || (a.attemptId < b.attemptId ? 1 : -1));
      const span = { from: start + 90 * 60_000, to: start + 11 * hour + 1 };
      for (const time of [{}, span]) {
        for (const workspaceId of [null, "ws_1"]) {
          const inTime = newestFirst.filter(
            (entry) =>
              entry.model === "rare" &&
              (workspaceId === null || entry.workspaceId === workspaceId) &&
              (!("from" in time) || (entry.at >= span.from && entry.at < span.to)),
          );
          for (const rare of [{ model: "rare" }, { provider: "rare" }, { groupId: "grp_rare", model: "rare" }]) {
            for (const limit of [7, 150]) {
              const found: string[] = [];
              for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
                const page = await own.reports.requests({ workspaceId, ...rare, ...time }, cursor, limit);
                found.push(...page.data.map((row) => row.attempt_id));
                cursor = page.next;
              }
              expect(found).toEqual(inTime.map(({ attemptId }) => attemptId));
            }
          }
        }
      }
    });

    test("charges an additional model's usage without hiding failed calls or shortening latencies", async () => {
      const at = newYear + 550 * day;
      const calls = [1, 2, 3, 4].map((n) => ({
        ...entryOf({ n: n + 9_300, at, model: 1, key: 1, refused: false }),
        totalMs: 800,
      }));
      const failed = calls.slice(2).map((entry) => ({ ...entry, outcome: "failed" as const }));
      const additionalUsage = calls.slice(0, 2).map((entry) => ({
        ...{ ...entry, attemptId: `${entry.attemptId}_additional`, model: "adviser" },
        ...{ retryIndex: 1, calls: 0, totalMs: 0, firstTokenMs: null },
      }));
      await fixture.ledgerStore.insert([...calls.slice(0, 2), ...failed, ...additionalUsage]);
      const query = { workspaceId: null, by: "model", stepMs: day, from: at, to: at + day } as const;
      for (const summed of [false, true]) {
        if (summed) await sumAll(fixture);
        const { totals, lines } = await fixture.reports.usage(query);
        expect(totals).toMatchObject({ requests: 4, attempts: 4, succeeded: 2, failed: 2, failed_requests: 2 });
        expect(totals.latency_p50_ms).toBeGreaterThan(780);
        const adviser = lines.find(({ id }) => id === "adviser");
        expect([adviser?.totals.attempts, adviser?.totals.cost_usd]).toEqual([
          0,
          nanoToUsd(additionalUsage.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0)),
        ]);
      }
      expect((await fixture.ledgerStore.check()).faults).toEqual([]);
    });

    test("sums quiet days between busy ones, but not a long time without calls", async () => {
      await sumAll(fixture);
      const friday = newYear + 600 * day;
      const calls = [friday, friday + 3 * day, friday + 4 * day, friday + 90 * day];
      const entries = calls.map((at, n) => entryOf({ n: 9_100 + n, at, model: 1, key: 1, refused: false }));
      await fixture.ledgerStore.insert(entries);
      await sumAll(fixture, friday + 100 * day);
      const ready = async () =>
        (
          await fixture.database.kysely
            .selectFrom("summed_days")
            .select("day")
            .where("day", ">=", friday)
            .whereRef("summed", "=", "touched")
            .orderBy("day")
            .execute()
        ).map((row) => (row.day - friday) / day);
      expect(await ready()).toEqual([0, 1, 2, 3, 4, 90]);
      // A late entry on a quiet day is read from its hour until the day is summed again.
      const late = entryOf({ n: 9_110, at: friday + day, model: 1, key: 1, refused: false });
      await fixture.ledgerStore.insert([late]);
      await foldAll(fixture);
      expect(await ready()).toEqual([0, 2, 3, 4, 90]);
      // A late entry within a long quiet time is found as well.
      await fixture.ledgerStore.insert([
        entryOf({ n: 9_111, at: friday + 50 * day, model: 1, key: 1, refused: false }),
      ]);
      await sumAll(fixture, friday + 101 * day);
      expect(await ready()).toEqual([0, 1, 2, 3, 4, 50, 90]);
      expect((await fixture.ledgerStore.check()).faults).toEqual([]);
    });

    test("sums later days although a day was summed while the clock was years ahead", async () => {
      await sumAll(fixture);
      const [today, ahead] = [newYear + 800 * day, newYear + 5_000 * day];
      const entryAt = (n: number, at: number) => entryOf({ n, at, model: 1, key: 1, refused: false });
      await fixture.ledgerStore.insert([entryAt(9_200, today), entryAt(9_201, ahead)]);
      await sumAll(fixture, ahead + 2 * day);
      expect((await readySums(fixture)).last).toBe(ahead);
      await fixture.ledgerStore.insert([entryAt(9_202, today + day)]);
      await sumAll(fixture, today + 3 * day);
      const summed = await fixture.database.kysely
        .selectFrom("summed_days")
        .select("day")
        .whereRef("summed", "=", "touched")
        .where("day", ">=", today)
        .orderBy("day")
        .execute();
      expect(summed.map((row) => row.day)).toEqual([today, today + day, ahead]);
    });

    test("finds tags of a rollup without entries, also if their value ends like the one for other tags", async () => {
      await using empty = await open(0);
      const { kysely } = empty.database;
      const rules = async () => (await empty.ledgerStore.check()).faults.map(({ rule }) => rule);
      const own = { at: newYear + 310 * day, tags: { team: "a (other)" } };
      await empty.ledgerStore.insert([ledgerEntry("tagged", { ...own, ...{ workspaceId: "ws_tagged" } })]);
      await foldAll(empty);
      expect(await rules()).toEqual([]);
      const tagged = kysely.updateTable("usage_rollups").where("workspace_id", "=", "ws_tagged");
      await tagged.set({ tags: '{"team":"b (other)"}' }).execute();
      expect(await rules()).toContain("a rollup has the tags of its entries");
      await tagged.set({ tags: '{"team":"(other)"}' }).execute();
      expect(await rules()).toEqual([]);
    });

    test("finds a sum of a day that is wrong, missing or superfluous", async () => {
      // Few hours, because each check compares every hour.
      await using few = await open(0);
      const calls = Array.from({ length: 60 }, (_, n) => ({
        n,
        at: newYear + (n % 3) * day + (n % 2) * hour,
        model: n % 3,
        key: n % 7,
        refused: n % 9 === 0,
      }));
      await few.ledgerStore.insert(calls.map(entryOf));
      await sumAll(few);
      const { kysely } = few.database;
      const rules = async () => new Set((await few.ledgerStore.check()).faults.map(({ rule }) => rule));
      expect(await rules()).toEqual(new Set());
      const wrongSum = new Set(["a day is the sum of its hours"]);
      await kysely.updateTable("usage_days").set({ output: 31 }).where("grain", "=", "key").execute();
      expect(await rules()).toEqual(wrongSum);
      await resumAll(few);
      expect(await rules()).toEqual(new Set());
      await kysely.deleteFrom("usage_days").where("grain", "=", "group").execute();
      expect(await rules()).toEqual(wrongSum);
      await resumAll(few);
      await kysely
        .updateTable("usage_days")
        .set((eb) => ({ hour: eb("hour", "+", 100 * day) }))
        .where("grain", "=", "model")
        .execute();
      expect(await rules()).toEqual(wrongSum);
      await kysely.deleteFrom("usage_days").where("grain", "=", "model").execute();
      await resumAll(few);
      await kysely.updateTable("usage_hours").set({ output: 31 }).where("grain", "=", "tags").execute();
      expect(await rules()).toEqual(new Set(["a group of an hour is the sum of its rollups"]));
      await resumAll(few);
      await kysely.updateTable("usage_days").set({ call_ms_sketch: "" }).where("grain", "=", "model").execute();
      expect(await rules()).toEqual(new Set(["a day's sketches are the sums of its hours"]));
      await resumAll(few);
      expect(await rules()).toEqual(new Set());
    });
  });
}

interface CallSpec {
  readonly n: number;
  readonly at: number;
  readonly model: number;
  readonly key: number;
  readonly refused: boolean;
}

type Step =
  | { readonly insert: readonly CallSpec[] }
  | { readonly fold: number }
  | { readonly sum: number }
  | { readonly hours: number };

const anyCall = fc.record({
  n: fc.nat(5_000),
  // Half of the entries fall into a few hours, in which keys change their owners.
  at: fc.oneof(
    fc.integer({ min: newYear, max: newYear + days * day - 1 }),
    fc.nat(3).map((n) => newYear + n * (day + hour)),
  ),
  model: fc.nat(11),
  key: fc.nat(14),
  refused: fc.boolean(),
});
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.array(anyCall, { maxLength: 40 }).map((insert) => ({ insert })),
  fc.integer({ min: 1, max: 30 }).map((fold) => ({ fold })),
  fc.integer({ min: 1, max: days }).map((sum) => ({ sum })),
  fc.integer({ min: 1, max: days }).map((hours) => ({ hours })),
);

/** Time zones with offsets of whole, half and quarter hours. */
const zonesMs = [0, 5.5, -3.5, 5.75, 8, -8, 12.75].map((hours) => hours * hour);
const quarter = hour / 4;
const anyTime = fc
  .tuple(fc.integer({ min: -8, max: days * 4 + 8 }), fc.constantFrom(...zonesMs), fc.constantFrom(0, quarter, 1))
  .map(([sixth, zone, more]) => newYear + (sixth * day) / 4 + zone + more);
const anyQuestion = fc.record({
  from: anyTime,
  to: anyTime,
  by: fc.constantFrom<UsageDimension>(...usageDimensions),
  tag: fc.constant("team"),
  tagValue: fc.option(fc.constantFrom("t0", ""), { nil: undefined, freq: 4 }),
  userAgent: fc.option(fc.constantFrom("codex", "other"), { nil: undefined, freq: 4 }),
  stepMs: fc.constantFrom(hour, day, day),
  workspaceId: fc.constantFrom(null, null, "ws_0", "ws_1"),
  model: fc.option(fc.constantFrom("m1", "m2"), { nil: undefined, freq: 4 }),
  provider: fc.option(fc.constantFrom("p0", ""), { nil: undefined, freq: 4 }),
  groupId: fc.option(fc.constantFrom("grp_0", "grp_2"), { nil: undefined, freq: 4 }),
  keyId: fc.option(fc.constantFrom("key_0", "key_5"), { nil: undefined, freq: 4 }),
  personId: fc.option(fc.constantFrom("usr_5", "usr_ada"), { nil: undefined, freq: 4 }),
});
type Question = typeof anyQuestion extends fc.Arbitrary<infer Value> ? Value : never;

/** Most keys belong to one person or to none. Some change their owner. */
function personOf({ n, key }: CallSpec): Pick<LedgerEntry, "personId"> {
  if (key % 3 === 0) return {};
  return { personId: key % 4 === 2 && n % 2 === 0 ? "usr_ada" : `usr_${key}` };
}

function entryOf(call: CallSpec): LedgerEntry {
  const { n, at, model, key, refused } = call;
  const place = {
    ...personOf(call),
    workspaceId: `ws_${key % 2}`,
    groupId: `grp_${key % 4}`,
    keyId: `key_${key}`,
    model: `m${model}`,
  };
  const client = { userAgent: ["codex_cli_rs/0.4", "curl/8", "ours"][n % 3] ?? "", endpoint: "chat" as const };
  const own = { ...place, ...client, at, tags: n % 4 === 0 ? {} : { team: `t${n % 2}` } };
  // Every attempt has one time.
  const name = `${n}_${at}`;
  if (refused) return refusedEntry(name, own);
  // Usage of an additional model in the same attempt.
  if (n % 13 === 5)
    return ledgerEntry(name, { ...own, provider: `p${model % 3}`, retryIndex: 1, calls: 0, totalMs: 0 });
  return ledgerEntry(name, {
    ...own,
    provider: `p${model % 3}`,
    ...(n % 5 === 2 ? { vendorCostNanoUsd: 1_000_001 + n } : {}),
    totalMs: 5 + n * 7,
    firstTokenMs: n % 2 ? n : null,
  });
}

async function applyStep(
  { ledgerStore }: ReportFixture,
  entriesById: Map<string, LedgerEntry>,
  step: Step,
): Promise<void> {
  if ("fold" in step) return void (await ledgerStore.fold(step.fold));
  if ("sum" in step) {
    for (let n = 0; n < step.sum; n++) await ledgerStore.sumDay(later);
    return;
  }
  if ("hours" in step) {
    sums += 1;
    for (let n = 0; n < step.hours; n++) await ledgerStore.sumHours(soon + sums * hour);
    return;
  }
  const entries = step.insert.map(entryOf);
  await ledgerStore.insert(entries);
  for (const entry of entries) if (!entriesById.has(entry.attemptId)) entriesById.set(entry.attemptId, entry);
}

/** The filter of a question, and the entries that it covers. */
function filterOf(question: Question, entries: readonly LedgerEntry[]) {
  const [from, to] = [Math.min(question.from, question.to), Math.max(question.from, question.to) + 1];
  const parts = Object.entries({ ...question, from, to }).filter(([, value]) => value !== undefined);
  const filter = Object.fromEntries(parts) as unknown as UsageFilter;
  const span = { from: Math.floor(from / hour) * hour, to: Math.ceil(to / hour) * hour };
  const inTime = entries.filter(
    (entry) =>
      (filter.provider === undefined || entry.provider === filter.provider) &&
      (filter.groupId === undefined || entry.groupId === filter.groupId) &&
      (filter.keyId === undefined || entry.keyId === filter.keyId),
  );
  return { from, to, filter, span, inTime };
}

async function checkReports({ reports, database }: ReportFixture, entries: readonly LedgerEntry[], question: Question) {
  const { from, to, filter, span, inTime } = filterOf(question, entries);
  const answers = async () => ({
    usage: await reports.usage(filter),
    costs: (await reports.costs({ workspaceId: filter.workspaceId, from, to })).toSorted((a, b) =>
      `${a.model} ${a.provider}` < `${b.model} ${b.provider}` ? -1 : 1,
    ),
    models: (await reports.modelUsage(filter.model ?? null, from, to)).toSorted((a, b) => (a.model < b.model ? -1 : 1)),
    spends: (await reports.dailySpend(filter.workspaceId, from, filter.keyId)).toSorted((a, b) =>
      JSON.stringify(a) < JSON.stringify(b) ? -1 : 1,
    ),
    spent: await reports.spending(
      (["workspace", "group", "person", "key"] as const).map((kind) => ({
        kind,
        id: { workspace: "ws_0", group: "grp_2", person: "ws_0/usr_ada", key: "key_5" }[kind],
        from: span.from,
        to: span.to,
      })),
      later,
    ),
    count: (await reports.facts()).entries,
  });
  const byDays = await answers();
  expectFigures(byDays.usage.totals, matching(inTime, { ...filter, ...span }));
  const before = { from: span.from - (span.to - span.from), to: span.from };
  expectFigures(byDays.usage.previous, matching(inTime, { ...filter, ...before }));
  const lineSums = byDays.usage.lines.flatMap(({ points }) => points.map(({ figures }) => figures.cost_usd));
  const cost = matching(inTime, { ...filter, ...span }).reduce((all, entry) => all + entry.costNanoUsd, 0);
  expect(Math.round(lineSums.reduce((all, usd) => all + usd, 0) * 1e9)).toBe(Math.round(nanoToUsd(cost) * 1e9));
  // The answers must equal those from hours, and from rollups alone, to the last digit of each percentile.
  const touch = (table: "summed_days" | "summed_hours", by: number) =>
    database.kysely
      .updateTable(table)
      .set((eb) => ({ touched: eb("touched", "+", by) }))
      .execute();
  await touch("summed_days", 1_000_000);
  const byHours = await answers();
  await touch("summed_hours", 1_000_000);
  const byRollups = await answers();
  await touch("summed_days", -1_000_000);
  await touch("summed_hours", -1_000_000);
  expect(linesByName(byDays)).toEqual(linesByName(byRollups));
  expect(linesByName(byHours)).toEqual(linesByName(byRollups));
}

/** Lists and totals that are read from entries. Their results of past hours are cached. */
async function checkEntries({ reports }: ReportFixture, entries: readonly LedgerEntry[], question: Question) {
  const { from, to } = filterOf(question, entries);
  const { workspaceId, model, provider, groupId, keyId, personId } = question;
  const scope = Object.entries({ model, provider, groupId, keyId, personId }).filter(
    ([, value]) => value !== undefined,
  );
  const filter: RequestFilter = { workspaceId, ...Object.fromEntries(scope), from, to };
  const inScope = entries.filter(
    (entry) =>
      entry.at >= from &&
      entry.at < to &&
      (workspaceId === null || entry.workspaceId === workspaceId) &&
      scope.every(([name, value]) => entry[name as "model"] === value),
  );
  const byCost = inScope.toSorted(
    (a, b) => b.costNanoUsd - a.costNanoUsd || b.at - a.at || (a.attemptId < b.attemptId ? 1 : -1),
  );
  for (const limit of [5, 100]) {
    const { data, next } = await complete(() => reports.sortedRequests(filter, "-cost_usd", null, limit));
    expect(data.map((row) => row.attempt_id)).toEqual(byCost.slice(0, limit).map(({ attemptId }) => attemptId));
    expect(next === null).toBe(byCost.length <= limit);
  }
  const refused = inScope.filter(({ outcome }) => outcome !== "succeeded");
  const sum = (of: (entry: LedgerEntry) => number) => refused.reduce((all, entry) => all + of(entry), 0);
  expect(await complete(() => reports.requestTotals({ ...filter, outcome: "unsuccessful" }))).toMatchObject({
    attempts: sum((entry) => entry.calls ?? 1),
    requests: sum((entry) => (entry.retryIndex === 0 ? (entry.calls ?? 1) : 0)),
    cost_usd: nanoToUsd(sum(({ costNanoUsd }) => costNanoUsd)),
    searched_from: null,
  });
}

async function checkAgain({ reports }: ReportFixture, entries: readonly LedgerEntry[], question: Question | null) {
  if (question === null) return;
  const { filter, span, inTime } = filterOf(question, entries);
  const { totals, previous } = await reports.usage(filter);
  expectFigures(totals, matching(inTime, { ...filter, ...span }));
  expectFigures(previous, matching(inTime, { ...filter, from: span.from - (span.to - span.from), to: span.from }));
}

/** Lines with equal costs may come in any order. */
function linesByName<Answers extends { readonly usage: { readonly lines: readonly { readonly id: string }[] } }>(
  answers: Answers,
) {
  return {
    ...answers,
    usage: { ...answers.usage, lines: answers.usage.lines.toSorted((a, b) => (a.id < b.id ? -1 : 1)) },
  };
}

async function foldAll({ ledgerStore }: ReportFixture): Promise<void> {
  for (let rounds = 0; rounds < 1_000; rounds++) if ((await ledgerStore.fold()) === 0) return;
  throw new Error("folding never ends");
}

let sums = 0;

/** Each call uses a later time, so that changed days are due. */
async function sumAll(fixture: ReportFixture, from = later + 1_000 * day): Promise<void> {
  await foldAll(fixture);
  sums += 1;
  for (let rounds = 0; rounds < 1_000; rounds++) {
    const summed = await fixture.ledgerStore.sumDay(from + sums * hour);
    if (summed + (await fixture.ledgerStore.sumHours(soon + sums * hour)) === 0) return;
  }
  throw new Error("summing never ends");
}

async function resumAll(fixture: ReportFixture): Promise<void> {
  await fixture.database.kysely.updateTable("summed_days").set({ summed: -1 }).execute();
  await fixture.database.kysely.updateTable("summed_hours").set({ summed: -1 }).execute();
  await sumAll(fixture);
}

async function readySums({ database }: ReportFixture) {
  const { count, last } = await database.kysely
    .selectFrom("summed_days")
    .select((eb) => [eb.fn.countAll<number>().as("count"), eb.fn.max<number | null>("day").as("last")])
    .whereRef("summed", "=", "touched")
    .executeTakeFirstOrThrow();
  return { count, last };
}

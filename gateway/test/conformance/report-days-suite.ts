import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { UsageDimension } from "@sluice/contract";
import fc from "fast-check";
import { type LedgerEntry, nanoToUsd } from "#core/index.ts";
import type { UsageFilter } from "#ports/index.ts";
import type { ReportGround } from "./report-ground.ts";
import { day, expectFigures, hour, matching } from "./report-store-suite.ts";
import { ledgerEntry, newYear, refusedEntry } from "./store-ground.ts";

/** A moment long after every entry: each of their days is over. */
const later = newYear + 400 * day;
const days = 6;

/** What every implementation guarantees of reports while days are summed, changed and summed again. */
export function reportDaysSuite(name: string, open: (count: number) => Promise<ReportGround>): void {
  describe(`sums of days: ${name}`, () => {
    let ground: ReportGround;
    const kept = new Map<string, LedgerEntry>();
    beforeAll(async () => {
      ground = await open(0);
    });
    afterAll(() => ground[Symbol.asyncDispose]());

    test("reports by days are those by entries, however inserts, folds and sums follow each other, in every zone and time", async () => {
      // A key that changes hands within an hour, and one that does within a day.
      const handed = [0, 1, 2 * hour].map((ms, n) => ({
        n: n + 2,
        at: newYear + day + ms,
        model: 1,
        key: 2,
        refused: false,
      }));
      await take(ground, kept, { insert: handed });
      let earlier: Question | null = null;
      await fc.assert(
        fc.asyncProperty(fc.array(stepOf, { minLength: 1, maxLength: 6 }), questionOf, async (steps, question) => {
          for (const step of steps) await take(ground, kept, step);
          await ask(ground, [...kept.values()], question);
          // What was asked before may be answered from what is kept of its days: as right as anew, whatever has come since.
          await again(ground, [...kept.values()], earlier);
          earlier = question;
        }),
        { numRuns: 40 },
      );
      await sumAll(ground);
      expect((await ground.ledgerStore.check()).faults).toEqual([]);
      await fc.assert(
        fc.asyncProperty(questionOf, (question) => ask(ground, [...kept.values()], question)),
        { numRuns: 40 },
      );
      expect((await readySums(ground)).count).toBeGreaterThan(2);
      for (const table of ["usage_rollups", "usage_days"] as const) {
        const several = await ground.database.kysely
          .selectFrom(table)
          .selectAll()
          .where("person_id", "=", "*")
          .execute();
        expect(several.length).toBeGreaterThan(0);
      }
    });

    test("what is kept of a day ends with the first change of it: late entries, folds, sums", async () => {
      const questions = (["key", "model", "none"] as const).flatMap((by) =>
        [day, hour].map((stepMs) => ({
          ...{ workspaceId: null, by, stepMs },
          ...{ from: newYear + 7 * hour, to: newYear + (days - 1) * day + 5 * hour },
        })),
      );
      const allAreRight = async () => {
        for (const question of questions) {
          const expected = matching([...kept.values()], question);
          // Once as it is found, once from what that left.
          for (let turn = 0; turn < 2; turn++) {
            const { totals, lines } = await ground.reports.usage(question);
            expectFigures(totals, expected);
            expect(lines.reduce((sum, line) => sum + line.totals.attempts, 0)).toBe(totals.attempts);
            const inSteps = lines.flatMap(({ points }) => points.map(({ figures }) => figures.attempts));
            expect(inSteps.reduce((sum, attempts) => sum + attempts, 0)).toBe(totals.attempts);
          }
        }
      };
      // One that is read as a whole, and one that the time cuts.
      const moments = [newYear + day + 3 * hour, newYear + 9 * hour];
      const made = (n: number, at: number) => ({ insert: [{ n, at, model: n % 3, key: n % 7, refused: false }] });
      for (const at of moments) await take(ground, kept, made(8_000, at));
      await sumAll(ground);
      await allAreRight();
      for (const [n, at] of moments.entries()) {
        await take(ground, kept, made(8_001 + n, at));
        await allAreRight();
        await foldAll(ground);
        await allAreRight();
        await sumAll(ground);
        await allAreRight();
      }
      // An operator empties the table, and an entry comes before the days are known again.
      await ground.database.kysely.deleteFrom("summed_days").execute();
      for (const at of moments) await take(ground, kept, made(8_010, at));
      await sumAll(ground);
      await allAreRight();
    });

    test("refusals that retention removes leave the sums of their days", async () => {
      await sumAll(ground);
      await ground.ledgerStore.prune(newYear + 3 * day);
      for (const [id, entry] of kept) if (entry.at < newYear + 3 * day && entry.provider === "") kept.delete(id);
      const whole = { workspaceId: null, by: "none", stepMs: day, from: newYear, to: newYear + days * day } as const;
      for (const summed of [false, true]) {
        if (summed) await sumAll(ground);
        expectFigures((await ground.reports.usage(whole)).totals, matching([...kept.values()], whole));
      }
      expect((await ground.ledgerStore.check()).faults).toEqual([]);
    });

    test("a day is summed once it is over, and again only when it has changed", async () => {
      await sumAll(ground);
      const today = newYear + 500 * day;
      await ground.ledgerStore.insert([entryOf({ n: 9_001, at: today, model: 1, key: 1, refused: false })]);
      await foldAll(ground);
      const last = async () => (await readySums(ground)).last;
      const before = await last();
      expect(await ground.ledgerStore.sumDay(today + day)).toBe(0);
      expect(await last()).toBe(before);
      expect(await ground.ledgerStore.sumDay(today + day + 3 * hour)).toBe(1);
      expect(await last()).toBe(today);
      expect(await ground.ledgerStore.sumDay(today + 2 * day)).toBe(0);
      await ground.ledgerStore.insert([entryOf({ n: 9_002, at: today + 1, model: 1, key: 1, refused: false })]);
      await foldAll(ground);
      expect(await last()).toBe(before);
      expect(await ground.ledgerStore.sumDay(today + 3 * day)).toBe(1);
      expect(await last()).toBe(today);
    });

    test("what another model used beside an answer is paid, and hides no failed call and shortens no answer", async () => {
      const at = newYear + 550 * day;
      const calls = [1, 2, 3, 4].map((n) => ({
        ...entryOf({ n: n + 9_300, at, model: 1, key: 1, refused: false }),
        totalMs: 800,
      }));
      const failed = calls.slice(2).map((entry) => ({ ...entry, outcome: "failed" as const }));
      const beside = calls.slice(0, 2).map((entry) => ({
        ...{ ...entry, attemptId: `${entry.attemptId}_beside`, model: "adviser" },
        ...{ retryIndex: 1, calls: 0, totalMs: 0, firstTokenMs: null },
      }));
      await ground.ledgerStore.insert([...calls.slice(0, 2), ...failed, ...beside]);
      const ask = { workspaceId: null, by: "model", stepMs: day, from: at, to: at + day } as const;
      for (const summed of [false, true]) {
        if (summed) await sumAll(ground);
        const { totals, lines } = await ground.reports.usage(ask);
        expect(totals).toMatchObject({ requests: 4, attempts: 4, succeeded: 2, failed: 2, failed_requests: 2 });
        expect(totals.latency_p50_ms).toBeGreaterThan(780);
        const adviser = lines.find(({ id }) => id === "adviser");
        expect([adviser?.totals.attempts, adviser?.totals.cost_usd]).toEqual([
          0,
          nanoToUsd(beside.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0)),
        ]);
      }
      expect((await ground.ledgerStore.check()).faults).toEqual([]);
    });

    test("quiet days between others are summed too, so that a run goes over them, but no long time without calls", async () => {
      await sumAll(ground);
      const friday = newYear + 600 * day;
      const calls = [friday, friday + 3 * day, friday + 4 * day, friday + 90 * day];
      const entries = calls.map((at, n) => entryOf({ n: 9_100 + n, at, model: 1, key: 1, refused: false }));
      await ground.ledgerStore.insert(entries);
      await sumAll(ground, friday + 100 * day);
      const ready = async () =>
        (
          await ground.database.kysely
            .selectFrom("summed_days")
            .select("day")
            .where("day", ">=", friday)
            .whereRef("summed", "=", "touched")
            .orderBy("day")
            .execute()
        ).map((row) => (row.day - friday) / day);
      expect(await ready()).toEqual([0, 1, 2, 3, 4, 90]);
      // What comes late to a quiet day is read by its hours, until the day is summed again.
      const late = entryOf({ n: 9_110, at: friday + day, model: 1, key: 1, refused: false });
      await ground.ledgerStore.insert([late]);
      await foldAll(ground);
      expect(await ready()).toEqual([0, 2, 3, 4, 90]);
      // And what comes late to a long quiet time is found there.
      await ground.ledgerStore.insert([entryOf({ n: 9_111, at: friday + 50 * day, model: 1, key: 1, refused: false })]);
      await sumAll(ground, friday + 101 * day);
      expect(await ready()).toEqual([0, 1, 2, 3, 4, 50, 90]);
      expect((await ground.ledgerStore.check()).faults).toEqual([]);
    });

    test("a day that was summed while the clock was years ahead keeps no later day from being summed", async () => {
      await sumAll(ground);
      const [today, ahead] = [newYear + 800 * day, newYear + 5_000 * day];
      const made = (n: number, at: number) => entryOf({ n, at, model: 1, key: 1, refused: false });
      await ground.ledgerStore.insert([made(9_200, today), made(9_201, ahead)]);
      await sumAll(ground, ahead + 2 * day);
      expect((await readySums(ground)).last).toBe(ahead);
      await ground.ledgerStore.insert([made(9_202, today + day)]);
      await sumAll(ground, today + 3 * day);
      const summed = await ground.database.kysely
        .selectFrom("summed_days")
        .select("day")
        .whereRef("summed", "=", "touched")
        .where("day", ">=", today)
        .orderBy("day")
        .execute();
      expect(summed.map((row) => row.day)).toEqual([today, today + day, ahead]);
    });

    test("the check finds a sum of a day that is wrong, one that is missing and one too many", async () => {
      await sumAll(ground);
      const { kysely } = ground.database;
      const rules = async () => new Set((await ground.ledgerStore.check()).faults.map(({ rule }) => rule));
      expect(await rules()).toEqual(new Set());
      const broken = new Set(["a day is the sum of its hours"]);
      await kysely.updateTable("usage_days").set({ output: 31 }).where("grain", "=", "key").execute();
      expect(await rules()).toEqual(broken);
      await resumAll(ground);
      expect(await rules()).toEqual(new Set());
      await kysely.deleteFrom("usage_days").where("grain", "=", "group").execute();
      expect(await rules()).toEqual(broken);
      await resumAll(ground);
      await kysely
        .updateTable("usage_days")
        .set((eb) => ({ hour: eb("hour", "+", 100 * day) }))
        .where("grain", "=", "model")
        .execute();
      expect(await rules()).toEqual(broken);
      await kysely.deleteFrom("usage_days").where("grain", "=", "model").execute();
      await resumAll(ground);
      await kysely.updateTable("usage_days").set({ call_ms_sketch: "" }).where("grain", "=", "model").execute();
      expect(await rules()).toEqual(new Set(["a day's sketches are those of its hours"]));
      await resumAll(ground);
      expect(await rules()).toEqual(new Set());
    });
  });
}

interface Made {
  readonly n: number;
  readonly at: number;
  readonly model: number;
  readonly key: number;
  readonly refused: boolean;
}

type Step = { readonly insert: readonly Made[] } | { readonly fold: number } | { readonly sum: number };

const madeOf = fc.record({
  n: fc.nat(5_000),
  // Half of them within a few hours, in which keys then change hands.
  at: fc.oneof(
    fc.integer({ min: newYear, max: newYear + days * day - 1 }),
    fc.nat(3).map((n) => newYear + n * (day + hour)),
  ),
  model: fc.nat(11),
  key: fc.nat(14),
  refused: fc.boolean(),
});
const stepOf: fc.Arbitrary<Step> = fc.oneof(
  fc.array(madeOf, { maxLength: 40 }).map((insert) => ({ insert })),
  fc.integer({ min: 1, max: 30 }).map((fold) => ({ fold })),
  fc.integer({ min: 1, max: days }).map((sum) => ({ sum })),
);

/** Zones of whole, half and quarter hours. */
const zonesMs = [0, 5.5, -3.5, 5.75, 8, -8, 12.75].map((hours) => hours * hour);
const quarter = hour / 4;
const momentOf = fc
  .tuple(fc.integer({ min: -8, max: days * 4 + 8 }), fc.constantFrom(...zonesMs), fc.constantFrom(0, quarter, 1))
  .map(([sixth, zone, more]) => newYear + (sixth * day) / 4 + zone + more);
const questionOf = fc.record({
  from: momentOf,
  to: momentOf,
  by: fc.constantFrom<UsageDimension>("none", "model", "provider", "key", "group", "workspace", "person"),
  stepMs: fc.constantFrom(hour, day, day),
  workspaceId: fc.constantFrom(null, null, "ws_0", "ws_1"),
  model: fc.option(fc.constantFrom("m1", "m2"), { nil: undefined, freq: 4 }),
  provider: fc.option(fc.constantFrom("p0", ""), { nil: undefined, freq: 4 }),
  groupId: fc.option(fc.constantFrom("grp_0", "grp_2"), { nil: undefined, freq: 4 }),
  keyId: fc.option(fc.constantFrom("key_0", "key_5"), { nil: undefined, freq: 4 }),
  personId: fc.option(fc.constantFrom("usr_5", "usr_ada"), { nil: undefined, freq: 4 }),
});
type Question = typeof questionOf extends fc.Arbitrary<infer Asked> ? Asked : never;

/** Most keys are one person's or nobody's; some change hands now and then. */
function personOf({ n, key }: Made): Pick<LedgerEntry, "personId"> {
  if (key % 3 === 0) return {};
  return { personId: key % 4 === 2 && n % 2 === 0 ? "usr_ada" : `usr_${key}` };
}

function entryOf(made: Made): LedgerEntry {
  const { n, at, model, key, refused } = made;
  const place = {
    ...personOf(made),
    workspaceId: `ws_${key % 2}`,
    groupId: `grp_${key % 4}`,
    keyId: `key_${key}`,
    model: `m${model}`,
  };
  const own = { ...place, at };
  // An attempt has one moment.
  const name = `${n}_${at}`;
  if (refused) return refusedEntry(name, own);
  // What another model used beside an attempt.
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

async function take({ ledgerStore }: ReportGround, kept: Map<string, LedgerEntry>, step: Step): Promise<void> {
  if ("fold" in step) return void (await ledgerStore.fold(step.fold));
  if ("sum" in step) {
    for (let n = 0; n < step.sum; n++) await ledgerStore.sumDay(later);
    return;
  }
  const entries = step.insert.map(entryOf);
  await ledgerStore.insert(entries);
  for (const entry of entries) if (!kept.has(entry.attemptId)) kept.set(entry.attemptId, entry);
}

/** A question as it is asked, and what it is about. */
function narrowed(asked: Question, entries: readonly LedgerEntry[]) {
  const [from, to] = [Math.min(asked.from, asked.to), Math.max(asked.from, asked.to) + 1];
  const given = Object.entries({ ...asked, from, to }).filter(([, value]) => value !== undefined);
  const filter = Object.fromEntries(given) as unknown as UsageFilter;
  const span = { from: Math.floor(from / hour) * hour, to: Math.ceil(to / hour) * hour };
  const inTime = entries.filter(
    (entry) =>
      (filter.provider === undefined || entry.provider === filter.provider) &&
      (filter.groupId === undefined || entry.groupId === filter.groupId) &&
      (filter.keyId === undefined || entry.keyId === filter.keyId),
  );
  return { from, to, filter, span, inTime };
}

async function ask({ reports, database }: ReportGround, entries: readonly LedgerEntry[], asked: Question) {
  const { from, to, filter, span, inTime } = narrowed(asked, entries);
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
  // And to the last digit of each percentile what hours alone say.
  const touched = (by: number) =>
    database.kysely
      .updateTable("summed_days")
      .set((eb) => ({ touched: eb("touched", "+", by) }))
      .execute();
  await touched(1_000_000);
  const byHours = await answers();
  await touched(-1_000_000);
  expect(linesByName(byDays)).toEqual(linesByName(byHours));
}

async function again({ reports }: ReportGround, entries: readonly LedgerEntry[], asked: Question | null) {
  if (asked === null) return;
  const { filter, span, inTime } = narrowed(asked, entries);
  const { totals, previous } = await reports.usage(filter);
  expectFigures(totals, matching(inTime, { ...filter, ...span }));
  expectFigures(previous, matching(inTime, { ...filter, from: span.from - (span.to - span.from), to: span.from }));
}

/** Of lines that cost the same any may come first. */
function linesByName<Answers extends { readonly usage: { readonly lines: readonly { readonly id: string }[] } }>(
  answers: Answers,
) {
  return {
    ...answers,
    usage: { ...answers.usage, lines: answers.usage.lines.toSorted((a, b) => (a.id < b.id ? -1 : 1)) },
  };
}

async function foldAll({ ledgerStore }: ReportGround): Promise<void> {
  for (let rounds = 0; rounds < 1_000; rounds++) if ((await ledgerStore.fold()) === 0) return;
  throw new Error("it never comes to an end");
}

let sums = 0;

/** Each time a good while later, so that what has changed is due. */
async function sumAll(ground: ReportGround, from = later + 1_000 * day): Promise<void> {
  await foldAll(ground);
  sums += 1;
  for (let rounds = 0; rounds < 1_000; rounds++) {
    if ((await ground.ledgerStore.sumDay(from + sums * hour)) === 0) return;
  }
  throw new Error("it never comes to an end");
}

async function resumAll(ground: ReportGround): Promise<void> {
  await ground.database.kysely.updateTable("summed_days").set({ summed: -1 }).execute();
  await sumAll(ground);
}

async function readySums({ database }: ReportGround) {
  const { count, last } = await database.kysely
    .selectFrom("summed_days")
    .select((eb) => [eb.fn.countAll<number>().as("count"), eb.fn.max<number | null>("day").as("last")])
    .whereRef("summed", "=", "touched")
    .executeTakeFirstOrThrow();
  return { count, last };
}

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { shadowRefusedPrefix } from "@sluice/contract/words";
import type { GuardrailCheckEntry, LedgerEntry } from "#core/index.ts";
import type { RequestFilter } from "#ports/index.ts";
import type { ReportFixture } from "./report-fixture.ts";
import { complete, everyRow } from "./report-store-suite.ts";

type Check = Pick<GuardrailCheckEntry, "guardrailId" | "verdict" | "enforced">;

const checksOf: readonly (readonly Check[])[] = [
  [{ guardrailId: "grl_keys", verdict: "blocked", enforced: true }],
  [
    { guardrailId: "grl_mail", verdict: "masked", enforced: true },
    { guardrailId: "grl_keys", verdict: "flagged", enforced: true },
  ],
  [{ guardrailId: "grl_keys", verdict: "blocked", enforced: false }],
  [],
  [],
];

/** Guarantees of every implementation of `ReportStore` for requests with checks of guardrails. `many`: more than an index can serve. */
export function reportChecksSuite(name: string, open: (count: number) => Promise<ReportFixture>, many: number): void {
  describe(`requests with checks: ${name}`, () => {
    let fixture: ReportFixture;
    const checks = new Map<string, readonly Check[]>();
    let entries: readonly LedgerEntry[] = [];

    beforeAll(async () => {
      fixture = await open(120);
      const { ledgerStore, acme } = fixture;
      const [first] = fixture.entries;
      if (first === undefined) throw new Error("no entries");
      const warned = { ...first, attemptId: "att_warned", requestId: "req_warned", retryIndex: 0 };
      const last: LedgerEntry = {
        ...warned,
        workspaceId: acme.id,
        warnings: [`${shadowRefusedPrefix}10 rpm of the key`],
      };
      await ledgerStore.insert([last]);
      entries = [...fixture.entries, last];
      await addChecks();
    });
    afterAll(() => fixture?.[Symbol.asyncDispose]());

    /** To every request, by its place. */
    async function addChecks() {
      const requests = [...new Map(entries.map((entry) => [entry.requestId, entry])).values()];
      const rows = requests.flatMap((entry, place) => {
        const own = entry.requestId === "req_warned" ? [] : (checksOf[place % checksOf.length] ?? []);
        checks.set(entry.requestId, own);
        return own.map((check, number) => ({ ...checkOf(entry, `chk_${place}_${number}`), ...check }));
      });
      await fixture.ledgerStore.insertChecks(rows);
    }

    const filters: readonly RequestFilter[] = [
      { workspaceId: null, guardrailId: "any" },
      { workspaceId: null, guardrailId: "grl_keys" },
      { workspaceId: null, guardrailId: "grl_none" },
      { workspaceId: null, guardrailVerdict: "blocked" },
      { workspaceId: null, guardrailId: "grl_keys", guardrailVerdict: "flagged" },
      { workspaceId: null, guardrailId: "grl_mail", guardrailVerdict: "flagged" },
      { workspaceId: null, wouldRefuse: true },
      { workspaceId: null, wouldRefuse: true, guardrailId: "any" },
      { workspaceId: null, guardrailId: "any", outcome: "succeeded", model: "m1" },
    ];

    function expected(filter: RequestFilter): string[] {
      const { workspaceId, guardrailId, guardrailVerdict, wouldRefuse, outcome, model, keyId, from = 0 } = filter;
      return entries
        .filter(({ requestId, ...entry }) => {
          const own = checks.get(requestId) ?? [];
          const isFound =
            (guardrailId === undefined && guardrailVerdict === undefined) ||
            own.some(
              (check) =>
                (guardrailId === undefined || guardrailId === "any" || check.guardrailId === guardrailId) &&
                (guardrailVerdict === undefined || check.verdict === guardrailVerdict),
            );
          const isShadow = own.some(({ verdict, enforced }) => verdict === "blocked" && !enforced);
          return (
            isFound &&
            (wouldRefuse === undefined || requestId === "req_warned" || isShadow) &&
            (workspaceId === null || entry.workspaceId === workspaceId) &&
            (outcome === undefined || entry.outcome === outcome) &&
            (model === undefined || entry.model === model) &&
            (keyId === undefined || entry.keyId === keyId) &&
            entry.at >= from
          );
        })
        .map(({ attemptId }) => attemptId)
        .toSorted();
    }

    async function checkFilters() {
      const { reports, acme } = fixture;
      const more = { workspaceId: acme.id, keyId: acme.keys[0] ?? "" };
      const late = { from: [...entries].toSorted((one, other) => one.at - other.at)[60]?.at ?? 0 };
      for (const filter of filters.flatMap((each) => [each, { ...each, ...more }, { ...each, ...late }])) {
        const wanted = expected(filter);
        const found = await everyRow((cursor) => reports.requests(filter, cursor, 7));
        expect(found.map((row) => row.attempt_id).toSorted()).toEqual(wanted);
        expect((await complete(() => reports.requestTotals(filter))).attempts).toBe(wanted.length);
        const sorted = await reports.sortedRequests(filter, "-total_ms", null, 500);
        expect(sorted.data.map((row) => row.attempt_id).toSorted()).toEqual(wanted);
      }
    }

    test("lists, sorts and sums exactly the requests that guardrails found something in", checkFilters);

    test("marks what guardrails did, and what shadow mode would have refused", async () => {
      const rows = await everyRow((cursor) => fixture.reports.requests({ workspaceId: null }, cursor, 50));
      const found = rows.map(({ request_id: id, guardrail_verdict, would_refuse }) => {
        return { id, guardrail_verdict, would_refuse };
      });
      const marks = [
        { guardrail_verdict: "blocked", would_refuse: false },
        { guardrail_verdict: "masked", would_refuse: false },
        { guardrail_verdict: null, would_refuse: true },
      ] as const;
      const wanted = rows.map(({ request_id: id }) => {
        const own = marks[checksOf.indexOf(checks.get(id) ?? [])];
        return { id, ...(own ?? { guardrail_verdict: null, would_refuse: id === "req_warned" }) };
      });
      expect(found).toEqual(wanted);
      expect(rows.length).toBe(entries.length);
    });

    test("lists the same when too many requests match to find them by id", async () => {
      const [first] = entries;
      const more = Array.from({ length: many }, (_, number): LedgerEntry => {
        const id = String(number).padStart(5, "0");
        return { ...(first as LedgerEntry), attemptId: `att_many${id}`, requestId: `req_many${id}`, retryIndex: 0 };
      });
      await fixture.ledgerStore.insert(more);
      entries = [...entries, ...more];
      await fixture.ledgerStore.insertChecks(
        more.map((entry) => {
          checks.set(entry.requestId, checksOf[0] ?? []);
          return { ...checkOf(entry, `chk_${entry.requestId}`), ...(checksOf[0]?.[0] as Check) };
        }),
      );
      const filter = { workspaceId: null, guardrailId: "grl_keys" };
      const found = await everyRow((cursor) => fixture.reports.requests(filter, cursor, 500));
      expect(found.map((row) => row.attempt_id).toSorted()).toEqual(expected(filter));
    });
  });
}

function checkOf(entry: LedgerEntry, checkId: string): Omit<GuardrailCheckEntry, keyof Check> {
  return {
    ...{ checkId, at: entry.at + 3, requestId: entry.requestId, workspaceId: entry.workspaceId },
    ...{ groupId: entry.groupId, keyId: entry.keyId, personId: entry.personId ?? null, guardrailName: "rule" },
    ...{ definition: "0123456789abcdef", side: "input", action: "block", counts: { email: 1 }, paths: [] },
    ...{ unmasked: 0, unreadable: 0, durationMs: 1, error: null },
  };
}

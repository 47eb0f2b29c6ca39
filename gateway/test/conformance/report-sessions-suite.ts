import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RequestSession } from "@sluice/contract";
import type { LedgerEntry } from "#core/index.ts";
import type { SessionFilter } from "#ports/index.ts";
import type { ReportFixture } from "./report-fixture.ts";
import { ledgerEntry, newYear } from "./store-fixture.ts";

const entriesMax = 600;
const minute = 60_000;

/** Guarantees of the reports on sessions. */
export function reportSessionsSuite(name: string, make: (count: number) => Promise<ReportFixture>): void {
  describe(`reports on sessions: ${name}`, () => {
    let fixture: ReportFixture;
    beforeAll(async () => {
      fixture = await make(entriesMax);
    });
    afterAll(() => fixture[Symbol.asyncDispose]());

    const all = async (filter: Partial<SessionFilter>, size = 7) => {
      const sessions: RequestSession[] = [];
      let cursor: string | null = null;
      do {
        const page = await fixture.reports.sessions({ workspaceId: null, sort: "-last_at", ...filter }, cursor, size);
        sessions.push(...page.data);
        cursor = page.next;
      } while (cursor !== null);
      return sessions;
    };
    const expected = (filter: (of: LedgerEntry) => boolean = () => true) =>
      Map.groupBy(
        fixture.entries.filter((entry) => entry.session !== undefined && filter(entry)),
        (entry) => [entry.keyId, entry.session].join(" "),
      );
    const nameOf = ({ key, session }: RequestSession) => `${key.id} ${session}`;

    test("lists every agent of the range with its number of sessions, as far as a person may see them", async () => {
      const { reports } = fixture;
      const counted = (rows: readonly RequestSession[]) =>
        Object.entries(Object.groupBy(rows, ({ agent }) => agent)).flatMap(([agent, own = []]) =>
          agent === "" ? [] : [{ agent, sessions: own.length }],
        );
      const byAgent = (rows: readonly { agent: string; sessions: number }[]) =>
        rows.toSorted((a, b) => b.sessions - a.sessions || (a.agent < b.agent ? -1 : 1));
      const person = fixture.entries.find(({ personId }) => personId !== undefined)?.personId ?? "";
      for (const filter of [
        {},
        { from: newYear + 20 * minute, to: newYear + 200 * minute },
        { visiblePerson: person },
      ]) {
        const agents = await reports.sessionAgents({ workspaceId: null, ...filter });
        expect(agents).toEqual(byAgent(counted(await all(filter))));
      }
    });

    test("lists every session once, in each order, over pages of any size", async () => {
      const groups = expected();
      for (const [sort, figure] of [
        ["last_at", (row: RequestSession) => row.last_at],
        ["cost_usd", (row: RequestSession) => row.cost_usd],
        ["turns", (row: RequestSession) => row.turns],
        ["errors", (row: RequestSession) => row.errors],
      ] as const) {
        for (const direction of [1, -1]) {
          const rows = await all({ sort: direction === 1 ? sort : `-${sort}` });
          expect(rows.map(nameOf).toSorted()).toEqual([...groups.keys()].toSorted());
          const figures = rows.map(figure);
          expect(figures).toEqual(figures.toSorted((a, b) => direction * (a - b)));
        }
      }
      for (const row of await all({})) {
        const entries = groups.get(nameOf(row)) ?? [];
        expect(row).toMatchObject({
          requests: entries.filter(({ retryIndex }) => retryIndex === 0).length,
          errors: entries.filter(({ outcome }) => outcome === "failed" || outcome === "rejected").length,
          first_at: Math.min(...entries.map(({ at }) => at)),
          last_at: Math.max(...entries.map(({ at }) => at)),
          cost_usd: entries.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0) / 1e9,
        });
      }
    });

    test("filters by workspace, key, agent, model, time and id, and adds up what matches", async () => {
      const { acme, reports } = fixture;
      const [keyId = ""] = acme.keys;
      const ofKey = expected((entry) => entry.keyId === keyId);
      const filter: SessionFilter = { workspaceId: acme.id, keyId, sort: "-cost_usd" };
      const { data, totals, truncated } = await reports.sessions(filter, null, 200);
      expect(data.map(nameOf).toSorted()).toEqual([...ofKey.keys()].toSorted());
      expect([totals.sessions, truncated]).toEqual([ofKey.size, false]);
      expect(totals.cost_usd).toBeCloseTo(
        [...ofKey.values()].flat().reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0) / 1e9,
      );
      expect(await all({ workspaceId: "ws_other" })).toEqual([]);
      expect(await all({ agent: "OpenCode" })).toEqual([]);
      const withModel = await all({ model: "m3", keyId });
      expect(withModel.length).toBeGreaterThan(0);
      for (const { models } of withModel) expect(models).toContain("m3");
      expect(await all({ model: "m" })).toEqual([]);
      const some = await all({ search: "s3" });
      expect(new Set(some.map(({ session }) => session))).toEqual(new Set(["s3"]));
      expect(await all({ from: newYear + 400 * 86_400_000 })).toEqual([]);
      expect(await all({ to: newYear })).toEqual([]);
    });

    test("shows a person only their own sessions and sessions of shared keys", async () => {
      const rows = await all({ visiblePerson: "usr_1" });
      const [own] = await all({ personId: "usr_nobody" });
      expect(own).toBeUndefined();
      for (const { person } of rows) expect(person?.id ?? "usr_1").toBe("usr_1");
      const call = (n: number, session: string, of: Partial<LedgerEntry>) =>
        ledgerEntry(`seen${n}`, {
          ...{ at: newYear, workspaceId: "ws_seen", keyId: "key_seen", session, sessionSource: "header", ...of },
        });
      const [one, two] = [{ personId: "usr_1" }, { personId: "usr_2" }];
      await fixture.ledgerStore.insert([
        ...[call(1, "own", one), call(2, "other", two), call(3, "shared", {})],
        ...[call(4, "both", one), call(5, "both", two)],
      ]);
      const seen = async (filter: Partial<SessionFilter>) =>
        (await all({ workspaceId: "ws_seen", ...filter })).map(({ session }) => session).toSorted();
      expect(await seen({})).toEqual(["both", "other", "own", "shared"]);
      expect(await seen({ visiblePerson: "usr_1" })).toEqual(["own", "shared"]);
      for (const session of ["other", "both"]) {
        const place = { workspaceId: null, keyId: "key_seen", session };
        expect(await fixture.reports.session({ ...place, visiblePerson: "usr_1" })).toBeNull();
        expect(await fixture.reports.session(place)).not.toBeNull();
      }
    });

    test("returns the requests of a session in order, over pages", async () => {
      const [first] = await all({});
      if (first === undefined) throw new Error("There is no session.");
      const place = { workspaceId: first.workspace.id, keyId: first.key.id, session: first.session };
      const ids: string[] = [];
      let cursor: string | null = null;
      do {
        const page = await fixture.reports.sessionRequests(place, cursor, 3);
        if (page === null) throw new Error("The session was not found.");
        ids.push(...page.data.map((row) => row.attempt_id));
        cursor = page.next;
      } while (cursor !== null);
      const entries = expected().get(nameOf(first)) ?? [];
      const inOrder = entries.toSorted((a, b) => a.at - b.at || (a.attemptId < b.attemptId ? -1 : 1));
      expect(ids).toEqual(inOrder.map(({ attemptId }) => attemptId));
      expect(await fixture.reports.session({ ...place, workspaceId: "ws_other" })).toBeNull();
      expect(await fixture.reports.sessionRequests({ ...place, keyId: "key_other" }, null, 3)).toBeNull();
    });

    test("finds the session of a request with the requests around it", async () => {
      const { ledgerStore, reports } = fixture;
      const turn = (n: number, change: Partial<LedgerEntry> = {}) =>
        ledgerEntry(`turn${n}`, {
          ...{ at: newYear + n * minute, workspaceId: "ws_turns", keyId: "key_turns", personId: "usr_ada" },
          ...{ session: "turns", sessionSource: "header", ...change },
        });
      const retry = { requestId: "req_turn2", retryIndex: 1, at: newYear + 2 * minute + 5 };
      await ledgerStore.insert([turn(1), turn(2), turn(9, retry), turn(3), turn(4, { keyId: "key_apart" })]);
      const place = { workspaceId: "ws_turns", visiblePerson: "usr_ada" };
      expect(await reports.requestSession(place, "req_turn2")).toMatchObject({
        session: { session: "turns", turns: 3, person: { id: "usr_ada" } },
        position: 2,
        previous: { request_id: "req_turn1" },
        next: { request_id: "req_turn3" },
      });
      expect(await reports.requestSession(place, "req_turn3")).toMatchObject({ position: 3, next: null });
      const none = { session: null, position: null, previous: null, next: null };
      expect(await reports.requestSession({ ...place, visiblePerson: "usr_eve" }, "req_turn2")).toEqual(none);
      expect(await reports.requestSession({ ...place, workspaceId: "ws_1" }, "req_turn2")).toEqual(none);
      expect(await reports.requestSession(place, "req_unknown")).toEqual(none);
    });

    test("refuses a cursor of another order", async () => {
      const filter: SessionFilter = { workspaceId: null, sort: "-turns" };
      const { next } = await fixture.reports.sessions(filter, null, 1);
      const thrown = await fixture.reports.sessions({ ...filter, sort: "turns" }, next, 1).catch((error) => error);
      expect(thrown.message).toStartWith("Invalid cursor");
    });
  });
}

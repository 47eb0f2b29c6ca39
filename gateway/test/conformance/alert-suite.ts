import { describe, expect, test } from "bun:test";
import { createPeopleStore } from "#directory/index.ts";
import { createIds } from "#system/index.ts";
import {
  alertTest,
  auditSource,
  budgetCondition as budget,
  openAlerts,
  openAlertsOf,
} from "../alerts/alert-fixture.ts";
import { createHeaderSignIn } from "../header-sign-in.ts";
import { ledgerEntry, newYear, type StoreFixtureFactory } from "./store-fixture.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Which alerts open and resolve, and who sees them. */
export function alertSuite(name: string, make: StoreFixtureFactory): void {
  const withAlerts = alertTest(make);

  describe(`${name}: alerts`, () => {
    withAlerts(
      "opens at a threshold of a budget, gets worse at the next, and resolves in the next period",
      async (alerts) => {
        const { watch, clock } = alerts;
        await alerts.rule(budget);
        await alerts.spend(7);
        await watch.check();
        expect(alerts.texts()).toEqual([]);
        await alerts.spend(1.5);
        await watch.check();
        await watch.check();
        expect(alerts.texts()).toEqual(["acme has used $8.50 of its $10.00 daily budget (85%)."]);
        await alerts.spend(3);
        await watch.check();
        expect(alerts.texts().slice(1)).toEqual(["acme has used $11.50 of its $10.00 daily budget (115%)."]);
        clock.advance(dayMs);
        await watch.check();
        expect(alerts.texts().slice(2)).toEqual(["Resolved: acme has used $11.50 of its $10.00 daily budget (115%)."]);
        await alerts.spend(9);
        await watch.check();
        expect(alerts.texts().slice(3)).toEqual(["acme has used $9.00 of its $10.00 daily budget (90%)."]);
      },
    );

    withAlerts("sends one message for several thresholds crossed at once", async (alerts) => {
      await alerts.rule(budget);
      await alerts.spend(20);
      await alerts.watch.check();
      expect(alerts.bodies().map(({ type, data }) => [type, data.severity])).toEqual([["alert.opened", "critical"]]);
    });

    test("reports a key request to admins and its requester, and its decision as the next message", async () => {
      await using stores = await make();
      const alerts = await openAlerts(stores);
      const { acme, watch, clock, database } = alerts;
      const signIn = createHeaderSignIn(database, () => clock.now());
      const { id: ada } = await signIn.createUser({ email: "ada@example.com", name: "Ada" });
      const people = createPeopleStore({ database, clock, ids: createIds(clock) });
      await people.setMember(acme.id, ada, "viewer", auditSource);
      await alerts.rule({ kind: "key_request" }, { send_resolved: false });
      const { controlStore } = stores;
      const request = await controlStore.createKeyRequest(acme.id, ada, { name: "ci", purpose: "CI" }, auditSource);
      await watch.check();
      expect(alerts.texts()).toEqual(["ada@example.com requests the key ci in acme."]);
      const refusal = { deciderId: ada, reason: "Use the shared key." };
      await controlStore.declineKeyRequest(acme.id, request.id, refusal, auditSource);
      await watch.check();
      expect(alerts.texts().slice(1)).toEqual([
        "ada@example.com's request for the key ci in acme was declined by ada@example.com: Use the shared key.",
      ]);
      const inboxOf = async (userId: string) =>
        (await alerts.log.inbox({ userId, workspaces: [{ id: acme.id, seesPeople: false }] })).unread;
      expect([await inboxOf(ada), await inboxOf("usr_other")]).toEqual([1, 0]);
      clock.advance(8 * dayMs);
      await watch.check();
      expect(await openAlertsOf(alerts)).toEqual([]);
    });

    withAlerts("reports an expiring service token at each of its days, and again for a new expiry", async (alerts) => {
      const { watch, clock, database } = alerts;
      await alerts.rule({ kind: "token_expiry", days: [7, 1] }, { send_resolved: false });
      const expire = async (days: number) => {
        const row = { service: 1, expires_at: clock.now() + days * dayMs };
        await database.kysely.updateTable("api_keys").set(row).execute();
      };
      await expire(8);
      await watch.check();
      expect(alerts.texts()).toEqual([]);
      clock.advance(dayMs);
      await watch.check();
      clock.advance(6 * dayMs);
      await watch.check();
      expect(alerts.bodies().map(({ data }) => data.facts.days)).toEqual([7, 1]);
      await expire(2);
      await watch.check();
      expect(alerts.bodies().map(({ data }) => data.facts.days)).toEqual([7, 1, 7]);
    });

    withAlerts(
      "opens on the error rate of a workspace with enough requests, and resolves after a calm time",
      async (alerts) => {
        const { acme, other, clock, watch } = alerts;
        await alerts.rule({ kind: "error_rate", percent: 50, minutes: 10, min_requests: 10 });
        const calls = async (workspaceId: string, failed: number, succeeded: number) => {
          const at = clock.now() - 1_000;
          const entry = (n: number, changes: object) =>
            ledgerEntry(`${workspaceId}_${at}_${n}`, { workspaceId, at, ...changes });
          await alerts.ledgerStore.insert([
            ...Array.from({ length: failed }, (_, n) => entry(n, { outcome: "failed", httpStatus: 502 })),
            ...Array.from({ length: succeeded }, (_, n) => entry(100 + n, {})),
          ]);
        };
        await calls(other.id, 30, 0);
        await calls(acme.id, 5, 4);
        await alerts.pass(1);
        expect(alerts.texts()).toEqual([]);
        await calls(acme.id, 1, 0);
        await alerts.pass(1);
        expect(alerts.texts()).toEqual(["60% of requests of acme failed in the last 10 minutes: 6 of 10."]);
        await calls(acme.id, 0, 50);
        await alerts.pass(3);
        expect(alerts.texts()).toHaveLength(1);
        await alerts.pass(4);
        expect(alerts.texts()[1]).toStartWith("Resolved: ");
        await watch.check();
        expect(alerts.texts()).toHaveLength(2);
      },
    );

    withAlerts("opens on the p95 latency of the filtered calls, and resolves", async (alerts) => {
      const { acme, clock } = alerts;
      await alerts.rule({ kind: "latency", ms: 5_000, minutes: 5, min_requests: 5, model: "gpt-5" });
      const calls = async (totalMs: number, model: string) => {
        const at = clock.now() - 1_000;
        await alerts.ledgerStore.insert(
          Array.from({ length: 5 }, (_, n) =>
            ledgerEntry(`${model}_${at}_${n}`, { workspaceId: acme.id, at, totalMs, startedAfterMs: 0, model }),
          ),
        );
      };
      await calls(60_000, "other-model");
      await calls(900, "gpt-5");
      await alerts.pass(1);
      expect(alerts.texts()).toEqual([]);
      await calls(9_000, "gpt-5");
      await alerts.pass(1);
      expect(alerts.texts()[0]).toMatch(
        /^The p95 latency of acme for gpt-5 was (8\.[89]|9|9\.1)\d* s in the last 5 minutes, above 5 s/,
      );
      await alerts.pass(12);
      expect(alerts.texts()).toHaveLength(2);
    });

    withAlerts("reports a provider as down until an attempt succeeds, without mistakes of callers", async (alerts) => {
      const { acme, clock } = alerts;
      await alerts.rule({ kind: "provider_down", minutes: 5, min_attempts: 3 }, {}, null);
      const call = async (n: number, changes: object) => {
        const at = clock.now() - 1_000;
        await alerts.ledgerStore.insert([ledgerEntry(`${at}_${n}`, { workspaceId: acme.id, at, ...changes })]);
      };
      for (const n of [1, 2, 3, 4]) await call(n, { outcome: "failed", httpStatus: 400 });
      await alerts.pass(1);
      expect(alerts.texts()).toEqual([]);
      for (const n of [1, 2, 3]) await call(n, { outcome: "failed", httpStatus: 502 });
      await alerts.pass(1);
      expect(alerts.texts()).toEqual(["Provider openai-main is down: 3 of 3 attempts failed in the last 5 minutes."]);
      // Its calls go to other providers, so its state is unclear.
      await alerts.pass(20);
      expect(alerts.texts()).toHaveLength(1);
      await call(1, {});
      await alerts.pass(2);
      expect(alerts.texts()[1]).toStartWith("Resolved: Provider openai-main is down");
      alerts.breakProviders(["spare"]);
      await alerts.pass(1);
      expect(alerts.texts()[2]).toBe("Provider spare is down: its circuit breaker is open.");
      alerts.breakProviders([]);
      await alerts.pass(61);
      expect(alerts.texts()).toHaveLength(4);
    });

    withAlerts(
      "reports unusual spend against the same hours of past weeks, and nothing in a new installation",
      async (alerts) => {
        const { acme, other, clock } = alerts;
        await alerts.rule({ kind: "spend_anomaly", span: "day", factor: 3, min_usd: 5 }, {}, null);
        const spend = async (workspaceId: string, at: number, usd: number) => {
          const entry = ledgerEntry(`${workspaceId}_${at}_${usd}`, { workspaceId, at, costNanoUsd: usd * 1e9 });
          await alerts.ledgerStore.insert([entry]);
        };
        clock.advance(28 * dayMs + hourMs);
        for (let week = 0; week < 4; week++) await spend(acme.id, newYear + week * 7 * dayMs, 2);
        await spend(acme.id, newYear - 7 * dayMs, 2);
        const now = clock.now();
        await spend(acme.id, now - 2_000, 5);
        await spend(other.id, now - 2_000, 500);
        await alerts.pass(1);
        expect(alerts.texts()).toEqual([]);
        await spend(acme.id, now - 1_000, 4);
        await alerts.pass(6);
        expect(alerts.texts()).toEqual(["Spend of acme is $9.00 today; usual for this time of the week is $2.00."]);
      },
    );

    withAlerts("a rule of one workspace does not see another's budgets, nor its alerts", async (alerts) => {
      const { acme, other, log } = alerts;
      await alerts.rule(budget, {}, other.id);
      await alerts.spend(20);
      await alerts.watch.check();
      expect(alerts.sent).toEqual([]);
      await alerts.rule(budget, {}, null);
      await alerts.watch.check();
      const seen = async (...ids: string[]) => {
        const workspaces = ids.map((id) => ({ id, seesPeople: true }));
        return (await log.page({ userId: "u", workspaces }, {}, null, 9)).data.length;
      };
      expect([await seen(acme.id), await seen(other.id), await seen()]).toEqual([1, 0, 0]);
    });

    withAlerts("alerts about the calls of a personal key are for its user and for admins", async (alerts) => {
      const { acme, clock, database, log } = alerts;
      const { id: key } = await database.kysely.selectFrom("api_keys").select("id").executeTakeFirstOrThrow();
      await database.kysely.updateTable("api_keys").set({ owner_id: "usr_ada" }).execute();
      const watched = { minutes: 10, min_requests: 1, key };
      await alerts.rule({ kind: "error_rate", percent: 50, ...watched });
      await alerts.rule({ kind: "latency", ms: 1_000, ...watched });
      await alerts.rule({ kind: "spend_anomaly", span: "day", factor: 2, min_usd: 1, key });
      clock.advance(28 * dayMs + hourMs);
      const at = clock.now() - 1_000;
      const call = { workspaceId: acme.id, keyId: key, totalMs: 9_000 };
      await alerts.ledgerStore.insert([
        ...[5, 4, 3, 2, 1].map((week) => ledgerEntry(`week_${week}`, { ...call, at: at - week * 7 * dayMs })),
        ledgerEntry("slow", { ...call, at, costNanoUsd: 9e9 }),
        ledgerEntry("failed", { ...call, at, outcome: "failed", httpStatus: 502 }),
      ]);
      await alerts.pass(1);
      const seen = async (userId: string, seesPeople: boolean) => {
        const { data } = await log.page({ userId, workspaces: [{ id: acme.id, seesPeople }] }, {}, null, 9);
        return data.map(({ kind }): string => kind).toSorted();
      };
      const all = ["error_rate", "latency", "spend_anomaly"];
      expect([await seen("usr_ada", false), await seen("usr_bob", true), await seen("usr_bob", false)]).toEqual([
        all,
        all,
        [],
      ]);
    });

    withAlerts("many messages of one workspace do not delay the messages of others", async (alerts) => {
      const { log, clock, acme, other, settings } = alerts;
      const [busy, removed] = [await alerts.channel(), await alerts.channel()];
      const [quiet, installation] = [await alerts.channel({}, other.id), await alerts.channel({}, null)];
      await settings.removeChannel(removed.id, auditSource);
      const send = async (workspaceId: string, count: number, { id, name, kind }: typeof busy) => {
        for (let n = 0; n < count; n++) {
          const finding = { kind: "budget", subject: `${id} ${n}`, level: 1, severity: "warning", facts: {} } as const;
          const message = { channel: { id, name, kind }, dueAt: clock.now(), quiet: false };
          const found = { ...finding, workspaceId, personId: null };
          await log.openAlert({ id: `rule_${id}`, name: "r" }, found, [message], true);
        }
      };
      await send(acme.id, 30, busy);
      await send(acme.id, 30, removed);
      clock.advance(1);
      await send(other.id, 1, quiet);
      await send(other.id, 1, installation);
      const channels = (await log.leaseDue(clock.now(), 100, 20)).map(({ channelId }) => channelId);
      expect(channels).toHaveLength(20);
      expect(channels).toContain(quiet.id);
      expect(channels).toContain(installation.id);
    });

    withAlerts("many open alerts of one workspace do not keep alerts of other workspaces open", async (alerts) => {
      const { database, acme, other, clock, log, watch } = alerts;
      const at = clock.now();
      const row = { rule_name: "r", workspace_id: acme.id, kind: "budget", severity: "warning", level: 1, facts: "{}" };
      const times = { opened_at: at, changed_at: at, last_seen_at: at };
      const { id: busy } = await alerts.rule(budget, { channels: [] });
      for (let batch = 0; batch < 25; batch++) {
        const rows = Array.from({ length: 500 }, (_, n) => {
          return { id: `alert_${batch}_${n}`, rule_id: busy, subject: `${batch} ${n}`, ...row, ...times };
        });
        await database.kysely.insertInto("alerts").values(rows).execute();
      }
      const { id, name } = await alerts.rule(budget, { channels: [] }, other.id);
      const finding = { kind: "budget", subject: "s", level: 1, severity: "warning", facts: {} } as const;
      await log.openAlert({ id, name }, { ...finding, workspaceId: other.id, personId: null }, [], true);
      await watch.check();
      const viewer = { userId: "u", workspaces: [{ id: other.id, seesPeople: true }] };
      expect((await log.page(viewer, { state: "open" }, null, 9)).data).toEqual([]);
    });

    withAlerts("many budgets and tokens of one workspace do not hide budgets and tokens of others", async (alerts) => {
      const { database, other, watch, clock } = alerts;
      const { kysely } = database;
      const token = { service: 1, expires_at: clock.now() + dayMs };
      const key = await kysely.selectFrom("api_keys").selectAll().executeTakeFirstOrThrow();
      const group = await kysely
        .selectFrom("groups")
        .select("id")
        .where("workspace_id", "=", other.id)
        .executeTakeFirstOrThrow();
      for (let batch = 0; batch < 17; batch++) {
        const rows = Array.from({ length: 300 }, (_, n) => {
          return { ...key, id: `key_${batch}_${n}`, name: `${batch} ${n}`, digest: `${batch} ${n}`, ...token };
        });
        await kysely.insertInto("api_keys").values(rows).execute();
      }
      const own = { id: "key_1", workspace_id: other.id, group_id: group.id, digest: "own", ...token };
      await kysely
        .insertInto("api_keys")
        .values({ ...key, ...own, expires_at: token.expires_at + dayMs })
        .execute();
      await alerts.rule(budget, {}, other.id);
      await alerts.rule({ kind: "token_expiry", days: [7] }, {}, other.id);
      await watch.check();
      expect(alerts.texts()).toEqual([expect.stringContaining("Service token ci of other expires on")]);
      await alerts.spend(0.9, other.scope);
      await watch.check();
      expect(alerts.texts().slice(1)).toEqual(["other/ci has used $0.90 of its $1.00 monthly budget (90%)."]);
    });

    withAlerts("removes resolved alerts after three months, and lists each page once", async (alerts) => {
      const { clock, watch, log } = alerts;
      await alerts.rule(budget);
      for (let day = 0; day < 5; day++) {
        await alerts.spend(9);
        await watch.check();
        clock.advance(dayMs);
      }
      await watch.check();
      const all = { userId: "u", workspaces: null };
      const first = await log.page(all, {}, null, 3);
      const rest = await log.page(all, {}, first.next, 3);
      expect([first.data.length, rest.data.length, rest.next]).toEqual([3, 2, null]);
      expect(new Set([...first.data, ...rest.data].map(({ id }) => id)).size).toBe(5);
      clock.advance(92 * dayMs);
      await watch.check();
      expect((await log.page(all, {}, null, 9)).data.length).toBeLessThan(5);
    });

    withAlerts("encrypts the address of a channel, and the audit log has only its host", async (alerts) => {
      const { settings, database } = alerts;
      const { id } = await alerts.channel();
      const url = "https://hooks.example.com/other-secret";
      await settings.updateChannel(id, { target: { kind: "webhook", url } }, auditSource);
      await settings.updateChannel(id, { name: "renamed" }, auditSource);
      expect(await settings.target(id)).toEqual({ kind: "webhook", url });
      const stored = await database.kysely.selectFrom("alert_channels").selectAll().execute();
      await settings.removeChannel(id, auditSource);
      const audit = await database.kysely.selectFrom("audit_log").selectAll().orderBy("seq").execute();
      const rows = audit.filter((row) => row.object.startsWith("alert channel"));
      expect(rows.map((row) => row.action)).toEqual(["create", "update", "update", "remove"]);
      expect(rows.every((row) => row.workspace_id === alerts.acme.id)).toBe(true);
      for (const text of [JSON.stringify(stored), JSON.stringify(rows)]) expect(text).not.toMatch(/secret/);
    });
  });
}

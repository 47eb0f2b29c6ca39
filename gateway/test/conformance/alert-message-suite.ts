import { describe, expect } from "bun:test";
import type { AlertCondition } from "@sluice/contract";
import { createLeadership } from "#coordination/index.ts";
import { createLeases } from "#storage/index.ts";
import { alertTest, auditSource, budgetCondition as budget, openAlertsOf } from "../alerts/alert-fixture.ts";
import { ledgerEntry, type StoreFixtureFactory, silentObserver } from "./store-fixture.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const pagerDuty = { kind: "pagerduty", routing_key: "R0UTINGKEY0123456789", region: "us" } as const;

/** Messages about alerts: retries, several processes, quiet hours, muted rules, incidents and escalations. */
export function alertMessageSuite(name: string, make: StoreFixtureFactory): void {
  const withAlerts = alertTest(make);

  describe(`${name}: messages about alerts`, () => {
    withAlerts(
      "a channel that fails is retried a bounded number of times, does not delay others, and is reported",
      async (alerts) => {
        const good = await alerts.channel();
        const bad = await alerts.channel({
          name: "broken",
          target: { kind: "slack", url: "https://chat.example.com/x" },
        });
        await alerts.rule(budget, { channels: [bad.id, good.id] });
        await alerts.rule({ kind: "delivery_failure", failures: 3 }, { channels: [good.id] });
        alerts.answer(500, "chat.example.com");
        await alerts.spend(9);
        await alerts.watch.check();
        expect(alerts.texts().filter((text) => text.startsWith("acme has used"))).toHaveLength(2);
        for (let hour = 0; hour < 24; hour++) await alerts.pass(10);
        const attempts = alerts.sent.filter(({ url }) => url.includes("chat.example.com"));
        expect(attempts).toHaveLength(6);
        expect(alerts.texts()).toContain(
          "The last message to the alert channel broken failed after 3 attempts: The address returned 500.",
        );
        const { data } = await alerts.log.page({ userId: "u", workspaces: null }, { kind: "budget" }, null, 1);
        const deliveries = await alerts.log.deliveries(data[0]?.id ?? "", 10);
        const states = deliveries.map(({ channel, tries, sent_at, next_at, problem }) => {
          return [channel.name, tries, sent_at !== null, next_at, problem];
        });
        expect(states.toSorted()).toEqual([
          ["broken", 6, false, null, "The address returned 500."],
          ["team", 1, true, null, null],
        ]);
      },
    );

    withAlerts("evaluates many rules that read the ledger in turn, without delaying others", async (alerts) => {
      const { acme, clock, watch } = alerts;
      const at = clock.now() - 1_000;
      await alerts.ledgerStore.insert([ledgerEntry("slow", { workspaceId: acme.id, at, totalMs: 9_000 })]);
      const latency: AlertCondition = { kind: "latency", ms: 1_000, minutes: 60, min_requests: 1 };
      for (let rule = 0; rule < 60; rule++) await alerts.rule(latency, { channels: [] });
      await alerts.rule(budget);
      await alerts.spend(9);
      await watch.check();
      const open = async () => (await openAlertsOf(alerts)).map(({ kind }) => kind);
      expect(alerts.sent).toHaveLength(1);
      expect(await open()).toHaveLength(51);
      await watch.check();
      expect(await open()).toHaveLength(61);
    });

    withAlerts("two processes that evaluate at once send each message once", async (alerts) => {
      await alerts.rule(budget, { repeat_hours: 1 });
      const processes = [alerts.watch, alerts.openWatch(), alerts.openWatch()];
      const all = () => Promise.all(processes.map((each) => each.check()));
      await alerts.spend(9);
      await all();
      expect(alerts.sent).toHaveLength(1);
      await alerts.spend(2);
      await all();
      expect(alerts.sent).toHaveLength(2);
      alerts.clock.advance(hourMs);
      await all();
      expect(alerts.texts()[2]).toStartWith("Still open: ");
      alerts.clock.advance(dayMs);
      await all();
      await all();
      expect(alerts.texts().slice(3)).toEqual([expect.stringContaining("Resolved: ")]);
    });

    withAlerts("another process sends what one has left after its end, and evaluates in its place", async (alerts) => {
      const { database, clock } = alerts;
      const lead = (owner: string) =>
        createLeadership({ leases: createLeases(database), owner, clock, observer: silentObserver });
      await alerts.rule(budget);
      await alerts.spend(9);
      alerts.answer(503);
      const first = lead("proc_a");
      await first.once("alerts", (lease) => alerts.openWatch().check(lease));
      await first.close();
      alerts.answer(204);
      clock.advance(hourMs);
      const second = lead("proc_b");
      await second.once("alerts", (lease) => alerts.openWatch().check(lease));
      await second.once("alerts", (lease) => alerts.openWatch().check(lease));
      await second.close();
      // The same message, tried twice.
      const ids = alerts.sent.map(({ headers }) => headers["webhook-id"]);
      expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
    });

    withAlerts(
      "a process that was paused while sending does not report a message that was sent as failed",
      async (alerts) => {
        const { log, clock } = alerts;
        await alerts.rule(budget, { channels: [] });
        const channel = { id: "chan", name: "c", kind: "webhook" } as const;
        const finding = { kind: "budget", subject: "s", level: 1, severity: "warning", facts: {} } as const;
        const place = { workspaceId: alerts.acme.id, personId: null };
        const now = clock.now();
        const message = { channel, dueAt: now, quiet: false };
        await log.openAlert({ id: "r", name: "r" }, { ...finding, ...place }, [message], true);
        const [slow] = await log.leaseDue(now, 100, 9);
        expect(await log.leaseDue(now, 100, 9)).toEqual([]);
        const [quick] = await log.leaseDue(now + 101, 100, 9);
        if (slow === undefined || quick === undefined) throw new Error("nothing was due");
        const failed = { tries: 1, dueAt: now + 150, sentAt: null, problem: "The address returned 500." };
        await log.recordSend(slow, failed);
        expect(await log.leaseDue(now + 150, 100, 9)).toEqual([]);
        await log.recordSend(quick, { tries: 1, dueAt: null, sentAt: now + 120, problem: null });
        await log.recordSend(slow, failed);
        expect(await log.deliveries("alertId" in quick.about ? quick.about.alertId : "", 9)).toMatchObject([
          { sent_at: now + 120, problem: null },
        ]);
      },
    );

    withAlerts("holds messages during quiet hours, and drops them if the alert resolves meanwhile", async (alerts) => {
      const { clock, watch } = alerts;
      const quiet_hours = { from: "22:00", to: "07:00", time_zone: "UTC" };
      await alerts.rule(budget, { quiet_hours });
      clock.advance(23 * hourMs);
      await alerts.spend(9);
      await watch.check();
      expect(alerts.sent).toEqual([]);
      expect((await alerts.log.inbox({ userId: "u", workspaces: null })).alerts).toHaveLength(1);
      // The budget's next day begins within the quiet hours.
      clock.advance(2 * hourMs);
      await watch.check();
      await alerts.spend(9);
      await watch.check();
      expect(alerts.sent).toEqual([]);
      clock.advance(6 * hourMs);
      await watch.check();
      expect(alerts.texts()).toEqual(["acme has used $9.00 of its $10.00 daily budget (90%)."]);
      const { data } = await alerts.log.page({ userId: "u", workspaces: null }, { state: "resolved" }, null, 9);
      const [held] = await alerts.log.deliveries(data[0]?.id ?? "", 9);
      expect(held).toMatchObject({ event: "opened", sent_at: null, problem: "The alert resolved during quiet hours." });
    });

    withAlerts("a muted rule sends nothing until then, and then what is still open", async (alerts) => {
      const { clock, watch, settings } = alerts;
      const { id } = await alerts.rule(budget, { muted_until: clock.now() + hourMs });
      await alerts.spend(9);
      await watch.check();
      expect(alerts.sent).toEqual([]);
      clock.advance(hourMs);
      await watch.check();
      await watch.check();
      expect(alerts.sent).toHaveLength(1);
      await settings.updateRule(id, { enabled: false }, auditSource);
      await watch.check();
      expect(await openAlertsOf(alerts)).toEqual([]);
      expect(alerts.texts().slice(1)).toEqual([expect.stringContaining("because its rule was disabled")]);
    });

    withAlerts("resolves the incident of an alert that ends while its rule is muted", async (alerts) => {
      const { clock, watch, settings } = alerts;
      const { id } = await alerts.rule(budget, { to: pagerDuty });
      await alerts.spend(9);
      await watch.check();
      await settings.updateRule(id, { muted_until: clock.now() + 3 * dayMs }, auditSource);
      // Worse while muted: the message waits for the end of the mute.
      await alerts.spend(9);
      await watch.check();
      clock.advance(dayMs);
      await watch.check();
      expect(alerts.incidents()).toEqual(["trigger", "resolve"]);
      await watch.check();
      expect(alerts.incidents()).toHaveLength(2);
    });

    for (const ended of ["disabled", "deleted"] as const) {
      withAlerts(`a ${ended} rule ends its alerts with the reason, at the channels that got them`, async (alerts) => {
        const { watch, settings } = alerts;
        const incidents = await alerts.channel({ target: pagerDuty });
        const team = await alerts.channel();
        const later = await alerts.channel({ name: "later" });
        const end = async (fields: object) => {
          const { id } = await alerts.rule(budget, { channels: [incidents.id, team.id], ...fields });
          await watch.check();
          await settings.updateRule(id, { channels: [later.id] }, auditSource);
          if (ended === "disabled") await settings.updateRule(id, { enabled: false }, auditSource);
          else await settings.removeRule(id, auditSource);
          await watch.check();
          await watch.check();
          expect(await openAlertsOf(alerts)).toEqual([]);
          return alerts.bodies().splice(-alerts.sent.splice(0).length);
        };
        await alerts.spend(9);
        const bodies = await end({});
        expect(alerts.incidents(bodies)).toEqual(["trigger", "resolve"]);
        const sentence = "acme has used $9.00 of its $10.00 daily budget (90%).";
        expect(bodies.flatMap(({ text }) => text ?? [])).toEqual([
          sentence,
          `Resolved: ${sentence} The alert ended because its rule was ${ended}.`,
        ]);
        // Without messages about the end, an incident is resolved nevertheless.
        const quiet = await end({ send_resolved: false });
        expect(alerts.incidents(quiet)).toEqual(["trigger", "resolve"]);
        expect(quiet.flatMap(({ type }) => type ?? [])).toEqual(["alert.opened"]);
        const muted = await end({ muted_until: alerts.clock.now() + hourMs });
        expect(muted).toEqual([]);
      });
    }

    withAlerts("resolves an incident at once in quiet hours, and its other messages afterwards", async (alerts) => {
      const { clock, watch } = alerts;
      const channels = [(await alerts.channel({ target: pagerDuty })).id, (await alerts.channel()).id];
      await alerts.rule(budget, { channels, quiet_hours: { from: "00:00", to: "07:00", time_zone: "UTC" } });
      clock.advance(8 * hourMs);
      await alerts.spend(9);
      await watch.check();
      clock.advance(17 * hourMs);
      await watch.check();
      expect(alerts.incidents()).toEqual(["trigger", "resolve"]);
      expect(alerts.sent).toHaveLength(3);
      clock.advance(6 * hourMs);
      await watch.check();
      expect(alerts.sent).toHaveLength(4);
    });

    withAlerts("an alert follows the severity of its condition, and an escalation is sent once", async (alerts) => {
      const { acme, clock } = alerts;
      await alerts.rule({ kind: "error_rate", percent: 10, minutes: 5, min_requests: 10 });
      const calls = async (failed: number, succeeded: number) => {
        const at = clock.now() - 1_000;
        const entry = (n: number, changes: object) =>
          ledgerEntry(`${at}_${n}`, { workspaceId: acme.id, at, ...changes });
        await alerts.ledgerStore.insert([
          ...Array.from({ length: failed }, (_, n) => entry(n, { outcome: "failed", httpStatus: 502 })),
          ...Array.from({ length: succeeded }, (_, n) => entry(100 + n, {})),
        ]);
        await alerts.pass(1);
        const [open] = await openAlertsOf(alerts);
        return open?.severity;
      };
      const messages = () => alerts.bodies().map(({ type, data }) => [type, data.severity]);
      expect(await calls(2, 8)).toBe("warning");
      expect(await calls(30, 0)).toBe("critical");
      expect(messages()).toEqual([
        ["alert.opened", "warning"],
        ["alert.worse", "critical"],
      ]);
      expect(await calls(0, 60)).toBe("warning");
      expect(await calls(90, 0)).toBe("critical");
      expect(messages()).toHaveLength(2);
    });

    withAlerts(
      "an escalation waits for the end of quiet hours, and a reminder has the current facts",
      async (alerts) => {
        const { clock, watch } = alerts;
        const quiet_hours = { from: "01:00", to: "07:00", time_zone: "UTC" };
        await alerts.rule(
          { kind: "budget", percent: [80], scope: null, scope_id: null },
          { quiet_hours, repeat_hours: 2 },
        );
        await alerts.spend(9);
        await watch.check();
        clock.advance(hourMs);
        await alerts.spend(2);
        await watch.check();
        expect((await openAlertsOf(alerts)).map(({ severity }) => severity)).toEqual(["critical"]);
        expect(alerts.sent).toHaveLength(1);
        clock.advance(6 * hourMs);
        await alerts.spend(1);
        await watch.check();
        await watch.check();
        expect(alerts.bodies().map(({ type, data }) => [type, data.severity, data.facts.used_usd])).toEqual([
          ["alert.opened", "warning", 9],
          ["alert.worse", "critical", 11],
          ["alert.reminder", "critical", 12],
        ]);
      },
    );

    withAlerts("an alert about a budget is a warning again after the budget was raised", async (alerts) => {
      const { watch } = alerts;
      await alerts.rule(budget);
      await alerts.spend(11);
      await watch.check();
      const state = async () => (await openAlertsOf(alerts)).map(({ severity, level }) => [severity, level]);
      expect(await state()).toEqual([["critical", 2]]);
      alerts.raiseBudget(13);
      await watch.check();
      expect(await state()).toEqual([["warning", 1]]);
      expect(alerts.sent).toHaveLength(1);
      await alerts.spend(3);
      await watch.check();
      expect(await state()).toEqual([["critical", 2]]);
      expect(alerts.bodies().map(({ type }) => type)).toEqual(["alert.opened", "alert.worse"]);
    });
  });
}

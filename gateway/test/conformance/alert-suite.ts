import { describe, expect, test } from "bun:test";
import { type AlertCondition, shadowRefusedPrefix } from "@sluice/contract";
import { createBatchStore } from "#batches/index.ts";
import { createLeadership } from "#coordination/index.ts";
import type { Batch, GuardrailCheckEntry } from "#core/index.ts";
import { createPeopleStore } from "#directory/index.ts";
import { createLeases } from "#storage/index.ts";
import { createIds } from "#system/index.ts";
import { type AlertFixture, auditSource, openAlerts } from "../alerts/alert-fixture.ts";
import { createHeaderSignIn } from "../header-sign-in.ts";
import { ledgerEntry, newYear, type StoreFixtureFactory, silentObserver } from "./store-fixture.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const budget: AlertCondition = { kind: "budget", percent: [80, 100], scope: null, scope_id: null };

const pagerDuty = { kind: "pagerduty", routing_key: "R0UTINGKEY0123456789", region: "us" } as const;

const openAlertsOf = async ({ log }: AlertFixture) =>
  (await log.page({ userId: "u", workspaces: null }, { state: "open" }, null, 100)).data;

/** Alerts and their messages on one database. */
export function alertSuite(name: string, make: StoreFixtureFactory): void {
  const withAlerts = (title: string, check: (alerts: AlertFixture) => Promise<void>) =>
    test(title, async () => {
      await using stores = await make();
      await check(await openAlerts(stores));
    });

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

    const check = (name: string, changes: Partial<GuardrailCheckEntry>): GuardrailCheckEntry => ({
      ...{ checkId: `chk_${name}`, at: newYear, requestId: `req_${name}`, workspaceId: "", groupId: "grp_1" },
      ...{ keyId: "key_1", personId: null, guardrailId: "grl_keys", guardrailName: "keys", definition: "d" },
      ...{ side: "input", action: "block", enforced: true, verdict: "blocked", counts: { github_token: 1 } },
      ...{ paths: ["messages[0].content"], unmasked: 0, unreadable: 0, durationMs: 1, error: null, ...changes },
    });

    withAlerts(
      "opens when a guardrail finds something in enough requests, and resolves after a calm time",
      async (alerts) => {
        const { acme, other, clock } = alerts;
        await alerts.rule({ kind: "guardrail_findings", requests: 3, minutes: 10, verdict: "blocked" });
        await alerts.rule({ kind: "guardrail_findings", requests: 1, minutes: 10, guardrail: "grl_mail" });
        let made = 0;
        const found = async (changes: Partial<GuardrailCheckEntry>) => {
          made++;
          const entry = { workspaceId: acme.id, at: clock.now() - 1_000, ...changes };
          await alerts.ledgerStore.insertChecks([check(String(made), entry)]);
        };
        // Not counted: another workspace, shadow mode, another verdict, the same request again.
        for (let n = 0; n < 3; n++) await found({ workspaceId: other.id });
        for (let n = 0; n < 3; n++) await found({ enforced: false });
        for (let n = 0; n < 3; n++) await found({ verdict: "flagged" });
        await found({ requestId: "req_twice" });
        await found({ requestId: "req_twice", side: "output" });
        await found({});
        await alerts.pass(1);
        expect(alerts.texts()).toEqual([]);
        await found({});
        await alerts.pass(1);
        expect(alerts.texts()).toEqual(["Guardrail keys blocked 3 requests of acme in the last 10 minutes."]);
        await found({ guardrailId: "grl_mail", guardrailName: "mail", verdict: "masked" });
        await alerts.pass(1);
        expect(alerts.texts().slice(1)).toEqual([
          "Guardrail mail found something in one request of acme in the last 10 minutes.",
        ]);
        await alerts.pass(20);
        expect(
          alerts
            .texts()
            .slice(2)
            .map((text) => text.slice(0, 20)),
        ).toEqual(["Resolved: Guardrail ", "Resolved: Guardrail "]);
      },
    );

    withAlerts("reports checks of guardrails that fail, also in shadow mode", async (alerts) => {
      const { acme, clock } = alerts;
      await alerts.rule({ kind: "guardrail_failure", failures: 2, minutes: 5 });
      const fail = async (name: string) =>
        await alerts.ledgerStore.insertChecks([
          check(name, {
            ...{ workspaceId: acme.id, at: clock.now() - 1_000, verdict: "failed", enforced: false },
            error: "The webhook did not answer in time.",
          }),
        ]);
      await fail("one");
      await alerts.pass(1);
      expect(alerts.texts()).toEqual([]);
      await fail("two");
      await alerts.pass(2);
      expect(alerts.texts()).toEqual([
        "Guardrail keys could not check 2 requests of acme in the last 5 minutes: The webhook did not answer in time.",
      ]);
      expect(alerts.bodies()[0]?.data.url).toBe(
        "https://sluice.example/console/guardrails?workspace=acme&tab=findings&guardrail=grl_keys&verdict=failed",
      );
    });

    withAlerts("reports a batch with many failed rows, until an hour after its end", async (alerts) => {
      const { acme, other, clock, database } = alerts;
      await alerts.rule({ kind: "batch_rows_failed", percent: 20, min_rows: 10 });
      const batches = createBatchStore({ database });
      const create = (name: string, workspaceId: string, rows: Pick<Batch, "succeeded" | "errored">) =>
        batches.create(batchOf(name, workspaceId, clock.now(), rows), "a process", clock.now() + hourMs);
      const failing = await create("failing", acme.id, { succeeded: 8, errored: 2 });
      await create("good", acme.id, { succeeded: 90, errored: 10 });
      await create("few", other.id, { succeeded: 0, errored: 9 });
      await alerts.pass(1);
      expect(alerts.texts()).toEqual(["20% of the rows of batch failing of acme failed: 2 of 10."]);
      expect(alerts.bodies()[0]?.data.url).toBe("https://sluice.example/console/batches/batch_failing?workspace=acme");
      await batches.step(failing, { state: "completed", endedAt: clock.now() }, true);
      await alerts.pass(30);
      expect(alerts.texts()).toHaveLength(1);
      await alerts.pass(40);
      expect(alerts.texts().slice(1)).toEqual(["Resolved: 20% of the rows of batch failing of acme failed: 2 of 10."]);
    });

    withAlerts(
      "reports the first event of each rule in shadow mode, and the next after a day without one",
      async (alerts) => {
        const { acme, other, clock } = alerts;
        await alerts.rule({ kind: "shadow" }, { send_resolved: false });
        let made = 0;
        const marked = async (text: string, workspaceId = acme.id) => {
          made++;
          const warnings = ["seed was left out", `${shadowRefusedPrefix}${text}`];
          const at = clock.now() - 1_000;
          await alerts.ledgerStore.insert([ledgerEntry(`${made}`, { workspaceId, at, warnings, personId: "usr_ada" })]);
        };
        const budgetOfKey = "budget of 5 USD per day on key acme/a key of ours";
        await marked("budget of 1 USD per day on workspace other", other.id);
        await marked(budgetOfKey);
        await marked("models of group acme/team");
        await alerts.pass(1);
        const sentence = (rule: string) =>
          `Calls of acme would have been refused by a rule in shadow mode: ${rule}. They were served.`;
        const first = [sentence(budgetOfKey), sentence("models of group acme/team")];
        expect(alerts.texts().toSorted()).toEqual(first.toSorted());
        const urls = alerts.bodies().map(({ data }) => data.url.slice("https://sluice.example/console".length));
        expect(urls.toSorted()).toEqual([
          "/limits?workspace=acme&object=key%3Akey_1",
          "/workspaces/acme?workspace=acme&tab=groups&group=grp_1",
        ]);
        // An event of a personal key is for its user and admins.
        const seenBy = async (userId: string) =>
          (await alerts.log.inbox({ userId, workspaces: [{ id: acme.id, seesPeople: false }] })).unread;
        expect([await seenBy("usr_ada"), await seenBy("usr_other")]).toEqual([2, 1]);
        // Further events send nothing.
        clock.advance(12 * hourMs);
        await marked(budgetOfKey);
        await alerts.pass(2);
        expect(alerts.texts()).toHaveLength(2);
        await alerts.ledgerStore.insertChecks([
          check("shadow", { workspaceId: acme.id, at: clock.now() - 1_000, enforced: false }),
        ]);
        await alerts.pass(1);
        expect(alerts.texts().slice(2)).toEqual([
          "Guardrail keys, in shadow mode, found something in calls of acme. The calls did not change.",
        ]);
        clock.advance(25 * hourMs);
        await alerts.pass(1);
        expect(await openAlertsOf(alerts)).toEqual([]);
        await marked(budgetOfKey);
        await alerts.pass(1);
        expect(alerts.texts().slice(3)).toEqual([sentence(budgetOfKey)]);
      },
    );

    withAlerts("two processes report the first event in shadow mode once", async (alerts) => {
      await alerts.rule({ kind: "shadow" });
      const warnings = [`${shadowRefusedPrefix}models of workspace acme`];
      const at = alerts.clock.now() - 1_000;
      await alerts.ledgerStore.insert([ledgerEntry("shadow", { workspaceId: alerts.acme.id, at, warnings })]);
      await Promise.all([alerts.watch, alerts.openWatch(), alerts.openWatch()].map((each) => each.check()));
      expect(alerts.sent).toHaveLength(1);
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

function batchOf(
  displayName: string,
  workspaceId: string,
  now: number,
  rows: Pick<Batch, "succeeded" | "errored">,
): Batch {
  return {
    ...{ id: `batch_${displayName}`, workspaceId, groupId: "grp_1", keyId: "key_1", displayName, ...rows },
    ...{ api: "openai", endpoint: "chat", model: "gpt", state: "in_progress", userAgent: "", total: 100 },
    ...{ metadata: {}, headers: {}, tags: {}, errors: [], holds: [], canceled: 0, expired: 0, costNanoUsd: 0 },
    ...{ inputFileId: null, inputHash: null, outputHash: null, outputBytes: 0, outputFileId: null, errorFileId: null },
    ...{ outputLifeMs: null, provider: null, deployment: null, upstreamModel: null, priceVersion: null },
    ...{ uploadId: null, submittedAt: null, upstreamId: null, vendorHash: null, vendorBytes: 0, vendorLines: 0 },
    ...{ createdAt: now, startedAt: now, finalizingAt: null, endedAt: null, cancelAt: null, dueAt: now },
    ...{ expiresAt: now + dayMs, deleteAt: now + 29 * dayMs },
  };
}

import { describe, expect } from "bun:test";
import { shadowRefusedPrefix } from "@sluice/contract";
import { createBatchStore } from "#batches/index.ts";
import type { Batch, GuardrailCheckEntry } from "#core/index.ts";
import { alertTest, openAlertsOf } from "../alerts/alert-fixture.ts";
import { ledgerEntry, newYear, type StoreFixtureFactory } from "./store-fixture.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Alerts on guardrails, shadow mode and batches. */
export function alertGuardrailSuite(name: string, make: StoreFixtureFactory): void {
  const withAlerts = alertTest(make);

  describe(`${name}: alerts on guardrails, shadow mode and batches`, () => {
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
        "https://sluice.example/console/guardrails?workspace=acme&tab=findings&rule=grl_keys&verdict=failed",
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

    withAlerts("reports an open batch without progress, until a row ends", async (alerts) => {
      const { acme, clock, database } = alerts;
      await alerts.rule({ kind: "batch_stuck", hours: 2 });
      const batches = createBatchStore({ database });
      const create = (name: string) => {
        const batch = batchOf(name, acme.id, clock.now(), { succeeded: 90, errored: 2 });
        return batches.create(batch, "a process", clock.now() + hourMs);
      };
      const stuck = await create("stuck");
      const done = await create("done");
      await batches.step(done, { state: "completed", endedAt: clock.now() }, true);
      await alerts.pass(119);
      expect(alerts.texts()).toEqual([]);
      await alerts.pass(2);
      expect(alerts.texts()).toEqual(["Batch stuck of acme has made no progress for 2 hours: 8 of 100 rows are open."]);
      expect(alerts.bodies()[0]?.data.url).toBe("https://sluice.example/console/batches/batch_stuck?workspace=acme");
      await batches.step(stuck, { progressAt: clock.now() }, false);
      await alerts.pass(1);
      expect(alerts.texts()[1]).toStartWith("Resolved: Batch stuck of acme has made no progress");
    });

    withAlerts("reports a provider with an unexplained difference to its bill, until there is none", async (alerts) => {
      const { clock, database } = alerts;
      await alerts.rule({ kind: "bill_difference", percent: 1 }, {}, null);
      const day = (ago: number) => new Date(clock.now() - ago * 86_400_000).toISOString().slice(0, 10);
      const row = { source: "csv", read_at: clock.now(), bill: "[]", lines: "[]", state: "different" } as const;
      const sums = { our_nano_usd: 1e9, estimated_nano_usd: 0, foreign_nano_usd: 0 };
      const put = (provider: string, ago: number, nano: number) =>
        database.kysely
          .insertInto("bill_days")
          .values({ ...row, ...sums, provider, day: day(ago), their_nano_usd: 1e9 + nano, differing_nano_usd: nano })
          .execute();
      await put("openai-main", 3, 5e8);
      await put("openai-main", 20, 9e8);
      await put("spare", 3, 5e6);
      await alerts.pass(1);
      const text = `The bill of openai-main and the ledger differ by $0.50 (33%) on ${day(3)}, without an explanation.`;
      expect(alerts.texts()).toEqual([text]);
      expect(alerts.bodies()[0]?.data.url).toBe(
        `https://sluice.example/console/bill?provider=openai-main&day=${day(3)}`,
      );
      await database.kysely.updateTable("bill_days").set({ differing_nano_usd: 0 }).execute();
      await alerts.pass(1);
      expect(alerts.texts()[1]).toBe(`Resolved: ${text}`);
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
    ...{ inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0, budgets: [], progressAt: now },
    ...{ inputFileId: null, inputHash: null, outputHash: null, outputBytes: 0, outputFileId: null, errorFileId: null },
    ...{ outputLifeMs: null, provider: null, deployment: null, upstreamModel: null, priceVersion: null },
    ...{ uploadId: null, submittedAt: null, upstreamId: null, vendorHash: null, vendorBytes: 0, vendorLines: 0 },
    ...{ createdAt: now, startedAt: now, finalizingAt: null, endedAt: null, cancelAt: null, dueAt: now, hintAt: null },
    ...{ expiresAt: now + dayMs, deleteAt: now + 29 * dayMs },
  };
}

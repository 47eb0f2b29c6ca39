import { describe, expect, test } from "bun:test";
import type { ReportContent, ReportReading, ReportSchedule } from "#alerts/index.ts";
import { bounds } from "#core/index.ts";
import { type AlertFixture, auditSource, openAlerts } from "../alerts/alert-fixture.ts";
import type { StoreFixtureFactory } from "./store-fixture.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const content: ReportContent = {
  time_zone: "UTC",
  period: { from: Date.UTC(2025, 11, 31), to: Date.UTC(2026, 0, 1) },
  compared: { from: Date.UTC(2025, 11, 30), to: Date.UTC(2025, 11, 31) },
  totals: { cost_usd: 12.5, requests: 1_200 },
  previous: { cost_usd: 10, requests: 1_000 },
  rows: [
    { label: "gpt-5", cost_usd: 10, previous_cost_usd: 5 },
    { label: "<!channel>\nother", cost_usd: 2.5, previous_cost_usd: 0 },
  ],
  rows_total: 5,
  page: "/usage?workspace=acme&by=model",
  file: "usage-by-model",
};
const reading: ReportReading = { content, csv: "id,model,cost_usd\n" };

/** Schedules of reports, their runs and messages on one database. The clock starts on 2026-01-01 at midnight. */
export function scheduledReportSuite(name: string, make: StoreFixtureFactory): void {
  const withReports = (title: string, check: (alerts: AlertFixture) => Promise<void>) =>
    test(title, async () => {
      await using stores = await make();
      await check(await openAlerts(stores));
    });

  const schedule = async (alerts: AlertFixture, changes: Partial<ReportSchedule> = {}) => {
    const channels = changes.channels ?? [(await alerts.channel()).id];
    const fields = { ...daily, ...changes, channels };
    return await alerts.scheduledReports.create(alerts.acme.id, owner, fields, auditSource);
  };

  describe(`${name}: scheduled reports`, () => {
    withReports("makes one report per time of a schedule with several processes", async (alerts) => {
      const { id } = await schedule(alerts);
      const made: number[] = [];
      const processes = Array.from({ length: 3 }, () =>
        alerts.openReportWatch(async (_report, dueAt) => {
          made.push(dueAt);
          return reading;
        }),
      );
      const pass = () => Promise.all(processes.map((each) => each.check()));
      await pass();
      expect(made).toEqual([]);
      alerts.clock.advance(8 * hourMs);
      await pass();
      await pass();
      alerts.clock.advance(dayMs);
      await pass();
      expect(made).toEqual([Date.UTC(2026, 0, 1, 8), Date.UTC(2026, 0, 2, 8)]);
      await alerts.watch.check();
      await alerts.watch.check();
      expect(alerts.bodies().map(({ type, data }) => [type, data.report, data.totals.cost_usd])).toEqual([
        ["report.sent", id, 12.5],
        ["report.sent", id, 12.5],
      ]);
      expect((await alerts.runs.list(id)).map(({ deliveries }) => deliveries.map(({ tries }) => tries))).toEqual([
        [1],
        [1],
      ]);
    });

    withReports("sends only the latest missed time after a downtime", async (alerts) => {
      const { id } = await schedule(alerts);
      alerts.clock.advance(10 * dayMs + 9 * hourMs);
      const watch = alerts.openReportWatch(async () => reading);
      await watch.check();
      await watch.check();
      expect((await alerts.runs.list(id)).map(({ due_at }) => due_at)).toEqual([Date.UTC(2026, 0, 11, 8)]);
      expect((await alerts.scheduledReports.find(id))?.nextAt).toBe(Date.UTC(2026, 0, 12, 8));
    });

    withReports("discards the report of a process after its lease has ended", async (alerts) => {
      const { id } = await schedule(alerts);
      alerts.clock.advance(8 * hourMs);
      const quick = alerts.openReportWatch(async () => reading);
      const slow = alerts.openReportWatch(async () => {
        alerts.clock.advance(bounds.reportLeaseMs + 1);
        await quick.check();
        return reading;
      });
      await slow.check();
      expect(await alerts.runs.list(id)).toHaveLength(1);
      await alerts.watch.check();
      expect(alerts.bodies()).toHaveLength(1);
    });

    withReports("retries a report that cannot be read, gives up, and makes the next one", async (alerts) => {
      const { id } = await schedule(alerts);
      let reads = 0;
      const failing = alerts.openReportWatch(async () => {
        reads++;
        throw new Error("the database is busy");
      });
      alerts.clock.advance(8 * hourMs);
      for (let minute = 0; minute < 60; minute++) {
        await failing.check();
        alerts.clock.advance(60_000);
      }
      expect(reads).toBe(bounds.reportTriesMax);
      const [run] = await alerts.runs.list(id);
      expect(run).toMatchObject({ fault: { code: "report_failed" }, deliveries: [] });
      alerts.clock.advance(dayMs);
      await alerts.openReportWatch(async () => reading).check();
      expect((await alerts.runs.list(id)).map(({ problem }) => problem)).toEqual([null, run?.problem ?? ""]);
    });

    withReports(
      "stops a report that can no longer be made, sends a message, and resumes when it is changed",
      async (alerts) => {
        const { id } = await schedule(alerts);
        alerts.clock.advance(8 * hourMs);
        const watch = alerts.openReportWatch(async () => ({ stop: "report_right_lost" }));
        await watch.check();
        await alerts.watch.check();
        expect(alerts.bodies()).toMatchObject([
          { type: "report.stopped", text: expect.stringContaining("The report Spend is no longer sent.") },
        ]);
        expect(await alerts.scheduledReports.find(id)).toMatchObject({
          enabled: false,
          nextAt: null,
          problem: "The owner of the report may no longer see its data.",
        });
        alerts.clock.advance(3 * dayMs);
        await watch.check();
        expect(await alerts.runs.list(id)).toHaveLength(1);
        await alerts.scheduledReports.update(id, owner, { enabled: true }, auditSource);
        expect(await alerts.scheduledReports.find(id)).toMatchObject({
          problem: null,
          nextAt: Date.UTC(2026, 0, 5, 8),
        });
        const rows = await alerts.database.kysely.selectFrom("audit_log").selectAll().orderBy("seq").execute();
        const audited = rows.filter(({ object }) => object === "scheduled report Spend");
        expect(audited.map(({ actor, action }) => [actor, action])).toEqual([
          [auditSource.actor, "create"],
          ["scheduled reports", "update"],
          [auditSource.actor, "update"],
        ]);
      },
    );

    withReports("repeats a message that a channel refused, and drops the attachment at the end", async (alerts) => {
      const webhook = await alerts.channel();
      const mail = await alerts.channel({ target: { kind: "email", to: ["finance@example.com"] } });
      const { id } = await schedule(alerts, { channels: [webhook.id, mail.id] });
      alerts.answer(500);
      alerts.clock.advance(8 * hourMs);
      const watch = alerts.openReportWatch(async () => reading);
      await watch.check();
      await alerts.watch.check();
      expect(alerts.mails).toMatchObject([
        {
          subject: "Sluice: Spend: $12.50 (+25%)",
          attachment: { name: "usage-by-model.csv", text: "id,model,cost_usd\n" },
        },
      ]);
      const files = () => alerts.database.kysely.selectFrom("report_runs").select("csv").execute();
      await watch.check();
      expect(await files()).toEqual([{ csv: "id,model,cost_usd\n" }]);
      alerts.answer(204);
      alerts.clock.advance(60_000);
      await alerts.watch.check();
      const [run] = await alerts.runs.list(id);
      expect(run?.deliveries.map(({ tries, sent_at }) => [tries, sent_at !== null])).toEqual([
        [2, true],
        [1, true],
      ]);
      await watch.check();
      expect(await files()).toEqual([{ csv: null }]);
    });

    withReports("writes the period, the comparison and the first rows for each kind of channel", async (alerts) => {
      const slack = await alerts.channel({ target: { kind: "slack", url: "https://hooks.slack.com/services/x" } });
      const teams = await alerts.channel({
        target: { kind: "teams", url: "https://x.api.powerplatform.com/y" },
        language: "zh-CN",
      });
      await schedule(alerts, { channels: [slack.id, teams.id] });
      alerts.clock.advance(8 * hourMs);
      await alerts.openReportWatch(async () => reading).check();
      await alerts.watch.check();
      // The channels get their messages at the same time.
      const first = alerts.bodies().find((body) => "blocks" in body);
      const second = alerts.bodies().find((body) => "attachments" in body);
      expect(first.text).toBe("Spend: $12.50 (+25%)");
      expect(first.blocks[1].elements[0].text.split("\n")).toEqual([
        "Period: Dec 31, 2025 (UTC)",
        "Before: Dec 30, 2025, $10.00",
        "Requests: 1,200 (+20%)",
        "Workspace: acme",
        "1. gpt-5: $10.00 (+100%)",
        "2. <!channel> other: $2.50",
        "and 3 more",
      ]);
      const url = "https://sluice.example/console/usage?workspace=acme&by=model";
      expect(first.blocks[2].text.text).toBe(`<${url}|Open in Sluice>`);
      expect(JSON.stringify(second)).toContain("另有 3 行");
      expect(second.attachments[0].content.actions[0].url).toBe(url);
    });

    withReports("keeps the last 30 runs, and deletes them with the report", async (alerts) => {
      const { id } = await schedule(alerts);
      const report = await alerts.scheduledReports.find(id);
      if (report === null) throw new Error("the report was not stored");
      for (let run = 0; run < 40; run++) {
        await alerts.runs.addManual(report, { dueAt: run, outcome: reading, deliveries: [] });
      }
      expect((await alerts.runs.list(id)).map(({ due_at }) => due_at)).toEqual(
        Array.from({ length: 30 }, (_, n) => 39 - n),
      );
      await alerts.scheduledReports.remove(id, auditSource);
      expect(await alerts.database.kysely.selectFrom("report_runs").selectAll().execute()).toEqual([]);
    });
  });
}

const owner = { ownerId: "user_1", held: "admin" } as const;

const daily: Omit<ReportSchedule, "channels"> = {
  ...{ name: "Spend", state: "by=model", every: "day", day: null, hour: 8, time_zone: "UTC" },
  ...{ period: "interval", attach_csv: true, enabled: true },
};

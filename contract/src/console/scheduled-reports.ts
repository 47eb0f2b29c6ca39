import { z } from "zod";
import { alertDeliverySchema } from "./alerts.ts";
import { remarkSchema } from "./remark.ts";
import { route } from "./route.ts";
import { reportIntervals, reportPeriods } from "./states.ts";
import { viewState } from "./views.ts";
import { at, count, id, label, maybeAt, nothing, personSchema } from "./words.ts";

const fault = remarkSchema("alert").nullable();

const fields = {
  name: label,
  state: viewState.describe(
    "The view to send: query parameters of the usage page, such as `by=key&range=this_month` or `tab=chargeback&team=group`.",
  ),
  every: z.enum(reportIntervals),
  day: z
    .int()
    .min(1)
    .max(31)
    .nullable()
    .describe(
      "Day of the week (1: Monday) or of the month. In a month without that day, the last one. null if it is sent every day.",
    ),
  hour: z.int().min(0).max(23).describe("In `time_zone`."),
  time_zone: z.string().max(64).describe("IANA name, such as `Europe/Berlin`."),
  period: z
    .enum(reportPeriods)
    .describe(
      "`interval`: the day, week or month before, from midnight to midnight. `view`: the period of the view, at the time of sending.",
    ),
  channels: z.array(id).min(1).max(10).describe("Ids of alert channels of the workspace, except PagerDuty."),
  attach_csv: z.boolean().describe("Attach all rows to emails, up to 512 KiB."),
  enabled: z.boolean(),
};

const runSchema = z.object({
  id,
  at: at.describe("When the report was made."),
  due_at: at,
  trigger: z.enum(["schedule", "manual"]),
  period: z.object({ from: at, to: at }).nullable(),
  problem: z.string().nullable().describe("Why nothing was sent. null: see `deliveries`."),
  fault,
  deliveries: z.array(alertDeliverySchema.omit({ event: true })),
});
export type ReportRun = z.infer<typeof runSchema>;

const reportSchema = z.object({
  id,
  ...fields,
  workspace: z.object({ id, slug: z.string() }).nullable().describe("null: all workspaces."),
  owner: personSchema.describe(
    "The report is made with this user's rights. A user who changes the report becomes its owner.",
  ),
  problem: z.string().nullable().describe("Why the report stopped. null: it did not."),
  fault,
  next_at: maybeAt.describe("null: it is not enabled."),
  last: z.object({ at, ok: z.boolean() }).nullable().describe("The last run. `ok`: no channel has failed."),
  created_at: at,
});
export type ScheduledReport = z.infer<typeof reportSchema>;

const path = "/api/workspaces/{workspace}/scheduled-reports";

export const scheduledReportRoutes = {
  "scheduledReports.list": route({
    method: "GET",
    path,
    summary: "List your scheduled reports. Admins see all reports of the workspace",
    needs: "viewer",
    answer: z.object({ data: z.array(reportSchema), total: count }),
  }),
  "scheduledReports.create": route({
    method: "POST",
    path,
    summary: "Send a usage view to alert channels on a schedule. A workspace can have 100",
    needs: "member",
    status: 201,
    body: z.strictObject(fields),
    answer: reportSchema,
  }),
  "scheduledReports.update": route({
    method: "PATCH",
    path: `${path}/{report}`,
    summary: "Change, disable or resume a scheduled report, and become its owner",
    needs: "member",
    body: z.strictObject(fields).partial(),
    answer: reportSchema,
  }),
  "scheduledReports.remove": route({
    method: "DELETE",
    path: `${path}/{report}`,
    summary: "Delete a scheduled report and its history",
    needs: "member",
    status: 204,
    answer: nothing,
  }),
  "scheduledReports.send": route({
    method: "POST",
    path: `${path}/{report}/send`,
    summary: "Send a scheduled report now, for its latest complete period",
    needs: "member",
    status: 202,
    answer: runSchema,
  }),
  "scheduledReports.runs": route({
    method: "GET",
    path: `${path}/{report}/runs`,
    summary: "List the last 30 runs of a scheduled report with their messages, newest first",
    needs: "viewer",
    answer: z.object({ data: z.array(runSchema) }),
  }),
} as const;

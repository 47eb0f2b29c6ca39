import { Stack, Text } from "@mantine/core";
import type { ReportRun, ScheduledReport } from "@sluice/contract";
import { useCall } from "../../../api/use-call.ts";
import { When } from "../../../components/figures.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { Rich, t } from "../../../language/areas/reports.ts";
import { locale } from "../../../language/chosen.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { alertProblemWords } from "../../alerts/alert-problem-words.ts";

/** The last runs of a report, with the result at each channel. */
export function ReportHistory({ report }: { readonly report: ScheduledReport }) {
  const { path } = useWorkspace();
  const runs = useCall("scheduledReports.runs", { params: { workspace: path, report: report.id } });
  return (
    <>
      <Text fw={600} component="h3" size="sm" m={0}>
        {t("reports.history.title")}
      </Text>
      {runs.error !== null && <ProblemAlert problem={runs.error} />}
      {runs.data?.data.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("reports.history.none")}
        </Text>
      )}
      <Stack gap="xs" component="ul" className="plain-list">
        {runs.data?.data.map((run) => (
          <li key={run.id}>
            <Run run={run} zone={report.time_zone} />
          </li>
        ))}
      </Stack>
    </>
  );
}

function Run({ run, zone }: { readonly run: ReportRun; readonly zone: string }) {
  const { period } = run;
  const days = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: zone });
  return (
    <div className="key-name">
      <span>
        <b>
          <When at={run.at} />
        </b>{" "}
        {run.trigger === "manual" ? t("reports.history.manual") : t("reports.history.scheduled")}{" "}
        {period !== null && t("reports.history.of", { period: days.formatRange(period.from, period.to - 1) })}
      </span>
      {run.problem !== null && <small className="break">{alertProblemWords(run.fault, run.problem)}</small>}
      {run.deliveries.map((delivery) => (
        <Delivery key={delivery.channel.id} delivery={delivery} />
      ))}
    </div>
  );
}

function Delivery({ delivery }: { readonly delivery: ReportRun["deliveries"][number] }) {
  const { channel, tries, sent_at: sentAt, next_at: nextAt, problem, fault } = delivery;
  const state = sentAt !== null ? "sent" : nextAt === null ? "failed" : "waiting";
  const status = { sent: "delivered", failed: "failed", waiting: "waiting" }[state];
  return (
    <small className="break">
      <StatusBadge status={status} label={t(`reports.history.${state}`)} /> {channel.name}{" "}
      {problem !== null && (
        <>
          {alertProblemWords(fault, problem)} {t("reports.history.tries", { count: tries })}{" "}
          {nextAt !== null && <Rich text="reports.history.retry" tags={{ when: () => <When at={nextAt} /> }} />}
        </>
      )}
    </small>
  );
}

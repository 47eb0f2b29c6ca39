import { Button, Text } from "@mantine/core";
import type { AnswerOf, AttentionItem } from "@sluice/contract";
import { IconAlertTriangle, IconCircleCheck, IconExclamationCircle, IconInfoCircle } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { useCall } from "../../api/use-call.ts";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/attention.ts";
import { loadChunk } from "../../routes/load-chunk.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { checkWords, findingWords } from "./attention-words.ts";
import { fixOf } from "./fix-of.ts";
import "../../styles/overview.css";

const refreshMs = 30_000;

/** Open problems, most severe first, each with a link to its fix. */
export function AttentionStrip() {
  const workspace = useWorkspace();
  const query = useCall("attention.list", { params: { workspace: workspace.path }, everyMs: refreshMs });
  if (query.data === undefined) {
    return query.error === null ? (
      <Quiet text={t("attention.checking")} />
    ) : (
      <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
    );
  }
  return <Findings answer={query.data} />;
}

function Findings({ answer: { data, checked } }: { readonly answer: AnswerOf<"attention.list"> }) {
  if (data.length === 0) {
    return (
      <Quiet
        icon={<IconCircleCheck size={18} aria-hidden />}
        text={t("attention.clear")}
        help={t("attention.clearHelp", { checks: checkWords(checked) })}
      />
    );
  }
  return (
    <Section flush title={t("attention.title")}>
      <ul className="plain-list attention-list">
        {data.map((item) => (
          <Finding
            key={`${item.finding.code} ${item.subject.kind} ${item.subject.id} ${item.subject.name}`}
            item={item}
          />
        ))}
      </ul>
    </Section>
  );
}

const marks = {
  critical: IconExclamationCircle,
  warning: IconAlertTriangle,
  notice: IconInfoCircle,
} as const;

function Finding({ item }: { readonly item: AttentionItem }) {
  const { severity, alike, workspace, alerts } = item;
  const [alert] = alerts;
  const Mark = marks[severity];
  const fix = fixOf(item);
  return (
    <li className="attention-item" data-severity={severity}>
      <Mark size={18} aria-hidden />
      <div className="grow">
        <span className="unseen">{t(`attention.severity.${severity}`)}: </span>
        <span className="break">
          <Words item={item} />
        </span>
        {alert !== undefined && (
          <>
            {" "}
            <Link
              to="/alerts"
              search={
                alerts.length === 1 ? { alert: alert.id } : workspace === null ? {} : { workspace: workspace.slug }
              }
              className="text-link"
            >
              {t("attention.openAlerts", { count: alerts.length })}
            </Link>
          </>
        )}
        {alike > 0 && (
          <Text size="xs" c="dimmed">
            {t("attention.more", { count: alike })}
          </Text>
        )}
      </div>
      {fix !== null && (
        <Button variant="default" size="compact-sm" renderRoot={(props) => <Link {...fix.link} {...props} />}>
          {fix.verb}
        </Button>
      )}
    </li>
  );
}

// The sentences of alerts are only loaded when there is an alert.
const AlertWords = lazy(() => loadChunk(() => import("./alert-words.tsx")));

function Words({ item }: { readonly item: AttentionItem }) {
  const [alert] = item.alerts;
  if (item.finding.code !== "alert_open" || alert === undefined) return findingWords(item);
  return (
    <Suspense fallback={item.text}>
      <AlertWords alert={alert} />
    </Suspense>
  );
}

interface QuietProps {
  readonly icon?: ReactNode;
  readonly text: string;
  readonly help?: string;
}

/** One line, so that a page without trouble loses no room. */
function Quiet({ icon, text, help }: QuietProps) {
  return (
    <p className="attention-quiet" role="status">
      {icon}
      <span>{text}</span>
      {help !== undefined && <span className="attention-checks">{help}</span>}
    </p>
  );
}

import { Button, Group } from "@mantine/core";
import { type AlertChannel, type AlertRule, everyWorkspace } from "@sluice/contract";
import { useAct } from "../../api/use-act.ts";
import { formatMs } from "../../client/format.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import type { Column } from "../../components/data-table.tsx";
import { When } from "../../components/figures.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Rich, t } from "../../language/areas/alerts.ts";
import { formatPercent } from "./percent-chips.tsx";
import { ruleWords, watchOf } from "./rule-draft.ts";

interface RuleColumnsOptions {
  readonly channels: readonly AlertChannel[];
  readonly open: (id: string) => void;
  readonly mayChange: (rule: AlertRule) => boolean;
}

export function ruleColumns({ channels, open, mayChange }: RuleColumnsOptions): readonly Column<AlertRule>[] {
  const names = new Map(channels.map(({ id, name }) => [id, name]));
  return [
    {
      id: "name",
      header: t("alerts.name"),
      sortBy: (rule) => nameOf(rule).toLowerCase(),
      cell: (rule) => (
        <Group gap={6}>
          <b>{nameOf(rule)}</b>
          {!rule.enabled && <StatusBadge status="off" label={t("alerts.off")} />}
          {rule.muted_until !== null && rule.muted_until > Date.now() && (
            <small>
              <Rich text="alerts.rules.muted" tags={{ when: () => <When at={rule.muted_until ?? 0} /> }} />
            </small>
          )}
        </Group>
      ),
    },
    { id: "kind", header: t("alerts.kind.title"), cell: (rule) => t(`alerts.kind.${rule.condition.kind}`) },
    { id: "condition", header: t("alerts.rules.condition"), cell: conditionWords },
    {
      id: "workspace",
      header: t("alerts.workspace"),
      sortBy: (rule) => rule.workspace?.slug ?? "",
      cell: (rule) => rule.workspace?.slug ?? t("alerts.installation"),
    },
    {
      id: "channels",
      header: t("alerts.rules.channels"),
      cell: (rule) =>
        rule.channels.length === 0 ? (
          <span className="nothing">{t("alerts.rules.inboxOnly")}</span>
        ) : (
          <span className="break">{rule.channels.map((id) => names.get(id) ?? id).join(", ")}</span>
        ),
    },
    {
      id: "open",
      header: t("alerts.rules.open"),
      align: "right",
      sortBy: (rule) => rule.open,
      cell: (rule) => rule.open,
    },
    {
      id: "do",
      header: t("alerts.actions"),
      quiet: true,
      cell: (rule) => (mayChange(rule) ? <RuleActions rule={rule} onChange={() => open(rule.id)} /> : null),
    },
  ];
}

function nameOf({ name, condition }: AlertRule): string {
  return ruleWords(name, condition.kind);
}

function conditionWords({ condition }: AlertRule): string {
  switch (condition.kind) {
    case "budget":
      return t("alerts.rules.conditions.budget", {
        percent: condition.percent.map(formatPercent).join(", "),
        what: t(`alerts.watched.${watchOf(condition)}`),
      });
    case "error_rate":
      return t("alerts.rules.conditions.error_rate", {
        percent: formatPercent(condition.percent),
        minutes: condition.minutes,
      });
    case "latency":
      return t("alerts.rules.conditions.latency", { time: formatMs(condition.ms), minutes: condition.minutes });
    case "provider_down":
      return t("alerts.rules.conditions.provider_down", { minutes: condition.minutes });
    case "spend_anomaly":
      return t("alerts.rules.conditions.spend_anomaly", { factor: condition.factor });
    case "token_expiry":
      return t("alerts.rules.conditions.token_expiry", { days: condition.days.join(", ") });
    case "key_request":
      return t("alerts.rules.conditions.key_request");
    case "delivery_failure":
      return t("alerts.rules.conditions.delivery_failure", { count: condition.failures });
    case "guardrail_findings":
      return t("alerts.rules.conditions.guardrail_findings", {
        verdict: t(`alerts.form.verdicts.${condition.verdict ?? "any"}`),
        count: condition.requests,
        minutes: condition.minutes,
      });
    case "guardrail_failure":
      return t("alerts.rules.conditions.guardrail_failure", { count: condition.failures, minutes: condition.minutes });
    case "shadow":
      return t("alerts.rules.conditions.shadow");
    case "batch_rows_failed":
      return t("alerts.rules.conditions.batch_rows_failed", { percent: formatPercent(condition.percent) });
    case "bill_difference":
      return t("alerts.rules.conditions.bill_difference", { percent: formatPercent(condition.percent) });
    case "batch_stuck":
      return t("alerts.rules.conditions.batch_stuck", { count: condition.hours });
  }
}

function RuleActions({ rule, onChange }: { readonly rule: AlertRule; readonly onChange: () => void }) {
  const remove = useAct("alertRules.remove", { invalidates: ["alertRules.list"], done: t("alerts.rules.removed") });
  const params = { workspace: rule.workspace?.slug ?? everyWorkspace, rule: rule.id };
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("alerts.rules.editOf", { name: nameOf(rule) })}
        onClick={onChange}
      >
        {t("alerts.edit")}
      </Button>
      <ConfirmButton
        title={t("alerts.rules.removeTitle", { name: nameOf(rule) })}
        verb={t("alerts.rules.removeVerb")}
        label={t("alerts.remove")}
        size="compact-xs"
        onConfirm={() => remove.mutateAsync({ params })}
      >
        {t("alerts.rules.removeHelp")}
      </ConfirmButton>
    </Group>
  );
}

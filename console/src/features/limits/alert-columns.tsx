import { Button, Group } from "@mantine/core";
import type { Notice } from "@sluice/contract";
import { useAct } from "../../api/use-act.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import type { Column } from "../../components/data-table.tsx";
import { When } from "../../components/figures.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Rich, t } from "../../language/areas/limits.ts";
import { alertProblemWords } from "./alert-problem-words.ts";
import { AlertScope } from "./alert-scope.tsx";
import { formatPercent } from "./percent-chips.tsx";
import { SendTest } from "./send-test.tsx";

/** `open` null: read-only. */
export function alertColumns(workspace: string, open: ((id: string) => void) | null): readonly Column<Notice>[] {
  return [
    {
      id: "name",
      header: t("limits.name"),
      sortBy: (alert) => alert.name.toLowerCase(),
      cell: (alert) => (
        <Group gap={6}>
          <b>{alert.name}</b>
          {!alert.enabled && <StatusBadge status="off" label={t("limits.alert.off")} />}
        </Group>
      ),
    },
    {
      id: "scope",
      header: t("limits.alert.watches"),
      cell: (alert) => <AlertScope workspace={workspace} alert={alert} />,
    },
    {
      id: "percent",
      header: t("limits.alert.thresholds"),
      cell: (alert) =>
        alert.percent
          .toSorted((one, other) => one - other)
          .map(formatPercent)
          .join(", "),
    },
    { id: "channel", header: t("limits.alert.channel"), cell: (alert) => <Channel alert={alert} /> },
    { id: "last", header: t("limits.alert.last"), cell: (alert) => <LastSent alert={alert} /> },
    ...(open === null
      ? []
      : [
          {
            id: "do",
            header: t("limits.actions"),
            quiet: true,
            cell: (alert: Notice) => (
              <AlertActions workspace={workspace} alert={alert} onChange={() => open(alert.id)} />
            ),
          },
        ]),
  ];
}

function Channel({ alert }: { readonly alert: Notice }) {
  // The gateway hides the URL from users who are not admins, because such a URL is often a credential.
  const channel: Notice["channel"] | undefined = alert.channel;
  if (channel === undefined) return <span className="nothing">{t("limits.alert.onlyAdmins")}</span>;
  if (channel.kind === "email") return <span className="break">{channel.to.join(", ")}</span>;
  return <span className="break">{t("limits.alert.webhookAt", { host: hostOf(channel.url) })}</span>;
}

/** The path of such a URL is often a secret. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

function LastSent({ alert: { last } }: { readonly alert: Notice }) {
  if (last === null) return <span className="nothing">{t("limits.alert.never")}</span>;
  return (
    <span className="key-name">
      <span>
        <StatusBadge
          status={last.ok ? "succeeded" : "failed"}
          label={last.ok ? t("limits.alert.sent") : t("limits.alert.failed")}
        />{" "}
        {last.about === "service_token" ? (
          <Rich
            text="limits.alert.lastToken"
            values={{ name: last.budget }}
            tags={{ when: () => <When at={last.at} /> }}
          />
        ) : (
          <Rich
            text="limits.alert.lastAt"
            values={{ percent: formatPercent(last.percent) }}
            tags={{ when: () => <When at={last.at} /> }}
          />
        )}
      </span>
      {last.problem !== null && (
        <small className="break alert-problem">{alertProblemWords(last.fault, last.problem)}</small>
      )}
    </span>
  );
}

interface AlertActionsProps {
  readonly workspace: string;
  readonly alert: Notice;
  readonly onChange: () => void;
}

function AlertActions({ workspace, alert, onChange }: AlertActionsProps) {
  const remove = useAct("notices.remove", { invalidates: ["notices.list"], done: t("limits.alert.removed") });
  const params = { workspace, notice: alert.id };
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <SendTest workspace={workspace} alert={alert} />
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("limits.alert.editTitle", { name: alert.name })}
        onClick={onChange}
      >
        {t("limits.alert.edit")}
      </Button>
      <ConfirmButton
        title={t("limits.alert.removeTitle", { name: alert.name })}
        verb={t("limits.alert.removeVerb")}
        label={t("limits.alert.remove")}
        size="compact-xs"
        onConfirm={() => remove.mutateAsync({ params })}
      >
        {t("limits.alert.removeHelp")}
      </ConfirmButton>
    </Group>
  );
}

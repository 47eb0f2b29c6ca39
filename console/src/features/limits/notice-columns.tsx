import { Button, Group } from "@mantine/core";
import type { Notice } from "@sluice/contract";
import { useAct } from "../../api/use-act.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import type { Column } from "../../components/data-table.tsx";
import { When } from "../../components/figures.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/limits.ts";
import { NoticeScope } from "./notice-scope.tsx";
import { SendTry } from "./send-try.tsx";

/** `open` null: only looked at. */
export function noticeColumns(workspace: string, open: ((id: string) => void) | null): readonly Column<Notice>[] {
  return [
    {
      id: "name",
      header: t("limits.name"),
      sortBy: (notice) => notice.name.toLowerCase(),
      cell: (notice) => (
        <Group gap={6}>
          <b>{notice.name}</b>
          {!notice.enabled && <StatusBadge status="off" label={t("limits.off")} />}
        </Group>
      ),
    },
    {
      id: "scope",
      header: t("limits.watches"),
      cell: (notice) => <NoticeScope workspace={workspace} notice={notice} />,
    },
    {
      id: "percent",
      header: t("limits.at"),
      cell: (notice) =>
        notice.percent
          .toSorted((one, other) => one - other)
          .map((percent) => `${percent} %`)
          .join(", "),
    },
    { id: "channel", header: t("limits.tells"), cell: (notice) => <Told notice={notice} /> },
    { id: "last", header: t("limits.lastTold"), cell: (notice) => <LastTold notice={notice} /> },
    ...(open === null
      ? []
      : [
          {
            id: "do",
            header: t("limits.actions"),
            quiet: true,
            cell: (notice: Notice) => (
              <NoticeActions workspace={workspace} notice={notice} onChange={() => open(notice.id)} />
            ),
          },
        ]),
  ];
}

function Told({ notice }: { readonly notice: Notice }) {
  // For whoever is no admin the gateway leaves it out: such an address often opens by itself.
  const channel: Notice["channel"] | undefined = notice.channel;
  if (channel === undefined) return <span className="nothing">{t("limits.forAdminsToSee")}</span>;
  if (channel.kind === "email") return <span className="break">{channel.to.join(", ")}</span>;
  return <span className="break">{t("limits.webhookAt", { url: hostOf(channel.url) })}</span>;
}

/** The path of such an address is often its secret. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

function LastTold({ notice: { last } }: { readonly notice: Notice }) {
  if (last === null) return <span className="nothing">{t("limits.never")}</span>;
  return (
    <span>
      <StatusBadge
        status={last.ok ? "succeeded" : "failed"}
        label={last.ok ? t("limits.sent") : t("limits.failed")}
        {...(last.problem === null ? {} : { hint: last.problem })}
      />{" "}
      {last.percent} %, <When at={last.at} />
    </span>
  );
}

interface NoticeActionsProps {
  readonly workspace: string;
  readonly notice: Notice;
  readonly onChange: () => void;
}

function NoticeActions({ workspace, notice, onChange }: NoticeActionsProps) {
  const remove = useAct("notices.remove", { invalidates: ["notices.list"], done: t("limits.noticeRemoved") });
  const params = { workspace, notice: notice.id };
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <SendTry workspace={workspace} notice={notice} />
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("limits.changeNotice", { name: notice.name })}
        onClick={onChange}
      >
        {t("limits.change")}
      </Button>
      <ConfirmButton
        title={t("limits.removeNotice", { name: notice.name })}
        verb={t("limits.removeNotice2")}
        label={t("limits.remove")}
        size="compact-xs"
        onConfirm={() => remove.mutateAsync({ params })}
      >
        {t("limits.nobodyIsToldByIt")}
      </ConfirmButton>
    </Group>
  );
}

import { Button, Group } from "@mantine/core";
import type { Notice } from "@sluice/contract";
import { useAct } from "../../api/use-act.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import type { Column } from "../../components/data-table.tsx";
import { When } from "../../components/figures.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { NoticeScope } from "./notice-scope.tsx";
import { SendTry } from "./send-try.tsx";

/** `open` null: only looked at. */
export function noticeColumns(workspace: string, open: ((id: string) => void) | null): readonly Column<Notice>[] {
  return [
    {
      id: "name",
      header: "Name",
      sortBy: (notice) => notice.name.toLowerCase(),
      cell: (notice) => (
        <Group gap={6}>
          <b>{notice.name}</b>
          {!notice.enabled && <StatusBadge status="off" label="Off" />}
        </Group>
      ),
    },
    {
      id: "scope",
      header: "Watches",
      cell: (notice) => <NoticeScope workspace={workspace} notice={notice} />,
    },
    {
      id: "percent",
      header: "At",
      cell: (notice) =>
        notice.percent
          .toSorted((one, other) => one - other)
          .map((percent) => `${percent} %`)
          .join(", "),
    },
    { id: "channel", header: "Tells", cell: (notice) => <Told notice={notice} /> },
    { id: "last", header: "Last told", cell: (notice) => <LastTold notice={notice} /> },
    ...(open === null
      ? []
      : [
          {
            id: "do",
            header: "Actions",
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
  if (channel === undefined) return <span className="nothing">for admins to see</span>;
  if (channel.kind === "email") return <span className="break">{channel.to.join(", ")}</span>;
  return <span className="break">webhook at {hostOf(channel.url)}</span>;
}

/** The path of such an address is often its secret. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

function LastTold({ notice: { last } }: { readonly notice: Notice }) {
  if (last === null) return <span className="nothing">never</span>;
  return (
    <span>
      <StatusBadge
        status={last.ok ? "succeeded" : "failed"}
        label={last.ok ? "Sent" : "Failed"}
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
  const remove = useAct("notices.remove", { invalidates: ["notices.list"], done: "Notice removed." });
  const params = { workspace, notice: notice.id };
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <SendTry workspace={workspace} notice={notice} />
      <Button variant="default" size="compact-xs" aria-label={`Change notice ${notice.name}`} onClick={onChange}>
        Change
      </Button>
      <ConfirmButton
        title={`Remove notice ${notice.name}?`}
        verb="Remove notice"
        label="Remove"
        size="compact-xs"
        onConfirm={() => remove.mutateAsync({ params })}
      >
        Nobody is told by it any more.
      </ConfirmButton>
    </Group>
  );
}

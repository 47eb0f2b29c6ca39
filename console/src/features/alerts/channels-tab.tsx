import { Button, Group } from "@mantine/core";
import { type AlertChannel, everyWorkspace } from "@sluice/contract";
import { IconPlus, IconSend } from "@tabler/icons-react";
import { useMemo } from "react";
import { useAct } from "../../api/use-act.ts";
import { useCall } from "../../api/use-call.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { When } from "../../components/figures.tsx";
import { rowsIn } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/alerts.ts";
import { useUrlText } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { WebhookSecret } from "../workspaces/webhook-secret.tsx";
import { alertProblemWords } from "./alert-problem-words.ts";
import { ChannelDrawer } from "./channel-drawer.tsx";
import { useNewPlace } from "./place-select.tsx";
import { SendTest } from "./send-test.tsx";

const newChannel = "new";

/** The channels of all workspaces that the user may see. The URL holds the open one. `workspace`: a slug; null: all. */
export function ChannelsTab({ workspace }: { readonly workspace: string | null }) {
  const { user, may } = useSession();
  const [open, setOpen] = useUrlText("channel");
  const query = useCall("alertChannels.list");
  const columns = useMemo(
    () =>
      channelColumns(setOpen, (channel) =>
        channel.workspace === null ? user.administrator : may("admin", channel.workspace.slug),
      ),
    [setOpen, user, may],
  );
  const opened = query.data?.data.find((channel) => channel.id === open) ?? null;
  const place = useNewPlace(workspace);
  const create = place !== undefined && (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setOpen(newChannel)}>
      {t("alerts.channels.create")}
    </Button>
  );
  return (
    <Section
      title={t("alerts.channels.title")}
      description={t("alerts.channels.description")}
      actions={
        place !== undefined && (
          <>
            <WebhookSecret workspace={place ?? everyWorkspace} />
            {create}
          </>
        )
      }
      flush
    >
      <DataTable
        label={t("alerts.channels.title")}
        columns={columns}
        rows={rowsIn(query, ({ data }) =>
          data.filter((each) => workspace === null || each.workspace === null || each.workspace.slug === workspace),
        )}
        rowKey={(channel) => channel.id}
        dimmed={(channel) => !channel.enabled}
        empty={
          <EmptyState icon={<IconSend />} title={t("alerts.channels.empty")} action={create}>
            {t("alerts.channels.emptyHelp")}
          </EmptyState>
        }
      />
      {place !== undefined && (open === newChannel || opened !== null) && (
        <ChannelDrawer key={open} channel={opened} place={place} onClose={() => setOpen("")} />
      )}
    </Section>
  );
}

function channelColumns(
  open: (id: string) => void,
  mayChange: (channel: AlertChannel) => boolean,
): readonly Column<AlertChannel>[] {
  return [
    {
      id: "name",
      header: t("alerts.name"),
      sortBy: (channel) => channel.name.toLowerCase(),
      cell: (channel) => (
        <Group gap={6}>
          <b>{channel.name}</b>
          {!channel.enabled && <StatusBadge status="off" label={t("alerts.off")} />}
        </Group>
      ),
    },
    {
      id: "kind",
      header: t("alerts.channels.kind"),
      sortBy: (channel) => channel.kind,
      cell: (channel) => t(`alerts.channels.kinds.${channel.kind}`),
    },
    {
      id: "destination",
      header: t("alerts.channels.destination"),
      cell: (channel) =>
        channel.destination === null ? (
          <span className="nothing">{t("alerts.channels.onlyAdmins")}</span>
        ) : (
          <span className="break">{channel.destination}</span>
        ),
    },
    {
      id: "workspace",
      header: t("alerts.workspace"),
      sortBy: (channel) => channel.workspace?.slug ?? "",
      cell: (channel) => channel.workspace?.slug ?? t("alerts.installation"),
    },
    { id: "last", header: t("alerts.channels.last"), cell: LastMessage },
    {
      id: "do",
      header: t("alerts.actions"),
      quiet: true,
      cell: (channel) =>
        mayChange(channel) ? <ChannelActions channel={channel} onChange={() => open(channel.id)} /> : null,
    },
  ];
}

function LastMessage({ last }: AlertChannel) {
  if (last === null) return <span className="nothing">{t("alerts.channels.never")}</span>;
  return (
    <span className="key-name">
      <span>
        <StatusBadge
          status={last.ok ? "succeeded" : "failed"}
          label={last.ok ? t("alerts.channels.sent") : t("alerts.channels.failed")}
        />{" "}
        <When at={last.at} />
      </span>
      {last.problem !== null && <small className="break">{alertProblemWords(last.fault, last.problem)}</small>}
    </span>
  );
}

function ChannelActions({ channel, onChange }: { readonly channel: AlertChannel; readonly onChange: () => void }) {
  const remove = useAct("alertChannels.remove", {
    invalidates: ["alertChannels.list", "alertRules.list"],
    done: t("alerts.channels.removed"),
  });
  const params = { workspace: channel.workspace?.slug ?? everyWorkspace, channel: channel.id };
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <SendTest channel={channel} />
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("alerts.channels.editOf", { name: channel.name })}
        onClick={onChange}
      >
        {t("alerts.edit")}
      </Button>
      <ConfirmButton
        title={t("alerts.channels.removeTitle", { name: channel.name })}
        verb={t("alerts.channels.removeVerb")}
        label={t("alerts.remove")}
        size="compact-xs"
        onConfirm={() => remove.mutateAsync({ params })}
      >
        {t("alerts.channels.removeHelp")}
      </ConfirmButton>
    </Group>
  );
}

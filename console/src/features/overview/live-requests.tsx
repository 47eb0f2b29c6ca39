import { Button, Text } from "@mantine/core";
import { IconActivity, IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { rowsOf } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { StatusBadge, type Tone } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/overview.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";
import { useRequestColumns } from "../requests/request-columns.tsx";
import { groupRequests } from "../requests/request-group.ts";
import type { TailState } from "./tail-source.ts";
import { useTail } from "./use-tail.ts";

/** Requests as they end, newest first. The view can be paused. */
export default function LiveRequests() {
  const { all } = useWorkspace();
  const { answer, refresh } = useSession();
  const { call } = answer.first_steps;
  // After the first call of an installation, the page shows figures instead of first steps.
  const onFirst = useCallback(() => {
    if (!call) void refresh();
  }, [call, refresh]);
  const tail = useTail(onFirst);
  const groups = useMemo(() => (tail.loading ? null : groupRequests(tail.shown)), [tail.loading, tail.shown]);
  return (
    <Section
      flush
      title={t("overview.live.title")}
      description={
        tail.dropped > 0
          ? t("overview.live.dropped", { count: tail.dropped })
          : t("overview.live.help", { count: tail.rowsMax })
      }
      actions={
        <>
          <span role="status" className="live-state">
            <LiveState state={tail.state} paused={tail.paused} />
          </span>
          {tail.state === "ended" ? (
            <Button variant="default" onClick={tail.open}>
              {t("overview.live.restart")}
            </Button>
          ) : tail.paused ? (
            <Button variant="default" leftSection={<IconPlayerPlay size={14} aria-hidden />} onClick={tail.resume}>
              {t("overview.live.resume", { count: tail.missed })}
            </Button>
          ) : (
            <Button variant="default" leftSection={<IconPlayerPause size={14} aria-hidden />} onClick={tail.pause}>
              {t("overview.live.pause")}
            </Button>
          )}
          <Button variant="default" renderRoot={(props) => <Link to="/requests" {...props} />}>
            {t("overview.live.all")}
          </Button>
        </>
      }
    >
      <div className="live-box">
        <DataTable
          label={t("overview.live.title")}
          columns={useRequestColumns(all)}
          rows={rowsOf(groups, { problem: tail.problem, reload: tail.reload })}
          rowKey={(group) => group.requestId}
          rowLink={(group) => ({ to: "/requests/$request", params: { request: group.requestId }, search: {} })}
          empty={
            <EmptyState icon={<IconActivity />} title={t("overview.live.empty")}>
              <Text span fz="sm">
                {t("overview.live.emptyHelp")}
              </Text>
            </EmptyState>
          }
        />
      </div>
    </Section>
  );
}

const stateWords: Readonly<Record<TailState, readonly [Tone, string, string]>> = {
  opening: ["busy", t("overview.live.connecting"), t("overview.live.connectingHelp")],
  open: ["good", t("overview.live.open"), t("overview.live.openHelp")],
  waiting: ["warn", t("overview.live.reconnecting"), t("overview.live.reconnectingHelp")],
  ended: ["off", t("overview.live.ended"), t("overview.live.endedHelp")],
};

function LiveState({ state, paused }: { readonly state: TailState; readonly paused: boolean }) {
  if (paused && state !== "ended") {
    return (
      <StatusBadge status="paused" tone="off" label={t("overview.live.paused")} hint={t("overview.live.pausedHelp")} />
    );
  }
  const [tone, label, hint] = stateWords[state];
  return <StatusBadge status={state} tone={tone} label={label} hint={hint} />;
}

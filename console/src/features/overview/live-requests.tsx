import { Button, Text } from "@mantine/core";
import { IconActivity, IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { formatCount } from "../../client/format.ts";
import { DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { rowsOf } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { StatusBadge, type Tone } from "../../components/status-badge.tsx";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";
import { useRequestColumns } from "../requests/request-columns.tsx";
import { groupRequests } from "../requests/request-group.ts";
import type { TailState } from "./tail-source.ts";
import { useTail } from "./use-tail.ts";

/** Requests as they end, newest first. It can be held still to be read. */
export function LiveRequests() {
  const { all } = useWorkspace();
  const { answer, refresh } = useSession();
  const { call } = answer.first_steps;
  // The first call of an installation turns the page from first steps into figures.
  const onFirst = useCallback(() => {
    if (!call) void refresh();
  }, [call, refresh]);
  const tail = useTail(onFirst);
  const groups = useMemo(() => (tail.loading ? null : groupRequests(tail.shown)), [tail.loading, tail.shown]);
  return (
    <Section
      flush
      title="Live requests"
      description={
        tail.dropped > 0
          ? `${formatCount(tail.dropped)} came too fast to be shown; the list of requests has them all.`
          : `As they end; at most ${tail.rowsMax}.`
      }
      actions={
        <>
          <span role="status" className="live-state">
            <LiveState state={tail.state} paused={tail.paused} />
          </span>
          {tail.state === "ended" ? (
            <Button variant="default" onClick={tail.open}>
              Watch again
            </Button>
          ) : tail.paused ? (
            <Button variant="default" leftSection={<IconPlayerPlay size={14} aria-hidden />} onClick={tail.resume}>
              {tail.missed > 0 ? `Go on (${formatCount(tail.missed)} new)` : "Go on"}
            </Button>
          ) : (
            <Button variant="default" leftSection={<IconPlayerPause size={14} aria-hidden />} onClick={tail.pause}>
              Pause
            </Button>
          )}
          <Button variant="default" renderRoot={(props) => <Link to="/requests" {...props} />}>
            All requests
          </Button>
        </>
      }
    >
      <div className="live-box">
        <DataTable
          label="Live requests"
          columns={useRequestColumns(all)}
          rows={rowsOf(groups, { problem: tail.problem, reload: tail.reload })}
          rowKey={(group) => group.requestId}
          rowLink={(group) => ({ to: "/requests/$request", params: { request: group.requestId }, search: {} })}
          empty={
            <EmptyState icon={<IconActivity />} title="Waiting for the first request">
              <Text span fz="sm">
                Leave this page open and make a call: it shows up here the moment it ends.
              </Text>
            </EmptyState>
          }
        />
      </div>
    </Section>
  );
}

const stateWords: Readonly<Record<TailState, readonly [Tone, string, string]>> = {
  opening: ["busy", "Connecting", "The view is being opened."],
  open: ["good", "Live", "Requests show up as they end."],
  waiting: ["warn", "Reconnecting", "The connection broke. It is tried again by itself."],
  ended: ["off", "Ended", "You may not watch any more: your session ended, or your rights changed."],
};

function LiveState({ state, paused }: { readonly state: TailState; readonly paused: boolean }) {
  if (paused && state !== "ended") {
    return <StatusBadge status="paused" tone="off" label="Paused" hint="The list stands still; nothing is lost." />;
  }
  const [tone, label, hint] = stateWords[state];
  return <StatusBadge status={state} tone={tone} label={label} hint={hint} />;
}

import { Anchor, List, Stack, Text } from "@mantine/core";
import type { GuardrailReplay } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Nothing, When } from "../../components/figures.tsx";
import { personText } from "../../components/person-text.ts";
import { rowsOf } from "../../components/rows.ts";
import { t } from "../../language/areas/guardrails.ts";
import { VerdictBadge } from "./check-columns.tsx";
import { type ReplayPeriod, stoppedIn } from "./replay.ts";

interface ReplayResultProps {
  readonly answer: GuardrailReplay;
  readonly period: ReplayPeriod;
  /** Canceled or failed before the end of the period. */
  readonly isStopped: boolean;
}

/** The result of the guardrail on captured requests, and the number of requests that were examined. */
export function ReplayResult({ answer, period, isStopped }: ReplayResultProps) {
  const { captured, calls, types, requests } = answer;
  return (
    <Stack gap="xs">
      <Text fw={600}>{sentence(answer, period)}</Text>
      {types.length > 0 && (
        <Text size="sm">
          {t("guardrails.replay.types", {
            types: types.map(({ type, findings }) => `${findings} × ${type}`).join(", "),
          })}
        </Text>
      )}
      <Text size="sm">
        {t("guardrails.replay.examined", { captured, missing: Math.max(0, (calls ?? captured) - captured) })}
        {isStopped && ` ${t("guardrails.replay.partly")}`}
      </Text>
      {captured === 0 && (
        <Text size="sm" c="dimmed">
          {t("guardrails.replay.noCaptures")}
        </Text>
      )}
      <Limits answer={answer} />
      {requests.length > 0 && (
        <DataTable
          label={t("guardrails.replay.requests")}
          columns={columns}
          rows={rowsOf(requests)}
          rowKey={({ request_id: id }) => id}
          empty={null}
          pageSize={10}
        />
      )}
    </Stack>
  );
}

/** `In the last 7 days, this would have stopped 41 requests of 9 people (12 API keys).` */
function sentence(answer: GuardrailReplay, period: ReplayPeriod): string {
  const { found, people, keys, input, output } = answer;
  const stopped = stoppedIn(answer);
  const time = t(`guardrails.replay.inPeriod.${period}`);
  if (found === 0) return t("guardrails.replay.nothing", { time });
  const senders =
    people.length === 0
      ? t("guardrails.replay.keys", { keys: keys.length })
      : t("guardrails.replay.senders", { people: people.length, keys: keys.length });
  if (stopped > 0) return t("guardrails.replay.stopped", { time, requests: stopped, senders });
  const isMasked = input.masked + output.masked > 0;
  return t(isMasked ? "guardrails.replay.masked" : "guardrails.replay.flagged", { time, requests: found, senders });
}

/** Why the numbers may be too low. */
function Limits({ answer: { input, output } }: Pick<ReplayResultProps, "answer">) {
  const notes = (["redacted", "cut", "unreadable", "failed"] as const).flatMap((name) => {
    const count = input[name] + output[name];
    return count === 0 ? [] : [t(`guardrails.replay.limits.${name}`, { count })];
  });
  if (notes.length === 0) return null;
  return (
    <List size="sm">
      {notes.map((note) => (
        <List.Item key={note}>{note}</List.Item>
      ))}
    </List>
  );
}

type Row = GuardrailReplay["requests"][number];

const columns: readonly Column<Row>[] = [
  {
    id: "time",
    header: t("guardrails.findings.time"),
    cell: ({ at, request_id: request, workspace }) => (
      // In another tab, because the form is not saved.
      <Anchor
        fz="inherit"
        renderRoot={(props) => (
          <Link
            to="/requests/$request"
            params={{ request }}
            search={{ workspace: workspace.slug }}
            target="_blank"
            {...props}
          />
        )}
      >
        <When at={at} />
      </Anchor>
    ),
  },
  {
    id: "result",
    header: t("guardrails.findings.result"),
    cell: ({ side, verdict }) => (
      <div>
        <VerdictBadge verdict={verdict} enforced />
        <Text fz="xs" c="dimmed">
          {t(`guardrails.sides.${side}`)}
        </Text>
      </div>
    ),
  },
  {
    id: "caller",
    header: t("guardrails.findings.caller"),
    cell: ({ key, person }) => (
      <div>
        <div className="break">{key.name}</div>
        {person === null ? <Nothing /> : personText(person)}
      </div>
    ),
  },
];

import { Button, Skeleton, Stack, Text } from "@mantine/core";
import type { GroupWithUsage } from "@sluice/contract";
import { Link, useParams } from "@tanstack/react-router";
import { useCall } from "../../api/use-call.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Facts } from "../../components/facts.tsx";
import { Count, Money } from "../../components/figures.tsx";
import { ManagedByFile } from "../../components/managed-by-file.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { Grant } from "../../components/patterns-text.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { rowsOf } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { useTimeRange } from "../../components/use-time-range.ts";
import { t } from "../../language/areas/people.ts";
import { useSession } from "../../session/session-context.tsx";
import { AppliedGuardrails } from "../guardrails/applied-guardrails.tsx";
import { budgetWords, limitWords } from "../keys/limit-words.ts";
import { SpendSection } from "../own-usage/spend-section.tsx";
import { ExhaustedBudget } from "../workspaces/workspace-status.tsx";
import { KeyList } from "./key-list.tsx";
import { MonthFigures } from "./month-figures.tsx";
import { PersonLink } from "./person-link.tsx";

/** A group: spend, people, keys and limits. */
export default function TeamPage() {
  const { workspace, group: id } = useParams({ from: "/workspaces/$workspace/groups/$group" });
  const query = useCall("groups.list", { params: { workspace } });
  const group = query.data?.data.find((each) => each.id === id || each.name === id);
  if (group === undefined) {
    return (
      <PageFrame title={t("people.team.title")}>
        {query.error !== null && <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />}
        {query.isPending && <Skeleton height={220} aria-busy="true" />}
        {query.data !== undefined && <Text>{t("people.team.missing")}</Text>}
      </PageFrame>
    );
  }
  return <Team key={group.id} group={group} workspace={workspace} />;
}

interface TeamProps {
  readonly group: GroupWithUsage;
  /** A slug. */
  readonly workspace: string;
}

function Team({ group, workspace }: TeamProps) {
  const { may } = useSession();
  const toGroups = {
    to: "/workspaces/$workspace",
    params: { workspace },
    search: { workspace, tab: "groups" },
  } as const;
  return (
    <PageFrame
      title={group.name}
      crumbs={[{ label: t("people.team.groups", { workspace }), link: toGroups }]}
      badges={
        <>
          {(group.exhausted_by === "group" || group.exhausted_by === "workspace") && (
            <ExhaustedBudget scope={group.exhausted_by} />
          )}
          <ManagedByFile by={group.managed_by} />
        </>
      }
      actions={
        <>
          <Button
            variant="default"
            renderRoot={(props) => (
              <Link to="/requests" search={{ workspace, group: group.id, range: "7d" }} {...props} />
            )}
          >
            {t("people.team.requests")}
          </Button>
          {may("admin", workspace) && (
            <Button
              renderRoot={(props) => <Link {...toGroups} search={{ ...toGroups.search, group: group.id }} {...props} />}
            >
              {t("people.team.edit")}
            </Button>
          )}
        </>
      }
    >
      <SpendSection
        workspace={workspace}
        of={{ group: group.id }}
        figures={<MonthFigures workspace={workspace} of={{ group: group.id }} />}
      />
      <Section title={t("people.team.limits")}>
        <Facts
          facts={[
            { name: t("people.team.rates"), value: limitWords(group.limits) || t("people.team.none") },
            { name: t("people.team.budget"), value: <Budget group={group} /> },
            { name: t("people.team.models"), value: <Grant patterns={group.models} enforced={group.enforce_models} /> },
          ]}
        />
      </Section>
      <AppliedGuardrails workspace={workspace} of={{ group: group.id }} />
      <People group={group} workspace={workspace} />
      <KeyList
        title={t("people.team.keys")}
        description={t("people.team.keysHelp")}
        empty={t("people.team.noKeys")}
        workspace={workspace}
        of={{ group: group.id }}
      />
    </PageFrame>
  );
}

function Budget({ group: { budget, budget_used: used } }: { readonly group: GroupWithUsage }) {
  if (budget === null) return t("people.team.none");
  return (
    <Stack gap={0}>
      <span>{budgetWords(budget)}</span>
      {used !== null && (
        <Text size="xs" c="dimmed" component="span">
          <Money usd={used} short /> {t("people.team.used")}
        </Text>
      )}
    </Stack>
  );
}

interface Spender {
  readonly id: string;
  readonly label: string;
  readonly totals: { readonly cost_usd: number; readonly requests: number };
}

/** Who spent most through the group in the last 30 days. Members and viewers see only themselves. */
function People({ group, workspace }: TeamProps) {
  const { from, to } = useTimeRange("30d");
  const usage = useCall("usage.series", {
    params: { workspace },
    query: { from, to, step: "day", by: "person", group: group.id },
  });
  return (
    <Section flush title={t("people.team.people")} description={t("people.team.peopleHelp")}>
      {usage.error !== null && <ProblemAlert problem={usage.error} onRetry={() => void usage.refetch()} />}
      <DataTable
        label={t("people.team.people")}
        columns={spenderColumns(workspace)}
        rows={rowsOf(usage.data?.series ?? null)}
        rowKey={(line) => line.id}
        empty={
          <Text ta="center" c="dimmed" fz="sm" py="md">
            {t("people.team.noCalls")}
          </Text>
        }
      />
    </Section>
  );
}

function spenderColumns(workspace: string): readonly Column<Spender>[] {
  return [
    { id: "person", header: t("people.team.person"), cell: (line) => <Who line={line} workspace={workspace} /> },
    {
      id: "cost",
      header: t("people.team.spend"),
      cell: ({ totals }) => <Money usd={totals.cost_usd} aligned />,
      align: "right",
    },
    {
      id: "requests",
      header: t("people.month.requests"),
      cell: ({ totals }) => <Count value={totals.requests} />,
      align: "right",
    },
  ];
}

function Who({ line: { id, label }, workspace }: { readonly line: Spender; readonly workspace: string }) {
  if (id === "") return t("people.team.others");
  if (id === "-") return t("people.team.shared");
  return <PersonLink person={{ id, name: "", email: label }} workspace={workspace} text={label || id} />;
}

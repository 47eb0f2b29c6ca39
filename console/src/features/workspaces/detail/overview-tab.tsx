import { Skeleton, Stack, Text } from "@mantine/core";
import type { ConsoleWorkspace } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useCall } from "../../../api/use-call.ts";
import { CopyText } from "../../../components/copy-button.tsx";
import { Facts } from "../../../components/facts.tsx";
import { Count, When } from "../../../components/figures.tsx";
import { Grant } from "../../../components/patterns-text.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { useSession } from "../../../session/session-context.tsx";
import { AppliedGuardrails } from "../../guardrails/applied-guardrails.tsx";
import { budgetWords, limitWords } from "../../keys/limit-words.ts";
import { LimitUsageList } from "../../limits/limit-usage-list.tsx";
import { StoredObjects } from "../../stored-objects/stored-objects.tsx";
import { roleHeld } from "../role-words.ts";
import { WorkspaceEnd } from "./workspace-end.tsx";

export function OverviewTab({ workspace }: { readonly workspace: ConsoleWorkspace }) {
  const { user } = useSession();
  return (
    <Stack gap="lg">
      <Section title={t("workspaces.facts")}>
        <Facts
          facts={[
            {
              name: t("workspaces.yourRole"),
              value: roleHeld(workspace.role, user.administrator),
            },
            { name: t("workspaces.keys"), value: <Count value={workspace.keys} /> },
            { name: t("workspaces.groups"), value: <Count value={workspace.groups} /> },
            { name: t("workspaces.members"), value: <Count value={workspace.members} /> },
            {
              name: t("workspaces.models"),
              value: <Grant patterns={workspace.models} enforced={workspace.enforce_models} />,
              wide: true,
            },
            ...(workspace.pass_through.length === 0
              ? []
              : [{ name: t("workspaces.passThrough"), value: workspace.pass_through.join(", "), wide: true }]),
            { name: t("workspaces.limits"), value: limitWords(workspace.limits) || t("workspaces.none") },
            {
              name: t("workspaces.budget"),
              value: workspace.budget === null ? t("workspaces.none") : budgetWords(workspace.budget),
            },
            { name: t("workspaces.created"), value: <When at={workspace.created_at} /> },
            {
              name: t("workspaces.id"),
              value: <CopyText value={workspace.id} label={t("workspaces.copyId")} />,
              wide: true,
            },
          ]}
        />
      </Section>
      <WorkspaceLimits workspace={workspace} />
      <AppliedGuardrails workspace={workspace.slug} />
      <StoredObjects workspace={workspace.slug} />
      {user.administrator && workspace.managed_by !== "file" && <WorkspaceEnd workspace={workspace} />}
    </Stack>
  );
}

const refreshMs = 15_000;

function WorkspaceLimits({ workspace }: { readonly workspace: ConsoleWorkspace }) {
  const query = useCall("limits.list", {
    params: { workspace: workspace.slug },
    query: { scope: "workspace" },
    everyMs: refreshMs,
  });
  const rows = query.data?.data;
  return (
    <Section
      title={t("workspaces.ownLimits.title")}
      description={t("workspaces.ownLimits.help")}
      actions={
        <Link to="/limits" search={{ workspace: workspace.slug }} className="text-link section-link">
          {t("workspaces.ownLimits.all")}
        </Link>
      }
    >
      {query.error !== null ? (
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      ) : rows === undefined ? (
        <Skeleton height={48} />
      ) : rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t("workspaces.ownLimits.none")}
        </Text>
      ) : (
        <LimitUsageList rows={rows} />
      )}
    </Section>
  );
}

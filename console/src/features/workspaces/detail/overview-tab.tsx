import { Skeleton, Stack, Text } from "@mantine/core";
import type { ConsoleWorkspace } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useCall } from "../../../api/use-call.ts";
import { CopyText } from "../../../components/copy-button.tsx";
import { Facts } from "../../../components/facts.tsx";
import { Count, When } from "../../../components/figures.tsx";
import { PatternsText } from "../../../components/patterns-text.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { useSession } from "../../../session/session-context.tsx";
import { budgetWords, limitWords } from "../../keys/limit-words.ts";
import { LimitUsageList } from "../../limits/limit-usage-list.tsx";
import { roleWords } from "../role-words.ts";
import { WorkspaceEnd } from "./workspace-end.tsx";

export function OverviewTab({ workspace }: { readonly workspace: ConsoleWorkspace }) {
  const { user } = useSession();
  return (
    <Stack gap="lg">
      <Section title={t("workspaces.whatItIs")}>
        <Facts
          facts={[
            {
              name: "Your role",
              value: user.administrator ? t("workspaces.administrator") : roleWords[workspace.role].label,
            },
            { name: "Keys", value: <Count value={workspace.keys} /> },
            { name: "Groups", value: <Count value={workspace.groups} /> },
            { name: "Members", value: <Count value={workspace.members} /> },
            { name: "Models", value: <PatternsText patterns={workspace.models} />, wide: true },
            ...(workspace.pass_through.length === 0
              ? []
              : [{ name: "Pass-through", value: workspace.pass_through.join(", "), wide: true }]),
            { name: "Limits", value: limitWords(workspace.limits) || t("workspaces.none2") },
            {
              name: "Budget",
              value: workspace.budget === null ? t("workspaces.none2") : budgetWords(workspace.budget),
            },
            { name: "Made", value: <When at={workspace.created_at} /> },
            { name: "Id", value: <CopyText value={workspace.id} label={t("workspaces.copyTheId")} />, wide: true },
          ]}
        />
      </Section>
      <WorkspaceLimits workspace={workspace} />
      {user.administrator && workspace.managed_by === "console" && <WorkspaceEnd workspace={workspace} />}
    </Stack>
  );
}

const refreshMs = 15_000;

function WorkspaceLimits({ workspace }: { readonly workspace: ConsoleWorkspace }) {
  const query = useCall("limits.list", { params: { workspace: workspace.slug }, everyMs: refreshMs });
  const rows = query.data?.data.filter((row) => row.scope === "workspace");
  return (
    <Section
      title={t("workspaces.limitsAndBudget")}
      description={t("workspaces.ofTheWorkspaceAsA")}
      actions={
        <Link to="/limits" search={{ workspace: workspace.slug }} className="text-link section-link">
          {t("workspaces.seeThoseOfItsGroups")}
        </Link>
      }
    >
      {query.error !== null ? (
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      ) : rows === undefined ? (
        <Skeleton height={48} />
      ) : rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t("workspaces.theWorkspaceHasNoneOf")}
        </Text>
      ) : (
        <LimitUsageList rows={rows} />
      )}
    </Section>
  );
}

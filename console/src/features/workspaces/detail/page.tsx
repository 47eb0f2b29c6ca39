import { Button, Skeleton, Stack, Tabs } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useCall } from "../../../api/use-call.ts";
import { CopyText } from "../../../components/copy-button.tsx";
import { ManagedByFile, ManagedByFileNote } from "../../../components/managed-by-file.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { TabRow } from "../../../components/tab-row.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { loadChunk } from "../../../routes/load-chunk.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { WorkspaceStatus } from "../workspace-status.tsx";
import { AccessTab } from "./access-tab.tsx";
import { EditWorkspace } from "./edit-workspace.tsx";
import { GroupsTab } from "./groups-tab.tsx";
import { MembersTab } from "./members-tab.tsx";
import { OverviewTab } from "./overview-tab.tsx";

const AgentsTab = lazy(() => loadChunk(() => import("../agents/agents-tab.tsx")));

const crumbs = [{ label: t("workspaces.list.title"), link: { to: "/workspaces" } }] as const;

/** One workspace: its limits, groups, members and model access. */
export default function WorkspacePage() {
  const { workspace: path } = useParams({ from: "/workspaces/$workspace" });
  const { may } = useSession();
  const [tab, setTab] = useUrlText("tab", "overview");
  const [edit, setEdit] = useUrlText("edit");
  const query = useCall("workspaces.show", { params: { workspace: path } });
  const workspace = query.data;
  if (workspace === undefined) {
    return (
      <PageFrame title={t("workspaces.workspace")} crumbs={crumbs}>
        {query.error === null ? (
          <Stack gap="lg" aria-busy="true">
            <Skeleton height={36} />
            <Skeleton height={220} />
          </Stack>
        ) : (
          <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
        )}
      </PageFrame>
    );
  }
  const { slug } = workspace;
  const mayEdit = may("owner", slug) && workspace.managed_by === "console";
  return (
    <PageFrame
      title={workspace.name}
      crumbs={crumbs}
      badges={
        <>
          {(!workspace.enabled || workspace.exhausted_by !== null) && <WorkspaceStatus workspace={workspace} />}
          <ManagedByFile by={workspace.managed_by} />
        </>
      }
      description={<CopyText value={slug} label={t("workspaces.copySlug")} />}
      actions={
        <>
          <Button variant="default" renderRoot={(props) => <Link to="/keys" search={{ workspace: slug }} {...props} />}>
            {t("workspaces.viewKeys")}
          </Button>
          {mayEdit && (
            <Button variant={tab === "overview" ? "filled" : "default"} onClick={() => setEdit("1")}>
              {t("workspaces.edit.open")}
            </Button>
          )}
        </>
      }
    >
      <ManagedByFileNote by={workspace.managed_by} />
      <Tabs value={tab} onChange={(next) => setTab(next ?? "overview")} keepMounted={false}>
        <TabRow value={tab}>
          <Tabs.Tab value="overview">{t("workspaces.tab.overview")}</Tabs.Tab>
          <Tabs.Tab value="groups">{t("workspaces.groups")}</Tabs.Tab>
          <Tabs.Tab value="members">{t("workspaces.members")}</Tabs.Tab>
          <Tabs.Tab value="access">{t("workspaces.tab.access")}</Tabs.Tab>
          {may("admin", slug) && <Tabs.Tab value="agents">{t("workspaces.tab.agents")}</Tabs.Tab>}
        </TabRow>
        <Tabs.Panel value="overview">
          <OverviewTab workspace={workspace} />
        </Tabs.Panel>
        <Tabs.Panel value="groups">
          <GroupsTab workspace={workspace} />
        </Tabs.Panel>
        <Tabs.Panel value="members">
          <MembersTab workspace={workspace} />
        </Tabs.Panel>
        <Tabs.Panel value="access">
          <AccessTab workspace={slug} />
        </Tabs.Panel>
        {may("admin", slug) && (
          <Tabs.Panel value="agents">
            <Suspense fallback={<Skeleton height={320} aria-busy="true" />}>
              <AgentsTab workspace={slug} />
            </Suspense>
          </Tabs.Panel>
        )}
      </Tabs>
      {edit !== "" && mayEdit && <EditWorkspace workspace={workspace} onClose={() => setEdit("")} />}
    </PageFrame>
  );
}

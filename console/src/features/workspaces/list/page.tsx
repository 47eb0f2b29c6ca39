import { Button } from "@mantine/core";
import { IconBuilding, IconPlus } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { usePages } from "../../../api/use-pages.ts";
import { DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { SearchBox } from "../../../components/search-box.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { MakeWorkspace } from "./make-workspace.tsx";
import { workspaceColumns } from "./workspace-columns.tsx";

/** The workspaces one belongs to; for administrators all there are. */
export default function WorkspacesPage() {
  const { user } = useSession();
  const navigate = useNavigate();
  const [search] = useUrlText("search");
  const [create, setCreate] = useUrlText("create");
  const rows = usePages("workspaces.list", { query: search === "" ? {} : { search } });
  const makeButton = user.administrator ? (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setCreate("1")}>
      {t("workspaces.makeWorkspace")}
    </Button>
  ) : undefined;
  return (
    <PageFrame title={t("workspaces.workspaces")} description={t("workspaces.aWorkspaceIsATeam")} actions={makeButton}>
      <FilterBar>
        <SearchBox label={t("workspaces.findAWorkspace")} placeholder={t("workspaces.nameOrSlug")} />
      </FilterBar>
      <DataTable
        label={t("workspaces.workspaces")}
        columns={workspaceColumns}
        rows={rows}
        rowKey={(workspace) => workspace.id}
        name="workspaces"
        rowLink={({ slug }) => ({
          to: "/workspaces/$workspace",
          params: { workspace: slug },
          search: { workspace: slug },
        })}
        dimmed={(workspace) => !workspace.enabled}
        empty={
          search === "" ? (
            <EmptyState icon={<IconBuilding />} title={t("workspaces.noWorkspacesYet")} action={makeButton}>
              {user.administrator ? t("workspaces.makeOneForEachTeam") : t("workspaces.askAnAdministratorOrThe")}
            </EmptyState>
          ) : (
            <EmptyState icon={<IconBuilding />} title={t("workspaces.noWorkspaceIsCalledThat")}>
              {t("workspaces.searchForAnotherPartOf2")}
            </EmptyState>
          )
        }
      />
      {create !== "" && user.administrator && (
        <MakeWorkspace
          onClose={() => setCreate("")}
          onMade={({ slug }) =>
            void navigate({
              to: "/workspaces/$workspace",
              params: { workspace: slug },
              search: { workspace: slug, tab: "members" },
            })
          }
        />
      )}
    </PageFrame>
  );
}

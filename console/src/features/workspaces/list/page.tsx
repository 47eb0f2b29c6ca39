import { Button } from "@mantine/core";
import { workspaceSorts } from "@sluice/contract";
import { IconBuilding, IconPlus } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { usePages } from "../../../api/use-pages.ts";
import { DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { SearchBox } from "../../../components/search-box.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { useOrder, useUrlText } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { CreateWorkspace } from "./create-workspace.tsx";
import { workspaceColumns } from "./workspace-columns.tsx";

/** The user's workspaces; for administrators, all workspaces. */
export default function WorkspacesPage() {
  const { user } = useSession();
  const navigate = useNavigate();
  const [search] = useUrlText("search");
  const [create, setCreate] = useUrlText("create");
  const columns = useMemo(() => workspaceColumns(user.administrator), [user.administrator]);
  const order = useOrder(workspaceSorts, "name");
  const rows = usePages("workspaces.list", { query: { sort: order.by, ...(search === "" ? {} : { search }) } });
  const makeButton = user.administrator ? (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setCreate("1")}>
      {t("workspaces.create.verb")}
    </Button>
  ) : undefined;
  return (
    <PageFrame title={t("workspaces.list.title")} description={t("workspaces.list.description")} actions={makeButton}>
      <FilterBar>
        <SearchBox label={t("workspaces.list.search")} placeholder={t("workspaces.list.searchPlaceholder")} />
      </FilterBar>
      <DataTable
        label={t("workspaces.list.title")}
        columns={columns}
        rows={rows}
        rowKey={(workspace) => workspace.id}
        name="workspaces"
        pageSize={50}
        order={order}
        rowLink={({ slug }) => ({
          to: "/workspaces/$workspace",
          params: { workspace: slug },
          search: { workspace: slug },
        })}
        dimmed={(workspace) => !workspace.enabled}
        empty={
          search === "" ? (
            <EmptyState icon={<IconBuilding />} title={t("workspaces.list.empty")} action={makeButton}>
              {user.administrator ? t("workspaces.list.emptyHelp") : t("workspaces.list.emptyNoRights")}
            </EmptyState>
          ) : (
            <EmptyState icon={<IconBuilding />} title={t("workspaces.list.notFound")}>
              {t("workspaces.list.notFoundHelp")}
            </EmptyState>
          )
        }
      />
      {create !== "" && user.administrator && (
        <CreateWorkspace
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

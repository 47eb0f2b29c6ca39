import { Button } from "@mantine/core";
import { IconBuilding, IconPlus } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { usePages } from "../../../api/use-pages.ts";
import { DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { SearchBox } from "../../../components/search-box.tsx";
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
      Make workspace
    </Button>
  ) : undefined;
  return (
    <PageFrame
      title="Workspaces"
      description="A workspace is a team with its own keys, groups, members, limits and use. Nobody sees into another's."
      actions={makeButton}
    >
      <FilterBar>
        <SearchBox label="Find a workspace" placeholder="Name or slug" />
      </FilterBar>
      <DataTable
        label="Workspaces"
        columns={workspaceColumns}
        rows={rows}
        rowKey={(workspace) => workspace.id}
        rowLink={({ slug }) => ({
          to: "/workspaces/$workspace",
          params: { workspace: slug },
          search: { workspace: slug },
        })}
        dimmed={(workspace) => !workspace.enabled}
        empty={
          search === "" ? (
            <EmptyState icon={<IconBuilding />} title="No workspaces yet" action={makeButton}>
              {user.administrator
                ? "Make one for each team. Its keys, budget and members are its own."
                : "Ask an administrator, or the owner of a workspace, for an invitation."}
            </EmptyState>
          ) : (
            <EmptyState icon={<IconBuilding />} title="No workspace is called that">
              Search for another part of its name or slug.
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

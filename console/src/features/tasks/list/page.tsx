import { Button, SegmentedControl } from "@mantine/core";
import { taskStates } from "@sluice/contract";
import { IconLayoutGrid, IconList } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { usePages } from "../../../api/use-pages.ts";
import { t } from "../../../language/areas/tasks.ts";
import "../../../styles/media.css";
import { DataTable } from "../../../components/data-table.tsx";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { stateWords } from "../../../components/status-badge.tsx";
import { useUrlSearch, useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { MediaFrame } from "../../media/media-frame.tsx";
import { isOpen } from "../../media/task-words.ts";
import { KeyFilter } from "../../requests/list/key-filter.tsx";
import { ModelFilter } from "../../requests/list/model-filter.tsx";
import { NoTasks } from "./no-tasks.tsx";
import { taskColumns, taskColumnsOfAll } from "./task-columns.tsx";
import { TaskGallery } from "./task-gallery.tsx";
import { taskFilters, taskQueryOf } from "./task-query.ts";

const liveMs = 3_000;
const quietMs = 20_000;
const pageRows = 60;

/** Video tasks, as a gallery or a list. */
export default function TasksPage() {
  const workspace = useWorkspace();
  const search = useUrlSearch();
  const [view, setView] = useUrlText("view", "gallery");
  const [live, setLive] = useState(false);
  const rows = usePages("tasks.list", {
    params: { workspace: workspace.path },
    query: { limit: pageRows, ...taskQueryOf(search) },
    enabled: !workspace.none,
    // Also when all have ended: a program may start one at any time.
    everyMs: live ? liveMs : quietMs,
  });
  const running = rows.rows?.some(isOpen) === true;
  useEffect(() => setLive(running), [running]);
  const empty = <NoTasks />;
  return (
    <MediaFrame
      mode="videos"
      description={t("tasks.help")}
      actions={
        <>
          <SegmentedControl
            aria-label={t("tasks.list.view")}
            data={[
              {
                value: "gallery",
                label: <ViewWord icon={<IconLayoutGrid size={14} aria-hidden />} word={t("tasks.list.gallery")} />,
              },
              {
                value: "list",
                label: <ViewWord icon={<IconList size={14} aria-hidden />} word={t("tasks.list.list")} />,
              },
            ]}
            value={view === "list" ? "list" : "gallery"}
            onChange={setView}
          />
          {workspace.may("member") && (
            <Button renderRoot={(props) => <Link to="/playground" search={{ type: "video" }} {...props} />}>
              {t("tasks.list.create")}
            </Button>
          )}
        </>
      }
    >
      <FilterBar
        filters={[
          {
            name: "status",
            label: t("tasks.status"),
            choices: taskStates.map((value) => ({ value, label: stateWords(value) })),
          },
        ]}
        alsoClears={taskFilters.filter((name) => name !== "status")}
      >
        <ModelFilter />
        <KeyFilter />
      </FilterBar>
      {view === "list" ? (
        <DataTable
          label={t("tasks.title")}
          columns={workspace.all ? taskColumnsOfAll : taskColumns}
          rows={rows}
          rowKey={(task) => task.id}
          name="tasks"
          pageSize={pageRows}
          rowLink={(task) => ({
            to: "/media/$task",
            params: { task: task.id },
            search: { workspace: task.workspace.slug },
          })}
          empty={empty}
        />
      ) : (
        <TaskGallery rows={rows} withWorkspace={workspace.all} empty={empty} />
      )}
    </MediaFrame>
  );
}

function ViewWord({ icon, word }: { readonly icon: React.ReactNode; readonly word: string }) {
  return (
    <span className="icon-link">
      {icon} {word}
    </span>
  );
}

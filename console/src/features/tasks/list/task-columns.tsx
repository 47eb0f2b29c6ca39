import type { ConsoleTask } from "@sluice/contract";
import type { Column } from "../../../components/data-table.tsx";
import { Money, Nothing, When } from "../../../components/figures.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/tasks.ts";
import { TaskProgress } from "../../media/task-progress.tsx";
import { formatElapsed, isOpen, shapeOf, tookMs } from "../../media/task-words.ts";

const prompt: Column<ConsoleTask> = {
  id: "prompt",
  header: t("tasks.columns.prompt"),
  cell: (task) => (task.prompt === null || task.prompt === "" ? t("tasks.columns.noPrompt") : cut(task.prompt)),
};

const rest: readonly Column<ConsoleTask>[] = [
  {
    id: "status",
    header: t("tasks.status"),
    cell: (task) => <StatusBadge status={task.status} {...(task.error === null ? {} : { hint: task.error.message })} />,
  },
  { id: "model", header: t("tasks.columns.model"), cell: (task) => <span className="break">{task.model}</span> },
  { id: "shape", header: t("tasks.columns.output"), cell: (task) => shapeOf(task) || <Nothing /> },
  {
    id: "key",
    header: t("tasks.columns.key"),
    cell: (task) => (task.key.name ? <span className="task-key cut">{task.key.name}</span> : <Nothing />),
  },
  {
    id: "took",
    header: t("tasks.columns.took"),
    align: "right",
    cell: (task) => {
      if (isOpen(task)) return <TaskProgress task={task} />;
      if (task.finished_at === null) return <Nothing />;
      return <span className="tabular nowrap">{formatElapsed(tookMs(task, task.finished_at))}</span>;
    },
  },
  {
    id: "cost",
    header: t("tasks.columns.cost"),
    align: "right",
    sortBy: (task) => task.cost_usd,
    cell: (task) => (
      <span title={task.cost_estimated ? t("tasks.columns.reserved") : undefined}>
        {task.cost_estimated && task.cost_usd !== null && "≈ "}
        <Money usd={task.cost_usd} aligned />
      </span>
    ),
  },
  {
    id: "at",
    header: t("tasks.columns.started"),
    align: "right",
    sortBy: (task) => task.created_at,
    cell: (task) => <When at={task.created_at} />,
  },
];

export const taskColumns: readonly Column<ConsoleTask>[] = [prompt, ...rest];
export const taskColumnsOfAll: readonly Column<ConsoleTask>[] = [
  prompt,
  { id: "workspace", header: t("tasks.columns.workspace"), cell: (task) => task.workspace.slug },
  ...rest,
];

const promptChars = 120;

function cut(text: string): string {
  return text.length > promptChars ? `${text.slice(0, promptChars).trimEnd()}…` : text;
}

import type { ConsoleTask } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Money, When } from "../../components/figures.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Rich, t } from "../../language/areas/media.ts";
import { TaskProgress } from "./task-progress.tsx";
import { formatElapsed, shapeOf, tookMs } from "./task-words.ts";
import { VideoPreview } from "./video-preview.tsx";

interface TaskCardProps {
  readonly task: ConsoleTask;
  /** Shown for all workspaces. */
  readonly withWorkspace?: boolean;
}

/** A task in the gallery: preview, prompt, status and cost. */
export function TaskCard({ task, withWorkspace = false }: TaskCardProps) {
  const shape = shapeOf(task);
  const [moving, setMoving] = useState(false);
  return (
    <article
      className="task-card card"
      onPointerEnter={() => setMoving(true)}
      onPointerLeave={() => setMoving(false)}
      onFocus={() => setMoving(true)}
      onBlur={() => setMoving(false)}
    >
      <VideoPreview task={task} moving={moving} />
      <div className="task-card-body">
        <Link
          className="task-card-link"
          to="/media/$task"
          params={{ task: task.id }}
          search={{ workspace: task.workspace.slug }}
        >
          {task.prompt === null || task.prompt === "" ? t("media.task.noPrompt") : task.prompt}
        </Link>
        <TaskProgress task={task} />
        <div className="task-card-line">
          <StatusBadge status={task.status} />
          <When at={task.created_at} />
          {task.finished_at !== null && task.status === "succeeded" && (
            <span title={t("media.task.tookHelp")}>
              {t("media.task.took", { elapsed: formatElapsed(tookMs(task, task.finished_at)) })}
            </span>
          )}
          <span className="task-card-cost" title={task.cost_estimated ? t("media.task.reserved") : undefined}>
            {task.cost_estimated && task.cost_usd !== null ? (
              <Rich text="media.task.about" values={{ cost: <Money usd={task.cost_usd} /> }} />
            ) : (
              <Money usd={task.cost_usd} />
            )}
          </span>
        </div>
        <div className="task-card-line task-card-quiet">
          <span className="cut">
            {withWorkspace ? `${task.workspace.slug} · ` : ""}
            {task.model}
            {shape === "" ? "" : ` · ${shape}`}
          </span>
        </div>
      </div>
    </article>
  );
}

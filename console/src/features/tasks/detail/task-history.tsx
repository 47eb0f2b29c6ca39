import { Text } from "@mantine/core";
import type { TaskDetail } from "@sluice/contract";
import { formatDuration, formatMoment } from "../../../client/format.ts";
import { Section } from "../../../components/section.tsx";
import { toneOf } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/tasks.ts";
import { tasks } from "../../../language/en/tasks.ts";
import { remarks } from "../../../language/remark.ts";
import { stepsOf } from "./steps.ts";

const noteWords = remarks(t, "tasks.history.note", tasks.history.note);

/** The states of a task, with the time spent in each. */
export function TaskHistory({ task }: { readonly task: TaskDetail }) {
  return (
    <Section title={t("tasks.history.title")}>
      <ol className="history">
        {stepsOf(task.events).map((step) => (
          <li key={`${step.at} ${step.status} ${step.detail}`} data-tone={toneOf(step.status)}>
            <div className="history-line">
              <span>{step.words}</span>
              <time dateTime={new Date(step.at).toISOString()} className="tabular history-quiet">
                {formatMoment(step.at)}
              </time>
            </div>
            <div className="history-quiet">
              {[
                step.detail === null ? null : noteWords(step.note, step.detail),
                step.stayedMs === null ? null : t("tasks.history.for", { stayedMs: formatDuration(step.stayedMs) }),
              ]
                .filter((each) => each !== null)
                .join(" · ")}
            </div>
          </li>
        ))}
      </ol>
      {task.events.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("tasks.history.none")}
        </Text>
      )}
    </Section>
  );
}

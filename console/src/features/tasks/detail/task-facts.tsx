import type { TaskDetail } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { CopyText } from "../../../components/copy-button.tsx";
import { FactRow } from "../../../components/facts.tsx";
import { Money, Nothing, When } from "../../../components/figures.tsx";
import { Section } from "../../../components/section.tsx";
import { Rich, t } from "../../../language/areas/tasks.ts";
import { formatElapsed, formatSeconds, isOpen, tookMs } from "../../media/task-words.ts";
import { useNow } from "../../media/use-now.ts";

/** Request, provider and cost of a task. */
export function TaskFacts({ task }: { readonly task: TaskDetail }) {
  const now = useNow(isOpen(task));
  const { workspace } = task;
  const search = { workspace: workspace.slug };
  return (
    <Section title={t("tasks.facts.title")}>
      <dl className="facts-list">
        <FactRow name={t("tasks.facts.id")}>
          <CopyText value={task.id} label={t("tasks.facts.copyId")} />
        </FactRow>
        <FactRow name={t("tasks.facts.cost")}>
          <Cost task={task} />
        </FactRow>
        <FactRow name={t("tasks.facts.model")}>{task.model}</FactRow>
        <FactRow name={t("tasks.facts.provider")}>
          {task.provider ?? <Nothing word={t("tasks.facts.notSent")} />}
        </FactRow>
        <FactRow name={t("tasks.facts.key")}>
          <Link className="text-link" to="/keys/$key" params={{ key: task.key.id }} search={search}>
            {task.key.name || task.key.id}
          </Link>
        </FactRow>
        <FactRow name={t("tasks.facts.ratio")}>{task.ratio ?? <Default />}</FactRow>
        <FactRow name={t("tasks.facts.resolution")}>{task.resolution ?? <Default />}</FactRow>
        <FactRow name={t("tasks.facts.duration")}>
          {task.duration === null ? (
            <Default />
          ) : task.duration < 0 ? (
            t("tasks.facts.modelDecides")
          ) : (
            formatSeconds(task.duration)
          )}
        </FactRow>
        <FactRow name={t("tasks.facts.started")}>
          <When at={task.created_at} />
        </FactRow>
        <FactRow name={isOpen(task) ? t("tasks.facts.runningFor") : t("tasks.facts.took")}>
          <span className="tabular">{formatElapsed(tookMs(task, now))}</span>
        </FactRow>
        {isOpen(task) && (
          <FactRow name={t("tasks.facts.timeout")}>
            <When at={task.expires_at} missing={t("tasks.facts.never")} />
          </FactRow>
        )}
        {!isOpen(task) && (
          <FactRow name={t("tasks.facts.request")}>
            <Link className="text-link" to="/requests/$request" params={{ request: task.request_id }} search={search}>
              {t("tasks.facts.viewRequest")}
            </Link>
          </FactRow>
        )}
      </dl>
    </Section>
  );
}

/** Marks estimated and reserved costs. */
function Cost({ task }: { readonly task: TaskDetail }) {
  const cost = <Money usd={task.cost_usd} />;
  if (!task.cost_estimated || task.cost_usd === null) return cost;
  return <Rich text={isOpen(task) ? "tasks.facts.reserved" : "tasks.facts.estimated"} values={{ cost }} />;
}

function Default() {
  return <span className="nothing">{t("tasks.facts.default")}</span>;
}

import type { TaskDetail } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { CopyText } from "../../../components/copy-button.tsx";
import { Money, Nothing, When } from "../../../components/figures.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/tasks.ts";
import { formatElapsed, isOpen, tookMs } from "../../media/task-words.ts";
import { useNow } from "../../media/use-now.ts";

/** Who asked for what, where it is made, and what it costs. */
export function TaskFacts({ task }: { readonly task: TaskDetail }) {
  const now = useNow(isOpen(task));
  const { workspace } = task;
  const search = { workspace: workspace.slug };
  return (
    <Section title={t("tasks.facts")}>
      <dl className="facts-list">
        <Fact name="Id">
          <CopyText value={task.id} label={t("tasks.copyId")} />
        </Fact>
        <Fact name="Cost">
          <Money usd={task.cost_usd} />
          {task.cost_estimated && task.cost_usd !== null && (isOpen(task) ? " set aside until it ends" : ", estimated")}
        </Fact>
        <Fact name="Model">{task.model}</Fact>
        <Fact name="Provider">{task.provider ?? <Nothing word={t("tasks.notSentYet")} />}</Fact>
        <Fact name="Key">
          <Link className="text-link" to="/keys/$key" params={{ key: task.key.id }} search={search}>
            {task.key.name || task.key.id}
          </Link>
        </Fact>
        <Fact name="Ratio">{task.ratio ?? <Default />}</Fact>
        <Fact name="Resolution">{task.resolution ?? <Default />}</Fact>
        <Fact name="Length">
          {task.duration === null ? (
            <Default />
          ) : task.duration < 0 ? (
            t("tasks.theModelDecides")
          ) : (
            t("tasks.s", { duration: task.duration })
          )}
        </Fact>
        <Fact name="Started">
          <When at={task.created_at} />
        </Fact>
        <Fact name={isOpen(task) ? "Running for" : "Took"}>
          <span className="tabular">{formatElapsed(tookMs(task, now))}</span>
        </Fact>
        {isOpen(task) && (
          <Fact name="Given up">
            <When at={task.expires_at} missing={t("tasks.never")} />
          </Fact>
        )}
        {!isOpen(task) && (
          <Fact name="Request">
            <Link className="text-link" to="/requests/$request" params={{ request: task.request_id }} search={search}>
              {t("tasks.howItWasChargedAnd")}
            </Link>
          </Fact>
        )}
      </dl>
    </Section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Default() {
  return <span className="nothing">{t("tasks.default")}</span>;
}

import { Loader, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/playground.ts";
import { fieldProblems } from "../media/field-problems.ts";
import type { CallInfo } from "../media/key-call.ts";
import { CallFacts, RequestLink } from "./call-facts.tsx";
import type { Run } from "./use-run.ts";

interface Outcome {
  readonly info: CallInfo;
  readonly totalMs: number | null;
  readonly firstTokenMs?: number | null;
  readonly inputTokens?: number | null;
}

interface RunOutcomeProps {
  readonly run: Omit<Run<Outcome>, "start">;
  readonly workspace: string;
  /** Fields of the form that show their own errors. */
  readonly fields: readonly string[];
  readonly icon: ReactNode;
  /** The empty state before the first run. */
  readonly title: string;
  readonly hint: string;
  /** The result itself. */
  readonly children: ReactNode;
}

/** The outcome of a call: the result with its usage, or the error. */
export function RunOutcome({ run, workspace, fields, icon, title, hint, children }: RunOutcomeProps) {
  const { result, running, stopped, problem } = run;
  const { rest } = fieldProblems(problem, fields);
  return (
    <div className="run-outcome" aria-busy={running}>
      {running && result === null && (
        <div className="icon-link" role="status">
          <Loader size="xs" aria-hidden /> <Text size="sm">{t("playground.run.waiting")}</Text>
        </div>
      )}
      {!running && result === null && problem === null && !stopped && (
        <EmptyState icon={icon} title={title}>
          {hint}
        </EmptyState>
      )}
      {result !== null && children}
      {stopped && (
        <Text size="xs" c="dimmed" role="status">
          {t("playground.run.stopped")}
        </Text>
      )}
      {rest !== null && <ProblemAlert problem={rest} />}
      {problem?.requestId != null && result === null && (
        <div className="call-facts">
          <RequestLink workspace={workspace} requestId={problem.requestId} />
        </div>
      )}
      {result !== null && !running && (
        <CallFacts
          workspace={workspace}
          info={result.info}
          totalMs={result.totalMs}
          firstTokenMs={result.firstTokenMs ?? null}
          inputTokens={result.inputTokens ?? null}
        />
      )}
    </div>
  );
}

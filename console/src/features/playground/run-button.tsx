import { Button, Group } from "@mantine/core";
import type { Problem } from "../../client/problem.ts";
import { FormProblem } from "../../components/form-problem.tsx";
import { t } from "../../language/areas/playground.ts";
import type { Run } from "./use-run.ts";

interface RunButtonProps {
  readonly run: Pick<Run<unknown>, "running" | "stop">;
  readonly disabled: boolean;
  /** Fields of the form that show their own errors. */
  readonly marked: Problem | null;
  /** The label: a verb. */
  readonly children: string;
}

/** Sends the form; while the call runs, it stops it. */
export function RunButton({ run, disabled, marked, children }: RunButtonProps) {
  return (
    <>
      <FormProblem problem={marked} />
      <Group justify="flex-end">
        {run.running ? (
          <Button key="stop" type="button" variant="default" onClick={run.stop}>
            {t("playground.run.stop")}
          </Button>
        ) : (
          <Button key="start" type="submit" disabled={disabled}>
            {children}
          </Button>
        )}
      </Group>
    </>
  );
}

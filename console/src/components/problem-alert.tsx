import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import type { Problem } from "../client/problem.ts";
import { t } from "../language/areas/components.ts";

interface ProblemAlertProps {
  readonly problem: Problem;
  readonly onRetry?: () => void;
}

/** What happened, what to do about it, and the id to quote. */
export function ProblemAlert({ problem, onRetry }: ProblemAlertProps) {
  return (
    <Alert color="red" variant="light" title={problem.message} role="alert">
      <Stack gap="xs">
        <Text size="sm">{problem.advice}</Text>
        <Group gap="xs">
          {onRetry !== undefined && (
            <Button size="xs" variant="default" onClick={onRetry}>
              {t("components.tryAgain")}
            </Button>
          )}
          <Text size="xs" c="dimmed" component="span">
            <Code>{problem.code}</Code>
            {problem.param !== null && (
              <>
                {" "}
                field <Code>{problem.param}</Code>
              </>
            )}
            {problem.requestId !== null && (
              <>
                {" "}
                request <Code>{problem.requestId}</Code>
              </>
            )}
          </Text>
        </Group>
      </Stack>
    </Alert>
  );
}

import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Problem } from "../client/problem.ts";
import { Rich, t } from "../language/areas/components.ts";

interface ProblemAlertProps {
  readonly problem: Problem;
  readonly onRetry?: () => void;
}

const tags = { code: (inside: ReactNode) => <Code>{inside}</Code> };

/** Shows the error, what to do about it, the gateway's own message if it differs, and the id to quote. */
export function ProblemAlert({ problem, onRetry }: ProblemAlertProps) {
  const { code, param, requestId, gatewayMessage, message } = problem;
  return (
    <Alert color="red" variant="light" title={message} role="alert">
      <Stack gap="xs">
        <Text size="sm">{problem.advice}</Text>
        {gatewayMessage !== null && gatewayMessage !== message && (
          <Text size="xs" c="dimmed">
            {t("components.problem.detail", { message: gatewayMessage })}
          </Text>
        )}
        <Group gap="xs">
          {onRetry !== undefined && (
            <Button size="xs" variant="default" onClick={onRetry}>
              {t("components.actions.retry")}
            </Button>
          )}
          <Text size="xs" c="dimmed" component="span">
            <Code>{code}</Code>{" "}
            {param !== null && <Rich text="components.problem.field" tags={tags} values={{ param }} />}{" "}
            {requestId !== null && <Rich text="components.problem.request" tags={tags} values={{ id: requestId }} />}
          </Text>
        </Group>
      </Stack>
    </Alert>
  );
}

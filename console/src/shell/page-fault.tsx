import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { asProblem } from "../client/problem.ts";
import { PageFrame } from "../components/page-frame.tsx";
import { Rich, t } from "../language/areas/shell.ts";

/** Replaces a page that crashed. The usual cause is a gateway upgrade, which a reload fixes. */
export function PageFault({ error, reset }: ErrorComponentProps) {
  return (
    <PageFrame title={t("shell.fault.title")}>
      <Alert color="red" variant="light" title={t("shell.fault.what")} role="alert">
        <Stack gap="xs">
          <Text size="sm">
            <Rich
              text="shell.fault.help"
              tags={{ code: (inside) => <Code>{inside}</Code> }}
              values={{ message: asProblem(error).message }}
            />
          </Text>
          <Group gap="xs">
            <Button variant="default" onClick={() => location.reload()}>
              {t("shell.fault.reload")}
            </Button>
            <Button variant="subtle" onClick={reset}>
              {t("shell.fault.retry")}
            </Button>
          </Group>
        </Stack>
      </Alert>
    </PageFrame>
  );
}

import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { asProblem } from "../client/problem.ts";
import { PageFrame } from "../components/page-frame.tsx";
import { t } from "../language/areas/shell.ts";

/** A page that broke. The rest of the console stands; a new version of the gateway is the usual reason, and loading anew mends that. */
export function PageFault({ error, reset }: ErrorComponentProps) {
  return (
    <PageFrame title={t("shell.thisPageBroke")}>
      <Alert color="red" variant="light" title={t("shell.somethingWentWrongInThe")} role="alert">
        <Stack gap="xs">
          <Text size="sm">
            If the gateway was just upgraded, loading the page again brings the new version. If it stays, report it with
            this line: <Code>{asProblem(error).message}</Code>
          </Text>
          <Group gap="xs">
            <Button variant="default" onClick={() => location.reload()}>
              {t("shell.loadAgain")}
            </Button>
            <Button variant="subtle" onClick={reset}>
              {t("shell.tryWithoutLoading")}
            </Button>
          </Group>
        </Stack>
      </Alert>
    </PageFrame>
  );
}

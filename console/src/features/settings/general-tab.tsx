import { Skeleton, Stack } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { GeneralForm } from "./general-form.tsx";

/** The settings of the whole installation. */
export function GeneralTab() {
  const settings = useCall("settings.show");
  if (settings.error !== null && settings.data === undefined) {
    return <ProblemAlert problem={settings.error} onRetry={() => void settings.refetch()} />;
  }
  if (settings.data === undefined) {
    return (
      <Stack gap="lg" aria-busy="true">
        <Skeleton height={260} />
        <Skeleton height={180} />
      </Stack>
    );
  }
  return <GeneralForm answer={settings.data} />;
}

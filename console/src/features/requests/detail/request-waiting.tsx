import { Skeleton, Stack } from "@mantine/core";
import { t } from "../../../language/areas/requests.ts";

export function RequestWaiting() {
  return (
    <Stack gap="lg" aria-busy="true" aria-label={t("requests.loading")}>
      <Skeleton height={92} />
      <Skeleton height={180} />
      <Skeleton height={260} />
    </Stack>
  );
}
